/* SPDX-License-Identifier: MIT */
/* The code of a module's file, and the names of functions of others that it calls. Addresses are link-time ones. */
#ifndef FX_SYMBOLS_IMAGE_H
#define FX_SYMBOLS_IMAGE_H

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lists/vector.h"

struct fx_image_section {
	uint64_t start, size;
	const uint8_t *bytes;
	bool is_code; /* else data that nobody changes, nor relocates */
};

/* A word that the dynamic linker fills in. */
struct fx_image_slot {
	uint64_t address;
	const char *name;
};

struct fx_image {
	Elf *elf; /* borrowed */
	struct fx_image_section *sections;
	size_t section_count;
	FX_VECTOR(struct fx_image_slot) slots; /* by rising address */
};

/* 0, -ENOMEM, or -EINVAL: the file cannot be read so far. */
int fx_image_read(Elf *elf, struct fx_image *ret);
void fx_image_clear(struct fx_image *image);

/* The code from an address on; NULL: there is none. */
const uint8_t *fx_image_code(const struct fx_image *image, uint64_t address, size_t *ret_size);

/* The value of `size' bytes of data that never changes. False: they are none. */
bool fx_image_constant(const struct fx_image *image, uint64_t address, unsigned size,
		       uint64_t *ret);

/* The function that a slot will have the address of; NULL: of none, or it is the module's own. */
const char *fx_image_slot_name(const struct fx_image *image, uint64_t address);

/* Whether any of the module's functions calls hooks. */
bool fx_image_has_hooks(const struct fx_image *image);

#endif
