/* SPDX-License-Identifier: MIT */
#include "symbols/recipes/wish.h"

#include <stdlib.h>
#include <string.h>

/* No function has so many. */
#define INDEX_MAX 64u

static bool wish_word(const char **at, const char *word)
{
	size_t length = strlen(word);

	if (strncmp(*at, word, length) != 0)
		return false;
	*at += length;
	return true;
}

/* A number without sign or blanks before it. */
static bool wish_number(const char **at, unsigned *ret)
{
	unsigned long number;
	char *end;

	if (**at < '0' || **at > '9')
		return false;
	number = strtoul(*at, &end, 10);
	*ret = number <= 1000 ? (unsigned)number : 1000;
	*at = end;
	return true;
}

/* The bits behind a letter; without them, it is as large as it was. */
static bool wish_bits(const char **at, unsigned *size)
{
	unsigned bits = 8 * *size;

	wish_number(at, &bits);
	*size = bits / 8;
	return bits == 8 || bits == 16 || bits == 32 || bits == 64;
}

static bool wish_format(const char **at, struct fx_wish *wish)
{
	static const struct {
		char letter;
		enum fx_recipe_shape shape;
		bool is_string;
		unsigned size;
	} formats[] = {
	    {'i', FX_SHAPE_SIGNED, false, 8},	 {'d', FX_SHAPE_SIGNED, false, 8},
	    {'u', FX_SHAPE_UNSIGNED, false, 8},	 {'x', FX_SHAPE_UNSIGNED, false, 8},
	    {'p', FX_SHAPE_POINTER, false, 8},	 {'s', FX_SHAPE_TEXT, false, 8},
	    {'c', FX_SHAPE_CHARACTER, false, 1}, {'f', FX_SHAPE_FLOAT, false, 8},
	    {'S', FX_SHAPE_BYTES, true, 8},
	};

	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		if (**at != formats[i].letter)
			continue;
		++*at;
		wish->shape = formats[i].shape;
		wish->is_string = formats[i].is_string;
		wish->size = formats[i].size;
		if (!wish_bits(at, &wish->size))
			return false;
		if (wish->shape == FX_SHAPE_FLOAT)
			return wish->size >= 4;
		return wish->size == 8 || wish->shape < FX_SHAPE_POINTER ||
		       wish->shape == FX_SHAPE_CHARACTER;
	}
	return false;
}

static bool wish_index(const char **at, struct fx_wish *wish)
{
	if (!wish_number(at, &wish->index) || wish->index == 0 || wish->index > INDEX_MAX)
		return false;
	wish->index--;
	return true;
}

bool fx_wish_next(const char **at, struct fx_wish *ret)
{
	*ret = (struct fx_wish){.shape = FX_SHAPE_SIGNED, .size = 8};
	if (wish_word(at, "retval")) {
		ret->kind = FX_WISH_RESULT;
	} else if (wish_word(at, "fparg")) {
		ret->kind = FX_WISH_VECTOR;
		ret->shape = FX_SHAPE_FLOAT;
		if (!wish_index(at, ret))
			return false;
	} else if (wish_word(at, "arg")) {
		ret->kind = FX_WISH_ARG;
		if (!wish_index(at, ret))
			return false;
	} else {
		return false;
	}
	if (wish_word(at, "/")) {
		if (ret->kind == FX_WISH_VECTOR ? !wish_bits(at, &ret->size) || ret->size < 4
						: !wish_format(at, ret))
			return false;
	}
	/* A number with a point goes into a vector register. */
	if (ret->kind == FX_WISH_ARG && ret->shape == FX_SHAPE_FLOAT)
		ret->kind = FX_WISH_VECTOR;
	return !**at || wish_word(at, ",");
}

bool fx_wishes_are_sound(const char *text)
{
	struct fx_wish wish;

	if (!*text || text[strlen(text) - 1] == ',')
		return false;
	while (*text) {
		if (!fx_wish_next(&text, &wish))
			return false;
	}
	return true;
}
