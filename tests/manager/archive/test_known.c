/* SPDX-License-Identifier: MIT */
/* Known categories: merged by name, cleaned, bounded. */
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>

#include "manager/archive/known.h"

static struct fx_known_set set;

static void finish(void)
{
	fx_known_destroy(&set);
}

TestSuite(known, .fini = finish, .timeout = 30);

static struct fx_known *find(const char *name)
{
	struct fx_known *k;

	HASH_FIND_STR(set.entries, name, k);
	return k;
}

Test(known, the_same_name_is_one_entry)
{
	fx_known_say(&set, 1, "render", 6);
	fx_known_say(&set, 1, "render\0draws", 12);
	fx_known_say(&set, 2, "render\0other", 12);
	cr_assert_eq(HASH_COUNT(set.entries), 1);
	cr_assert_eq(find("render")->providers, 2);
	cr_assert_str_eq(find("render")->help, "draws");
}

Test(known, the_tracers_own_keep_their_descriptions)
{
	fx_known_say(&set, 1, "function\0forged", 15);
	fx_known_builtin(&set);
	cr_assert_eq(find("function")->bit, FX_CAT_FUNCTION);
	cr_assert_str_neq(find("function")->help, "forged");
	cr_assert_eq(find("function")->providers, 1);
}

Test(known, names_are_cleaned_and_cut)
{
	char name[300];

	memset(name, 'x', sizeof name);
	fx_known_say(&set, 1, name, sizeof name);
	fx_known_say(&set, 1, "a\nb\x7f", 4);
	fx_known_say(&set, 1, "", 0);
	fx_known_say(&set, 1, "\0help", 5);
	cr_assert_eq(HASH_COUNT(set.entries), 2);
	cr_assert_not_null(find("a_b_"));
	name[FX_CATEGORY_NAME_MAX] = 0;
	cr_assert_not_null(find(name));
}

Test(known, there_is_a_bound)
{
	char name[16];

	for (unsigned i = 0; i < FX_KNOWN_CATEGORIES_MAX + 10; i++) {
		sprintf(name, "%u", i);
		fx_known_say(&set, 1 + i / FX_KNOWN_PER_PROVIDER, name, strlen(name));
	}
	cr_assert_eq(HASH_COUNT(set.entries), FX_KNOWN_CATEGORIES_MAX);
	/* Those that are there go on. */
	fx_known_say(&set, 100, "0", 1);
	cr_assert_eq(find("0")->providers, 2);
	/* The tracer's own have their room. */
	fx_known_builtin(&set);
	cr_assert_gt(HASH_COUNT(set.entries), FX_KNOWN_CATEGORIES_MAX);
	cr_assert_eq(find("function")->bit, FX_CAT_FUNCTION);
}

Test(known, a_provider_cannot_take_the_room_of_others)
{
	char name[16];

	for (unsigned i = 0; i < 2 * FX_KNOWN_CATEGORIES_MAX; i++) {
		sprintf(name, "%u", i);
		fx_known_say(&set, 1, name, strlen(name));
	}
	cr_assert_eq(HASH_COUNT(set.entries), FX_KNOWN_PER_PROVIDER);
	fx_known_say(&set, 2, "render", 6);
	cr_assert_not_null(find("render"));
}

Test(known, sorted)
{
	const char *before = "";

	fx_known_builtin(&set);
	fx_known_say(&set, 1, "zebra", 5);
	fx_known_say(&set, 1, "Apple", 5);
	fx_known_sort(&set);
	for (const struct fx_known *k = set.entries; k; k = k->hh.next) {
		cr_assert_gt(strcmp(k->name, before), 0);
		before = k->name;
	}
}

Test(known, what_was_not_seen_is_cut_word_by_word)
{
	const struct fx_session_config config = {.words = "one,-two,three,four*",
						 .more_words = "a/b,six"};
	char text[12];

	fx_known_say(&set, 1, "three", 5);
	fx_known_unseen(&set, &config, text, sizeof text);
	cr_assert_str_eq(text, "one, four*");
	fx_known_unseen(&set, &(struct fx_session_config){0}, text, sizeof text);
	cr_assert_str_eq(text, "");
}
