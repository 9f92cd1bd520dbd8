/* SPDX-License-Identifier: MIT */
/*
 * Files of code that processes have mapped: one image for all mappings of a file, found as the process sees it. What stands in the
 * file is kernel/code.h's.
 */
#ifndef FX_KERNEL_IMAGE_H
#define FX_KERNEL_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fx_image;

/* What tells an image from others. Its addresses are those that it was linked for. */
struct fx_image_facts {
	const char *path; /* where it can be read */
	bool is_vdso;
	const uint8_t *build_id; /* NULL: it has none */
	size_t build_id_size;
	uint64_t
	    table; /* of the binary search table (.eh_frame_hdr); 0: there is none that can be made */
};

/*
 * The image of a file that process `pid` has mapped, looked for as that one sees it. "[vdso]" is this process's own, which
 * is every process's. `device', as the kernel says it with the inode: 0: not known; one that is known already is then found without a look at
 * its path. One more use of it; NULL: it is no ELF file that can be read, or there is no memory.
 */
struct fx_image *fx_image_get(uint32_t pid, const char *path, uint64_t device, uint64_t inode);
struct fx_image *fx_image_share(struct fx_image *image);
void fx_image_release(struct fx_image *image);

/* Lets go of those that are kept without a use. */
void fx_images_forget(void);

/* A descriptor of the file, the image's; -1: it is of none. */
int fx_image_file(const struct fx_image *image);

const struct fx_image_facts *fx_image_facts(const struct fx_image *image);

/* The address of the byte that stands at `offset` of the file. False: it is in no segment. */
bool fx_image_address(const struct fx_image *image, uint64_t offset, uint64_t *ret);

/* Eight bytes at an address. False: the file does not have them. */
bool fx_image_word(struct fx_image *image, uint64_t address, uint64_t *ret);

#endif
