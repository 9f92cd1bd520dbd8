/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "archives/merge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "archives/merge-internal.h"
#include "archives/times.h"

/* --- First: what is there --------------------------------------------------------------------- */

/* Gives each end of a connection the other, in an archive of another recording. */
static void merge_pair(struct fx_merge *m)
{
	uint64_t base = 0;

	for (size_t i = 0; i < m->count; i++) {
		struct fx_stream_end *end, *next;

		HASH_ITER (hh, m->aligned[i].facts.messages.ends, end, next) {
			end->owner = i;
			end->base = base;
			base += end->calls[FX_DIRECTION_RECEIVED].count;
			for (size_t j = 0; j < i && !end->is_odd && !end->other; j++) {
				struct fx_stream_end *other =
				    fx_messages_find(&m->aligned[j].facts.messages, end->other_key);

				if (!other || other->other ||
				    m->apart[i].group == m->apart[j].group)
					continue;
				end->other = other;
				other->other = end;
			}
		}
	}
}

static int merge_see_link(void *opaque, const struct fx_link *link)
{
	struct fx_merge *m = opaque;

	m->linked++;
	return fx_align_is_backwards(m->aligned, link) ? fx_link_ids_add(&m->backwards, link->id)
						       : 0;
}

static int merge_see_odd(void *opaque, uint64_t id)
{
	struct fx_merge *m = opaque;

	return fx_link_ids_add(&m->odd, id);
}

static struct fx_clockmap *merge_map_of(void *opaque, size_t archive)
{
	struct fx_merge *m = opaque;

	return &m->aligned[archive].map;
}

/* Whether two archives say that they come from different hosts. */
static bool merge_are_hosts_many(const struct fx_merge *m)
{
	const char *first = NULL;

	for (size_t i = 0; i < m->count; i++) {
		const char *host = m->aligned[i].facts.host.host;

		if (first && host[0] && strcmp(first, host) != 0)
			return true;
		if (host[0])
			first = host;
	}
	return false;
}

int fx_merge_open(const struct fx_merge_input *inputs, size_t count, struct fx_merge **ret,
		  size_t *ret_at)
{
	struct fx_merge *m = calloc(1, sizeof(*m));
	int r = 0;

	*ret = m;
	*ret_at = 0;
	if (!m)
		return -ENOMEM;
	m->inputs = inputs;
	m->aligned = calloc(count, sizeof(*m->aligned));
	m->apart = calloc(count, sizeof(*m->apart));
	m->sources = calloc(count, sizeof(*m->sources));
	m->links = fx_links_new();
	m->meetings = fx_meetings_new();
	if (!m->aligned || !m->apart || !m->sources || !m->links || !m->meetings) {
		fx_merge_free(m);
		*ret = NULL;
		return -ENOMEM;
	}
	m->count = count;
	for (size_t i = 0; i < count && r == 0; i++) {
		*ret_at = i;
		m->aligned[i].has_offset = inputs[i].has_offset;
		m->aligned[i].offset = inputs[i].offset;
		m->apart[i].facts = &m->aligned[i].facts;
		r = fx_facts_read(inputs[i].path, m->links, m->meetings, i, &m->aligned[i].facts);
	}
	if (r == 0)
		r = fx_align(m->aligned, count, m->links);
	if (r == 0)
		r = fx_links_walk(m->links, merge_see_link, merge_see_odd, m);
	if (r == 0)
		r = fx_meetings_seal(m->meetings, merge_map_of, m);
	if (r < 0)
		return r;
	fx_apart(m->apart, count);
	merge_pair(m);
	m->has_hosts = merge_are_hosts_many(m);
	for (size_t i = 0; i < count; i++) {
		*ret_at = i;
		m->sources[i].is_identity = fx_clockmap_is_identity(&m->aligned[i].map);
		if (m->aligned[i].how == FX_ALIGN_NONE)
			return -ENODATA;
	}
	return 0;
}

struct fx_merge_result fx_merge_result(const struct fx_merge *m, size_t at)
{
	const struct fx_clockmap *map = &m->aligned[at].map;
	struct fx_merge_result result = {.aligned = &m->aligned[at], .shift = m->apart[at].shift};

	if (map->points.count > 0)
		result.moved = (int64_t)(map->points.items[0].to - map->points.items[0].from);
	return result;
}

void fx_merge_free(struct fx_merge *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->count; i++) {
		fx_facts_free(&m->aligned[i].facts);
		fx_clockmap_free(&m->aligned[i].map);
		fxt_reader_close(m->sources[i].reader);
	}
	fx_apart_free(m->apart, m->count, &m->numbers);
	fx_links_free(m->links);
	fx_meetings_free(m->meetings);
	fx_link_ids_free(&m->backwards);
	fx_link_ids_free(&m->odd);
	fx_turns_release(&m->turns);
	free(m->aligned);
	free(m->apart);
	free(m->sources);
	free(m);
}

/* --- Writing ---------------------------------------------------------------------------------- */

/* Clock records are those of the first recording, whose times they tell. */
static bool merge_clock(struct fx_merge *m, size_t at)
{
	if (m->apart[at].group != 0)
		return false;
	m->clock.ns = fx_clockmap_to(&m->aligned[at].map, m->clock.ns);
	/* A clock that was changed is no machine's. */
	if (!m->sources[0].is_identity)
		m->clock.boot[0] = m->clock.boot[1] = 0;
	m->record.blob.payload.data = &m->clock;
	return true;
}

static int merge_provider(struct fx_merge *m, size_t at, uint32_t id, uint32_t *ret)
{
	struct fx_merge_source *source = &m->sources[at];
	int r = 0;

	if (!source->has_provider || source->provider_from != id)
		r = fx_apart_provider(&m->apart[m->apart[at].group], &m->numbers, id,
				      &source->provider_to);
	source->provider_from = id;
	source->has_provider = r == 0;
	*ret = source->provider_to;
	return r;
}

static int merge_write_record(struct fx_merge *m, size_t at)
{
	const struct fx_merge_source *source = &m->sources[at];
	const struct fxt_record *record = source->next;
	struct fx_copy_way way = {.source = (unsigned)at};
	int r = merge_provider(m, at,
			       record->kind == FXT_KIND_PROVIDER_EVENT ? record->provider_record.id
								       : record->provider->id,
			       &way.provider);
	bool is_sent;

	if (r < 0)
		return r;
	way.changed = fx_merge_changes(m, at, record);
	if (m->backwards.ids.count > 0 && fx_link_read(record, &is_sent) &&
	    fx_link_ids_has(&m->backwards, record->event.id)) {
		m->counts.backwards += is_sent;
		return 0;
	}
	if (fx_host_record_is(record) && m->apart[at].group != 0)
		return 0;
	if (fx_clock_record_decode(record, &m->clock)) {
		way.changed = true;
		fx_merge_translate(m, at);
		if (!merge_clock(m, at))
			return 0;
		record = &m->record;
	} else if (way.changed) {
		fx_merge_translate(m, at);
		record = &m->record;
	}
	r = fx_copy_record(m->copy, record, &way);
	if (r < 0)
		return r;
	m->counts.events += r > 0 && record->kind == FXT_KIND_EVENT;
	m->counts.left_out +=
	    r == 0 && (record->kind == FXT_KIND_EVENT || record->kind == FXT_KIND_UNKNOWN ||
		       record->size > FX_OUTPUT_RECORD_MAX);
	return fx_merge_messages(m, at, &way);
}

/* Reads on. Its time never goes back, so that archives take turns in long runs. 0 or -errno. */
static int merge_advance(struct fx_merge *m, size_t at)
{
	struct fx_merge_source *source = &m->sources[at];
	uint64_t begin, end, ns;
	int r = fxt_reader_next(source->reader, &source->next);

	if (r <= 0) {
		source->next = NULL;
		return r;
	}
	if (fx_record_times(source->next, &begin, &end)) {
		ns = fx_merge_time(m, at, end);
		if (ns > source->time)
			source->time = ns;
	}
	return 0;
}

/* The record of the archive whose turn it is. */
static int merge_step(struct fx_merge *m, size_t at)
{
	int r = merge_write_record(m, at);

	if (r == 0)
		r = merge_advance(m, at);
	if (r == 0 && m->sources[at].next)
		fx_turns_next(&m->turns, m->sources[at].time);
	else if (r == 0)
		fx_turns_over(&m->turns);
	return r;
}

static int merge_all(struct fx_merge *m, struct fx_output *out, size_t *ret_at)
{
	const struct fx_turn *turn;
	int r = 0;

	for (size_t i = 0; i < m->count && r == 0; i++) {
		*ret_at = i;
		r = fxt_reader_open_path(m->inputs[i].path, &m->sources[i].reader);
		if (r == 0)
			r = merge_advance(m, i);
		if (r == 0 && m->sources[i].next)
			r = fx_turns_add(&m->turns, i, m->sources[i].time);
	}
	for (turn = fx_turns_first(&m->turns); turn && r == 0; turn = fx_turns_first(&m->turns)) {
		*ret_at = turn->number;
		r = merge_step(m, turn->number);
	}
	return r < 0 ? r : fx_output_error(out);
}

int fx_merge_write(struct fx_merge *m, struct fx_output *out, struct fx_merge_counts *ret,
		   size_t *ret_at)
{
	int r = -ENOMEM;

	*ret_at = 0;
	m->counts = (struct fx_merge_counts){.arrows = m->linked - m->backwards.ids.count};
	m->copy = fx_copy_new(out);
	if (m->copy)
		r = merge_all(m, out, ret_at);
	fx_copy_free(m->copy);
	m->copy = NULL;
	*ret = m->counts;
	return r;
}
