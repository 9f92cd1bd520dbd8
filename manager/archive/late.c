/* SPDX-License-Identifier: MIT */
#include "manager/archive/late.h"

#include "manager/archive/begun.h"

/* The begin or the end of a function's call (--records pairs) from before a stop, at which all that had begun
 * was ended. */
static bool is_late_pair(const struct fx_rewriting *w, const struct fx_stop *stop, uint64_t ns)
{
	return (fx_begun_is_owed(w, w->words[0]) || fx_begun_function(w, w->words[0])) &&
	       (w->chunk->stops != stop->count || ns <= stop->ns);
}

/* A call that was written as open at a stop already. */
static bool is_told(const struct fx_stop *stop, uint64_t start)
{
	for (unsigned i = 0; i < FX_RECENT; i++) {
		if (start && stop->told[i] == start)
			return true;
	}
	return false;
}

bool fx_late_is(const struct fx_rewriting *w)
{
	const struct fx_stream_thread *t = fx_rewriting_thread(w);
	uint64_t header = w->words[0], ns;

	if (!t || !t->stop.ns || FXT_GET(header, EVENT_THREAD) != FX_CHUNK_THREAD_INDEX)
		return false;
	ns = fx_timebase_ns(&w->s->shared->timebase, w->words[1]);
	switch (FXT_GET(header, EVENT_TYPE)) {
	case FXT_EVENT_DURATION_BEGIN:
	case FXT_EVENT_DURATION_END:
		return is_late_pair(w, &t->stop, ns);
	case FXT_EVENT_DURATION_COMPLETE:
		return is_told(&t->stop, ns);
	}
	return false;
}

void fx_late_cut(const struct fx_rewriting *w, uint64_t start, uint64_t *end)
{
	const struct fx_stream_thread *t = fx_rewriting_thread(w);

	if (t && start <= t->stop.ns && *end > t->stop.ns)
		*end = t->stop.ns;
}
