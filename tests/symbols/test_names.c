/* SPDX-License-Identifier: MIT */
/* What is shown for a symbol: demangling, cutting, and what is not text. */
#include "symbols/demangle.h"
#include "symbols/symbols.h"
#include "symbols/text.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *demangled(const char *symbol)
{
	static char name[FX_SYMBOL_NAME_MAX + 1];
	size_t length = fx_demangle(symbol, name);
	cr_expect_eq(length, strlen(name));
	return name;
}

static const struct {
	const char *symbol;
	const char *name;
} known[] = {
    /* C */
    {"main", "main"},
    {"_start", "_start"},
    {"_Z", "_Z"},
    {"_R", "_R"},
    {"i", "i"},
    {"compute.constprop.0", "compute.constprop.0"},
    {"compute.isra.0.part.1.cold", "compute.isra.0.part.1.cold"},
    {"compute.llvm.1234567890", "compute"},
    {"compute.llvm.x1", "compute.llvm.x1"},
    {"compute.llvm.", "compute.llvm."},
    {".llvm.1", ".llvm.1"},
    {"memcpy@@GLIBC_2.14", "memcpy"},
    {"memcpy@GLIBC_2.2.5", "memcpy"},
    {"@odd", "@odd"},
    /* C++ */
    {"_ZN3foo3barEi", "foo::bar(int)"},
    {"_ZNSt6vectorIiSaIiEE9push_backEOi",
     "std::vector<int, std::allocator<int> >::push_back(int&&)"},
    {"_ZN3FooC1Ev", "Foo::Foo()"},
    {"_ZN3FooD0Ev", "Foo::~Foo()"},
    {"_ZZ4mainENKUlvE_clEv", "main::{lambda()#1}::operator()() const"},
    {"_ZThn16_N3Foo3barEv", "non-virtual thunk to Foo::bar()"},
    {"_Z3foov.cold", "foo() [clone .cold]"},
    {"_Z3fooi.constprop.0", "foo(int) [clone .constprop.0]"},
    {"_Z3foov.llvm.123", "foo()"},
    {"_Z3foov@@VERS_1", "foo()"},
    {"_Z3fo", "_Z3fo"},
    /* Rust, legacy: the hash goes */
    {"_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", "core::fmt::Formatter::pad"},
    {"_ZN71_$LT$Test$u20$$u2b$$u20$$u27$static$u20$as$u20$foo..Bar$LT$Test$GT$$GT$"
     "3bar17h930b740aa94f1d3aE",
     "<Test + 'static as foo::Bar<Test>>::bar"},
    /* Rust, v0 */
    {"_RNvC6_123foo3bar", "123foo::bar"},
    {"_RNvNtNtCs1234_7mycrate3foo3bar3baz", "mycrate::foo::bar::baz"},
    {"_RNCNvCs1234_7mycrate4mains_0", "mycrate::main::{closure#1}"},
    {"_RNvMCs1234_7mycrateNtB2_3Foo3bar", "<mycrate::Foo>::bar"},
    /* D */
    {"_Dmain", "D main"},
    {"_D3app4core5applyFPFiZiDFNfidZiZi",
     "app.core.apply(int function(int), int delegate(int, double))"},
    {"_D3app4core4mainFZ5innerMFiZ6deeperMFNaNbNiNfaZi", "app.core.main().inner(int).deeper(char)"},
    {"_D3app4core5Point3sumMxFiZi", "app.core.Point.sum(int) const"},
    {"_D3app4core5Point6__dtorMFZv", "app.core.Point.~this()"},
    {"_D3app4core5Shape6__ctorMFiZCQBbQBaQy", "app.core.Shape.this(int)"},
    {"_D3app4core5Shape4areaMFKSQyQw5PointJiLiZi",
     "app.core.Shape.area(ref app.core.Point, out int, lazy int)"},
    {"_D3app4core5Shape4makeFAyaAiHQgiZv",
     "app.core.Shape.make(immutable(char)[], int[], int[immutable(char)[]])"},
    {"_D3app4core__T6HolderTiVii3Z4keepFG3iZv", "app.core.Holder!(int, 3).keep(int[3])"},
    {"_D3app4core__T4variTiTAyaTdZQoFNfiQmdZv",
     "app.core.vari!(int, immutable(char)[], double).vari(int, immutable(char)[], double)"},
    {"_D3std6digest3sha__T3SHAVki512Vki160ZQr3putMFNaNbNiNeMAxhXv",
     "std.digest.sha.SHA!(512u, 160u).SHA.put(scope const(ubyte)[]...)"},
    {"_D3std10functional__T6safeOpVAyaa1_3cZ__TQuTymTmZQBcFNaNbNiNfKymKmZb",
     "std.functional.safeOp!(\"<\").safeOp!(immutable(ulong), ulong).safeOp(ref "
     "immutable(ulong), ref ulong)"},
    {"_D3std3uni__T5StackTkZQj3topMFNaNbNcNdNiNfZk.part.0",
     "std.uni.Stack!(uint).Stack.top() [clone .part.0]"},
    {"_D3std11concurrency14FiberScheduler6createMFNbDFZvZ4wrapMQk",
     "std.concurrency.FiberScheduler.create(void delegate()).wrap()"},
    {"_D3app4core5Shape6__vtblZ", "app.core.Shape.__vtbl"},
    /* C again */
    {"_D", "_D"},
    {"_Dynamic", "_Dynamic"},
    {"_D2ab", "_D2ab"},
    {"_D1abc", "_D1abc"},
    {"_D4core", "_D4core"},
    {"_D3appQa", "_D3appQa"},
    /* OCaml: the number that tells values of one name apart goes, but where there is no name */
    {"camlStdlib__List__map_236", "Stdlib.List.map"},
    {"camlFoo__fib_81", "Foo.fib"},
    {"camlFoo__my__own_7", "Foo.my__own"},
    {"camlFoo__prime$27_88", "Foo.prime'"},
    {"camlFoo__$5e$5e$5e_83", "Foo.^^^"},
    {"camlStdlib__$40_197", "Stdlib.@"},
    {"camlFoo__fun_172", "Foo.fun_172"},
    {"camlFoo__f_12", "Foo.f"},
    {"camlFoo__entry", "Foo.entry"},
    {"camlFoo.fib_81", "Foo.fib"},
    {"camlFoo__a$00b_3", "Foo.a$00b"},
    {"camlFoo__a$4", "Foo.a$4"},
    {"camlFoo", "camlFoo"},
    {"camlFoo__", "camlFoo__"},
    {"camlFoo__Bar", "camlFoo__Bar"},
    {"caml_alloc_2", "caml_alloc_2"},
    {"camlidl_free", "camlidl_free"},
    {"caml", "caml"},
};

Test(names, known_symbols)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		cr_expect_str_eq(demangled(known[i].symbol), known[i].name, "%s: %s",
				 known[i].symbol, demangled(known[i].symbol));
}

static char *repeated(const char *begin, const char *part, size_t times, const char *end)
{
	char *text = malloc(strlen(begin) + times * strlen(part) + strlen(end) + 1);
	cr_assert_not_null(text);
	char *to = stpcpy(text, begin);
	while (times--)
		to = stpcpy(to, part);
	stpcpy(to, end);
	return text;
}

Test(names, long_plain_names_are_cut)
{
	char *symbol = repeated("", "x", 5000, "");
	const char *name = demangled(symbol);
	cr_expect_eq(strlen(name), FX_SYMBOL_NAME_MAX);
	cr_expect_eq(strncmp(name + FX_SYMBOL_NAME_MAX - 13, "x…#", 5), 0, "%s", name);
	symbol[FX_SYMBOL_NAME_MAX] = '\0';
	cr_expect_str_eq(demangled(symbol), symbol);
	free(symbol);
}

/* A symbol of 2 KiB, as templates have: libiberty's own limit would leave it mangled. */
Test(names, long_symbols_are_demangled)
{
	char *symbol = repeated("_ZN3fooIJ", "i", 2000, "EE3barEv");
	const char *name = demangled(symbol);
	cr_expect_eq(strncmp(name, "foo<int, int, int, ", 19), 0, "%.40s", name);
	cr_expect_eq(strlen(name), FX_SYMBOL_NAME_MAX);
	free(symbol);
}

/* Each pair holds two of the one before: 2^60 parts, were it written out. */
Test(names, exploding_symbols_are_cut, .timeout = 10)
{
	char symbol[2048] = "_Z1fSt4pairIiiE";
	size_t length = strlen(symbol);
	for (int i = 0; i < 60; i++) {
		static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
		char last[8];
		if (i < 36)
			snprintf(last, sizeof(last), "S%c_", digits[i]);
		else
			snprintf(last, sizeof(last), "S1%c_", digits[i - 36]);
		length += (size_t)snprintf(symbol + length, sizeof(symbol) - length,
					   "St4pairI%s%sE", last, last);
	}
	const char *name = demangled(symbol);
	cr_expect_eq(strncmp(name, "f(std::pair<int, int>, std::pair<", 33), 0, "%.80s", name);
	cr_expect_eq(strlen(name), FX_SYMBOL_NAME_MAX);
}

static void *demangle_nested(void *symbol)
{
	char name[FX_SYMBOL_NAME_MAX + 1];
	fx_demangle(symbol, name);
	return NULL;
}

/* The deepest symbols of every kind must do with the stack that the header promises. */
Test(names, nested_symbols_keep_within_the_stack)
{
	static const char *const parts[][3] = {
	    {"_Z1f", "P", "i"},	      {"_Z1f", "FvP", "i"},	   {"_Z1f", "M1A", "i"},
	    {"_Z1fI", "N1AI", "i"},   {"_Z1fIXng", "ng", "i"},	   {"_Z1f", "1AI", "i"},
	    {"_Z1f", "A1_", "i"},     {"_ZN", "1A", "1fEv"},	   {"_RNv", "Nv", "C1a1b"},
	    {"_RINvC1a1b", "R", "l"}, {"_RINvC1a1b", "FR", "l"},   {"_D1aF", "A", "iZi"},
	    {"_D1aF", "S1aF", "iZi"}, {"_D", "__T", "1aZZ"},	   {"_D1aF", "Qb", "Zi"},
	    {"_D1aF", "DFDF", "iZi"}, {"_D1aFiH", "iHQbQd", "Zi"},
	};
	pthread_attr_t attributes;
	pthread_attr_init(&attributes);
	cr_assert_eq(pthread_attr_setstacksize(&attributes, FX_SYMBOL_STACK), 0);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		size_t fixed = strlen(parts[i][0]) + strlen(parts[i][2]);
		char *symbol =
		    repeated(parts[i][0], parts[i][1],
			     (FX_DEMANGLE_MAX - fixed) / strlen(parts[i][1]), parts[i][2]);
		pthread_t thread;
		cr_assert_eq(pthread_create(&thread, &attributes, demangle_nested, symbol), 0);
		cr_assert_eq(pthread_join(thread, NULL), 0);
		free(symbol);
	}
}

static const char *copied(const char *text, size_t limit)
{
	static char buffer[64];
	memset(buffer, '#', sizeof(buffer));
	size_t length = fx_text_copy(buffer, limit, text, strlen(text));
	cr_expect_leq(length, limit);
	cr_expect_eq(length, strlen(buffer));
	return buffer;
}

Test(text, well_formed_is_kept)
{
	cr_expect_str_eq(copied("plain", 5), "plain");
	cr_expect_str_eq(copied("größe 時 😀", 32), "größe 時 😀");
	cr_expect_str_eq(copied("", 16), "");
}

Test(text, ill_formed_is_escaped)
{
	cr_expect_str_eq(copied("a\x01\x7f\nb", 32), "a\\x01\\x7F\\x0Ab");
	cr_expect_str_eq(copied("\xe9t\xc3", 32), "\\xE9t\\xC3");
	cr_expect_str_eq(copied("\xc2\x85", 32), "\\xC2\\x85"); /* a control character */
}

Test(text, cut_and_marked)
{
	char a[64], b[64];

	strcpy(a, copied("abcdefghijklmnopqrstuvwx", 16));
	strcpy(b, copied("abcdefghijklmnopqrstuvwy", 16));
	cr_expect_eq(strncmp(a, "abcd…#", 8), 0, "%s", a);
	cr_expect_eq(strncmp(a, b, 8), 0, "%s", b);
	cr_expect_str_neq(a, b);
}

Test(text, formats)
{
	char text[FX_SYMBOL_TEXT_MAX];
	struct fx_symbol symbol = {
	    .kind = FX_SYMBOL_NAMED, .name = "f(int)", .module = "prog", .offset = 0};
	cr_expect_eq(fx_symbol_format(&symbol, text, sizeof(text)), 6);
	cr_expect_str_eq(text, "f(int)");
	symbol.offset = 0x1f;
	fx_symbol_format(&symbol, text, sizeof(text));
	cr_expect_str_eq(text, "f(int)+0x1f");
	symbol =
	    (struct fx_symbol){.kind = FX_SYMBOL_IN_MODULE, .module = "prog", .offset = 0x401136};
	fx_symbol_format(&symbol, text, sizeof(text));
	cr_expect_str_eq(text, "prog+0x401136");
	symbol = (struct fx_symbol){.kind = FX_SYMBOL_UNKNOWN, .offset = 0x7f0123456789};
	fx_symbol_format(&symbol, text, sizeof(text));
	cr_expect_str_eq(text, "0x7f0123456789");
	cr_expect_eq(fx_symbol_format(&symbol, text, 5), 4);
	cr_expect_str_eq(text, "0x7f");
	cr_expect_eq(fx_symbol_format(&symbol, text, 0), 0);
}
