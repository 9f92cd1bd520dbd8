/* SPDX-License-Identifier: MIT */
#include "manager/archive/call-shapes.h"

#include <stdlib.h>

#include "manager/archive/meanings.h"

/* A process that records fewer events has no table, which is four pages. */
#define EVENTS_MIN 256u

void fx_call_shape_learn(struct fx_rewriting *w)
{
	struct fx_stream *s = w->s;
	const uint64_t header = w->words[0];
	struct fx_call_shape *shape;
	size_t at = 2;

	if (!s->shapes && s->counts.events >= EVENTS_MIN)
		s->shapes = calloc(1, sizeof(*s->shapes));
	if (!s->shapes)
		return;
	shape = &s->shapes->all[fx_call_shape_place(header)];
	*shape = (struct fx_call_shape){
	    .header = header,
	    .redefined = s->names.redefined,
	    .nargs = (uint8_t)FXT_GET(header, EVENT_NARGS),
	    .is_own = w->is_own,
	    .is_waking = w->is_waking,
	};
	if (w->transfer.way)
		shape->transfer = w->transfer;
	for (unsigned i = 0; i < shape->nargs; i++) {
		uint64_t arg = w->words[at];
		bool is_text = FXT_GET(arg, ARG_TYPE) == FXT_ARG_STRING;

		shape->args[i] = (struct fx_shape_arg){
		    .low = (uint32_t)arg,
		    .at = (uint16_t)at,
		    .is_text = is_text,
		    .place = is_text && w->transfer.way
				 ? fx_meanings_text_place(s, FXT_GET(arg, ARG_NAME))
				 : 0,
		};
		at += FXT_GET(arg, ARG_SIZE);
	}
}
