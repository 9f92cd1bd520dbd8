/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "convert/otlp-aside.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "convert/json-text.h"
#include "convert/otlp-attributes.h"
#include "lists/spill.h"

enum { ASIDE_COPY_BYTES = 1 << 16 };

/* --- What is put aside ------------------------------------------------------------------------ */

/* Makes the file, if there is none yet. */
static int aside_open(struct fx_otlp_aside *aside)
{
	int r, fd;

	if (aside->sink)
		return 0;
	fd = fx_spill_file();
	if (fd < 0)
		return fd;
	aside->fd = dup(fd);
	if (aside->fd < 0) {
		r = -errno;
		close(fd);
		return r;
	}
	aside->has_fd = true;
	return fx_sink_open(fd, FX_PACKING_NONE, &aside->sink);
}

int fx_otlp_aside_begin(struct fx_otlp_aside *aside)
{
	int r = aside_open(aside);

	if (r == 0 && fx_vector_reserve(&aside->held, 1) < 0)
		r = -ENOMEM;
	if (r == 0)
		aside->held.items[aside->held.count].offset = fx_sink_size(aside->sink);
	return r;
}

int fx_otlp_aside_end(struct fx_otlp_aside *aside, const struct fx_event *event,
		      const struct fx_process *process, uint64_t span)
{
	struct fx_otlp_held *held = &aside->held.items[aside->held.count];

	if (fx_vector_reserve(&aside->links, event->link_count) < 0)
		return -ENOMEM;
	held->span = span;
	held->size = fx_sink_size(aside->sink) - held->offset;
	held->process = process;
	aside->held.count++;
	for (size_t i = 0; i < event->link_count; i++)
		aside->links.items[aside->links.count++] = (struct fx_otlp_link){
		    {event->links[i].chain, event->ts, event->links[i].role, span}, 0};
	return 0;
}

/* --- Taken back ------------------------------------------------------------------------------- */

static int aside_compare(const void *left, const void *right)
{
	const struct fx_otlp_link *a = left, *b = right;

	if (a->to != b->to)
		return a->to < b->to ? -1 : 1;
	return (a->end.slice > b->end.slice) - (a->end.slice < b->end.slice);
}

/* Makes arrows of ends, in the order of the spans that they lead to. */
static void aside_pair(struct fx_otlp_aside *aside)
{
	struct fx_otlp_link *items = aside->links.items;
	size_t count = 0;

	if (aside->links.count == 0)
		return;
	qsort(items, aside->links.count, sizeof(*items), fx_flow_ends_compare);
	for (size_t i = 1; i < aside->links.count; i++) {
		if (items[i].end.chain != items[i - 1].end.chain)
			continue;
		items[count] = items[i - 1];
		items[count++].to = items[i].end.slice;
	}
	aside->links.count = count;
	qsort(items, count, sizeof(*items), aside_compare);
}

int fx_otlp_aside_seal(struct fx_otlp_aside *aside)
{
	int r = fx_sink_close(aside->sink);

	aside->sink = NULL;
	aside_pair(aside);
	return r;
}

int fx_otlp_aside_copy(const struct fx_otlp_aside *aside, size_t i, struct fx_sink *sink)
{
	const struct fx_otlp_held *held = &aside->held.items[i];

	for (uint64_t done = 0; done < held->size;) {
		uint64_t rest = held->size - done;
		size_t piece = rest < ASIDE_COPY_BYTES ? rest : ASIDE_COPY_BYTES;
		unsigned char *to = fx_sink_reserve(sink, piece);
		ssize_t n = to ? pread(aside->fd, to, piece, (off_t)(held->offset + done)) : 0;

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return !to ? -ENOMEM : n < 0 ? -errno : -EIO;
		fx_sink_commit(sink, (size_t)n);
		done += (uint64_t)n;
	}
	return 0;
}

void fx_otlp_aside_links(struct fx_otlp_aside *aside, size_t i, const char *trace_id,
			 struct fx_sink *sink)
{
	uint64_t span = aside->held.items[i].span;
	size_t *at = &aside->next_link;
	bool any = false;

	for (; *at < aside->links.count && aside->links.items[*at].to == span; ++*at) {
		fx_json_raw(sink, any ? ",{\"traceId\":\"" : ",\"links\":[{\"traceId\":\"");
		fx_json_raw(sink, trace_id);
		fx_json_raw(sink, "\"");
		fx_otlp_id(sink, "spanId", aside->links.items[*at].end.slice);
		fx_json_raw(sink, "}");
		any = true;
	}
	fx_json_raw(sink, any ? "]" : "");
}

void fx_otlp_aside_release(struct fx_otlp_aside *aside)
{
	fx_sink_close(aside->sink);
	if (aside->has_fd)
		close(aside->fd);
	fx_vector_free(&aside->links);
	fx_vector_free(&aside->held);
}
