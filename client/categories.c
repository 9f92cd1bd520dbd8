/* SPDX-License-Identifier: MIT */
#include "client/categories.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/groups.h"
#include "engine/layout.h"
#include "manager/settings/wanted.h"
#include "protocol/kernel-ready.h"

/* Groups within groups. */
#define DEPTH_MAX 8u

struct category {
	const char *name;
	uint32_t bit;
	bool by_default;
	const char *help;
};

static const struct category categories[] = {
#define FX_CATEGORY(sym, bit, name, dflt, help) {name, 1u << (bit), dflt, help},
    FX_CATEGORIES(FX_CATEGORY)
#undef FX_CATEGORY
};

#define CATEGORY_COUNT (sizeof(categories) / sizeof(categories[0]))

static const struct cost {
	uint32_t bit;
	bool stacks;
	unsigned bytes;
	const char *when;
} costs[] = {
#define FX_COST(sym, stacks, bytes, when) {FX_CAT_##sym, stacks, bytes, when},
#include "client/costs.def"
#undef FX_COST
};

_Static_assert(sizeof(costs) / sizeof(costs[0]) == CATEGORY_COUNT, "a cost for each category");

unsigned fx_categories_cost(const char *name, const char **ret_when)
{
	uint32_t bit = fx_category_bits(name, strlen(name));

	*ret_when = NULL;
	for (size_t i = 0; i < CATEGORY_COUNT; i++) {
		if (costs[i].bit != bit)
			continue;
		*ret_when = costs[i].when;
		return costs[i].bytes;
	}
	return 0;
}

static int categories_compare(const void *a, const void *b)
{
	return strcmp(((const struct category *)a)->name, ((const struct category *)b)->name);
}

void fx_categories_each(void (*see)(void *opaque, const char *name, bool by_default,
				    const char *help),
			void *opaque)
{
	struct category sorted[CATEGORY_COUNT];

	memcpy(sorted, categories, sizeof(sorted));
	qsort(sorted, CATEGORY_COUNT, sizeof(sorted[0]), categories_compare);
	for (size_t i = 0; i < CATEGORY_COUNT; i++)
		see(opaque, sorted[i].name, sorted[i].by_default, sorted[i].help);
}

uint32_t fx_categories_with_stacks(void)
{
	uint32_t bits = 0;

	for (size_t i = 0; i < CATEGORY_COUNT; i++)
		bits |= costs[i].stacks ? costs[i].bit : 0;
	return bits;
}

uint32_t fx_categories_default(void)
{
	uint32_t bits = 0;

	for (size_t i = 0; i < CATEGORY_COUNT; i++)
		bits |= categories[i].by_default ? categories[i].bit : 0;
	return bits;
}

const char *fx_categories_default_list(void)
{
	static char list[256];
	size_t n = 0;

	for (size_t i = 0; i < CATEGORY_COUNT; i++) {
		if (categories[i].by_default)
			n += (size_t)snprintf(list + n, sizeof(list) - n, "%s%s", n ? "," : "",
					      categories[i].name);
	}
	return list;
}

/* A list in the making. */
struct expansion {
	struct fx_groups groups;
	bool groups_are_read;
	char *words;
	size_t used;
};

static char error_text[4096 + 512];

static const char *wrong_word(const char *text, size_t length, const char *what)
{
	snprintf(error_text, sizeof(error_text), "'%.*s': %s", length < 110 ? (int)length : 110,
		 text, what);
	return error_text;
}

/* Appends a word, with what stands before the names of its group. */
static const char *word_add(struct expansion *e, bool take_away, const char *text, size_t length)
{
	const char *wrong = fx_word_check(text, length);

	if (wrong)
		return wrong_word(text, length, wrong);
	if (e->used + length + 3 > FX_CATEGORY_LIST_MAX)
		return "the list is too long";
	if (e->used)
		e->words[e->used++] = ',';
	if (take_away)
		e->words[e->used++] = '-';
	memcpy(e->words + e->used, text, length);
	e->used += length;
	e->words[e->used] = 0;
	return NULL;
}

static const char *expand(struct expansion *e, const char *list, bool take_away, unsigned depth);

static const char *expand_group(struct expansion *e, const char *text, size_t length,
				bool take_away, unsigned depth)
{
	const struct fx_group *group;
	const char *wrong = NULL;

	if (!e->groups_are_read)
		wrong = fx_groups_read(&e->groups, fx_categories_default_list());
	e->groups_are_read = true;
	if (wrong)
		return wrong;
	group = fx_groups_find(&e->groups, text + 1, length - 1);
	if (!group)
		return wrong_word(text, length, "no such group (see fxtrace list-category-groups)");
	if (depth == DEPTH_MAX)
		return wrong_word(text, length, "the group contains itself");
	return expand(e, group->list, take_away, depth + 1);
}

/* The words of a list, or, to be taken away, those that it adds. */
static const char *expand(struct expansion *e, const char *list, bool take_away, unsigned depth)
{
	const char *wrong = NULL;

	while (list && !wrong) {
		size_t length = strcspn(list, ",");
		bool away = *list == '-';
		const char *text = list + away;

		if (*text == '#')
			wrong = expand_group(e, text, length - away, take_away != away, depth);
		else if (!(take_away && away))
			wrong = word_add(e, take_away || away, text, length - away);
		list = list[length] ? list + length + 1 : NULL;
	}
	return wrong;
}

void fx_categories_begin(const char *list, uint32_t *ret_bits, char ret_words[FX_CATEGORY_LIST_MAX])
{
	*ret_bits = list[0] == '-' ? fx_categories_default() : 0;
	ret_words[0] = 0;
}

const char *fx_categories_add(const char *list, char words[FX_CATEGORY_LIST_MAX])
{
	struct expansion e = {.words = words, .used = strlen(words)};
	const char *wrong = expand(&e, list, false, 0);

	fx_groups_destroy(&e.groups);
	return wrong ? wrong : fx_words_check(words);
}

const char *fx_categories_parse(const char *list, uint32_t *ret_bits,
				char ret_words[FX_CATEGORY_LIST_MAX])
{
	fx_categories_begin(list, ret_bits, ret_words);
	return fx_categories_add(list, ret_words);
}

const char *fx_categories_parse_bits(const char *list, uint32_t *ret_bits)
{
	char words[FX_CATEGORY_LIST_MAX];
	const char *wrong = fx_categories_parse(list, ret_bits, words), *at = words;
	struct fx_word word;

	while (!wrong && at && fx_word_next(&at, &word)) {
		uint32_t bits = word.provider ? 0 : fx_category_bits(word.name, word.length);

		if (bits == 0)
			return wrong_word(word.name, word.length,
					  "no category of the tracer's own");
		*ret_bits = word.take_away ? *ret_bits & ~bits : *ret_bits | bits;
	}
	return wrong;
}

void fx_categories_print(uint32_t bits)
{
	static const char *const kernel[][2] = {
#define KERNEL_(sym, bit, category, help) {category, help},
	    FX_KERNEL_SETS(KERNEL_)
#undef KERNEL_
	};
	struct fx_groups groups;

	for (size_t i = 0; bits == UINT32_MAX && i < sizeof(kernel) / sizeof(kernel[0]); i++) {
		if (kernel[i][1] && strncmp(kernel[i][0], "kernel:", 7) == 0)
			printf("%s\t%s\n", kernel[i][0], kernel[i][1]);
	}
	for (size_t i = 0; i < CATEGORY_COUNT; i++) {
		if (categories[i].bit & bits)
			printf("%s\t%s\n", categories[i].name, categories[i].help);
	}
	if (!fx_groups_read(&groups, fx_categories_default_list())) {
		for (size_t i = 0; i < groups.count; i++)
			printf("#%s\t%s\n", groups.entries[i].name, groups.entries[i].list);
	}
	fx_groups_destroy(&groups);
}
