/* SPDX-License-Identifier: MIT */
/* The source line that a frame of a stack has behind its name (`fxtrace run --lines'): "work (work.c:18, inlined)". */
#ifndef FX_CONVERT_PICTURES_PLACE_H
#define FX_CONVERT_PICTURES_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fx_frame_place {
	size_t name_length; /* of the function's name, at the beginning of the text */
	const char *file;   /* in the text; not ended by a NUL */
	size_t file_length;
	uint32_t line;
};

/* False: the text has none. */
bool fx_frame_place(const char *text, size_t length, struct fx_frame_place *ret);

#endif
