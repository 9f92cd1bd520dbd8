/* SPDX-License-Identifier: MIT */
/* --categories: lists, and groups of two files. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "client/categories.h"
#include "client/groups.h"
#include "manager/settings/wanted.h"

static char place[] = "/tmp/fxtrace-categories.XXXXXX";

static void begin(void)
{
	char config[64];

	cr_assert_not_null(mkdtemp(place));
	cr_assert_eq(chdir(place), 0);
	snprintf(config, sizeof config, "%s/config", place);
	mkdir("config", 0700);
	mkdir("config/fxtrace", 0700);
	mkdir("etc", 0700);
	mkdir("etc/fxtrace", 0700);
	setenv("XDG_CONFIG_HOME", config, 1);
	setenv("HOME", "/nonexistent", 1);
}

static void finish(void)
{
	unlink("config/fxtrace/categories");
	unlink("etc/fxtrace/categories");
	rmdir("config/fxtrace");
	rmdir("config");
	rmdir("etc/fxtrace");
	rmdir("etc");
	cr_assert_eq(rmdir(place), 0);
}

TestSuite(categories, .init = begin, .fini = finish, .timeout = 30);

static void file_write(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	cr_assert_not_null(f);
	fputs(text, f);
	fclose(f);
}

#define USER   "config/fxtrace/categories"
#define SYSTEM "etc/fxtrace/categories"

static char words[FX_CATEGORY_LIST_MAX];

static void expect(const char *list, uint32_t want_bits, const char *want)
{
	uint32_t bits = 0;
	const char *wrong = fx_categories_parse(list, &bits, words);

	cr_assert_null(wrong, "%s: %s", list, wrong);
	cr_assert_eq(bits, want_bits, "%s: %x", list, bits);
	cr_assert_str_eq(words, want, "%s: %s", list, words);
}

static void expect_wrong(const char *list, const char *why)
{
	uint32_t bits;
	const char *wrong = fx_categories_parse(list, &bits, words);

	cr_assert_not_null(wrong, "'%s'", list);
	cr_assert_not_null(strstr(wrong, why), "'%s': %s", list, wrong);
	cr_assert_null(strchr(wrong, '\n'), "%s", wrong);
}

/* What a list comes to for any process. */
static uint32_t bits_of(const char *list)
{
	static char own[FX_WANTED_SIZE];
	struct fx_session_config config = {.words = words};

	cr_assert_null(fx_categories_parse(list, &config.categories, words));
	return fx_wanted_write(&config, "program", own);
}

Test(categories, lists)
{
	uint32_t by_default = fx_categories_default();

	cr_assert(by_default & FX_CAT_FUNCTION);
	cr_assert_not(by_default & (FX_CAT_MALLOC | FX_CAT_PTHREAD_ALL | FX_CAT_STDIO_ALL));
	cr_assert_eq(bits_of("function,malloc"), FX_CAT_FUNCTION | FX_CAT_MALLOC);
	cr_assert_eq(bits_of("#default"), by_default);
	cr_assert_eq(bits_of("#default,malloc"), by_default | FX_CAT_MALLOC);
	cr_assert_eq(bits_of("-heap"), by_default & ~(uint32_t)FX_CAT_HEAP);
	cr_assert_eq(bits_of("#default,-p*"),
		     by_default & ~(uint32_t)(FX_CAT_PTHREAD | FX_CAT_PROCESS));
	cr_assert_eq(bits_of("*,-#default"), FX_CAT_MALLOC | FX_CAT_PTHREAD_ALL | FX_CAT_STDIO_ALL);
	cr_assert_eq(bits_of(fx_categories_default_list()), by_default);
	expect("-heap", by_default, "-heap");
	expect("function,render,app/net*", 0, "function,render,app/net*");
}

Test(categories, words_that_are_none)
{
	expect_wrong("", "empty");
	expect_wrong(",", "empty");
	expect_wrong("function,", "empty");
	expect_wrong("-", "empty");
	expect_wrong("function malloc", "'function malloc'");
	expect_wrong("a,b*c,d", "'b*c'");
	expect_wrong("#all", "'#all': no such group");
	expect_wrong("#", "'#': no such group");
	expect_wrong("app/#default", "app/#default");
}

Test(categories, more_words_than_there_is_room_for)
{
	char list[4 * (FX_WANTED_MAX + 2)] = "a";

	for (unsigned i = 0; i < FX_WANTED_MAX; i++)
		strcat(list, ",b");
	expect_wrong(list, "more than 100");
}

Test(categories, groups)
{
	file_write(USER, "# my own\n"
			 "\n"
			 "  graphics =\trender , gpu*,app/frame\n"
			 "io = syscall,-malloc, #graphics\n");
	expect("#graphics", 0, "render,gpu*,app/frame");
	expect("function,#io,x", 0, "function,syscall,-malloc,render,gpu*,app/frame,x");
	/* What a group takes away is not there to be taken away. */
	expect("-#io", fx_categories_default(), "-syscall,-render,-gpu*,-app/frame");
}

Test(categories, the_users_file_counts)
{
	file_write(SYSTEM, "a = one\nb = two\n");
	expect("#a,#b", 0, "one,two");
	file_write(USER, "a = three\n");
	expect("#a,#b", 0, "three,two");
}

Test(categories, the_usual_place_of_the_users_file)
{
	char home[64];

	unsetenv("XDG_CONFIG_HOME");
	snprintf(home, sizeof home, "%s/home", place);
	setenv("HOME", home, 1);
	mkdir("home", 0700);
	mkdir("home/.config", 0700);
	mkdir("home/.config/fxtrace", 0700);
	file_write("home/.config/fxtrace/categories", "a=one");
	expect("#a", 0, "one");
	unlink("home/.config/fxtrace/categories");
	rmdir("home/.config/fxtrace");
	rmdir("home/.config");
	rmdir("home");
}

Test(categories, files_that_are_wrong)
{
	static const struct {
		const char *text, *why;
	} files[] = {
	    {"a = x\nb\n", "categories:2: not NAME = LIST"},
	    {"a b = x\n", "categories:1: the name of a group"},
	    {"= x\n", "categories:1: the name of a group"},
	    {"a =\n", "categories:1: a word of the list is empty"},
	    {"a = x,,y\n", "categories:1: a word of the list is empty"},
	    {"a = x y\n", "categories:1: a name has a blank"},
	    {"a = x\n\na = y\n", "categories:3: this group stands here twice"},
	    {"default = x\n", "categories:1: this group is built in"},
	};

	for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
		file_write(USER, files[i].text);
		expect_wrong("#a", files[i].why);
	}
	/* Nobody looks at them without need. */
	expect("function", 0, "function");
	unlink(USER);
	mkdir(USER, 0700);
	expect_wrong("#a", "config/fxtrace/categories: ");
	rmdir(USER);
}

Test(categories, groups_that_contain_themselves)
{
	file_write(USER, "a = #b\nb = x,#a\nc = #nothing\n");
	expect_wrong("#a", "contains itself");
	expect_wrong("#c", "'#nothing': no such group");
}

Test(categories, groups_are_listed_by_name)
{
	struct fx_groups groups;

	file_write(USER, "zebra = x\napple = y\n");
	cr_assert_null(fx_groups_read(&groups, fx_categories_default_list()));
	cr_assert_eq(groups.count, 3);
	cr_assert_str_eq(groups.entries[0].name, "apple");
	cr_assert_eq(groups.entries[0].line, 2);
	cr_assert_str_eq(groups.entries[1].name, "default");
	cr_assert_null(groups.entries[1].path);
	cr_assert_str_eq(groups.entries[1].list, fx_categories_default_list());
	cr_assert_str_eq(groups.entries[2].name, "zebra");
	fx_groups_destroy(&groups);
}
