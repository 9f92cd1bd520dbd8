/* SPDX-License-Identifier: MIT */
#include "symbols/demangle.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdbool.h>
#include <string.h>

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

	if (symbol[0] != '_' || length > FX_DEMANGLE_MAX)
		return false;
	memcpy(plain, symbol, length);
	plain[length] = '\0';
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
