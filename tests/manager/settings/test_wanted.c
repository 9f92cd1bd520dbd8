/* SPDX-License-Identifier: MIT */
/* Which categories a session wants of a process. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "manager/settings/wanted.h"

#define OTHERS (FX_CAT_FUNCTION | FX_CAT_SYSCALL)

#define BIT(sym, bit, name, dflt, help) | 1u << (bit)
#define ALL				(0u FX_CATEGORIES(BIT))

static char list[FX_WANTED_SIZE];

/* The program's own categories in the list, between commas. */
static const char *own(void)
{
	static char text[sizeof(list) + 1];
	char *end = text;

	for (const char *word = list; *word; word += strlen(word) + 1) {
		if (end != text)
			*end++ = ',';
		end = stpcpy(end, word);
	}
	*end = 0;
	return text;
}

static void expect(struct fx_session_config config, const char *provider, uint32_t bits,
		   const char *wanted)
{
	cr_assert_eq(fx_wanted_write(&config, provider, list), bits, "'%s' for %s: %x",
		     config.words, provider, fx_wanted_write(&config, provider, list));
	cr_assert_str_eq(own(), wanted, "'%s' for %s: '%s'", config.words, provider, own());
}

static void expect_words(const char *words, uint32_t bits, const char *wanted)
{
	expect((struct fx_session_config){.words = words}, "program", bits, wanted);
}

static void expect_less(const char *words, uint32_t bits, const char *wanted)
{
	expect((struct fx_session_config){.categories = OTHERS | FX_CAT_USER, .words = words},
	       "program", bits, wanted);
}

Test(wanted, the_tracers_categories_are_bits)
{
	expect_words(NULL, 0, "");
	expect_words("function", FX_CAT_FUNCTION, "");
	expect_words("function,malloc,-function", FX_CAT_MALLOC, "");
	expect_words("pthread", FX_CAT_PTHREAD, "");
	expect_words("pthread:all", FX_CAT_PTHREAD_ALL, "");
	expect_less("-function", FX_CAT_SYSCALL | FX_CAT_USER, "");
}

Test(wanted, the_programs_own_are_a_list)
{
	expect_words("render", FX_CAT_USER, "render");
	expect_words("render,net", FX_CAT_USER, "render,net");
	expect_words("function,render", FX_CAT_FUNCTION | FX_CAT_USER, "render");
	expect_words("gpu*,-gpu:x", FX_CAT_USER, "gpu*,-gpu:x");
}

Test(wanted, user_stands_for_all_of_them)
{
	expect_words("user", FX_CAT_USER, "");
	expect_words("render,user", FX_CAT_USER, "");
	expect_words("render,-user", 0, "");
	expect_words("user,-render", FX_CAT_USER, "*,-render");
	expect_words("user,render", FX_CAT_USER, "*,render");
	expect_words("-render", 0, "");
	expect_less("-render", OTHERS | FX_CAT_USER, "*,-render");
	expect_less("-user", OTHERS, "");
}

Test(wanted, an_asterisk_means_both_kinds)
{
	expect_words("pthread*", FX_CAT_PTHREAD | FX_CAT_PTHREAD_ALL | FX_CAT_USER, "pthread*");
	expect_less("-sys*", FX_CAT_FUNCTION | FX_CAT_USER, "*,-sys*");
	expect_words("*,-malloc", ALL - FX_CAT_MALLOC, "");
}

Test(wanted, categories_of_one_provider_are_added_to_those_of_all)
{
	struct fx_session_config config = {
	    .words = "other/malloc,function,program/syscall,-program/function,program/render"};

	expect(config, "program", FX_CAT_SYSCALL | FX_CAT_USER, "render");
	expect(config, "other", FX_CAT_FUNCTION | FX_CAT_MALLOC, "");
	expect(config, "third", FX_CAT_FUNCTION, "");
	expect_words("a/b/render", 0, "");
	expect((struct fx_session_config){.words = "a/b/render"}, "a/b", FX_CAT_USER, "render");
	/* Who has all of its own already loses none. */
	expect_words("user,program/render", FX_CAT_USER, "*,render");
}

Test(wanted, a_start_adds)
{
	struct fx_session_config config = {.categories = FX_CAT_FUNCTION,
					   .more_categories = FX_CAT_DL};

	expect(config, "program", FX_CAT_FUNCTION | FX_CAT_DL, "");
	config.more_words = "render,other/heap";
	expect(config, "program", FX_CAT_FUNCTION | FX_CAT_DL | FX_CAT_USER, "render");
	expect(config, "other", FX_CAT_FUNCTION | FX_CAT_DL | FX_CAT_USER | FX_CAT_HEAP, "render");
	config.words = "net";
	expect(config, "program", FX_CAT_FUNCTION | FX_CAT_DL | FX_CAT_USER, "net,render");
	config.words = "user";
	expect(config, "program", FX_CAT_FUNCTION | FX_CAT_DL | FX_CAT_USER, "*,render");
	config.more_words = "user";
	config.words = "net";
	expect(config, "program", FX_CAT_FUNCTION | FX_CAT_DL | FX_CAT_USER, "");
}

Test(wanted, the_longest_list_has_its_room)
{
	char name[FX_CATEGORY_NAME_MAX + 1], *words = malloc(FX_CATEGORY_LIST_MAX), *at = words;

	memset(name, 'x', sizeof name - 1);
	name[sizeof name - 1] = 0;
	at += sprintf(at, "user");
	for (unsigned i = 1; i < FX_WANTED_MAX; i++)
		at += sprintf(at, ",-%s*", name);
	cr_assert_lt(at - words, FX_CATEGORY_LIST_MAX);
	cr_assert_null(fx_words_check(words));
	cr_assert_eq(fx_words_count(words), FX_WANTED_MAX);
	fx_wanted_write(&(struct fx_session_config){.words = words}, "program", list);
	cr_assert_eq(fx_words_count(own()), FX_WANTED_MAX);
	strcpy(at, ",x");
	cr_assert_not_null(fx_words_check(words));
	free(words);
}

Test(wanted, words_that_are_none)
{
	static const char *const words[] = {"",	     ",",   "a,",   "-",     "a b", "a*b",
					    "**",    "/a",  "a/",   "a*/b",  "#a",  "a\tb",
					    "a\x7f", "-#a", "--a/", "b/-*c", NULL};
	char longest[FX_CATEGORY_NAME_MAX + 8];

	for (unsigned i = 0; words[i]; i++)
		cr_assert_not_null(fx_words_check(words[i]), "'%s'", words[i]);
	memset(longest, 'x', sizeof longest);
	longest[FX_CATEGORY_NAME_MAX] = 0;
	cr_assert_null(fx_words_check(longest));
	longest[FX_CATEGORY_NAME_MAX] = 'x';
	longest[FX_CATEGORY_NAME_MAX + 1] = 0;
	cr_assert_not_null(fx_words_check(longest));
	longest[FX_CATEGORY_NAME_MAX + 1] = '/';
	strcpy(longest + FX_CATEGORY_NAME_MAX + 2, "a");
	cr_assert_not_null(fx_words_check(longest));
	cr_assert_null(fx_words_check("Ünïcode,a:b.c-d_e,*"));
}

Test(wanted, words_of_the_kernel)
{
	cr_expect_null(fx_words_check("kernel:irq,kernel:block,kernel:fault,kernel:net"));
	cr_expect_null(fx_words_check("kernel:*,-kernel:n*"));
	cr_expect_null(fx_words_check("make/kernel:mine"));
	cr_expect_not_null(fx_words_check("kernel:syscall"));
	cr_expect_not_null(fx_words_check("kernel:ir"));
	cr_expect_not_null(fx_words_check("-kernel:irqs"));
	cr_expect_not_null(fx_words_check("kernel:x*"));
}

Test(wanted, words_that_are_static_probes)
{
	cr_expect(fx_words_are_of_kernel("sdt:a:b"));
	cr_expect(fx_words_are_of_kernel("sdt:*,-sdt:a:b"));
	cr_expect_not(fx_words_are_of_kernel("-sdt:a:b"));
	cr_expect_not(fx_words_are_of_kernel("sdt:a:b,syscall"));
	cr_expect_not(fx_words_are_of_kernel("sdt:"));
	cr_expect_not(fx_words_are_of_kernel(""));
	cr_expect(fx_words_are_of_kernel("kernel:irq,sdt:a:b,-kernel:net"));
	cr_expect(fx_words_are_of_kernel("tracepoint:sched/sched_switch"));
	cr_expect_not(fx_words_are_of_kernel("kernel:irq,syscall"));
	cr_expect_not(fx_words_are_of_kernel("-kernel:irq"));
	cr_expect(fx_words_ask_probes("#default,sdt:a:*"));
	cr_expect_not(fx_words_ask_probes("#default,-sdt:a:*"));
	cr_expect_not(fx_words_ask_probes("make/sdt:a:*"));
	cr_expect_not(fx_words_ask_probes(NULL));
}
