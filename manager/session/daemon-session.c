/* SPDX-License-Identifier: MIT */
/*
 * The session of the daemon. Nothing here waits: what takes its time is gone on with in
 * fx_daemon_session_step().
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/fault.h"
#include "manager/session/daemon-internal.h"
#include "manager/settings/report.h"
#include "manager/session/states.h"
#include "manager/settings/terms.h"
#include "manager/settings/wanted.h"

#define MS UINT64_C(1000000)

/* Between two tries of what a full queue holds up, or that providers have not said yet. */
#define STEP_NS (1 * MS)

#define CATEGORY_BIT(sym, bit, name, dflt, help) | 1u << (bit)
#define CATEGORIES_KNOWN			 (0u FX_CATEGORIES(CATEGORY_BIT))

static void state_enter(struct fx_daemon_session *t, enum fx_session_state state)
{
	t->state = state;
	t->state_since = fx_monotonic_ns();
}

bool fx_daemon_session_is_open(const struct fx_daemon_session *t)
{
	return t->writer && !t->closed;
}

bool fx_daemon_session_is_running(const struct fx_daemon_session *t)
{
	return t->state == FX_SESSION_STARTING || t->state == FX_SESSION_STARTED;
}

/* What the request means now; 0: it may go on. */
static int daemon_session_refuse(const struct fx_daemon_session *t, enum fx_session_request request)
{
	int r = fx_state_refuses(t->state, request);

	if (r == FX_CONTROL_NOT_INITIALIZED && t->aborted)
		return FX_CONTROL_ABORTED;
	/* It ends by itself: those who use it hear why, at whatever moment they ask. */
	if (r == FX_CONTROL_TERMINATING && request != FX_REQUEST_INITIALIZE && t->writer &&
	    fx_writer_error(t->writer))
		return FX_CONTROL_ABORTED;
	return r;
}

static void daemon_session_answer(struct fx_client **client, const struct fx_msg_result *result)
{
	struct fx_client *c = *client;

	*client = NULL;
	if (c)
		fx_client_result(c, result);
}

static void answer_status(struct fx_client **client, int status)
{
	daemon_session_answer(client, &(struct fx_msg_result){.status = status});
}

/* --- Initialize ------------------------------------------------------------------------------ */

static bool words_are_sound(const char words[FX_CATEGORY_LIST_MAX])
{
	return memchr(words, 0, FX_CATEGORY_LIST_MAX) && (!*words || !fx_words_check(words));
}

static bool request_is_sound(const struct fx_msg_initialize *r)
{
	if (r->mode < FX_MODE_ONESHOT || r->mode > FX_MODE_STREAMING ||
	    r->on_full > FX_ON_FULL_BLOCK || (r->categories & ~CATEGORIES_KNOWN) ||
	    (r->stack_categories & ~CATEGORIES_KNOWN) ||
	    (r->on_full == FX_ON_FULL_BLOCK && r->mode != FX_MODE_STREAMING))
		return false;
	if (r->max_depth >= FX_FRAMES || r->spec_count > FX_PROVIDER_SPECS ||
	    r->trigger_count > FX_TRIGGERS)
		return false;
	if (!words_are_sound(r->words))
		return false;
	for (uint32_t i = 0; i < r->trigger_count; i++) {
		if (r->triggers[i].action < FX_TRIGGER_STOP ||
		    r->triggers[i].action > FX_TRIGGER_SNAPSHOT)
			return false;
	}
	return true;
}

/* Of a sound request. 0 stands for the manager's own default. */
static bool daemon_session_sizes_are_sound(const struct fx_msg_initialize *r)
{
	if (r->buffer_size && !fx_buffer_size_is_valid(r->buffer_size))
		return false;
	for (uint32_t i = 0; i < r->spec_count; i++) {
		if (!fx_buffer_size_is_valid(r->specs[i].size))
			return false;
	}
	return true;
}

/* Makes the configuration of our own copy of the request. */
static void configure(struct fx_daemon *d, const struct fx_msg_initialize *request)
{
	struct fx_daemon_session *t = &d->trace;
	struct fx_msg_initialize *r = &t->request;

	*r = *request;
	r->output[sizeof(r->output) - 1] = 0;
	for (uint32_t i = 0; i < r->spec_count; i++) {
		r->specs[i].name[sizeof(r->specs[i].name) - 1] = 0;
		t->sizes[i] = (struct fx_provider_size){r->specs[i].name, r->specs[i].size};
	}
	for (uint32_t i = 0; i < r->trigger_count; i++)
		r->triggers[i].alert[sizeof(r->triggers[i].alert) - 1] = 0;
	t->config = (struct fx_session_config){
	    .more_words = t->more_words,
	    .output = r->output,
	    .buffer_size = r->buffer_size ? r->buffer_size : d->defaults->buffer_size,
	    .sizes = r->spec_count ? t->sizes : d->defaults->sizes,
	    .size_count = r->spec_count ? r->spec_count : d->defaults->size_count,
	    .mode = (enum fx_buffering_mode)r->mode,
	    .on_full = (enum fx_on_full)r->on_full,
	    .pairs = r->pairs,
	    .follow = true,
	    .verbose = d->defaults->verbose,
	    .max_strings = d->defaults->max_strings,
	    .max_depth = r->max_depth,
	    .categories = r->categories,
	    .words = r->words,
	    .min_duration_ns = r->min_duration_ns,
	    .stack_categories = r->stack_categories,
	    .stack_duration_ns = r->stack_duration_ns,
	    .triggers = r->triggers,
	    .trigger_count = r->trigger_count,
	};
}

static void finished(struct fx_daemon *d);

static void daemon_session_done_ready(void *opaque)
{
	finished(opaque);
}

/* The output becomes the writer's, also if this fails. */
static int daemon_session_writer_start(struct fx_daemon *d, struct fx_output *output)
{
	struct fx_daemon_session *t = &d->trace;
	struct fx_writer_config config = {
	    .output = output,
	    .path = t->request.output,
	    .clock_kind = d->roster.clock_kind,
	    .first_anchor = t->first_anchor,
	    .queue_limit = FX_QUEUE_LIMIT,
	    .cures_of = &t->config,
	    .session = &t->config,
	    .pairs = t->config.pairs,
	    .max_strings = t->config.max_strings,
	};
	int r;

	t->done_fd = config.done_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (t->done_fd < 0) {
		r = -errno;
		fx_output_close(output, NULL);
		return r;
	}
	t->done_watch = (struct fx_watch){.ready = daemon_session_done_ready, .opaque = d};
	r = fx_poller_add(&d->ground.poller, t->done_fd, &t->done_watch);
	if (r < 0)
		fx_output_close(output, NULL);
	else
		r = fx_writer_start(&config, &t->writer);
	if (r < 0) {
		close(t->done_fd);
		t->writer = NULL;
	} else {
		d->roster.queue = fx_writer_queue(t->writer);
	}
	return r;
}

/* Every provider that is there joins. */
static void join_all(struct fx_daemon *d)
{
	struct fx_daemon_session *t = &d->trace;

	for (struct fx_provider *p = d->roster.providers; p; p = p->next) {
		struct fx_provider_terms terms =
		    fx_terms_for(&t->config, d->roster.clock_kind, d->roster.first_anchor, p->name);

		if (p->phase != FX_PROVIDER_LIVE || fx_provider_join(p, &terms, NULL) < 0)
			continue;
		t->small_buffers += p->reserve < terms.buffer_size;
		p->source = fx_provider_enlist(p, t->writer, false);
	}
}

static int refuse_initialize(const struct fx_daemon *d, const struct fx_msg_initialize *request,
			     int fd)
{
	int r = daemon_session_refuse(&d->trace, FX_REQUEST_INITIALIZE);

	if (r)
		return r;
	if (fd < 0 || d->ending || !request_is_sound(request))
		return FX_CONTROL_BAD_REQUEST;
	return daemon_session_sizes_are_sound(request) ? 0 : FX_CONTROL_BAD_SIZE;
}

int fx_daemon_session_initialize(struct fx_daemon *d, struct fx_client *client,
				 const struct fx_msg_initialize *request, int fd)
{
	struct fx_daemon_session *t = &d->trace;
	struct fx_output *output;
	int r = refuse_initialize(d, request, fd);

	if (r == 0) {
		memset(t, 0, sizeof(*t));
		configure(d, request);
		r = fx_output_adopt(fd, t->request.output, &output);
	}
	if (r) {
		if (fd >= 0)
			close(fd);
		return r;
	}
	FX_FAULT(trace_initialize);
	t->first_anchor = fx_anchor_take(d->roster.clock_kind);
	r = daemon_session_writer_start(d, output);
	if (r < 0)
		return r;
	t->client = request->detached ? NULL : client;
	t->is_own = client->is_own;
	state_enter(t, FX_SESSION_INITIALIZED);
	join_all(d);
	FX_FAULT(trace_joined);
	return 0;
}

/* --- Start ----------------------------------------------------------------------------------- */

static void dispose(struct fx_provider *p, enum fx_buffering_mode mode,
		    enum fx_disposition disposition)
{
	if (disposition == FX_RETAIN)
		return;
	if (disposition == FX_CLEAR_ENTIRE)
		fx_drain_retell(&p->drain);
	if (mode == FX_MODE_CIRCULAR)
		fx_drain_forget(&p->drain);
	if (mode == FX_MODE_ONESHOT)
		fx_provider_refill(p);
}

/* Providers of the session that have not said that they record since the newest start. */
static unsigned count_silent(const struct fx_daemon *d)
{
	unsigned count = 0;

	for (const struct fx_provider *p = d->roster.providers; p; p = p->next) {
		const struct fx_buffer_header *h = p->buffer;

		if (p->source && p->phase == FX_PROVIDER_LIVE &&
		    (!fx_drain_is_attached(&p->drain) ||
		     fx_load_relaxed(&h->epoch_started) < d->epoch))
			count++;
	}
	return count;
}

static bool start_is_sound(const struct fx_daemon_session *t, const struct fx_msg_start *request)
{
	return request->disposition >= FX_CLEAR_ENTIRE && request->disposition <= FX_RETAIN &&
	       !(request->categories & ~CATEGORIES_KNOWN) && words_are_sound(request->words) &&
	       fx_words_count(t->request.words) + fx_words_count(request->words) <= FX_WANTED_MAX;
}

int fx_daemon_session_start(struct fx_daemon *d, struct fx_client *client,
			    const struct fx_msg_start *request)
{
	struct fx_daemon_session *t = &d->trace;
	uint64_t wait = request->timeout_ms;
	int r = daemon_session_refuse(t, FX_REQUEST_START);

	if (r)
		return r;
	if (!start_is_sound(t, request))
		return FX_CONTROL_BAD_REQUEST;
	fx_writer_hurry(t->writer, false);
	t->config.more_categories = request->categories;
	memcpy(t->more_words, request->words, sizeof(t->more_words));
	d->epoch++;
	state_enter(t, FX_SESSION_STARTING);
	for (struct fx_provider *p = d->roster.providers; p; p = p->next) {
		if (!p->source || p->phase != FX_PROVIDER_LIVE)
			continue;
		dispose(p, t->config.mode, (enum fx_disposition)request->disposition);
		p->settled = false;
		fx_provider_want(p, &t->config);
		fx_provider_start(p, (uint32_t)d->epoch);
	}
	FX_FAULT(trace_start);
	if (wait > FX_START_TIMEOUT_MAX)
		wait = FX_START_TIMEOUT_MAX;
	t->deadline = t->state_since + wait * MS;
	t->starter = client;
	return FX_TRACE_PENDING;
}

static void step_starting(struct fx_daemon *d, uint64_t now)
{
	struct fx_daemon_session *t = &d->trace;
	unsigned silent = count_silent(d);

	if (silent && now < t->deadline)
		return;
	state_enter(t, FX_SESSION_STARTED);
	daemon_session_answer(
	    &t->starter,
	    &(struct fx_msg_result){.silent_providers = silent, .small_buffers = t->small_buffers});
}

/* --- Stop ------------------------------------------------------------------------------------ */

/* Tells every provider; their threads get a moment. */
static void stop_all(struct fx_daemon *d)
{
	struct fx_daemon_session *t = &d->trace;
	uint64_t ticks;

	answer_status(&t->starter, 0);
	for (struct fx_provider *p = d->roster.providers; p; p = p->next) {
		if (p->source && p->phase == FX_PROVIDER_LIVE)
			fx_provider_stop(p, (uint32_t)d->epoch, FX_STATE_STOPPING);
	}
	d->unnoticed = true;
	ticks = fx_ticks(d->roster.clock_kind);
	for (struct fx_provider *p = d->roster.providers; p; p = p->next) {
		if (p->source && p->phase == FX_PROVIDER_LIVE)
			fx_provider_pause(p, ticks);
	}
	FX_FAULT(trace_stop);
	t->deadline = fx_monotonic_ns() + FX_STOP_GRACE_NS;
}

/* Once the stop was noticed, or there is nobody to notice it, asking for a category is cheap again. */
static void notice_stops(struct fx_daemon *d)
{
	d->unnoticed = false;
	for (struct fx_provider *p = d->roster.providers; p; p = p->next) {
		const struct fx_buffer_header *h = p->buffer;
		uint64_t epoch = p->state >> 32;

		if ((uint32_t)p->state != FX_STATE_STOPPING)
			continue;
		if (fx_load_relaxed(&h->epoch_stopped) == epoch ||
		    fx_load_relaxed(&h->epoch_started) != epoch)
			fx_provider_stop(p, (uint32_t)epoch, 0);
		else
			d->unnoticed = true;
	}
}

int fx_daemon_session_stop(struct fx_daemon *d, struct fx_client *client, bool results)
{
	struct fx_daemon_session *t = &d->trace;
	int r = daemon_session_refuse(t, FX_REQUEST_STOP);

	if (r)
		return r;
	stop_all(d);
	fx_writer_hurry(t->writer, true);
	t->results = results;
	t->stopper = client;
	state_enter(t, FX_SESSION_STOPPING);
	return FX_TRACE_PENDING;
}

/* Saves what was recorded before the stop. True once all is queued. */
static bool settle_all(struct fx_daemon *d)
{
	struct fx_daemon_session *t = &d->trace;
	struct fx_queue *queue = fx_writer_queue(t->writer);
	bool all = true;

	/* A circular buffer keeps what is not wanted yet. */
	if (t->config.mode == FX_MODE_CIRCULAR && !t->results)
		return true;
	for (struct fx_provider *p = d->roster.providers; p; p = p->next) {
		if (p->phase == FX_PROVIDER_LIVE && !fx_provider_settle(p, queue))
			all = false;
	}
	return all;
}

void fx_daemon_session_enter_late(struct fx_daemon *d, struct fx_provider *p)
{
	struct fx_daemon_session *t = &d->trace;

	if (t->state == FX_SESSION_INITIALIZED)
		return;
	fx_provider_pause(p, fx_ticks(d->roster.clock_kind));
	/* In STOPPING it is settled with the others. */
	if (t->state == FX_SESSION_STOPPED && t->config.mode != FX_MODE_CIRCULAR)
		fx_provider_settle(p, fx_writer_queue(t->writer));
	if (t->state == FX_SESSION_STOPPED)
		fx_provider_set_stopped(p);
}

static void step_stopping(struct fx_daemon *d, uint64_t now)
{
	struct fx_daemon_session *t = &d->trace;

	if (now < t->deadline)
		return;
	fx_roster_read_packets(&d->roster);
	if (!settle_all(d))
		return;
	for (struct fx_provider *p = d->roster.providers; p; p = p->next)
		fx_provider_set_stopped(p);
	state_enter(t, FX_SESSION_STOPPED);
	answer_status(&t->stopper, 0);
}

/* --- Flush ----------------------------------------------------------------------------------- */

int fx_daemon_session_flush(struct fx_daemon *d, struct fx_client *client)
{
	struct fx_daemon_session *t = &d->trace;
	int r = daemon_session_refuse(t, FX_REQUEST_FLUSH);

	if (r)
		return r;
	if (t->config.mode == FX_MODE_CIRCULAR)
		return FX_CONTROL_CIRCULAR;
	if (t->flusher)
		return FX_CONTROL_FLUSHING;
	t->flusher = client;
	t->queued = false;
	return FX_TRACE_PENDING;
}

/* Queues what is committed now. True once all of it is. */
static bool flush_all(struct fx_daemon *d)
{
	struct fx_queue *queue = fx_writer_queue(d->trace.writer);
	bool all = true;

	for (struct fx_provider *p = d->roster.providers; p; p = p->next) {
		if (p->phase == FX_PROVIDER_LIVE && !fx_provider_flush(p, queue))
			all = false;
	}
	return fx_roster_finish_ended(&d->roster) && all;
}

static void step_flushing(struct fx_daemon *d)
{
	struct fx_daemon_session *t = &d->trace;

	/* What is terminated is written anyway, and told of then. */
	if (!fx_daemon_session_is_open(t))
		return;
	if (!t->queued && flush_all(d))
		t->queued = fx_writer_flush(t->writer) == 0;
	if (t->queued && fx_writer_flushed(t->writer))
		answer_status(&t->flusher, fx_writer_error(t->writer) ? FX_CONTROL_ABORTED : 0);
}

void fx_daemon_session_provider_gone(struct fx_daemon *d, const struct fx_provider *p)
{
	struct fx_daemon_session *t = &d->trace;
	unsigned at;

	if (!p->source || !fx_daemon_session_is_open(t))
		return;
	if (t->gone_count == FX_GONE_MAX)
		memmove(t->gone, t->gone + 1, --t->gone_count * sizeof(t->gone[0]));
	/* They do not end in the order in which they came. */
	for (at = t->gone_count++; at > 0 && t->gone[at - 1].id > p->id; at--)
		t->gone[at] = t->gone[at - 1];
	fx_client_describe(d, p, &t->gone[at]);
}

/* --- Terminate ------------------------------------------------------------------------------- */

int fx_daemon_session_terminate(struct fx_daemon *d, struct fx_client *client, bool results)
{
	struct fx_daemon_session *t = &d->trace;
	int r;

	/* It ends by itself, since its output has died: the client that asks now hears how. */
	if (t->state == FX_SESSION_TERMINATING && client && !t->terminator &&
	    fx_writer_error(t->writer)) {
		t->results = results;
		t->terminator = client;
		return FX_TRACE_PENDING;
	}
	r = daemon_session_refuse(t, FX_REQUEST_TERMINATE);
	if (r == FX_CONTROL_ABORTED)
		t->aborted = false; /* told */
	if (r)
		return r;
	if (fx_daemon_session_is_running(t))
		stop_all(d);
	fx_writer_hurry(t->writer, true);
	t->results = results;
	t->terminator = client;
	state_enter(t, FX_SESSION_TERMINATING);
	return FX_TRACE_PENDING;
}

/* Nothing more comes: the writer ends by itself. */
static void step_terminating(struct fx_daemon *d, uint64_t now)
{
	struct fx_daemon_session *t = &d->trace;
	struct fx_queue *queue = fx_writer_queue(t->writer);

	if (t->closed || now < t->deadline)
		return;
	fx_roster_read_packets(&d->roster);
	if (!settle_all(d) || !fx_roster_finish_ended(&d->roster))
		return;
	answer_status(&t->stopper, 0);
	for (struct fx_provider *p = d->roster.providers; p; p = p->next)
		fx_provider_leave(p, queue);
	FX_FAULT(trace_terminate);
	fx_writer_close(t->writer);
	t->closed = true;
}

static struct fx_msg_result result_of(const struct fx_daemon_session *t,
				      const struct fx_writer_totals *totals, int error)
{
	struct fx_msg_result result = {
	    .status = t->aborted ? FX_CONTROL_ABORTED : 0,
	    .flags = FX_RESULT_HAS_TOTALS |
		     (t->config.mode == FX_MODE_CIRCULAR ? (uint32_t)FX_RESULT_CIRCULAR : 0) |
		     (totals->wrapped ? (uint32_t)FX_RESULT_WRAPPED : 0),
	    .file_size = totals->file_size,
	    .processes = totals->processes,
	    .threads = totals->threads,
	    .events = totals->counts.events,
	    .dropped = totals->counts.dropped,
	    .too_deep = totals->counts.lost[FX_CAUSE_DEEP],
	    .invalid = totals->counts.lost[FX_CAUSE_INVALID],
	    .numbered_strings = totals->counts.lost[FX_CAUSE_NUMBERED],
	    .history_ns = totals->history_ns,
	    .output_error = error,
	};

	memcpy(result.unseen, totals->unseen, sizeof(result.unseen));
	memcpy(result.lost, totals->counts.lost, sizeof(totals->counts.lost));
	return result;
}

/* The archive is complete. */
static void finished(struct fx_daemon *d)
{
	struct fx_daemon_session *t = &d->trace;
	struct fx_writer_totals totals;
	struct fx_msg_result result;

	fx_poller_remove(&d->ground.poller, t->done_fd);
	t->output_error = fx_writer_finish(t->writer, &totals);
	close(t->done_fd); /* its thread is gone */
	t->writer = NULL;
	d->roster.queue = NULL;
	t->client = NULL;
	t->gone_count = 0;
	t->aborted = t->output_error != 0;
	FX_FAULT(trace_result);
	result = result_of(t, &totals, t->output_error);
	if (t->terminator)
		t->aborted = false; /* told */
	state_enter(t, FX_SESSION_READY);
	daemon_session_answer(&t->terminator, &result);
	answer_status(&t->flusher, t->output_error ? FX_CONTROL_ABORTED : 0);
}

/* An archive that cannot be written is not gone on with. */
static void step_output(struct fx_daemon *d)
{
	struct fx_daemon_session *t = &d->trace;

	if (!fx_daemon_session_is_open(t) || t->state == FX_SESSION_TERMINATING ||
	    !fx_writer_error(t->writer))
		return;
	answer_status(&t->stopper, FX_CONTROL_ABORTED);
	fx_daemon_session_terminate(d, NULL, false);
}

static bool is_ending(const struct fx_daemon_session *t)
{
	return t->state == FX_SESSION_STOPPING ||
	       (t->state == FX_SESSION_TERMINATING && !t->closed);
}

void fx_daemon_session_step(struct fx_daemon *d, uint64_t now, uint64_t *ret_next)
{
	struct fx_daemon_session *t = &d->trace;

	step_output(d);
	/* Who has knocked before the end is in it, whatever was read first. */
	if (is_ending(t) && now >= t->deadline)
		fx_roster_serve(&d->roster);
	if (d->unnoticed && now >= t->deadline)
		notice_stops(d);
	if (t->state == FX_SESSION_STARTING)
		step_starting(d, now);
	else if (t->state == FX_SESSION_STOPPING)
		step_stopping(d, now);
	else if (t->state == FX_SESSION_TERMINATING)
		step_terminating(d, now);
	if (t->flusher)
		step_flushing(d);
	if (t->flusher || t->state == FX_SESSION_STARTING || is_ending(t))
		*ret_next = now + STEP_NS;
}

void fx_daemon_session_client_gone(struct fx_daemon *d, struct fx_client *client)
{
	struct fx_daemon_session *t = &d->trace;

	fx_snapshots_abandon(&d->snapshots, client);
	if (t->starter == client)
		t->starter = NULL;
	if (t->stopper == client)
		t->stopper = NULL;
	if (t->terminator == client)
		t->terminator = NULL;
	if (t->flusher == client)
		t->flusher = NULL;
	if (t->client != client)
		return;
	t->client = NULL;
	fx_daemon_session_terminate(d, NULL, true);
}

/* --- Snapshots and alerts -------------------------------------------------------------------- */

static void snapshot_done(void *opaque, const char *path, const struct fx_writer_totals *totals,
			  int error)
{
	struct fx_client *client = opaque;
	struct fx_daemon_session of = {.config.mode = FX_MODE_CIRCULAR};
	struct fx_msg_result result = result_of(&of, totals, error);

	(void)path;
	if (!client)
		return;
	result.status = error;
	fx_client_result(client, &result);
}

int fx_daemon_session_snapshot(struct fx_daemon *d, struct fx_client *client,
			       struct fx_output *output, const char *path)
{
	struct fx_daemon_session *t = &d->trace;
	const struct fx_snapshot_order order = {
	    .config = &t->config,
	    .output = output,
	    .path = path,
	    .clock_kind = d->roster.clock_kind,
	    .first_anchor = t->first_anchor,
	    .done = snapshot_done,
	    .opaque = client,
	};
	int r = daemon_session_refuse(t, FX_REQUEST_SNAPSHOT);

	if (r == 0 && t->config.mode != FX_MODE_CIRCULAR)
		r = FX_CONTROL_NOT_CIRCULAR;
	if (r) {
		fx_output_close(output, NULL);
		return r;
	}
	r = fx_snapshot_take(&d->snapshots, &order, d->roster.providers);
	if (r < 0)
		return r;
	t->snapshots++;
	return FX_TRACE_PENDING;
}

void fx_daemon_session_snapshot_beside(struct fx_daemon *d)
{
	struct fx_daemon_session *t = &d->trace;

	/* What another user chose as a path is not to be opened with this user's rights. */
	if (!fx_daemon_session_is_running(t) || t->config.mode != FX_MODE_CIRCULAR || !t->is_own)
		return;
	t->snapshots++;
	fx_snapshot_take_beside(&d->snapshots, &t->config, d->roster.clock_kind, t->first_anchor,
				&t->beside, d->roster.providers);
}

/* One for the client that waits, or, until one does, for the queue. */
static void alert_deliver(struct fx_daemon *d, const struct fx_msg_alert *alert)
{
	struct fx_daemon_session *t = &d->trace;

	for (struct fx_client *c = d->clients; c; c = c->next) {
		if (c->wants_alert) {
			fx_client_alert(c, alert);
			return;
		}
	}
	if (t->alert_count == FX_ALERT_QUEUE) {
		t->alert_first = (t->alert_first + 1) % FX_ALERT_QUEUE;
		t->alert_count--;
	}
	t->alerts[(t->alert_first + t->alert_count++) % FX_ALERT_QUEUE] = *alert;
}

/* Also while a session stops: what was posted before it may be read only then. */
static bool alerts_are_heard(const struct fx_daemon_session *t)
{
	return fx_daemon_session_is_running(t) || t->state == FX_SESSION_STOPPING ||
	       (t->state == FX_SESSION_TERMINATING && !t->closed);
}

void fx_daemon_session_alert(struct fx_daemon *d, pid_t pid, const char *name)
{
	struct fx_msg_alert alert = {.pid = (uint32_t)pid};

	if (!alerts_are_heard(&d->trace))
		return;
	memcpy(alert.name, name, strnlen(name, FX_ALERT_NAME_MAX));
	alert_deliver(d, &alert);
	switch (fx_terms_trigger(&d->trace.config, alert.name)) {
	case FX_TRIGGER_STOP:
		fx_daemon_session_stop(d, NULL, true);
		break;
	case FX_TRIGGER_SNAPSHOT:
		fx_daemon_session_snapshot_beside(d);
		break;
	}
}
