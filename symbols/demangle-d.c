/* SPDX-License-Identifier: MIT */
/*
 * Names of D, by the language's specification of its ABI. A symbol is gone through once, and written as it is read; what is to
 * stand before something that was read earlier is turned to its place there. Symbols refer to earlier parts of themselves, so what a short
 * one stands for may be of any length, and any depth: all three are limited.
 */
#include "symbols/demangle-d.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/compiler.h"

#define D_DEPTH 200u   /* parts within parts */
#define D_STEPS 20000u /* parts */

struct d_name {
	const char *begin, *at, *end; /* of the symbol */
	char *text;
	size_t length, size;
	size_t bare; /* without what is said of the last function's `this' */
	unsigned depth, steps;
	bool is_full;
	bool is_typed; /* the type of what was named last has been read with its parameters */
};

static bool d_type(struct d_name *d);
static bool d_qualified(struct d_name *d);

/* --- What is written ---------------------------------------------------------------------------- */

static bool d_put_bytes(struct d_name *d, const char *text, size_t length)
{
	size_t room = d->size - d->length;

	if (length > room) {
		d->is_full = true;
		length = room;
	}
	memcpy(d->text + d->length, text, length);
	d->length += length;
	return !d->is_full;
}

static bool d_put(struct d_name *d, const char *text)
{
	return d_put_bytes(d, text, strlen(text));
}

static void d_reverse(char *from, char *to)
{
	while (from < to) {
		char c = *--to;

		*to = *from;
		*from++ = c;
	}
}

/* What was written from `middle' on goes before what was written from `first' on. */
static void d_turn(struct d_name *d, size_t first, size_t middle)
{
	d_reverse(d->text + first, d->text + middle);
	d_reverse(d->text + middle, d->text + d->length);
	d_reverse(d->text + first, d->text + d->length);
}

/* --- What is read --------------------------------------------------------------------------------- */

static char d_peek(const struct d_name *d, size_t ahead)
{
	return ahead < (size_t)(d->end - d->at) ? d->at[ahead] : '\0';
}

static bool d_accept(struct d_name *d, const char *text)
{
	size_t length = strlen(text);

	if (length > (size_t)(d->end - d->at) || memcmp(d->at, text, length) != 0)
		return false;
	d->at += length;
	return true;
}

static bool d_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool d_number(struct d_name *d, uint64_t *ret)
{
	*ret = 0;
	if (!d_is_digit(d_peek(d, 0)))
		return false;
	for (; d_is_digit(d_peek(d, 0)); d->at++) {
		if (*ret > UINT64_MAX / 10 - 1)
			return false;
		*ret = *ret * 10 + (uint64_t)(*d->at - '0');
	}
	return true;
}

/* What a reference leads to: by a distance of 26 digits, the last of which is a small letter. NULL: nothing. */
static const char *d_referred(const struct d_name *d, const char **ret_behind)
{
	const char *at = d->at + 1;
	size_t distance = 0;

	while (at < d->end && *at >= 'A' && *at <= 'Z') {
		distance = distance * 26 + (size_t)(*at++ - 'A');
		if (distance > (size_t)(d->end - d->begin))
			return NULL;
	}
	if (at >= d->end || *at < 'a' || *at > 'z')
		return NULL;
	distance = distance * 26 + (size_t)(*at - 'a');
	*ret_behind = at + 1;
	return distance && distance <= (size_t)(d->at - d->begin) ? d->at - distance : NULL;
}

/* Reads a part by a reference to where it was before. */
static bool d_refer(struct d_name *d, bool (*part)(struct d_name *))
{
	const char *behind, *there = d_referred(d, &behind);
	bool good;

	if (!there)
		return false;
	d->at = there;
	good = part(d);
	d->at = behind;
	return good;
}

static bool d_deeper(struct d_name *d, bool (*part)(struct d_name *))
{
	bool good;

	if (d->depth >= D_DEPTH || d->steps >= D_STEPS)
		return false;
	d->depth++;
	d->steps++;
	good = part(d);
	d->depth--;
	return good;
}

/* --- Functions -------------------------------------------------------------------------------------- */

/* How a function of some language is called. */
static bool d_is_function(char c)
{
	return c == 'F' || c == 'U' || c == 'W' || c == 'V' || c == 'R' || c == 'Y';
}

/* pure, nothrow and the like, which are not shown. */
static void d_attributes(struct d_name *d)
{
	while (d_peek(d, 0) == 'N' && d_peek(d, 1) && strchr("abcdefijlm", d_peek(d, 1)))
		d->at += 2;
}

static bool d_parameter(struct d_name *d)
{
	static const struct {
		const char *mark, *word;
	} ways[] = {{"M", "scope "}, {"Nk", "return "}, {"I", "in "},
		    {"J", "out "},   {"K", "ref "},	{"L", "lazy "}};

	for (size_t i = 0; i < FX_ARRAY_LEN(ways); i++) {
		if (d_accept(d, ways[i].mark)) {
			if (!d_put(d, ways[i].word))
				return false;
			i = (size_t)-1; /* several may be there, in any order */
		}
	}
	return d_deeper(d, d_type);
}

/* Parameters in parentheses, from how the function is called to the mark behind them. */
static bool d_parameters(struct d_name *d)
{
	if (!d_is_function(d_peek(d, 0)))
		return false;
	d->at++;
	d_attributes(d);
	if (!d_put(d, "("))
		return false;
	for (bool first = true;; first = false) {
		if (d_accept(d, "Z"))
			return d_put(d, ")");
		if (d_accept(d, "X"))
			return d_put(d, "...)");
		if (d_accept(d, "Y"))
			return d_put(d, first ? "...)" : ", ...)");
		if ((!first && !d_put(d, ", ")) || !d_parameter(d))
			return false;
	}
}

/* RESULT function(PARAMETERS). */
static bool d_function(struct d_name *d, const char *word)
{
	size_t first = d->length, middle;

	if (!d_put(d, word) || !d_parameters(d))
		return false;
	middle = d->length;
	if (!d_deeper(d, d_type))
		return false;
	d_turn(d, first, middle);
	return true;
}

/* Of `this'. */
static bool d_modifiers(struct d_name *d)
{
	for (;;) {
		if (d_accept(d, "x"))
			d_put(d, " const");
		else if (d_accept(d, "y"))
			d_put(d, " immutable");
		else if (d_accept(d, "O"))
			d_put(d, " shared");
		else if (d_accept(d, "Ng"))
			d_put(d, " inout");
		else
			return !d->is_full;
	}
}

/* --- Types ------------------------------------------------------------------------------------------- */

static const char *const d_basics[26] = {
    ['a' - 'a'] = "char",    ['b' - 'a'] = "bool",	   ['c' - 'a'] = "creal",
    ['d' - 'a'] = "double",  ['e' - 'a'] = "real",	   ['f' - 'a'] = "float",
    ['g' - 'a'] = "byte",    ['h' - 'a'] = "ubyte",	   ['i' - 'a'] = "int",
    ['j' - 'a'] = "ireal",   ['k' - 'a'] = "uint",	   ['l' - 'a'] = "long",
    ['m' - 'a'] = "ulong",   ['n' - 'a'] = "typeof(null)", ['o' - 'a'] = "ifloat",
    ['p' - 'a'] = "idouble", ['q' - 'a'] = "cfloat",	   ['r' - 'a'] = "cdouble",
    ['s' - 'a'] = "short",   ['t' - 'a'] = "ushort",	   ['u' - 'a'] = "wchar",
    ['v' - 'a'] = "void",    ['w' - 'a'] = "dchar",
};

static bool d_wrapped(struct d_name *d, const char *word)
{
	return d_put(d, word) && d_deeper(d, d_type) && d_put(d, ")");
}

static bool d_array(struct d_name *d)
{
	const char *digits = d->at;
	uint64_t count;
	size_t length;

	if (!d_number(d, &count))
		return false;
	length = (size_t)(d->at - digits);
	return d_deeper(d, d_type) && d_put(d, "[") && d_put_bytes(d, digits, length) &&
	       d_put(d, "]");
}

/* VALUE[KEY], of which the key comes first. */
static bool d_map(struct d_name *d)
{
	size_t first = d->length, middle;

	if (!d_put(d, "[") || !d_deeper(d, d_type) || !d_put(d, "]"))
		return false;
	middle = d->length;
	if (!d_deeper(d, d_type))
		return false;
	d_turn(d, first, middle);
	return true;
}

static bool d_delegate(struct d_name *d)
{
	size_t first = d->length, middle;

	/* Its modifiers come first, and are shown last. */
	if (!d_modifiers(d))
		return false;
	middle = d->length;
	if (d_peek(d, 0) == 'Q' ? !d_refer(d, d_type) : !d_function(d, " delegate"))
		return false;
	d_turn(d, first, middle);
	return true;
}

static bool d_tuple(struct d_name *d)
{
	uint64_t count;

	if (!d_number(d, &count) || !d_put(d, "Tuple!("))
		return false;
	for (uint64_t i = 0; i < count; i++) {
		if ((i && !d_put(d, ", ")) || !d_deeper(d, d_type))
			return false;
	}
	return d_put(d, ")");
}

static bool d_special_type(struct d_name *d)
{
	if (d_accept(d, "g"))
		return d_wrapped(d, "inout(");
	if (d_accept(d, "h"))
		return d_wrapped(d, "__vector(");
	return d_accept(d, "n") && d_put(d, "noreturn");
}

static bool d_type(struct d_name *d)
{
	char c = d_peek(d, 0);

	if (c == 'Q')
		return d_refer(d, d_type);
	if (d_is_function(c))
		return d_function(d, " function");
	d->at += c != '\0';
	switch (c) {
	case 'O':
		return d_wrapped(d, "shared(");
	case 'x':
		return d_wrapped(d, "const(");
	case 'y':
		return d_wrapped(d, "immutable(");
	case 'N':
		return d_special_type(d);
	case 'A':
		return d_deeper(d, d_type) && d_put(d, "[]");
	case 'G':
		return d_array(d);
	case 'H':
		return d_map(d);
	case 'P':
		if (d_is_function(d_peek(d, 0)))
			return d_deeper(d, d_type);
		return d_deeper(d, d_type) && d_put(d, "*");
	case 'C':
	case 'S':
	case 'E':
	case 'T':
	case 'I':
		return d_deeper(d, d_qualified);
	case 'D':
		return d_delegate(d);
	case 'B':
		return d_tuple(d);
	case 'z':
		if (d_accept(d, "i"))
			return d_put(d, "cent");
		return d_accept(d, "k") && d_put(d, "ucent");
	default:
		return c >= 'a' && c <= 'z' && d_basics[c - 'a'] && d_put(d, d_basics[c - 'a']);
	}
}

/* --- Arguments of templates ------------------------------------------------------------------------------ */

static bool d_digits(struct d_name *d)
{
	const char *digits = d->at;
	uint64_t value;

	return d_number(d, &value) && d_put_bytes(d, digits, (size_t)(d->at - digits));
}

static bool d_character(struct d_name *d)
{
	uint64_t value;
	char c[] = "' '";

	if (!d_number(d, &value))
		return false;
	c[1] = value > ' ' && value <= '~' ? (char)value : '.';
	return d_put(d, c);
}

/* As the language writes a number of that type. */
static bool d_integer(struct d_name *d, char type)
{
	uint64_t value;

	switch (type) {
	case 'a':
	case 'u':
	case 'w':
		return d_character(d);
	case 'b':
		return d_number(d, &value) && d_put(d, value ? "true" : "false");
	case 'h':
	case 't':
	case 'k':
		return d_digits(d) && d_put(d, "u");
	case 'l':
		return d_digits(d) && d_put(d, "L");
	case 'm':
		return d_digits(d) && d_put(d, "uL");
	default:
		return d_digits(d);
	}
}

static int d_hex(char c)
{
	return d_is_digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Two digits a byte; what is not printable is shown as a point. */
static bool d_string(struct d_name *d)
{
	uint64_t count;

	if (!d_number(d, &count) || !d_accept(d, "_") || !d_put(d, "\""))
		return false;
	for (uint64_t i = 0; i < count; i++) {
		int high = d_hex(d_peek(d, 0)), low = high < 0 ? -1 : d_hex(d_peek(d, 1));
		char c = (char)(high * 16 + low);

		if (low < 0)
			return false;
		d->at += 2;
		if (c < ' ' || c > '~')
			c = '.';
		if (!d_put_bytes(d, &c, 1))
			return false;
	}
	return d_put(d, "\"");
}

/* A number with a point: hexadecimal digits, and P with the power of two. */
static bool d_real(struct d_name *d)
{
	const char *begin;

	if (d_accept(d, "NAN"))
		return d_put(d, "NaN");
	if (d_accept(d, "NINF"))
		return d_put(d, "-Inf");
	if (d_accept(d, "INF"))
		return d_put(d, "Inf");
	if (d_accept(d, "N") && !d_put(d, "-"))
		return false;
	begin = d->at;
	while (d_is_digit(d_peek(d, 0)) || (d_peek(d, 0) >= 'A' && d_peek(d, 0) <= 'F'))
		d->at++;
	if (d->at == begin || !d_put(d, "0x") || !d_put_bytes(d, begin, 1) || !d_put(d, ".") ||
	    !d_put_bytes(d, begin + 1, (size_t)(d->at - begin) - 1) || !d_accept(d, "P") ||
	    !d_put(d, "p") || (d_accept(d, "N") && !d_put(d, "-")))
		return false;
	return d_digits(d);
}

static bool d_value(struct d_name *d);
static bool d_whole(struct d_name *d);

static bool d_values(struct d_name *d, const char *open, const char *close)
{
	uint64_t count;

	if (!d_number(d, &count) || !d_put(d, open))
		return false;
	for (uint64_t i = 0; i < count; i++) {
		if ((i && !d_put(d, ", ")) || !d_deeper(d, d_value))
			return false;
	}
	return d_put(d, close);
}

/* `type': of a number, its letter. */
static bool d_value_of(struct d_name *d, char type)
{
	char c = d_peek(d, 0);

	if (d_is_digit(c))
		return d_integer(d, type);
	d->at += c != '\0';
	switch (c) {
	case 'n':
		return d_put(d, "null");
	case 'N':
		return d_put(d, "-") && d_integer(d, type);
	case 'i':
		return d_integer(d, type);
	case 'e':
		return d_real(d);
	case 'c':
		return d_real(d) && d_accept(d, "c") && d_put(d, "+") && d_real(d) && d_put(d, "i");
	case 'a':
	case 'w':
	case 'd':
		return d_string(d);
	case 'A':
		return d_values(d, "[", "]");
	case 'S':
		return d_values(d, "(", ")");
	case 'f':
		return d_accept(d, "_D") && d_deeper(d, d_whole);
	default:
		return false;
	}
}

static bool d_value(struct d_name *d)
{
	return d_value_of(d, '\0');
}

/* The type of a value is not shown. */
static bool d_typed_value(struct d_name *d)
{
	size_t length = d->length;
	const char *at;
	char type = d_peek(d, 0);

	if (type == 'Q') {
		at = d_referred(d, &at);
		type = at ? *at : '\0';
	}
	if (!d_deeper(d, d_type))
		return false;
	d->length = length;
	return d_value_of(d, type);
}

/* A whole symbol in another one, with its type, which is not shown; `_D' was read. */
static bool d_whole(struct d_name *d)
{
	size_t length;

	if (!d_qualified(d) || d->is_typed || d_accept(d, "Z"))
		return !d->is_full;
	length = d->length;
	if (!d_deeper(d, d_type))
		return false;
	d->length = length;
	return true;
}

/* A symbol: with its length before it, or its own beginning, or as it is. */
static bool d_symbol(struct d_name *d)
{
	const char *at = d->at;
	uint64_t length;

	if (d_accept(d, "_D") || (d_number(d, &length) && d_accept(d, "_D")))
		return d_whole(d);
	d->at = at;
	return d_qualified(d);
}

static bool d_template_arguments(struct d_name *d)
{
	uint64_t length;

	for (bool first = true; !d_accept(d, "Z"); first = false) {
		if (!first && !d_put(d, ", "))
			return false;
		d_accept(d, "H"); /* of a specialisation */
		if (d_accept(d, "T")) {
			if (!d_deeper(d, d_type))
				return false;
		} else if (d_accept(d, "V")) {
			if (!d_deeper(d, d_typed_value))
				return false;
		} else if (d_accept(d, "S")) {
			if (!d_deeper(d, d_symbol))
				return false;
		} else if (d_accept(d, "X")) {
			if (!d_number(d, &length) || length > (size_t)(d->end - d->at) ||
			    !d_put_bytes(d, d->at, length))
				return false;
			d->at += length;
		} else {
			return false;
		}
	}
	return true;
}

/* --- Names ----------------------------------------------------------------------------------------------- */

static bool d_identifier(struct d_name *d);

/* NAME!(ARGUMENTS). */
static bool d_template(struct d_name *d)
{
	d->at += strlen("__T");
	return d_deeper(d, d_identifier) && d_put(d, "!(") && d_template_arguments(d) &&
	       d_put(d, ")");
}

static bool d_is_template(const struct d_name *d)
{
	return d_peek(d, 0) == '_' && d_peek(d, 1) == '_' &&
	       (d_peek(d, 2) == 'T' || d_peek(d, 2) == 'U') &&
	       (d_is_digit(d_peek(d, 3)) || d_peek(d, 3) == 'Q');
}

static bool d_put_identifier(struct d_name *d, const char *name, size_t length)
{
	static const struct {
		const char *name, *shown;
	} special[] = {{"__ctor", "this"}, {"__dtor", "~this"}};

	for (size_t i = 0; i < FX_ARRAY_LEN(special); i++) {
		if (length == strlen(special[i].name) && memcmp(name, special[i].name, length) == 0)
			return d_put(d, special[i].shown);
	}
	return d_put_bytes(d, name, length);
}

static bool d_identifier(struct d_name *d)
{
	uint64_t length;
	const char *name;

	if (d_peek(d, 0) == 'Q')
		return d_refer(d, d_identifier);
	if (d_is_template(d))
		return d_template(d);
	if (!d_number(d, &length) || !length || length > (size_t)(d->end - d->at))
		return false;
	/* Older compilers write a template's length. */
	if (d_is_template(d))
		return d_template(d);
	name = d->at;
	d->at += length;
	return d_put_identifier(d, name, length);
}

static bool d_is_identifier(const struct d_name *d)
{
	const char *behind, *there;

	if (d_peek(d, 0) != 'Q')
		return d_is_digit(d_peek(d, 0)) || d_is_template(d);
	there = d_referred(d, &behind);
	return there && (d_is_digit(*there) || *there == '_');
}

/* Whether its type is one of a function that was there before. */
static bool d_is_function_before(const struct d_name *d)
{
	const char *behind, *there = d_peek(d, 0) == 'Q' ? d_referred(d, &behind) : NULL;

	return there && d_is_function(*there);
}

/* The parameters of what was named, if they are there; else nothing is read. */
static bool d_try_parameters(struct d_name *d)
{
	const char *at = d->at;
	size_t length = d->length, middle;
	bool is_typed;

	d_accept(d, "M"); /* it has a `this' */
	if (d_modifiers(d)) {
		middle = d->length;
		is_typed = d_is_function_before(d);
		if (is_typed ? d_refer(d, d_parameters) : d_parameters(d)) {
			d->is_typed = is_typed;
			d->bare = length + (d->length - middle);
			d_turn(d, length, middle);
			return true;
		}
	}
	if (d->is_full)
		return false;
	d->is_typed = false;
	d->at = at;
	d->length = length;
	d->bare = length;
	return true;
}

static bool d_qualified(struct d_name *d)
{
	bool first = true;

	do {
		/* Without a name. */
		if (d_accept(d, "0"))
			continue;
		if (!first)
			d->length = d->bare;
		if ((!first && !d_put(d, ".")) || !d_deeper(d, d_identifier))
			return false;
		first = false;
		if (!d_try_parameters(d))
			return false;
	} while (d_is_identifier(d));
	return !first;
}

size_t fx_demangle_d(const char *symbol, char *buffer, size_t size)
{
	struct d_name d = {.begin = symbol,
			   .at = symbol,
			   .end = symbol + strlen(symbol),
			   .text = buffer,
			   .size = size};
	size_t length;

	if (strcmp(symbol, "_Dmain") == 0)
		return d_put(&d, "D main") ? d.length : size;
	if (!d_accept(&d, "_D"))
		return 0;
	if (!d_qualified(&d))
		return d.is_full ? d.length : 0;
	length = d.length;
	if (!d.is_typed && !d_accept(&d, "Z") && !d_type(&d) && !d.is_full)
		return 0;
	d.length = length;
	/* (What it returns may have been too much.) */
	if (d.is_full)
		return length;
	if (d.at < d.end && *d.at != '.')
		return 0;
	if (d.at < d.end && d_put(&d, " [clone ") && d_put(&d, d.at))
		d_put(&d, "]");
	return d.length;
}
