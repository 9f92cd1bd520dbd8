/* SPDX-License-Identifier: MIT */
#include "manager/archive/flow-ids.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lists/hashes-lenient.h"
#include "lists/vector.h"

/* Ids that no provider gives itself, nor the manager's own arrows have (arrows.c, transfer-draw.c). */
#define APART_FLOWS (UINT64_C(0x3ffffb) << 41)

struct flow_key {
	uint64_t id;
	uint32_t provider; /* 0: whose id it is as it stands */
	uint32_t none;
};

/* One arrow of an id, as far as its parts have come. */
struct flow_span {
	uint64_t start; /* of its begin; without one, of its first part */
	uint64_t end;
	uint64_t shown; /* its id in the archive */
	bool begun, ended;
};

struct fx_flow_id {
	UT_hash_handle hh;
	bool lost;	/* not in the hash for lack of memory */
	bool begun;	/* any of them was */
	uint32_t owner; /* of the key without a provider; 0: nobody has begun it */
	struct flow_key key;
	FX_VECTOR(struct flow_span)
	spans; /* by their starts; of those of one id in the archive none is open as another starts */
};

static struct fx_flow_id *flow_id_find(const struct fx_flow_ids *ids, uint64_t id,
				       uint32_t provider)
{
	const struct flow_key key = {.id = id, .provider = provider};
	struct fx_flow_id *f;

	HASH_FIND(hh, ids->by_key, &key, sizeof(key), f);
	return f;
}

static void flow_id_forget(struct fx_flow_ids *ids, struct fx_flow_id *f)
{
	HASH_DEL(ids->by_key, f);
	ids->spans -= f->spans.count;
	fx_vector_free(&f->spans);
	free(f);
}

static struct fx_flow_id *flow_id_add(struct fx_flow_ids *ids, uint64_t id, uint32_t provider)
{
	struct fx_flow_id *f;

	if (HASH_COUNT(ids->by_key) >= FX_FLOW_IDS_MAX)
		flow_id_forget(ids, ids->by_key);
	f = calloc(1, sizeof(*f));
	if (!f)
		return NULL;
	f->key = (struct flow_key){.id = id, .provider = provider};
	HASH_ADD(hh, ids->by_key, key, sizeof(f->key), f);
	if (f->lost) {
		free(f);
		return NULL;
	}
	return f;
}

/* Puts one in; without memory it is not remembered. */
static void flow_span_add(struct fx_flow_ids *ids, struct fx_flow_id *f, size_t at,
			  struct flow_span span)
{
	while (ids->spans >= FX_FLOW_SPANS_MAX && ids->by_key != f)
		flow_id_forget(ids, ids->by_key);
	if (f->spans.count >= FX_FLOW_ID_SPANS_MAX) {
		if (at == 0)
			return;
		memmove(f->spans.items, f->spans.items + 1,
			(f->spans.count - 1) * sizeof(*f->spans.items));
		f->spans.count--;
		ids->spans--;
		at--;
	}
	if (fx_vector_reserve(&f->spans, 1) < 0)
		return;
	memmove(f->spans.items + at + 1, f->spans.items + at,
		(f->spans.count - at) * sizeof(*f->spans.items));
	f->spans.items[at] = span;
	f->spans.count++;
	ids->spans++;
}

/* The first that starts later. */
static size_t flow_span_behind(const struct fx_flow_id *f, uint64_t ns)
{
	size_t at = f->spans.count;

	while (at > 0 && f->spans.items[at - 1].start > ns)
		at--;
	return at;
}

/* Whether the id may stand as it is: it is the provider's, and is so from now on if it was nobody's. */
static bool flow_id_is_own(struct fx_flow_ids *ids, const struct fx_flow_of *flow)
{
	struct fx_flow_id *whose = flow_id_find(ids, flow->id, 0);

	if (!whose)
		whose = flow_id_add(ids, flow->id, 0);
	if (whose && !whose->owner)
		whose->owner = flow->provider;
	return !whose || whose->owner == flow->provider;
}

/* What came of an id before anybody had begun it is of whose it is now. */
static void flow_id_take_over(struct fx_flow_ids *ids, struct fx_flow_id *f)
{
	struct fx_flow_id *whose = flow_id_find(ids, f->key.id, 0);

	if (!whose || whose->owner != f->key.provider)
		return;
	f->spans.items = whose->spans.items;
	f->spans.count = whose->spans.count;
	f->spans.capacity = whose->spans.capacity;
	whose->spans.items = NULL;
	whose->spans.count = whose->spans.capacity = 0;
}

static bool flow_is_over(const struct flow_span *span, uint64_t ns)
{
	return span->ended && span->end <= ns;
}

static uint64_t flow_begin(struct fx_flow_ids *ids, const struct fx_flow_of *flow)
{
	bool own = flow_id_is_own(ids, flow);
	struct fx_flow_id *f = flow_id_find(ids, flow->id, flow->provider);
	struct flow_span *before = NULL, *behind = NULL;
	uint64_t shown;
	size_t at;

	if (!f) {
		f = flow_id_add(ids, flow->id, flow->provider);
		if (!f)
			return flow->id;
		flow_id_take_over(ids, f);
	}
	f->begun = true;
	at = flow_span_behind(f, flow->ns);
	if (at > 0)
		before = &f->spans.items[at - 1];
	if (at < f->spans.count)
		behind = &f->spans.items[at];
	if (behind && !behind->begun && (own || behind->shown != flow->id) &&
	    (!before || before->shown != behind->shown || flow_is_over(before, flow->ns))) {
		behind->start = flow->ns;
		behind->begun = true;
		return behind->shown;
	}
	if (!before && !behind && own)
		shown = flow->id;
	else if (before && !behind && flow_is_over(before, flow->ns) &&
		 (own || before->shown != flow->id))
		shown = before->shown;
	else
		shown = APART_FLOWS | ++ids->apart;
	flow_span_add(ids, f, at,
		      (struct flow_span){.start = flow->ns, .shown = shown, .begun = true});
	return shown;
}

/* Whose arrow a step or end belongs to: the provider's, or if it has begun none of the id, that of the one which has, or will. */
static struct fx_flow_id *flow_id_meant(struct fx_flow_ids *ids, const struct fx_flow_of *flow)
{
	struct fx_flow_id *f = flow_id_find(ids, flow->id, flow->provider), *whose, *other = NULL;

	if (f && f->begun)
		return f;
	whose = flow_id_find(ids, flow->id, 0);
	if (!whose)
		return flow_id_add(ids, flow->id, 0);
	if (!whose->owner)
		return whose;
	if (whose->owner != flow->provider)
		other = flow_id_find(ids, flow->id, whose->owner);
	if (other)
		return other;
	return f ? f : flow_id_add(ids, flow->id, flow->provider);
}

static uint64_t flow_go_on(struct fx_flow_ids *ids, const struct fx_flow_of *flow, bool is_end)
{
	struct fx_flow_id *f = flow_id_meant(ids, flow);
	struct flow_span *before = NULL, *behind = NULL, span;
	size_t at;

	if (!f)
		return flow->id;
	at = flow_span_behind(f, flow->ns);
	if (at > 0)
		before = &f->spans.items[at - 1];
	if (at < f->spans.count)
		behind = &f->spans.items[at];
	if (before && (!before->ended || before->end >= flow->ns)) {
		if (is_end)
			before->end = flow->ns;
		before->ended |= is_end;
		return before->shown;
	}
	if (behind && !behind->begun && !is_end) {
		behind->start = flow->ns;
		return behind->shown;
	}
	/* Its begin is to come, from another thread. */
	span = (struct flow_span){.start = flow->ns, .end = flow->ns, .ended = is_end};
	span.shown = before ? before->shown : behind ? behind->shown : flow->id;
	flow_span_add(ids, f, at, span);
	return span.shown;
}

uint64_t fx_flow_ids_shown(struct fx_flow_ids *ids, const struct fx_flow_of *flow,
			   enum fx_flow_part part)
{
	return part == FX_FLOW_PART_BEGIN ? flow_begin(ids, flow)
					  : flow_go_on(ids, flow, part == FX_FLOW_PART_END);
}

void fx_flow_ids_clear(struct fx_flow_ids *ids)
{
	struct fx_flow_id *f, *next;

	HASH_ITER (hh, ids->by_key, f, next)
		flow_id_forget(ids, f);
}
