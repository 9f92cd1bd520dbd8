/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "measure/spec.h"

static struct fx_spec parsed(const char *text)
{
	struct fx_spec_fault fault;
	struct fx_spec spec;
	int r = fx_spec_parse(&spec, text, strlen(text), &fault);

	cr_assert_eq(r, 0, "%s: %u:%u: %s", text, fault.line, fault.column, fault.what);
	return spec;
}

static void expect_fault(const char *text, unsigned line, unsigned column, const char *what)
{
	struct fx_spec_fault fault;
	struct fx_spec spec;
	int r = fx_spec_parse(&spec, text, strlen(text), &fault);

	cr_assert_eq(r, -EINVAL, "%s", text);
	cr_assert(fault.line == line && fault.column == column && strstr(fault.what, what),
		  "%s: %u:%u: %s", text, fault.line, fault.column, fault.what);
	fx_spec_free(&spec);
}

Test(parser, a_file)
{
	struct fx_spec spec =
	    parsed("# requests\n"
		   "requests: duration of \"handle*\"   # all of them\n"
		   "\n"
		   "    where arg.status >= 500 and not has arg.\"a b\"\n"
		   "\tlimit p99 < 20 ms, max<=1s\r\n"
		   "count of \"open\"\n"
		   "\"a \\\"name\\\"\": value arg.size of \"write\" limit sum < 64K\n"
		   "time from end of \"send\" to begin of \"recv\" by arg.id, process");
	const struct fx_measurement *m = spec.items.items;

	cr_assert_eq(spec.items.count, 4);
	cr_assert_str_eq(m[0].name, "requests");
	cr_assert_eq(m[0].kind, FX_MEASURE_DURATION);
	cr_assert_str_eq(m[0].from.pattern, "handle*");
	cr_assert_eq(m[0].from.nodes.count, 4);
	cr_assert_eq(m[0].from.nodes.items[m[0].from.root].kind, FX_CONDITION_AND);
	cr_assert_str_eq(m[0].from.nodes.items[1].asked.argument, "a b");
	cr_assert_eq(m[0].from.nodes.items[1].relation, FX_OPERATOR_HAS);
	cr_assert_eq(m[0].limits.count, 2);
	cr_assert_eq(m[0].limits.items[0].statistic, FX_STATISTIC_PERCENTILE);
	cr_assert_float_eq(m[0].limits.items[0].percent, 99, 0);
	cr_assert_float_eq((double)m[0].limits.items[0].value.number, 20e6, 0);
	cr_assert_str_eq(m[0].limits.items[0].text, "p99 < 20 ms");
	cr_assert_eq(m[0].limits.items[1].relation, FX_OPERATOR_AT_MOST);
	cr_assert_float_eq((double)m[0].limits.items[1].value.number, 1e9, 0);
	cr_assert_str_eq(m[1].name, "count of \"open\"");
	cr_assert_eq(m[1].kind, FX_MEASURE_COUNT);
	cr_assert_str_eq(m[2].name, "a \"name\"");
	cr_assert_str_eq(m[2].argument, "size");
	cr_assert_float_eq((double)m[2].limits.items[0].value.number, 65536, 0);
	cr_assert(m[3].from.at_end && !m[3].to.at_end);
	cr_assert_eq(m[3].keys.count, 2);
	cr_assert_str_eq(m[3].keys.items[0].argument, "id");
	cr_assert_eq(m[3].keys.items[1].field, FX_FIELD_PROCESS);
	fx_spec_free(&spec);
}

/* `and' binds closer than `or'; parentheses do what they say. */
Test(parser, conditions)
{
	struct fx_spec spec = parsed("count of \"x\" where tid = 1 or tid = 2 and tid = 3");
	const struct fx_selector *from = &spec.items.items[0].from;

	cr_assert_eq(from->nodes.items[from->root].kind, FX_CONDITION_OR);
	fx_spec_free(&spec);
	spec = parsed("count of \"x\" where (tid = 1 or tid = 2) and not name ~ \"y*\"");
	from = &spec.items.items[0].from;
	cr_assert_eq(from->nodes.items[from->root].kind, FX_CONDITION_AND);
	cr_assert_eq(from->nodes.items[from->nodes.items[from->root].right].kind, FX_CONDITION_NOT);
	fx_spec_free(&spec);
}

Test(parser, numbers)
{
	struct fx_spec spec = parsed("count of \"x\" where arg.a = 18446744073709551615 and "
				     "arg.a = -0x10 and arg.a = 1.5e3 and duration > 2min");
	const struct fx_condition *nodes = spec.items.items[0].from.nodes.items;

	cr_assert(nodes[0].literal.number == 18446744073709551615.0L);
	cr_assert(nodes[1].literal.number == -16);
	cr_assert(nodes[3].literal.number == 1500);
	cr_assert(nodes[5].literal.number == 120e9L);
	fx_spec_free(&spec);
}

Test(parser, faults_say_where_and_what)
{
	expect_fault("", 1, 1, "no measurement");
	expect_fault("# nothing\n\n", 3, 1, "no measurement");
	expect_fault("duration off \"x\"", 1, 10, "expected `of', not off");
	expect_fault("a: count of \"x\"\na: count of \"y\"", 2, 1,
		     "a second measurement of this name");
	expect_fault("length of \"x\"", 1, 1, "expected `duration of'");
	expect_fault("count of x", 1, 10, "expected the name of events");
	expect_fault("count of \"x", 1, 10, "closing quotation mark");
	expect_fault("count of", 1, 9, "not the end of the measurement");
	expect_fault("count of\ncount of \"x\"", 1, 9, "not the end of the measurement");
	expect_fault("count of \"x\" when tid = 1", 1, 14, "expected `where', `limit'");
	expect_fault("count of \"x\" where tid", 1, 23, "expected one of = != < <= > >= ~ !~");
	expect_fault("count of \"x\" where colour = 1", 1, 20, "expected arg.NAME, name");
	expect_fault("count of \"x\" where tid = \"1\"", 1, 26, "expected a number");
	expect_fault("count of \"x\" where name = 1", 1, 27, "expected a text");
	expect_fault("count of \"x\" where name < \"y\"", 1, 27, "expected a number behind <");
	expect_fault("count of \"x\" where tid ~ 1", 1, 26, "expected a pattern");
	expect_fault("count of \"x\" where duration > 5", 1, 31, "expected a time with its unit");
	expect_fault("count of \"x\" where arg.a > 5ms", 1, 28, "nobody knows the unit");
	expect_fault("count of \"x\" where arg.a > 5 bananas", 1, 30, "expected");
	expect_fault("count of \"x\" where arg.a > 5bananas", 1, 28,
		     "expected a number, with a unit");
	expect_fault("count of \"x\" where (tid = 1", 1, 28, "expected `)'");
	expect_fault("count of \"x\" where has tid", 1, 24, "expected arg.NAME");
	expect_fault("count of \"x\" limit sum < 5", 1, 20, "expected `count'");
	expect_fault("count of \"x\" limit count ~ 5", 1, 26, "expected one of < <= > >= = !=");
	expect_fault("count of \"x\" limit count < 5ms", 1, 28, "without a unit of time");
	expect_fault("duration of \"x\" limit p99 < 5", 1, 29, "a time with its unit");
	expect_fault("duration of \"x\" limit p101 < 5ms", 1, 23, "a percentile");
	expect_fault("duration of \"x\" limit p0 < 5ms", 1, 23, "a percentile");
	expect_fault("duration of \"x\" limit max < 5ms;", 1, 32, "expected `,' or the end");
	expect_fault("time from \"x\" to \"y\" by at", 1, 25, "have in common");
	expect_fault("time from \"x\" to \"y\" by "
		     "pid,pid,pid,pid,pid,pid,pid,pid,pid,pid,pid,pid,pid,pid,pid,pid,tid",
		     1, 89, "more than 16 keys");
	expect_fault("value size of \"x\"", 1, 7, "expected arg.NAME");
	expect_fault("time from \"x\" until \"y\"", 1, 15, "expected `to', not until");
}

/* What is untrusted is not printed as it is, nor endlessly. */
Test(parser, faults_are_clean)
{
	char text[2000];

	expect_fault("count of \033[31m", 1, 10, "not \\x1B");
	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	expect_fault(text, 1, 1, "...");
	memset(text, '7', sizeof(text) - 1);
	memcpy(text, "count of \"x\" limit count < ", 27);
	expect_fault(text, 1, 28, "too many digits");
}

static void expect_repeated_fault(const char *begin, const char *more, int times, const char *what)
{
	char *text = calloc(1, strlen(begin) + strlen(more) * (size_t)times + 1);

	strcpy(text, begin);
	for (int i = 0; i < times; i++)
		strcat(text, more);
	expect_fault(text, 1,
		     (unsigned)(strlen(begin) + strlen(more) * (strstr(what, "63") ? 63 : 65)) + 1,
		     what);
	free(text);
}

Test(parser, depth_and_size_are_bounded)
{
	expect_repeated_fault("count of \"x\" where ", "(", 200, "nested too deep");
	expect_repeated_fault("count of \"x\" where ", "not ", 200, "nested too deep");
	expect_repeated_fault("count of \"x\" where ", "tid=1 or ", 200,
			      "more than 63 comparisons");
}
