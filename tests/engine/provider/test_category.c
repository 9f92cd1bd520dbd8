/* SPDX-License-Identifier: MIT */
/* The program's own categories: which are wanted, and which are known. */
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "engine/provider/category.h"
#include "tests/engine/fake_manager.h"

static struct fm_manager m;

static void start(void)
{
	const struct fm_config config = {.size = 64 << 10};

	fm_start(&m, &config);
}

static void stop(void)
{
	fm_destroy(&m);
}

TestSuite(category, .init = start, .fini = stop, .timeout = 30);

/* Writes a comma list as the manager does. */
static void want(const char *list)
{
	uint64_t offset = fx_control_wanted(&m.layout);
	char *text = (char *)m.control + offset;

	m.control->categories_offset = offset;
	memset(text, 0, FX_WANTED_SIZE);
	strcpy(text, list);
	for (; *text; text++)
		*text = *text == ',' ? 0 : *text;
}

Test(category, all_are_wanted_without_a_list)
{
	cr_assert(fx_category_wanted("render"));
	want("");
	cr_assert(fx_category_wanted("render"));
}

Test(category, those_named_are_wanted)
{
	want("render,net");
	cr_assert(fx_category_wanted("render"));
	cr_assert(fx_category_wanted("net"));
	cr_assert(!fx_category_wanted("ren"));
	cr_assert(!fx_category_wanted("renderer"));
	cr_assert(!fx_category_wanted(""));
}

Test(category, an_asterisk_stands_for_all_that_begin_so)
{
	want("gpu:*");
	cr_assert(fx_category_wanted("gpu:frame"));
	cr_assert(fx_category_wanted("gpu:"));
	cr_assert(!fx_category_wanted("gpu"));
	want("*");
	cr_assert(fx_category_wanted("gpu"));
}

Test(category, the_last_word_that_matches_decides)
{
	want("gpu*,-gpu:verbose,-gpu:x*,gpu:x1");
	cr_assert(fx_category_wanted("gpu"));
	cr_assert(!fx_category_wanted("gpu:verbose"));
	cr_assert(!fx_category_wanted("gpu:x2"));
	cr_assert(fx_category_wanted("gpu:x1"));
	cr_assert(!fx_category_wanted("net"));
}

Test(category, a_list_that_takes_away_begins_with_all)
{
	want("*,-gpu");
	cr_assert(!fx_category_wanted("gpu"));
	cr_assert(fx_category_wanted("net"));
	want("-gpu");
	cr_assert(!fx_category_wanted("net"));
}

Test(category, the_longest_list_has_its_room)
{
	uint64_t offset = fx_control_wanted(&m.layout);
	char *text = (char *)m.control + offset, name[FX_CATEGORY_NAME_MAX + 1];

	m.control->categories_offset = offset;
	text = stpcpy(text, "*") + 1;
	for (unsigned i = 0; i < FX_WANTED_MAX; i++)
		text += 1 + sprintf(text, "-%0*u", (int)FX_CATEGORY_NAME_MAX, i);
	*text = 0;
	cr_assert_leq(text + 1 - (char *)m.control, (long)fx_control_size(&m.layout));
	snprintf(name, sizeof name, "%0*u", (int)FX_CATEGORY_NAME_MAX, FX_WANTED_MAX - 1);
	cr_assert(!fx_category_wanted(name));
	cr_assert(fx_category_wanted("net"));
}

/* --- Known ----------------------------------------------------------------------------------- */

static char told[32768];

static void collect(const uint64_t *words, void *context)
{
	size_t length = words[0] >> 32 & 0x7fff;

	(void)context;
	if ((words[0] & 0xf) != 2 || !(words[0] & FX_STRING_CATEGORY))
		return;
	cr_assert_eq(words[0] >> 16 & 0xffff, 0);
	strncat(told, (const char *)&words[1], length);
	if (memchr(&words[1], 0, length))
		strcat(told, "=");
	strcat(told, " ");
}

static const char *known(void)
{
	told[0] = 0;
	fm_each_durable(&m, collect, NULL);
	return told;
}

Test(category, what_is_known_is_told_once)
{
	char description[FX_CATEGORY_NAME_MAX * 5];

	cr_assert_str_eq(known(), "");
	fx_category_know("render", NULL);
	fx_category_know("render", NULL);
	fx_category_know("", NULL);
	cr_assert_str_eq(known(), "render ");
	memset(description, 'd', sizeof description - 1);
	description[sizeof description - 1] = 0;
	fx_category_know("net", description);
	cr_assert_str_eq(known(), "render net= ");
}

/* An event has made it known before what describes it was loaded. */
Test(category, a_description_that_comes_later_is_told)
{
	pid_t pid;
	int status;

	fx_category_know("render", NULL);
	cr_assert(fx_category_is_news("render", "frames"));
	cr_assert(!fx_category_is_news("render", NULL));
	fx_category_know("render", "frames");
	fx_category_know("render", "another");
	cr_assert(!fx_category_is_news("render", "another"));
	cr_assert(fx_category_is_news("net", NULL));
	cr_assert_str_eq(known(), "render render= ");
	pid = fork();
	if (pid == 0) {
		start();
		_exit(strcmp(known(), "render= ") != 0);
	}
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert_eq(status, 0);
}

Test(category, a_forked_child_says_it_again)
{
	pid_t pid;
	int status;

	fx_category_know("render", NULL);
	pid = fork();
	if (pid == 0) {
		start(); /* attaches to a buffer of its own */
		_exit(strcmp(known(), "render ") != 0);
	}
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert_eq(status, 0);
}

Test(category, more_than_the_table_holds_harm_nobody)
{
	static char names[FX_KNOWN_MAX + 8][16];

	for (unsigned i = 0; i < FX_KNOWN_MAX + 8; i++) {
		sprintf(names[i], "c%u", i);
		fx_category_know(names[i], NULL);
	}
	cr_assert_not_null(strstr(known(), "c0 c1 c2 "));
}
