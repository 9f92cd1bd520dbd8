/* SPDX-License-Identifier: MIT */
/* Patterns of functions, and what is wanted of them without debug information. */
#include "symbols/patterns.h"

#include <criterion/criterion.h>
#include <string.h>

#include "symbols/recipes/wish.h"

static void expect_wish(const char *text, enum fx_wish_kind kind, unsigned index,
			enum fx_recipe_shape shape, unsigned size)
{
	const char *at = text;
	struct fx_wish wish;

	cr_assert(fx_wish_next(&at, &wish), "%s", text);
	cr_expect_eq(*at, 0, "%s: '%s' is left", text, at);
	cr_expect_eq(wish.kind, kind, "%s", text);
	cr_expect_eq(wish.index, index, "%s", text);
	cr_expect_eq(wish.shape, shape, "%s", text);
	cr_expect_eq(wish.size, size, "%s", text);
}

Test(wishes, one)
{
	expect_wish("arg1", FX_WISH_ARG, 0, FX_SHAPE_SIGNED, 8);
	expect_wish("arg12/i32", FX_WISH_ARG, 11, FX_SHAPE_SIGNED, 4);
	expect_wish("arg2/d", FX_WISH_ARG, 1, FX_SHAPE_SIGNED, 8);
	expect_wish("arg2/u8", FX_WISH_ARG, 1, FX_SHAPE_UNSIGNED, 1);
	expect_wish("arg2/x16", FX_WISH_ARG, 1, FX_SHAPE_UNSIGNED, 2);
	expect_wish("arg2/s", FX_WISH_ARG, 1, FX_SHAPE_TEXT, 8);
	expect_wish("arg2/S", FX_WISH_ARG, 1, FX_SHAPE_BYTES, 8);
	expect_wish("arg2/p", FX_WISH_ARG, 1, FX_SHAPE_POINTER, 8);
	expect_wish("arg2/c", FX_WISH_ARG, 1, FX_SHAPE_CHARACTER, 1);
	expect_wish("arg2/f32", FX_WISH_VECTOR, 1, FX_SHAPE_FLOAT, 4);
	expect_wish("fparg1", FX_WISH_VECTOR, 0, FX_SHAPE_FLOAT, 8);
	expect_wish("fparg3/32", FX_WISH_VECTOR, 2, FX_SHAPE_FLOAT, 4);
	expect_wish("retval", FX_WISH_RESULT, 0, FX_SHAPE_SIGNED, 8);
	expect_wish("retval/f", FX_WISH_RESULT, 0, FX_SHAPE_FLOAT, 8);
}

Test(wishes, lists)
{
	static const char *const good[] = {"arg1", "arg1,arg2", "arg1/s,fparg2/32,retval/i8"};
	static const char *const bad[] = {
	    "",		"arg",	     "arg0",	  "arg65",    "arg1,",	 ",arg1",
	    "arg1 ",	"arg1/",     "arg1/z",	  "arg1/i7",  "arg1/i",	 "arg1/s32",
	    "fparg1/8", "fparg1/x",  "retval1",	  "arg1x",    "arg1//i", "arg-1",
	    "arg1/f16", "retval/p8", "arg1/i32x", "arg1;arg2"};

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		cr_expect(fx_wishes_are_sound(good[i]), "%s", good[i]);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		if (strcmp(bad[i], "arg1/i") != 0)
			cr_expect_not(fx_wishes_are_sound(bad[i]), "%s", bad[i]);
	}
}

Test(patterns, lines)
{
	const char *list = "+a*\n-libz.so*:b\n(ns::f@arg1/s\n=m:g(int)@retval\n";
	struct fx_pattern p;

	cr_assert(fx_pattern_next(&list, &p));
	cr_expect_eq(p.sign, '+');
	cr_expect_str_eq(p.module, "");
	cr_expect_str_eq(p.name, "a*");
	cr_expect_null(p.specs);
	cr_assert(fx_pattern_next(&list, &p));
	cr_expect_str_eq(p.module, "libz.so*");
	cr_expect_str_eq(p.name, "b");
	cr_assert(fx_pattern_next(&list, &p));
	cr_expect_eq(p.sign, '(');
	cr_expect_str_eq(p.name, "ns::f");
	cr_expect_str_eq(p.specs, "arg1/s");
	cr_assert(fx_pattern_next(&list, &p));
	cr_expect_str_eq(p.module, "m");
	cr_expect_str_eq(p.name, "g(int)");
	cr_expect_str_eq(p.specs, "retval");
	cr_expect_not(fx_pattern_next(&list, &p));
	cr_expect(fx_patterns_have("+a\n(b\n", "(="));
	cr_expect_not(fx_patterns_have("+a\n-b\n", "(="));
	cr_expect_not(fx_patterns_have("", "(="));
}

static struct fx_pattern_verdict judge(const char *list, const char *name)
{
	const struct fx_pattern_subject f = {
	    .module = "m", .name = name, .source = "/src/net/sock.c", .size = 40};

	return fx_patterns_judge(list, &f);
}

Test(patterns, verdicts)
{
	struct fx_pattern_verdict v = judge(">a*+depth=3\n>ab\n+b\n+a+depth=2\n-c\n", "abc");

	cr_expect_eq(v.inside, 3);
	cr_expect_eq(v.kept, 0);
	cr_expect_not(v.chosen);
	cr_expect_not(v.out);
	cr_expect_not(v.spare);
	v = judge(">a*+depth=3\n>ab\n", "ab");
	cr_expect_eq(v.inside, FX_LEVELS_ALL);
	cr_expect(v.chosen);
	v = judge("+a+depth=2\n-a\n", "a");
	cr_expect_eq(v.kept, 2);
	cr_expect(v.out);
	cr_expect_not(v.spare);
	cr_expect_not(judge("+a+depth=2\n", "b").spare, "it may lie in one");
	cr_expect(judge("+a\n", "b").spare);
	cr_expect(judge("-@/src/net/?ock.c\n", "b").out);
	cr_expect(judge("-@sock.*\n", "b").out);
	cr_expect(judge("-@net/sock.c\n", "b").out);
	cr_expect(judge("-@net/*\n", "b").out);
	cr_expect_not(judge("-@et/sock.c\n", "b").out);
	cr_expect_not(judge("-@ock.c\n", "b").out);
	cr_expect_not(judge("-@n*\n", "b").out, "a name, and no folder");
	cr_expect(judge("#41\n", "b").out);
	cr_expect_not(judge("#40\n", "b").out);
	v = judge("~*=5\n~m:b=7000\n", "b");
	cr_expect(v.has_min);
	cr_expect_eq(v.min_ns, 7000);
	cr_expect_not(judge("~a=5\n", "b").has_min);
	v = judge("~operator===5\n", "operator==");
	cr_expect_eq(v.min_ns, 5);
}

Test(patterns, checks)
{
	cr_expect_null(fx_pattern_check('>', "a*+depth=3"));
	cr_expect_null(fx_pattern_check('+', "@*.c+depth=503"));
	cr_expect_null(fx_pattern_check('+', "operator+"));
	cr_expect_not_null(fx_pattern_check('+', "a+depth=0"));
	cr_expect_not_null(fx_pattern_check('+', "a+depth=504"));
	cr_expect_not_null(fx_pattern_check('+', "a+depth=x"));
	cr_expect_not_null(fx_pattern_check('+', "+depth=1"));
	cr_expect_not_null(fx_pattern_check('-', "a+depth=1"));
	cr_expect_not_null(fx_pattern_check('-', "@"));
	cr_expect_null(fx_pattern_check('+', "a*"));
	cr_expect_null(fx_pattern_check('(', "a*@arg1"));
	cr_expect_not_null(fx_pattern_check('(', "a*@"));
	cr_expect_not_null(fx_pattern_check('(', "@arg1"));
	cr_expect_not_null(fx_pattern_check('=', "m:@retval"));
	cr_expect_not_null(fx_pattern_check('+', ""));
	cr_expect_not_null(fx_pattern_check('+', "a\nb"));
}
