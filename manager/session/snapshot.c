/* SPDX-License-Identifier: MIT */
#include "manager/session/snapshot.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "base/fault.h"
#include "manager/archive/destination.h"
#include "manager/settings/report.h"
#include "manager/settings/terms.h"

/* Names that another session is just writing to are passed by. */
#define TRIES_MAX 100u

struct fx_snapshot {
	struct fx_snapshot *next;
	struct fx_snapshots *all;
	struct fx_writer *writer;
	struct fx_watch watch; /* of done_fd */
	int done_fd;
	void (*done)(void *opaque, const char *path, const struct fx_totals *totals, int error);
	void *opaque;
	char path[];
};

void fx_snapshots_init(struct fx_snapshots *ret, struct fx_poller *poller)
{
	*ret = (struct fx_snapshots){.poller = poller};
}

static void snapshot_free(struct fx_snapshot *s)
{
	if (s->done_fd >= 0)
		close(s->done_fd);
	free(s);
}

static void snapshot_finish(struct fx_snapshot *s)
{
	struct fx_snapshot **at = &s->all->first;
	struct fx_totals totals;
	int error;

	while (*at != s)
		at = &(*at)->next;
	*at = s->next;
	fx_poller_remove(s->all->poller, s->done_fd);
	error = fx_writer_finish(s->writer, &totals);
	if (s->done)
		s->done(s->opaque, s->path, &totals, error);
	snapshot_free(s);
}

void fx_snapshots_destroy(struct fx_snapshots *snapshots)
{
	for (struct fx_snapshot *s = snapshots->first; s; s = s->next)
		fx_writer_hurry(s->writer, true);
	while (snapshots->first)
		snapshot_finish(snapshots->first);
}

void fx_snapshots_abandon(struct fx_snapshots *snapshots, const void *opaque)
{
	for (struct fx_snapshot *s = snapshots->first; s; s = s->next) {
		if (s->opaque != opaque)
			continue;
		s->done = NULL;
		fx_writer_hurry(s->writer, true);
	}
}

static void snapshot_done_ready(void *opaque)
{
	snapshot_finish(opaque);
}

static int snapshot_create(struct fx_snapshots *all, const struct fx_snapshot_order *order,
			   struct fx_snapshot **ret)
{
	size_t length = strlen(order->path);
	struct fx_snapshot *s = calloc(1, sizeof(*s) + length + 1);

	if (!s)
		return -ENOMEM;
	s->all = all;
	s->done = order->done;
	s->opaque = order->opaque;
	s->watch = (struct fx_watch){.ready = snapshot_done_ready, .opaque = s};
	memcpy(s->path, order->path, length + 1);
	s->done_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (s->done_fd < 0) {
		int r = -errno;

		snapshot_free(s);
		return r;
	}
	*ret = s;
	return 0;
}

static int snapshot_writer_start(struct fx_snapshot *s, const struct fx_snapshot_order *order)
{
	const struct fx_writer_config config = {
	    .output = order->output,
	    .path = s->path,
	    .clock = order->clock,
	    .first_anchor = order->first_anchor,
	    /* Beyond it, taking a snapshot takes as long as writing it. */
	    .queue_limit = FX_QUEUE_LIMIT,
	    .cures_of = order->config,
	    .pairs = order->config->pairs,
	    .functions = order->config->functions,
	    .last_ns = fx_terms_last(order->config),
	    .max_strings = order->config->max_strings,
	    .max_symbols = order->config->max_symbols,
	    .max_user_symbols = order->config->max_user_symbols,
	    .symbol_cache = order->config->symbol_cache,
	    .lines = order->config->lines,
	    .done_fd = s->done_fd,
	};

	return fx_writer_start(&config, &s->writer);
}

/* Queues all that one provider's buffer holds. */
static void copy_provider(struct fx_snapshot *s, const struct fx_provider *p, uint64_t ticks)
{
	const struct timespec nap = {.tv_nsec = 1000000};
	struct fx_queue *queue = fx_writer_queue(s->writer);
	struct fx_inlet *inlet;
	struct fx_provider view;

	inlet = fx_provider_enlist(p, s->writer, false);
	if (!inlet || fx_provider_view(p, ticks, inlet, &view) < 0)
		return;
	while (!fx_provider_finish(&view, queue))
		nanosleep(&nap, NULL);
	fx_provider_view_release(&view);
}

int fx_snapshot_take(struct fx_snapshots *snapshots, const struct fx_snapshot_order *order,
		     const struct fx_provider *providers)
{
	uint64_t ticks = fx_ticks(order->clock->kind);
	struct fx_snapshot *s = NULL;
	int r = snapshot_create(snapshots, order, &s);

	if (r < 0) {
		fx_output_close(order->output, NULL);
		return r;
	}
	r = snapshot_writer_start(s, order);
	if (r < 0) {
		snapshot_free(s);
		return r;
	}
	FX_FAULT(snapshot_begin);
	/* As long as the daemon itself may have to wait for the queue. */
	fx_writer_hurry(s->writer, true);
	for (const struct fx_provider *p = providers; p; p = p->next) {
		if (p->inlet && p->phase != FX_PROVIDER_OVER && fx_drain_is_attached(&p->drain))
			copy_provider(s, p, ticks);
	}
	FX_FAULT(snapshot_copied);
	fx_writer_hurry(s->writer, false);
	fx_writer_close(s->writer);
	snapshots->taken++;
	s->next = snapshots->first;
	snapshots->first = s;
	/* Without a watch it is finished with the others, at the end. */
	fx_poller_add(snapshots->poller, s->done_fd, &s->watch);
	return 0;
}

/* Where the extensions of an archive's name begin. */
static size_t stem_length(const char *output)
{
	static const char *const endings[] = {".gz", ".zst", ".fxt"};
	size_t length = strlen(output);

	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
		size_t n = strlen(endings[i]);

		if (length > n && strncmp(output + length - n, endings[i], n) == 0)
			length -= n;
	}
	return length;
}

int fx_snapshot_path(const char *output, unsigned n, char *ret, size_t size)
{
	size_t stem = stem_length(output);
	int length = snprintf(ret, size, "%.*s.%u%s", (int)stem, output, n, output + stem);

	return length < 0 || (size_t)length >= size ? -ENAMETOOLONG : 0;
}

static void snapshot_tell(void *opaque, const char *path, const struct fx_totals *totals, int error)
{
	(void)opaque;
	if (error)
		return; /* the writer has told */
	fx_report("%s: a snapshot, %s%.3f s%s, %" PRIu64 " event%s", path,
		  totals->wrapped || totals->shortened ? "the last " : "all ",
		  (double)totals->history_ns / 1e9,
		  totals->wrapped || totals->shortened ? " of every process" : "", totals->events,
		  totals->events == 1 ? "" : "s");
}

void fx_snapshot_take_beside(struct fx_snapshots *snapshots, const struct fx_session_config *config,
			     const struct fx_clock_choice *clock, struct fx_anchor first_anchor,
			     unsigned *n, const struct fx_provider *providers)
{
	char path[FX_OUTPUT_PATH_MAX];
	struct fx_snapshot_order order = {
	    .config = config,
	    .path = path,
	    .clock = clock,
	    .first_anchor = first_anchor,
	    .done = snapshot_tell,
	};
	unsigned tries = 0;
	int r;

	/* Standard output has nothing beside it. */
	if (strcmp(config->output, "-") == 0)
		return;
	do {
		r = fx_snapshot_path(config->output, ++*n, path, sizeof(path));
		if (r == 0)
			r = fx_output_open(path, &order.output);
	} while (r == -EBUSY && ++tries < TRIES_MAX);
	if (r < 0) {
		fx_report("%s: no snapshot: %s", path, fx_destination_why(r));
		return;
	}
	r = fx_snapshot_take(snapshots, &order, providers);
	if (r < 0)
		fx_report("%s: no snapshot: %s", path, fx_report_why(r));
}
