/* SPDX-License-Identifier: MIT */
#include "kernel/probe-operand.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An operand; not terminated. */
struct operand {
	const char *text;
	size_t length;
};

/* A number that stands at the begin of a text; false: none does. */
static bool offset_take(const char **at, int64_t *ret)
{
	char *end;

	*ret = strtoll(*at, &end, 0);
	if (end == *at)
		return false;
	*at = end;
	return true;
}

static void fetch_memory(struct fx_probe_argument *argument, int64_t offset, const char *register_)
{
	argument->kind = FX_PROBE_FETCHED;
	snprintf(argument->fetch, sizeof(argument->fetch), "%+lld(%%%s)", (long long)offset,
		 register_);
}

static void fetch_register(struct fx_probe_argument *argument, const char *register_)
{
	argument->kind = FX_PROBE_FETCHED;
	snprintf(argument->fetch, sizeof(argument->fetch), "%%%s", register_);
}

static void constant_take(struct fx_probe_argument *argument, int64_t value)
{
	argument->kind = FX_PROBE_CONSTANT;
	argument->constant = value;
}

#if defined(__x86_64__)
static bool is_register_of(struct operand name, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (names[i] && strlen(names[i]) == name.length &&
		    memcmp(names[i], name.text, name.length) == 0)
			return true;
	}
	return false;
}

/* The whole register as the kernel calls it, of one or its lower part; NULL: none that it knows. The second byte (%ah) is none. */
static const char *register_find(struct operand name, char ret[8])
{
	static const struct {
		const char *kernel, *names[4];
	} table[] = {
	    {"ax", {"rax", "eax", "ax", "al"}},	 {"bx", {"rbx", "ebx", "bx", "bl"}},
	    {"cx", {"rcx", "ecx", "cx", "cl"}},	 {"dx", {"rdx", "edx", "dx", "dl"}},
	    {"si", {"rsi", "esi", "si", "sil"}}, {"di", {"rdi", "edi", "di", "dil"}},
	    {"bp", {"rbp", "ebp", "bp", "bpl"}}, {"sp", {"rsp", "esp", "sp", "spl"}},
	};
	unsigned number;
	int used = 0;
	char text[8];

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		if (is_register_of(name, table[i].names, 4))
			return table[i].kernel;
	}
	if (name.length >= sizeof(text) || name.length < 2)
		return NULL;
	memcpy(text, name.text, name.length);
	text[name.length] = 0;
	if (sscanf(text, "r%u%n", &number, &used) != 1 || number < 8 || number > 15 ||
	    (text[used] && (text[used + 1] || !strchr("dwb", text[used]))))
		return NULL;
	snprintf(ret, 8, "r%u", number);
	return ret;
}

static bool is_in_operand(struct operand operand, const char *what)
{
	return memmem(operand.text, operand.length, what, strlen(what)) != NULL;
}

static const char *why_unreachable(struct operand operand)
{
	if (is_in_operand(operand, "%fs:") || is_in_operand(operand, "%gs:"))
		return "thread-local";
	if (is_in_operand(operand, "mm"))
		return "vector";
	if (is_in_operand(operand, "%rip)"))
		return "unknown symbol";
	return is_in_operand(operand, ",") ? "two registers" : "unknown operand";
}

/*
 * counter(%rip)  52+statistics(%rip)  statistics+52(%rip): memory at a distance from the instruction that does not change. The kernel
 * takes it as one in the file, from where the instruction stands there, and adds it to where that is in memory.
 */
static void distance_take(struct operand operand, const struct fx_probe_seen *probe,
			  struct fx_probe_argument *argument)
{
	static const char behind[] = "(%rip)";
	const char *at = operand.text, *end = operand.text + operand.length, *name;
	int64_t before = 0, after = 0;
	uint64_t address;
	size_t length;

	if (operand.length <= sizeof(behind) - 1 ||
	    memcmp(end - (sizeof(behind) - 1), behind, sizeof(behind) - 1) != 0)
		return;
	end -= sizeof(behind) - 1;
	if (offset_take(&at, &before)) {
		if (*at != '+')
			return;
		at++;
	}
	name = at;
	length = strcspn(at, "+-(");
	at += length;
	if ((at < end && !offset_take(&at, &after)) || at != end ||
	    !fx_probe_symbol(probe->symbols, name, length, &address))
		return;
	argument->kind = FX_PROBE_FETCHED;
	snprintf(argument->fetch, sizeof(argument->fetch), "@%+lld",
		 (long long)(probe->offset + (address - probe->address)) + before + after);
}

/* $5  %rax  -16(%rbp)  (%rdi) */
static void operand_take(struct operand operand, struct fx_probe_argument *argument)
{
	const char *at = operand.text, *end = operand.text + operand.length, *found;
	int64_t number = 0;
	char name[8];

	if (*at == '$') {
		at++;
		if (offset_take(&at, &number) && at == end)
			constant_take(argument, number);
		return;
	}
	if (*at == '%') {
		at++;
		found = register_find((struct operand){at, (size_t)(end - at)}, name);
		if (found)
			fetch_register(argument, found);
		return;
	}
	if (*at != '(' && !offset_take(&at, &number))
		return;
	if (end - at < 4 || at[0] != '(' || at[1] != '%' || end[-1] != ')')
		return;
	found = register_find((struct operand){at + 2, (size_t)(end - at) - 3}, name);
	if (found)
		fetch_memory(argument, number, found);
}
#elif defined(__aarch64__)
static const char *why_unreachable(struct operand operand)
{
	bool is_memory = operand.length && *operand.text == '[';

	if (!is_memory && operand.length && strchr("bhsdqv", *operand.text))
		return "vector";
	return is_memory ? "two registers" : "unknown operand";
}

/* There memory is in registers' distance alone. */
static void distance_take(struct operand operand, const struct fx_probe_seen *probe,
			  struct fx_probe_argument *argument)
{
	(void)operand, (void)probe, (void)argument;
}

/* x3, w3 or sp, up to where it ends. NULL: none that the kernel knows. */
static const char *register_find(const char **at, char ret[8])
{
	unsigned number;
	int used = 0;

	if (strncmp(*at, "sp", 2) == 0) {
		*at += 2;
		return "sp";
	}
	if ((**at != 'x' && **at != 'w') || !isdigit((unsigned char)(*at)[1]) ||
	    sscanf(*at + 1, "%2u%n", &number, &used) != 1 || number > 30)
		return NULL;
	*at += 1 + used;
	snprintf(ret, 8, "x%u", number);
	return ret;
}

/* 5  x3  w3  xzr  [sp, 16]  [x0] */
static void operand_take(struct operand operand, struct fx_probe_argument *argument)
{
	const char *at = operand.text, *end = operand.text + operand.length, *found;
	bool is_memory = *at == '[';
	int64_t number = 0;
	char name[8];

	if (operand.length == 3 && (strncmp(at, "xzr", 3) == 0 || strncmp(at, "wzr", 3) == 0)) {
		constant_take(argument, 0);
		return;
	}
	at += is_memory;
	found = register_find(&at, name);
	if (!found && !is_memory && offset_take(&at, &number) && at == end)
		constant_take(argument, number);
	if (!found)
		return;
	if (!is_memory && at == end)
		fetch_register(argument, found);
	if (!is_memory)
		return;
	if (*at == ',') {
		for (at++; *at == ' ' || *at == '#';)
			at++;
		if (!offset_take(&at, &number))
			return;
	}
	if (at + 1 == end && *at == ']')
		fetch_memory(argument, number, found);
}
#endif

/* What stands before the operand: -4@, 8@, 8f@. */
static bool size_take(struct operand *whole, struct fx_probe_argument *argument)
{
	const char *sign = memchr(whole->text, '@', whole->length), *at = whole->text;
	int64_t size;

	if (!sign || !offset_take(&at, &size))
		return false;
	argument->is_signed = size < 0;
	if (size < 0)
		size = -size;
	argument->is_float = *at == 'f';
	at += argument->is_float;
	if (at != sign || (size != 1 && size != 2 && size != 4 && size != 8) ||
	    (argument->is_float && size < 4))
		return false;
	argument->size = (uint8_t)size;
	whole->length -= (size_t)(sign + 1 - whole->text);
	whole->text = sign + 1;
	return whole->length > 0;
}

/* Up to the next space that is in no brackets. */
static size_t operand_length(const char *text)
{
	bool inside = false;
	size_t i;

	for (i = 0; text[i] && (inside || text[i] != ' '); i++) {
		if (text[i] == '[' || text[i] == ']')
			inside = text[i] == '[';
	}
	return i;
}

unsigned fx_probe_operands(const struct fx_probe_seen *probe,
			   struct fx_probe_argument ret[FX_PROBE_ARGUMENTS])
{
	const char *list = probe->arguments;
	unsigned count = 0;

	while (count < FX_PROBE_ARGUMENTS) {
		struct operand operand;

		list += strspn(list, " ");
		if (!*list)
			break;
		operand = (struct operand){list, operand_length(list)};
		list += operand.length;
		ret[count] = (struct fx_probe_argument){.size = 8, .why = "unknown size"};
		if (size_take(&operand, &ret[count])) {
			operand_take(operand, &ret[count]);
			if (ret[count].kind == FX_PROBE_UNREACHABLE)
				distance_take(operand, probe, &ret[count]);
			ret[count].why = ret[count].kind == FX_PROBE_UNREACHABLE
					     ? why_unreachable(operand)
					     : NULL;
		}
		count++;
	}
	return count;
}

const char *fx_probe_argument_type(const struct fx_probe_argument *argument)
{
	static const char *const names[3][9] = {
	    {[1] = "u8", [2] = "u16", [4] = "u32", [8] = "u64"},
	    {[1] = "s8", [2] = "s16", [4] = "s32", [8] = "s64"},
	    {[4] = "f32", [8] = "f64"},
	};

	return names[argument->is_float ? 2 : argument->is_signed][argument->size];
}
