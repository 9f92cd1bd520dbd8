/* SPDX-License-Identifier: MIT */
#include "preload/show/naming.h"

#include <stdbool.h>
#include <stddef.h>

const char *fx_name_of(const struct fx_named *list, unsigned count, uint32_t value)
{
	for (unsigned i = 0; i < count; i++)
		if (list[i].value == value)
			return list[i].name;
	return NULL;
}

void fx_text_name(struct fx_text *t, const struct fx_named *list, unsigned count, uint32_t value)
{
	const char *name = fx_name_of(list, count, value);

	if (name)
		fx_text_string(t, name);
	else
		fx_text_signed(t, (int32_t)value);
}

void fx_text_flags(struct fx_text *t, const struct fx_named *list, unsigned count, uint32_t flags)
{
	const char *none = flags ? NULL : fx_name_of(list, count, 0);
	bool first = true;

	for (unsigned i = 0; i < count && flags; i++) {
		if (list[i].value == 0 || (flags & list[i].value) != list[i].value)
			continue;
		if (!first)
			fx_text_char(t, '|');
		first = false;
		fx_text_string(t, list[i].name);
		flags &= ~list[i].value;
	}
	if (none)
		fx_text_string(t, none);
	else if (flags || first) {
		fx_text_string(t, first ? "" : "|");
		fx_text_string(t, flags ? "0x" : "");
		fx_text_number(t, flags, 16);
	}
}
