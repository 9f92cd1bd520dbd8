/* SPDX-License-Identifier: MIT */
#include "format/check-ids.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

static int compare_u64(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int check_ids_entry_compare(const void *a, const void *b)
{
	const struct fx_id_entry *x = a, *y = b;
	int r = compare_u64(x->id, y->id);

	if (r == 0)
		r = compare_u64(x->time, y->time);
	return r ? r : compare_u64(x->offset, y->offset);
}

const struct fx_runs_kind fx_ids_kind = {
    .size = sizeof(struct fx_id_entry),
    .compare = check_ids_entry_compare,
};

/* --- Async ----------------------------------------------------------------------------------- */

/* What is remembered of a begin event. */
struct open_begin {
	uint64_t pid;
	uint64_t name;
	uint64_t offset;
};

/* Those of the current id that are open. */
struct open_begins {
	FX_VECTOR(struct open_begin) begins;
};

static int async_begin(struct open_begins *open, const struct fx_id_entry *e,
		       struct fx_violations *violations)
{
	size_t count = open->begins.count;

	if (count > 0 && open->begins.items[count - 1].pid != e->pid)
		fx_violations_error(violations, e->offset,
				    "async id %" PRIu64 " is open in another process as well, "
				    "since offset 0x%" PRIx64,
				    e->id, open->begins.items[count - 1].offset);
	if (fx_vector_reserve(&open->begins, 1) < 0)
		return -ENOMEM;
	open->begins.items[open->begins.count++] = (struct open_begin){e->pid, e->name, e->offset};
	return 0;
}

/*
 * Closes the innermost open begin of the same name, among as many as a viewer keeps: that bounds
 * the work for an archive that begins without end.
 */
static void async_end(struct open_begins *open, const struct fx_id_entry *e,
		      struct fx_violations *violations)
{
	struct open_begin *begins = open->begins.items;
	size_t count = open->begins.count, i = count;
	size_t lowest = count > FX_MAX_SLICE_DEPTH ? count - FX_MAX_SLICE_DEPTH : 0;

	if (i == 0) {
		fx_violations_error(violations, e->offset, "async end without a begin, id %" PRIu64,
				    e->id);
		return;
	}
	while (i > lowest && begins[i - 1].name != e->name)
		i--;
	if (i == lowest) {
		fx_violations_error(violations, e->offset,
				    "async end with another name or category than its begin at "
				    "offset 0x%" PRIx64 ", id %" PRIu64,
				    begins[count - 1].offset, e->id);
		return;
	}
	memmove(begins + i - 1, begins + i, (count - i) * sizeof(*begins));
	open->begins.count--;
}

static int async_apply(struct open_begins *open, const struct fx_id_entry *e,
		       struct fx_violations *violations)
{
	switch (e->event) {
	case FX_ID_BEGIN:
		return async_begin(open, e, violations);
	case FX_ID_STEP:
		if (open->begins.count == 0)
			fx_violations_warning(violations, e->offset,
					      "async instant without a begin, id %" PRIu64, e->id);
		return 0;
	default:
		async_end(open, e, violations);
		return 0;
	}
}

int fx_ids_check_async(struct fx_runs *ids, struct fx_violations *violations, uint64_t *ret_open)
{
	struct open_begins open = {0};
	const struct fx_id_entry *entry;
	struct fx_merge merge;
	uint64_t id = 0;
	int r = fx_merge_begin(&merge, ids);

	*ret_open = 0;
	if (r < 0)
		return r;
	entry = fx_merge_first(&merge);
	for (; entry && r == 0; entry = fx_merge_next(&merge)) {
		if (entry->id != id) {
			*ret_open += open.begins.count;
			open.begins.count = 0;
		}
		id = entry->id;
		r = async_apply(&open, entry, violations);
	}
	*ret_open += open.begins.count;
	fx_vector_free(&open.begins);
	fx_merge_end(&merge);
	return r < 0 ? r : merge.error;
}

/* --- Flows ----------------------------------------------------------------------------------- */

/* @begun: whether the id at hand is under way. */
static int flow_apply(const struct fx_id_entry *e, bool *begun, struct fx_violations *violations,
		      struct fx_slices *slices)
{
	int r = 0;

	if (e->event == FX_ID_BEGIN && *begun)
		fx_violations_error(violations, e->offset,
				    "flow id %" PRIu64 " begins again before its end", e->id);
	if (e->event == FX_ID_BEGIN || *begun)
		r = fx_slices_flow(slices, e->pid, e->tid, e->time, e->offset);
	else
		fx_violations_warning(violations, e->offset, "flow %s without a begin, id %" PRIu64,
				      e->event == FX_ID_END ? "end" : "step", e->id);
	if (e->event != FX_ID_STEP)
		*begun = e->event == FX_ID_BEGIN;
	return r;
}

int fx_ids_check_flows(struct fx_runs *ids, struct fx_violations *violations,
		       struct fx_slices *slices)
{
	const struct fx_id_entry *entry;
	struct fx_merge merge;
	bool begun = false;
	uint64_t id = 0;
	int r = fx_merge_begin(&merge, ids);

	if (r < 0)
		return r;
	entry = fx_merge_first(&merge);
	for (; entry && r == 0; entry = fx_merge_next(&merge)) {
		if (entry->id != id)
			begun = false;
		id = entry->id;
		r = flow_apply(entry, &begun, violations, slices);
	}
	fx_merge_end(&merge);
	return r < 0 ? r : merge.error;
}
