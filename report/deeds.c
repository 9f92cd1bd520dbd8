/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "convert/event-args.h"
#include "report/deeds.h"

static const struct {
	const char *pattern;
	enum fx_deed deed;
} deeds_table[] = {
#define FX_DEED(name, deed) {name, FX_DEED_##deed},
#include "report/deeds.def"
#undef FX_DEED
};

enum fx_deed fx_deeds_of_name(const char *name)
{
	for (size_t i = 0; i < sizeof(deeds_table) / sizeof(*deeds_table); i++) {
		if (fnmatch(deeds_table[i].pattern, name, 0) == 0)
			return deeds_table[i].deed;
	}
	return FX_DEED_NONE;
}

enum fx_deed fx_deeds_of(struct fx_deeds *deeds, const struct fx_texts *texts, uint32_t name)
{
	size_t count = deeds->items.count;

	if (!name)
		return FX_DEED_NONE;
	if (name >= count) {
		size_t more = name + 1 - count;

		if (fx_vector_reserve(&deeds->items, more) < 0)
			return fx_deeds_of_name(fx_texts_get(texts, name)->data);
		memset(deeds->items.items + count, 0, more);
		deeds->items.count += more;
	}
	if (!deeds->items.items[name])
		deeds->items.items[name] =
		    (uint8_t)(1 + fx_deeds_of_name(fx_texts_get(texts, name)->data));
	return (enum fx_deed)(deeds->items.items[name] - 1);
}

bool fx_deeds_has_taken(const struct fx_event *event, bool is_unfinished)
{
	const struct fxt_arg *error = fx_event_arg(event, "errno");
	int64_t ret;

	if (is_unfinished)
		return false;
	if (error)
		return error->type == FXT_ARG_STRING &&
		       fxt_string_equals(&error->string, "EOWNERDEAD");
	return !fx_event_integer(event, "ret", &ret) || ret == 0;
}

void fx_deeds_free(struct fx_deeds *deeds)
{
	fx_vector_free(&deeds->items);
}
