/* SPDX-License-Identifier: MIT */
#include "preload/show/names-headers.h"

#include <fcntl.h>
#include <stdbool.h>
#include <string.h>

#include "kernel/shown.h"
#include "preload/show/naming.h"

#include "preload/name-lists.inc"

struct shown_list {
	const char *kind;
	const struct fx_named *list;
	const unsigned *count;
	bool is_flags;
};

enum { SHOWN_names = false, SHOWN_flags = true };

static const struct shown_list shown_lists[] = {
#define NAME_LIST(kind, sort) {#kind, fx_list_##kind, &fx_count_##kind, SHOWN_##sort},
    NAME_LISTS
#undef NAME_LIST
};

/* One of the first list in some bits, and of the second in the others. */
static const struct shown_pair {
	const char *kind;
	uint32_t mask;
	const char *name, *flags;
} shown_pairs[] = {
    {"open_flags", O_ACCMODE, "access_mode", "open_bits"},
    {"sock_type", 0xf, "sock_kind", "sock_flags"},
    {"futex_operation", FUTEX_CMD_MASK, "futex_command", "futex_flags"},
};

static const struct shown_list *shown_find(const char *kind)
{
	for (size_t i = 0; i < sizeof(shown_lists) / sizeof(shown_lists[0]); i++) {
		if (strcmp(shown_lists[i].kind, kind) == 0)
			return &shown_lists[i];
	}
	return NULL;
}

static void shown_pair(struct fx_text *t, const struct shown_pair *pair, uint32_t value)
{
	const struct shown_list *name = shown_find(pair->name), *flags = shown_find(pair->flags);

	fx_text_name(t, name->list, *name->count, value & pair->mask);
	if (!(value & ~pair->mask))
		return;
	fx_text_char(t, '|');
	fx_text_flags(t, flags->list, *flags->count, value & ~pair->mask);
}

static bool shown_is_one_of(const char *kind, const char *const kinds[])
{
	for (; *kinds; kinds++) {
		if (strcmp(kind, *kinds) == 0)
			return true;
	}
	return false;
}

/* Names of numbers, alone or of bits. False: the kind has none. */
static bool shown_by_name(struct fx_text *t, const char *kind, uint32_t value)
{
	const struct shown_list *list = shown_find(kind);

	for (size_t i = 0; i < sizeof(shown_pairs) / sizeof(shown_pairs[0]); i++) {
		if (strcmp(shown_pairs[i].kind, kind) == 0) {
			shown_pair(t, &shown_pairs[i], value);
			return true;
		}
	}
	if (list && list->is_flags)
		fx_text_flags(t, list->list, *list->count, value);
	else if (list)
		fx_text_name(t, list->list, *list->count, value);
	return list != NULL;
}

enum fx_shown_as fx_shown(const char *kind, uint64_t value, char ret[FX_SHOWN_MAX],
			  size_t *ret_length)
{
	static const char *const ints[] = {"fd", "dirfd", "int", "pid", "signal", NULL};
	static const char *const longs[] = {"size", "long", "uint", "ulong", NULL};
	struct fx_text t = {ret, ret, ret + FX_SHOWN_MAX};

	if (strcmp(kind, "plain") == 0)
		return FX_SHOWN_UNKNOWN;
	if (strcmp(kind, "dirfd") == 0 && (int32_t)value == AT_FDCWD)
		fx_text_string(&t, "AT_FDCWD");
	else if (strcmp(kind, "mode") == 0 || strcmp(kind, "open_mode") == 0)
		fx_text_octal(&t, (unsigned)value);
	else if (shown_is_one_of(kind, ints))
		return FX_SHOWN_INT;
	else if (shown_is_one_of(kind, longs))
		return FX_SHOWN_LONG;
	else if (!shown_by_name(&t, kind, (uint32_t)value))
		return FX_SHOWN_POINTER;
	*ret_length = fx_text_length(&t);
	return FX_SHOWN_TEXT;
}
