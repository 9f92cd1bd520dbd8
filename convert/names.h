/* SPDX-License-Identifier: MIT */
/*
 * Category and name of a plain event (format/plain.h), without a struct fxt_record between: what a walk through an
 * archive wants of nearly all of it.
 */
#ifndef FX_CONVERT_NAMES_H
#define FX_CONVERT_NAMES_H

#include "convert/provider.h"
#include "convert/records.h"
#include "convert/texts.h"

struct fx_names {
	const struct fxt_string *category; /* `serial' as of fx_timeline_decode() */
	const struct fxt_string *name;
};

extern const struct fx_text fx_names_none;

/* The text that a reference means; NULL: nobody has defined it. */
static inline const struct fx_text *fx_names_text_(const struct fx_timeline_provider *provider,
						   uint64_t ref, uint64_t word)
{
	return ref == FXT_STRING_EMPTY ? &fx_names_none
				       : fx_timeline_provider_lookup(provider, (uint16_t)ref, word);
}

/* Of the record at @word. False: it is none, or refers to what nobody has defined; fx_timeline_decode() tells. */
static inline bool fx_names_of(struct fx_records *records,
			       const struct fx_timeline_provider *provider, uint64_t word,
			       struct fx_names *ret)
{
	const struct fx_text *category, *name;
	const uint64_t *words;
	size_t count, size;

	words = fx_records_at(records, word, &count);
	size = fx_plain_size(words[0]);
	if (size == 0 || size > count)
		return false;
	category = fx_names_text_(provider, FXT_GET(words[0], EVENT_CATEGORY), word);
	name = fx_names_text_(provider, FXT_GET(words[0], EVENT_NAME), word);
	if (!category || !name)
		return false;
	ret->category = &category->string;
	ret->name = &name->string;
	return true;
}

#endif
