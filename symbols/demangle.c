/* SPDX-License-Identifier: MIT */
#include "symbols/demangle.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdbool.h>
#include <string.h>

#include "symbols/demangle-d.h"
#include "symbols/symbols.h"
#include "symbols/text.h"

#define LLVM   ".llvm."
#define DIGITS "0123456789"

/*
 * Takes what the demangler prints. A short symbol can stand for a name of any length, since mangled
 * parts refer to earlier ones; once the sink is full the demangler is therefore left by longjmp().
 * It holds no memory then, except for Rust identifiers beyond ASCII, whose buffer of a few hundred
 * bytes is lost.
 */
struct sink {
	jmp_buf full;
	size_t length;
	/* One more than a name may have, so that fx_text_copy() sees that it must cut. */
	char text[FX_SYMBOL_NAME_MAX + 1];
};

static void sink_take(const char *text, size_t size, void *opaque)
{
	struct sink *sink = opaque;
	size_t room = sizeof(sink->text) - sink->length;
	size_t taken = size < room ? size : room;

	memcpy(sink->text + sink->length, text, taken);
	sink->length += taken;
	if (taken < size)
		longjmp(sink->full, 1);
}

static bool demangle_rust(const char *symbol, struct sink *sink)
{
	if (setjmp(sink->full))
		return true;
	sink->length = 0;
	return rust_demangle_callback(symbol, DMGL_PARAMS | DMGL_ANSI, sink_take, sink);
}

static bool demangle_cxx(const char *symbol, struct sink *sink)
{
	if (setjmp(sink->full))
		return true;
	sink->length = 0;
	/* libiberty's own limit is half a name as templates commonly have; ours is FX_DEMANGLE_MAX. */
	return cplus_demangle_v3_callback(symbol, DMGL_PARAMS | DMGL_ANSI | DMGL_NO_RECURSE_LIMIT,
					  sink_take, sink);
}

/* --- OCaml ------------------------------------------------------------------------------------ */

/* The value of a digit as OCaml writes it; 16: it is none. */
static unsigned ocaml_digit(char c)
{
	if (c >= '0' && c <= '9')
		return (unsigned)(c - '0');
	return c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10 : 16;
}

/* The character that two digits stand for; 0: they do not. */
static char ocaml_character(const char *digits)
{
	unsigned high = ocaml_digit(digits[0]), low = high < 16 ? ocaml_digit(digits[1]) : 16;
	unsigned c = high << 4 | low;

	return low < 16 && c > ' ' && c < 127 ? (char)c : 0;
}

/* What stands between two parts of a name: `__', or `.' from OCaml 5.1 on. Its length, or 0. */
static size_t ocaml_separator(const char *at)
{
	if (at[0] == '_' && at[1] == '_' && at[2])
		return 2;
	return at[0] == '.' && at[1] ? 1 : 0;
}

/* The length of a value's name without the number that tells it from others of its name. Functions without a name are told
 * apart by it alone. */
static size_t ocaml_name_length(const char *name)
{
	size_t length = strlen(name), digits = 0;

	while (digits < length && strchr(DIGITS, name[length - digits - 1]))
		digits++;
	if (!digits || length < digits + 2 || name[length - digits - 1] != '_')
		return length;
	length -= digits + 1;
	return length == strlen("fun") && memcmp(name, "fun", length) == 0 ? length + 1 + digits
									   : length;
}

/* A character is written as it is, or as `$' and two digits. */
static void ocaml_take(const char *text, size_t size, struct sink *sink)
{
	for (size_t i = 0; i < size; i++) {
		char c = text[i] == '$' && size - i > 2 ? ocaml_character(&text[i + 1]) : 0;

		sink_take(c ? &c : &text[i], 1, sink);
		i += c ? 2 : 0;
	}
}

/* Modules, which begin with a capital, and the value's name. False: there is none of either. */
static bool ocaml_parts(const char *at, struct sink *sink)
{
	size_t length, separator;

	if (*at < 'A' || *at > 'Z')
		return false;
	for (; *at >= 'A' && *at <= 'Z'; at += length + separator) {
		for (length = 0; at[length] && !ocaml_separator(&at[length]); length++)
			;
		separator = ocaml_separator(&at[length]);
		if (!separator)
			return false; /* a module, and no value of it; or C's */
		ocaml_take(at, length, sink);
		sink_take(".", 1, sink);
	}
	ocaml_take(at, ocaml_name_length(at), sink);
	return true;
}

/* camlStdlib__List__map_236: Stdlib.List.map. */
static bool demangle_ocaml(const char *symbol, struct sink *sink)
{
	if (setjmp(sink->full))
		return true;
	sink->length = 0;
	return strncmp(symbol, "caml", strlen("caml")) == 0 &&
	       ocaml_parts(symbol + strlen("caml"), sink);
}

static bool demangle_d(const char *symbol, struct sink *sink)
{
	sink->length = fx_demangle_d(symbol, sink->text, sizeof(sink->text));
	return sink->length != 0;
}

/* Length without the version that the linker appended. */
static size_t unversioned_length(const char *symbol)
{
	const char *version = symbol[0] ? strchr(symbol + 1, '@') : NULL;

	return version ? (size_t)(version - symbol) : strlen(symbol);
}

/* Length without what LLVM appended as well: ".llvm." and a number. */
static size_t plain_length(const char *symbol)
{
	size_t length = unversioned_length(symbol);
	size_t digits = 0, suffix;

	while (digits < length && strchr(DIGITS, symbol[length - digits - 1]))
		digits++;
	suffix = strlen(LLVM) + digits;
	if (digits && suffix < length && memcmp(symbol + length - suffix, LLVM, strlen(LLVM)) == 0)
		length -= suffix;
	return length;
}

/* A symbol of so many bytes, if it is a mangled one. */
static bool demangle(const char *symbol, size_t length, struct sink *sink)
{
	char plain[FX_DEMANGLE_MAX + 1];

	if ((symbol[0] != '_' && symbol[0] != 'c') || length > FX_DEMANGLE_MAX)
		return false;
	memcpy(plain, symbol, length);
	plain[length] = '\0';
	if (symbol[0] == 'c')
		return demangle_ocaml(plain, sink);
	if (symbol[1] == 'D')
		return demangle_d(plain, sink);
	/* Rust's legacy symbols begin as C++ ones do, and are told apart by their hash. */
	return demangle_rust(plain, sink) || demangle_cxx(plain, sink);
}

size_t fx_demangle(const char *symbol, char *buffer)
{
	size_t length = plain_length(symbol);
	struct sink sink;

	if (demangle(symbol, length, &sink))
		return fx_text_copy_keyed(buffer, FX_SYMBOL_NAME_MAX, sink.text, sink.length,
					  symbol, length);
	return fx_text_copy(buffer, FX_SYMBOL_NAME_MAX, symbol, length);
}
