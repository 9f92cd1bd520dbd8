/* SPDX-License-Identifier: MIT */
/*
 * What the two halves of the events share. The usual half (events.c): a place that knows its strings, arguments without texts,
 * a clock that is the counter, room at hand. All else, before anything has been done, goes to the slow half (events-slow.c).
 */
#ifndef FX_PRELOAD_EVENTS_INTERNAL_H
#define FX_PRELOAD_EVENTS_INTERNAL_H

#include "engine/provider/frame.h"
#include "engine/provider/record.h"
#include "preload/events/events.h"
#include <fxtrace/format.h>

#define EVENT_ARGS_MAX	   15u
#define EVENT_ANY_CATEGORY (~FX_LOOK_EXIT)

/* Types whose value takes a word of its own. */
#define EVENT_WORD_TYPES                                                                           \
	(1u << FXTRACE_INT64 | 1u << FXTRACE_UINT64 | 1u << FXTRACE_DOUBLE |                       \
	 1u << FXTRACE_POINTER | 1u << FXTRACE_KOID)

fx_hot bool event_arg_has_word(uint32_t type)
{
	return EVENT_WORD_TYPES >> (type & 31) & 1;
}

/* --- What a place remembers --------------------------------------------------------------------------- */

/* The indices stand where a record's header has them. */
#define PLACE_NAMES(attached, category, name)                                                      \
	((uint64_t)(attached) | (uint64_t)(category) << 32 | (uint64_t)(name) << 48)
#define PLACE_ATTACHED(names) ((uint32_t)(names))
#define PLACE_HEADER(names, type, words, nargs)                                                    \
	(FX_EVENT_HEADER(type, words, nargs, 0, 0) | ((names) & ~(uint64_t)UINT32_MAX))

fx_hot uint16_t *place_keys(struct fxtrace_place *place)
{
	return (uint16_t *)(place + 1);
}

/* Whether it knows its strings, `name` among them. *ret: their indices. */
fx_hot bool place_knows(const struct fxtrace_place *place, const char *name, uint64_t *ret)
{
	*ret = fx_load_acquire(&place->names); /* pairs with place_learn() */
	/* relaxed: it is set once, before `names` */
	return PLACE_ATTACHED(*ret) == fx_engine.attachments &&
	       fx_load_relaxed(&place->name) == name;
}

/* The words that the arguments take if none is a text; else 0, as for too many. Then 1 is added to the words. */
fx_hot unsigned plain_args_words(const struct fxtrace_arg *args, size_t count)
{
	unsigned words = 1;

	if (fx_unlikely(count > EVENT_ARGS_MAX))
		return 0;
	for (size_t i = 0; i < count; i++) {
		uint32_t type = args[i].value.type;

		if (fx_unlikely(type == FXTRACE_STRING || type > FXTRACE_BOOL))
			return 0;
		words += 1 + event_arg_has_word(type);
	}
	return words;
}

fx_hot uint64_t *plain_args_put(uint64_t *out, const uint16_t *keys, const struct fxtrace_arg *args,
				size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct fxtrace_value *v = &args[i].value;
		uint64_t header = v->type | (uint64_t)fx_load_relaxed(&keys[i]) << FXT_ARG_NAME_LSB;

		if (event_arg_has_word(v->type)) {
			out[0] = header | 2ull << FXT_ARG_SIZE_LSB;
			out[1] = v->bits;
			out += 2;
		} else {
			*out++ = header | 1ull << FXT_ARG_SIZE_LSB | v->bits << 32;
		}
	}
	return out;
}

/* --- Records and frames --- */

fx_hot bool event_has_number(unsigned type, uint64_t number)
{
	if (type == FX_EVENT_INSTANT)
		return number != TRACE_SCOPE_THREAD;
	return type != FX_EVENT_BEGIN && type != FX_EVENT_END;
}

fx_hot struct fx_claim scope_claim(const struct fxtrace_scope *scope)
{
	return (struct fx_claim){.time = scope->start, .at = 1};
}

void fx_events_write_slowly(struct fxtrace_place *place, unsigned type, const char *category,
			    const char *name, uint64_t number, const struct fxtrace_arg *args,
			    size_t count);

void fx_events_write_at_slowly(const struct fxtrace_at *at, unsigned type, const char *category,
			       const char *name, uint64_t number, const struct fxtrace_arg *args,
			       size_t count);

void fx_events_write_past(const struct fxtrace_past *past, unsigned type, const char *category,
			  const char *name, uint64_t number, const struct fxtrace_arg *args,
			  size_t count);

void fx_events_put(struct fxtrace_place *place, unsigned payload, const char *category,
		   const char *name, const void *data, size_t size, const struct fxtrace_arg *args,
		   size_t count);

uint64_t fx_events_koid(int fd);

/* `below`: the stack address from which the function that opens or closes the scope calls. */
void fx_events_open_slowly(struct fxtrace_scope *scope, uint64_t below);
void fx_events_close_slowly(struct fxtrace_scope *scope, uint64_t below);

/* The program has events of this category: the manager lists it. `description` may be NULL. */
void fx_events_category_known(const char *category, const char *description);

#endif
