/* SPDX-License-Identifier: MIT */
/* The table of options: values good and bad, the environment, categories. */
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "client/categories.h"
#include "client/options.h"

static struct fx_options options;

static void set_up(void)
{
	fx_options_init(&options);
}

static void clean_up(void)
{
	fx_options_destroy(&options);
}

TestSuite(options, .init = set_up, .fini = clean_up);

static const char *set(int key, const char *value)
{
	bool known;
	const char *wrong = fx_options_set(&options, key, value, &known);

	cr_assert(known);
	return wrong;
}

#define expect_good(key, value) cr_assert_null(set((key), (value)), "%s", (value))
#define expect_bad(key, value)	cr_assert_not_null(set((key), (value)), "%s", (value))

Test(options, sizes)
{
	expect_good('b', "64M");
	cr_assert_eq(options.config.buffer_size, 64ull << 20);
	expect_good('b', "4K");
	expect_good('b', "1.5M");
	cr_assert_eq(options.config.buffer_size, 3ull << 19);
	expect_good('b', "4G");
	expect_bad('b', "5G");
	expect_bad('b', "4095");
	expect_bad('b', "64MB");
	expect_bad('b', "-1M");
	expect_bad('b', " 1M");
	expect_bad('b', "");
	expect_bad('b', "nan");
	expect_bad('b', "0x1000000");
}

/* Nothing, a page less one byte, a page, a page and one byte, the largest, and beyond. */
Test(options, sizes_at_the_edges)
{
	static const char *const beyond[] = {"0", "1", "4095", "4294971392", "4294967297", "8G"};
	static const char *const odd[] = {"4097", "8191", "4100K", "1.0001M", "4294967295"};

	expect_good('b', "4096");
	cr_assert_eq(options.config.buffer_size, 4096);
	expect_good('b', "4294967296");
	cr_assert_eq(options.config.buffer_size, FX_BUFFER_MAX);
	for (size_t i = 0; i < sizeof(beyond) / sizeof(beyond[0]); i++)
		cr_assert_not_null(strstr(set('b', beyond[i]), "between 4K and 4G"), "%s",
				   beyond[i]);
	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
		if (strcmp(odd[i], "4100K") == 0) {
			expect_good('b', odd[i]); /* 1025 pages */
			continue;
		}
		cr_assert_not_null(strstr(set('b', odd[i]), "multiple of 4K"), "%s", odd[i]);
	}
	expect_bad(OPTION_PROVIDER_BUFFER, "cc1=4097");
	cr_assert_eq(options.config.buffer_size, 4100 << 10, "a bad one changes nothing");
}

Test(options, times)
{
	expect_good('t', "10us");
	cr_assert_eq(options.config.min_duration_ns, 10000);
	expect_good('t', "1.5s");
	cr_assert_eq(options.config.min_duration_ns, 1500000000);
	expect_good('t', "0ns");
	expect_good('t', "1.5min");
	cr_assert_eq(options.config.min_duration_ns, 90000000000);
	expect_good('t', "2h");
	cr_assert_eq(options.config.min_duration_ns, 7200000000000);
	expect_bad('t', "10");
	expect_bad('t', "10m");
	expect_bad('t', "us");
	expect_bad('t', "1e300s");
	expect_bad(OPTION_DURATION, "0s");
	expect_good(OPTION_DURATION, "2s");
}

Test(options, words)
{
	expect_good('m', "oneshot");
	cr_assert_eq(options.config.mode, FX_MODE_ONESHOT);
	expect_good('m', "s");
	cr_assert_eq(options.config.mode, FX_MODE_STREAMING);
	expect_good('m', "circular");
	cr_assert_eq(options.config.mode, FX_MODE_CIRCULAR);
	expect_bad('m', "ring");
	expect_good(OPTION_ON_FULL, "block");
	expect_bad(OPTION_ON_FULL, "Block");
	expect_good(OPTION_RECORDS, "pairs");
	cr_assert(options.config.pairs);
	expect_bad(OPTION_RECORDS, "");
	expect_good('D', "503");
	expect_bad('D', "0");
	expect_bad('D', "504");
	expect_bad('o', "");
	cr_assert_null(set(OPTION_NO_FOLLOW, NULL));
	cr_assert_not(options.config.follow);
}

Test(options, sizes_by_name)
{
	expect_good(OPTION_PROVIDER_BUFFER, "cc1=1M");
	expect_good(OPTION_PROVIDER_BUFFER, "a=b=2M");
	expect_bad(OPTION_PROVIDER_BUFFER, "cc1");
	expect_bad(OPTION_PROVIDER_BUFFER, "=1M");
	expect_bad(OPTION_PROVIDER_BUFFER, "cc1=");
	cr_assert_eq(options.config.size_count, 2);
	cr_assert_str_eq(options.config.sizes[1].name, "a=b");
	cr_assert_eq(options.config.sizes[1].size, 2 << 20);
}

Test(options, what_does_not_fit_together)
{
	cr_assert_null(fx_options_check(&options));
	expect_good(OPTION_ON_FULL, "block");
	cr_assert_null(fx_options_check(&options));
	expect_good('m', "oneshot");
	cr_assert_not_null(fx_options_check(&options));
}

/* What an option would not change is refused only where the command line asks for it. */
Test(options, what_has_no_effect)
{
	expect_good('c', "syscall");
	options.config.min_duration_ns = 1;
	cr_assert_null(fx_options_check(&options), "as of a variable");
	expect_good('t', "1ms");
	cr_assert_not_null(strstr(fx_options_check(&options), "--categories leaves that out"));
	expect_good('c', "cc1/function");
	cr_assert_null(fx_options_check(&options), "some process may record it");
}

Test(options, lists_that_add_up)
{
	const char *variable;

	setenv("FXTRACE_CATEGORIES", "malloc", 1);
	cr_assert_null(fx_options_environment(&options, &variable));
	cr_assert_str_eq(options.config.words, "malloc");
	expect_good('c', "syscall");
	cr_assert_str_eq(options.config.words, "syscall", "in place of the variable's");
	expect_good('c', "heap,dl");
	expect_good('c', "-dl");
	cr_assert_str_eq(options.config.words, "syscall,heap,dl,-dl");
	cr_assert_eq(options.config.categories, 0);
	expect_bad('c', "*x");
}

Test(options, a_list_that_takes_away_first)
{
	expect_good('c', "-heap");
	expect_good('c', "malloc");
	cr_assert_eq(options.config.categories, fx_categories_default());
	cr_assert_str_eq(options.config.words, "-heap,malloc");
}

Test(options, the_command_line_is_louder_than_the_environment)
{
	const char *variable;

	setenv("FXTRACE_QUIET", "1", 1);
	cr_assert_null(fx_options_environment(&options, &variable));
	cr_assert_null(set('v', NULL));
	cr_assert_not(options.quiet);
	cr_assert(options.config.verbose);
	cr_assert_null(fx_options_check(&options));
	cr_assert_null(set('q', NULL));
	cr_assert_not_null(fx_options_check(&options));
}

Test(options, an_unknown_key)
{
	bool known = true;

	fx_options_set(&options, 'Z', "x", &known);
	cr_assert_not(known);
}

Test(options, the_environment)
{
	const char *variable;

	setenv("FXTRACE_BUFFER_SIZE", "1M", 1);
	setenv("FXTRACE_QUIET", "1", 1);
	setenv("FXTRACE_NO_FOLLOW", "0", 1);
	setenv("FXTRACE_OUTPUT", "", 1);
	cr_assert_null(fx_options_environment(&options, &variable));
	cr_assert_eq(options.config.buffer_size, 1 << 20);
	cr_assert(options.quiet);
	cr_assert(options.config.follow);
	cr_assert_str_eq(options.config.output, FX_DEFAULT_OUTPUT);
	setenv("FXTRACE_MAX_DEPTH", "deep", 1);
	cr_assert_not_null(fx_options_environment(&options, &variable));
	cr_assert_str_eq(variable, "FXTRACE_MAX_DEPTH");
}
