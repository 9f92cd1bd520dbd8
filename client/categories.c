/* SPDX-License-Identifier: MIT */
#include "client/categories.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "engine/layout.h"

struct category {
	const char *name;
	uint32_t bit;
	bool by_default;
};

static const struct category categories[] = {
#define FX_CATEGORY(sym, bit, name, dflt, help) {name, 1u << (bit), dflt},
    FX_CATEGORIES(FX_CATEGORY)
#undef FX_CATEGORY
};

#define CATEGORY_COUNT (sizeof(categories) / sizeof(categories[0]))

uint32_t fx_categories_default(void)
{
	uint32_t bits = 0;

	for (size_t i = 0; i < CATEGORY_COUNT; i++)
		bits |= categories[i].by_default ? categories[i].bit : 0;
	return bits;
}

/* Bits of what one word of the list names; 0 for an unknown one. */
static uint32_t word_bits(const char *word, size_t length)
{
	bool prefix = length > 0 && word[length - 1] == '*';
	uint32_t bits = 0;

	if (length == strlen("#default") && memcmp(word, "#default", length) == 0)
		return fx_categories_default();
	if (prefix)
		length--;
	for (size_t i = 0; i < CATEGORY_COUNT; i++) {
		const char *name = categories[i].name;

		if (strncmp(name, word, length) == 0 && (prefix || name[length] == 0))
			bits |= categories[i].bit;
	}
	return bits;
}

/* What to say of a word that is none: the names that there are. */
static const char *unknown_text(const char *word, size_t length)
{
	static char text[256];
	int n = snprintf(text, sizeof(text), "unknown category '%.*s'; there are",
			 length < 64 ? (int)length : 64, word);

	for (size_t i = 0; i < CATEGORY_COUNT; i++)
		n += snprintf(text + n, sizeof(text) - (size_t)n, "%s %s", i ? "," : "",
			      categories[i].name);
	return text;
}

const char *fx_categories_parse(const char *list, uint32_t *ret)
{
	uint32_t bits = list[0] == '-' ? fx_categories_default() : 0;
	const char *at = list;

	for (;;) {
		size_t length = strcspn(at, ",");
		bool take_away = at[0] == '-';
		uint32_t word = word_bits(at + take_away, length - take_away);

		if (word == 0)
			return unknown_text(at + take_away, length - take_away);
		bits = take_away ? bits & ~word : bits | word;
		if (at[length] == 0)
			break;
		at += length + 1;
	}
	*ret = bits;
	return NULL;
}
