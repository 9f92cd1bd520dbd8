/* SPDX-License-Identifier: MIT */
#include "symbols/strings.h"

#include <stdlib.h>
#include <string.h>

#define BLOCK_SIZE ((size_t)16 << 10)

struct fx_string_block {
	struct fx_string_block *older;
	size_t used;
	size_t size;
	char text[];
};

/* One with so much room left. */
static struct fx_string_block *block_with_room(struct fx_strings *strings, size_t size)
{
	size_t room = size < BLOCK_SIZE ? BLOCK_SIZE : size;
	struct fx_string_block *block = strings->newest;

	if (block && size <= block->size - block->used)
		return block;
	block = malloc(sizeof(*block) + room);
	if (!block)
		return NULL;
	*block = (struct fx_string_block){.older = strings->newest, .size = room};
	strings->newest = block;
	return block;
}

const char *fx_strings_add(struct fx_strings *strings, const char *text, size_t length)
{
	struct fx_string_block *block = block_with_room(strings, length + 1);
	char *copy;

	if (!block)
		return NULL;
	copy = block->text + block->used;
	memcpy(copy, text, length);
	copy[length] = '\0';
	block->used += length + 1;
	return copy;
}

void fx_strings_clear(struct fx_strings *strings)
{
	while (strings->newest) {
		struct fx_string_block *block = strings->newest;

		strings->newest = block->older;
		free(block);
	}
}
