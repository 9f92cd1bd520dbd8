/* SPDX-License-Identifier: MIT */
/* What is mapped in processes, data as well as code: whose page a fault was about. As kernel/space.h, by the kernel's records in order
 * of time; what was unmapped is not told, and stays until something else lies there. */
#ifndef FX_KERNEL_FILES_H
#define FX_KERNEL_FILES_H

#include <stdint.h>

struct fx_files;

/* NULL without memory. */
struct fx_files *fx_files_create(void);
void fx_files_destroy(struct fx_files *files);

void fx_files_map(struct fx_files *files, uint32_t pid, uint64_t start, uint64_t size,
		  uint64_t offset, const char *path);
void fx_files_fork(struct fx_files *files, uint32_t parent, uint32_t child);

/* A process is another program, or has ended: nothing is mapped in it. */
void fx_files_clear(struct fx_files *files, uint32_t pid);

/* What /proc says of a process that runs already. */
void fx_files_read(struct fx_files *files, uint32_t pid);

/* The path of what lies at an address, and where in the file it is. Valid until the next call of another function; NULL: not known. */
const char *fx_files_at(const struct fx_files *files, uint32_t pid, uint64_t address,
			uint64_t *ret_offset);

#endif
