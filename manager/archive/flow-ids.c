/* SPDX-License-Identifier: MIT */
#include "manager/archive/flow-ids.h"

#include <stdbool.h>
#include <stdlib.h>

#include "lists/hashes-lenient.h"

/* Ids that no provider gives itself, nor the manager's own arrows have (arrows.c, transfer-draw.c). */
#define APART_FLOWS (UINT64_C(0x3ffffb) << 41)

struct flow_key {
	uint64_t id;
	uint32_t provider; /* 0: whose id it is as it stands */
	uint32_t none;
};

struct fx_flow_id {
	UT_hash_handle hh;
	bool lost; /* not in the hash for lack of memory */
	bool ended;
	uint32_t owner; /* of the key without a provider */
	struct flow_key key;
	uint64_t before, before_ns; /* the id in the archive of what is earlier than that */
	uint64_t shown;
	uint64_t end_ns;
};

static struct fx_flow_id *flow_id_find(const struct fx_flow_ids *ids, uint64_t id,
				       uint32_t provider)
{
	const struct flow_key key = {.id = id, .provider = provider};
	struct fx_flow_id *f;

	HASH_FIND(hh, ids->by_key, &key, sizeof(key), f);
	return f;
}

static struct fx_flow_id *flow_id_add(struct fx_flow_ids *ids, uint64_t id, uint32_t provider)
{
	struct fx_flow_id *f = ids->by_key;

	if (HASH_COUNT(ids->by_key) >= FX_FLOW_IDS_MAX) {
		HASH_DEL(ids->by_key, f);
		free(f);
	}
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

/* Whether the id may stand as it is: it is the provider's, and is so from now on if it was nobody's. */
static bool flow_id_is_own(struct fx_flow_ids *ids, const struct fx_flow_of *flow)
{
	struct fx_flow_id *whose = flow_id_find(ids, flow->id, 0);

	if (!whose) {
		whose = flow_id_add(ids, flow->id, 0);
		if (whose)
			whose->owner = flow->provider;
	}
	return !whose || whose->owner == flow->provider;
}

static uint64_t flow_begin(struct fx_flow_ids *ids, const struct fx_flow_of *flow)
{
	struct fx_flow_id *f = flow_id_find(ids, flow->id, flow->provider);

	if (!f) {
		bool own = flow_id_is_own(ids, flow);

		f = flow_id_add(ids, flow->id, flow->provider);
		if (!f)
			return flow->id;
		f->shown = own ? flow->id : APART_FLOWS | ++ids->apart;
		f->before = f->shown;
	} else if (!f->ended || f->end_ns > flow->ns) {
		f->before = f->shown;
		f->before_ns = flow->ns;
		f->shown = APART_FLOWS | ++ids->apart;
	}
	f->ended = false;
	return f->shown;
}

uint64_t fx_flow_ids_shown(struct fx_flow_ids *ids, const struct fx_flow_of *flow,
			   enum fx_flow_part part)
{
	struct fx_flow_id *f;

	if (part == FX_FLOW_PART_BEGIN)
		return flow_begin(ids, flow);
	f = flow_id_find(ids, flow->id, flow->provider);
	if (!f)
		return flow->id;
	if (flow->ns < f->before_ns)
		return f->before;
	if (part == FX_FLOW_PART_END) {
		f->ended = true;
		f->end_ns = flow->ns;
	}
	return f->shown;
}

void fx_flow_ids_clear(struct fx_flow_ids *ids)
{
	struct fx_flow_id *f, *next;

	HASH_ITER (hh, ids->by_key, f, next) {
		HASH_DEL(ids->by_key, f);
		free(f);
	}
}
