/* SPDX-License-Identifier: MIT */
/* What a process calls a file that it has open or mapped. */
#ifndef FX_KERNEL_OPEN_FILE_H
#define FX_KERNEL_OPEN_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define FX_OPEN_FILE_MAX 4096u

/* The path of the file of that device and inode, as far as the process has it now. */
bool fx_open_file_find(uint32_t pid, dev_t device, uint64_t inode, char ret[FX_OPEN_FILE_MAX]);

#endif
