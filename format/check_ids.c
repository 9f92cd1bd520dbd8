/* SPDX-License-Identifier: MIT */
#include "format/check_ids.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>

void fx_ids_clear(struct fx_ids *ids)
{
	free(ids->entries);
	*ids = (struct fx_ids){0};
}

int fx_ids_add(struct fx_ids *ids, const struct fx_id_entry *entry)
{
	if (ids->count == ids->capacity) {
		size_t capacity = ids->capacity ? 2 * ids->capacity : 64;
		struct fx_id_entry *entries =
		    reallocarray(ids->entries, capacity, sizeof(*entries));

		if (!entries)
			return -ENOMEM;
		ids->entries = entries;
		ids->capacity = capacity;
	}
	ids->entries[ids->count++] = *entry;
	return 0;
}

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

static void ids_sort(struct fx_ids *ids)
{
	if (ids->count > 1)
		qsort(ids->entries, ids->count, sizeof(*ids->entries), check_ids_entry_compare);
}

/* --- Async ----------------------------------------------------------------------------------- */

/* The begin events of the current id that are open. Room for all: one place per entry. */
struct open_begins {
	const struct fx_id_entry **begins;
	size_t count;
};

static void async_begin(struct open_begins *open, const struct fx_id_entry *e,
			struct fx_violations *violations)
{
	if (open->count > 0 && open->begins[open->count - 1]->pid != e->pid)
		fx_violations_error(violations, e->offset,
				    "async id %" PRIu64 " is open in another process as well, "
				    "since offset 0x%" PRIx64,
				    e->id, open->begins[open->count - 1]->offset);
	open->begins[open->count++] = e;
}

/*
 * Closes the innermost open begin of the same name, among as many as a viewer keeps: that bounds
 * the work for an archive that begins without end.
 */
static void async_end(struct open_begins *open, const struct fx_id_entry *e,
		      struct fx_violations *violations)
{
	size_t lowest = open->count > FX_MAX_SLICE_DEPTH ? open->count - FX_MAX_SLICE_DEPTH : 0;
	size_t i = open->count;

	if (i == 0) {
		fx_violations_error(violations, e->offset, "async end without a begin, id %" PRIu64,
				    e->id);
		return;
	}
	while (i > lowest && open->begins[i - 1]->name != e->name)
		i--;
	if (i == lowest) {
		fx_violations_error(violations, e->offset,
				    "async end with another name or category than its begin at "
				    "offset 0x%" PRIx64 ", id %" PRIu64,
				    open->begins[open->count - 1]->offset, e->id);
		return;
	}
	for (open->count--; i <= open->count; i++)
		open->begins[i - 1] = open->begins[i];
}

static void async_apply(struct open_begins *open, const struct fx_id_entry *e,
			struct fx_violations *violations)
{
	switch (e->event) {
	case FX_ID_BEGIN:
		async_begin(open, e, violations);
		break;
	case FX_ID_STEP:
		if (open->count == 0)
			fx_violations_warning(violations, e->offset,
					      "async instant without a begin, id %" PRIu64, e->id);
		break;
	case FX_ID_END:
		async_end(open, e, violations);
		break;
	}
}

int fx_ids_check_async(struct fx_ids *ids, struct fx_violations *violations, uint64_t *ret_open)
{
	struct open_begins open = {0};
	uint64_t left = 0;

	*ret_open = 0;
	if (ids->count == 0)
		return 0;
	open.begins = calloc(ids->count, sizeof(const struct fx_id_entry *));
	if (!open.begins)
		return -ENOMEM;
	ids_sort(ids);
	for (size_t i = 0; i < ids->count; i++) {
		if (i > 0 && ids->entries[i].id != ids->entries[i - 1].id) {
			left += open.count;
			open.count = 0;
		}
		async_apply(&open, &ids->entries[i], violations);
	}
	*ret_open = left + open.count;
	free(open.begins);
	return 0;
}

/* --- Flows ----------------------------------------------------------------------------------- */

int fx_ids_check_flows(struct fx_ids *ids, struct fx_violations *violations,
		       struct fx_slices *slices)
{
	bool begun = false;

	ids_sort(ids);
	for (size_t i = 0; i < ids->count; i++) {
		const struct fx_id_entry *e = &ids->entries[i];
		int r = 0;

		if (i > 0 && e->id != ids->entries[i - 1].id)
			begun = false;
		if (e->event == FX_ID_BEGIN && begun)
			fx_violations_error(violations, e->offset,
					    "flow id %" PRIu64 " begins again before its end",
					    e->id);
		if (e->event == FX_ID_BEGIN || begun)
			r = fx_slices_flow(slices, e->pid, e->tid, e->time, e->offset);
		else
			fx_violations_warning(violations, e->offset,
					      "flow %s without a begin, id %" PRIu64,
					      e->event == FX_ID_END ? "end" : "step", e->id);
		if (r < 0)
			return r;
		if (e->event != FX_ID_STEP)
			begun = e->event == FX_ID_BEGIN;
	}
	return 0;
}
