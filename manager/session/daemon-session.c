/* SPDX-License-Identifier: MIT */
/*
 * The session of the daemon, from its start on. Nothing here waits: what takes its time is gone on with in
 * fx_daemon_session_step().
 */
#include <string.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/fault.h"
#include "manager/session/daemon-internal.h"
#include "manager/session/states.h"

#define MS UINT64_C(1000000)

/* Between two tries of what a full queue holds up, or that providers have not said yet. */
#define STEP_NS (1 * MS)

void fx_daemon_session_enter(struct fx_daemon_session *t, enum fx_session_state state)
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
int fx_daemon_session_refuse(const struct fx_daemon_session *t, enum fx_session_request request)
{
	int r = fx_state_refuses(t->state, request);

	if (r == FX_CONTROL_NOT_INITIALIZED && t->aborted)
		return FX_CONTROL_ABORTED;
	/* It ends by itself: the clients that use it hear why, at whatever moment they ask. */
	if (r == FX_CONTROL_TERMINATING && request != FX_REQUEST_INITIALIZE && t->writer &&
	    fx_writer_error(t->writer))
		return FX_CONTROL_ABORTED;
	return r;
}

void fx_daemon_session_answer(struct fx_client **client, const struct fx_msg_result *result)
{
	struct fx_client *c = *client;

	*client = NULL;
	if (c)
		fx_client_result(c, result);
}

static void daemon_session_answer_status(struct fx_client **client, int status)
{
	fx_daemon_session_answer(client, &(struct fx_msg_result){.status = status});
}

/* --- Stop ------------------------------------------------------------------------------------ */

/* Tells every provider; their threads get a moment. */
static void stop_all(struct fx_daemon *d)
{
	struct fx_daemon_session *t = &d->session;
	uint64_t ticks;

	daemon_session_answer_status(&t->starter, 0);
	for (struct fx_provider *p = d->roster.providers; p; p = p->next) {
		if (p->inlet && p->phase == FX_PROVIDER_LIVE)
			fx_provider_stop(p, (uint32_t)d->epoch, FX_STATE_STOPPING);
	}
	d->unnoticed = true;
	ticks = fx_ticks(d->roster.clock.kind);
	for (struct fx_provider *p = d->roster.providers; p; p = p->next) {
		if (p->inlet && p->phase == FX_PROVIDER_LIVE)
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
	struct fx_daemon_session *t = &d->session;
	int r = fx_daemon_session_refuse(t, FX_REQUEST_STOP);

	if (r)
		return r;
	stop_all(d);
	fx_writer_hurry(t->writer, true);
	t->results = results;
	t->stopper = client;
	fx_daemon_session_enter(t, FX_SESSION_STOPPING);
	return FX_ANSWER_PENDING;
}

/* Saves what was recorded before the stop. True once all is queued. */
static bool settle_all(struct fx_daemon *d)
{
	struct fx_daemon_session *t = &d->session;
	struct fx_queue *queue = fx_writer_queue(t->writer);
	bool all = true;

	for (struct fx_provider *p = d->roster.providers; p; p = p->next) {
		/* A circular buffer keeps what is not wanted yet. */
		if (p->mode == FX_MODE_CIRCULAR && !t->results)
			continue;
		if (p->phase == FX_PROVIDER_LIVE && !fx_provider_settle(p, queue))
			all = false;
	}
	return all;
}

void fx_daemon_session_enter_late(struct fx_daemon *d, struct fx_provider *p)
{
	struct fx_daemon_session *t = &d->session;

	if (t->state == FX_SESSION_INITIALIZED)
		return;
	fx_provider_pause(p, fx_ticks(d->roster.clock.kind));
	/* In STOPPING it is settled with the others. */
	if (t->state == FX_SESSION_STOPPED && p->mode != FX_MODE_CIRCULAR)
		fx_provider_settle(p, fx_writer_queue(t->writer));
	if (t->state == FX_SESSION_STOPPED)
		fx_provider_set_stopped(p);
}

static void step_stopping(struct fx_daemon *d, uint64_t now)
{
	struct fx_daemon_session *t = &d->session;

	if (now < t->deadline)
		return;
	fx_roster_read_packets(&d->roster);
	if (!settle_all(d))
		return;
	for (struct fx_provider *p = d->roster.providers; p; p = p->next)
		fx_provider_set_stopped(p);
	fx_daemon_session_enter(t, FX_SESSION_STOPPED);
	daemon_session_answer_status(&t->stopper, 0);
}

/* --- Flush ----------------------------------------------------------------------------------- */

int fx_daemon_session_flush(struct fx_daemon *d, struct fx_client *client)
{
	struct fx_daemon_session *t = &d->session;
	int r = fx_daemon_session_refuse(t, FX_REQUEST_FLUSH);

	if (r)
		return r;
	if (t->config.mode == FX_MODE_CIRCULAR)
		return FX_CONTROL_CIRCULAR;
	if (t->flusher)
		return FX_CONTROL_FLUSHING;
	t->flusher = client;
	t->queued = false;
	return FX_ANSWER_PENDING;
}

bool fx_daemon_session_flush_all(struct fx_daemon *d)
{
	struct fx_queue *queue = fx_writer_queue(d->session.writer);
	bool all = true;

	for (struct fx_provider *p = d->roster.providers; p; p = p->next) {
		if (p->phase == FX_PROVIDER_LIVE && !fx_provider_flush(p, queue))
			all = false;
	}
	return fx_roster_finish_ended(&d->roster) && all;
}

static void step_flushing(struct fx_daemon *d)
{
	struct fx_daemon_session *t = &d->session;

	/* What is terminated is written anyway, and told of then. */
	if (!fx_daemon_session_is_open(t))
		return;
	if (!t->queued && fx_daemon_session_flush_all(d))
		t->queued = fx_writer_flush(t->writer) == 0;
	if (t->queued && fx_writer_flushed(t->writer))
		daemon_session_answer_status(&t->flusher,
					     fx_writer_error(t->writer) ? FX_CONTROL_ABORTED : 0);
}

void fx_daemon_session_provider_gone(struct fx_daemon *d, const struct fx_provider *p)
{
	struct fx_daemon_session *t = &d->session;
	unsigned at;

	if (!p->inlet || !fx_daemon_session_is_open(t))
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
	struct fx_daemon_session *t = &d->session;
	int r;

	/* It ends by itself, since its output has died: the client that asks now hears how. */
	if (t->state == FX_SESSION_TERMINATING && client && !t->terminator &&
	    fx_writer_error(t->writer)) {
		t->results = results;
		t->terminator = client;
		return FX_ANSWER_PENDING;
	}
	r = fx_daemon_session_refuse(t, FX_REQUEST_TERMINATE);
	if (r == FX_CONTROL_ABORTED)
		t->aborted = false; /* told */
	if (r)
		return r;
	if (fx_daemon_session_is_running(t))
		stop_all(d);
	fx_writer_hurry(t->writer, true);
	t->results = results;
	t->terminator = client;
	fx_daemon_session_enter(t, FX_SESSION_TERMINATING);
	return FX_ANSWER_PENDING;
}

/* Nothing more comes: the writer ends by itself. */
static void step_terminating(struct fx_daemon *d, uint64_t now)
{
	struct fx_daemon_session *t = &d->session;
	struct fx_queue *queue = fx_writer_queue(t->writer);

	if (t->closed || now < t->deadline)
		return;
	fx_roster_read_packets(&d->roster);
	if (!settle_all(d) || !fx_roster_finish_ended(&d->roster))
		return;
	daemon_session_answer_status(&t->stopper, 0);
	for (struct fx_provider *p = d->roster.providers; p; p = p->next)
		fx_provider_leave(p, queue);
	FX_FAULT(trace_terminate);
	fx_writer_close(t->writer);
	t->closed = true;
	fx_roster_want_recipes(&d->roster, NULL);
}

struct fx_msg_result fx_daemon_session_result(const struct fx_daemon_session *t,
					      const struct fx_totals *totals, int error)
{
	struct fx_msg_result result = {
	    .status = t->aborted ? FX_CONTROL_ABORTED : 0,
	    .flags =
		FX_RESULT_HAS_TOTALS |
		(t->config.mode == FX_MODE_CIRCULAR ? (uint32_t)FX_RESULT_CIRCULAR : 0) |
		(totals->wrapped ? (uint32_t)FX_RESULT_WRAPPED : 0) |
		(totals->shortened ? (uint32_t)FX_RESULT_SHORTENED : 0) |
		(totals->counts.events + totals->counts.unfinished ? 0 : (uint32_t)FX_RESULT_EMPTY),
	    .file_size = totals->file_size,
	    .processes = totals->processes,
	    .threads = totals->threads,
	    .events = totals->events,
	    .dropped = totals->counts.dropped,
	    .too_deep = totals->counts.lost[FX_CAUSE_DEEP],
	    .invalid = totals->counts.lost[FX_CAUSE_INVALID],
	    .numbered_strings = totals->counts.lost[FX_CAUSE_NUMBERED],
	    .history_ns = totals->history_ns,
	    .output_error = error,
	};

	memcpy(result.unseen, totals->unseen, sizeof(result.unseen));
	memcpy(result.suppressed, totals->suppressed, sizeof(result.suppressed));
	memcpy(result.lost, totals->counts.lost, sizeof(totals->counts.lost));
	result.messages[0] = totals->transfers.arrows;
	memcpy(result.messages + 1, totals->transfers.left, sizeof(totals->transfers.left));
	result.shares[0] = totals->shares.arrows;
	memcpy(result.shares + 1, totals->shares.left, sizeof(totals->shares.left));
	return result;
}

/* The archive is complete. */
void fx_daemon_session_finished(struct fx_daemon *d)
{
	struct fx_daemon_session *t = &d->session;
	struct fx_totals totals;
	struct fx_msg_result result;

	fx_poller_remove(&d->ground.poller, t->done_fd);
	t->output_error = fx_writer_finish(t->writer, &totals);
	for (unsigned i = 0; i < FX_CAUSES; i++)
		fx_loss_add(&totals.counts.lost[i], t->untraced[i]);
	close(t->done_fd); /* its thread is gone */
	t->writer = NULL;
	d->roster.queue = NULL;
	t->client = NULL;
	t->gone_count = 0;
	t->aborted = t->output_error != 0;
	FX_FAULT(trace_result);
	result = fx_daemon_session_result(t, &totals, t->output_error);
	if (t->terminator)
		t->aborted = false; /* told */
	fx_daemon_session_enter(t, FX_SESSION_READY);
	fx_daemon_session_answer(&t->terminator, &result);
	daemon_session_answer_status(&t->flusher, t->output_error ? FX_CONTROL_ABORTED : 0);
}

/* An archive that cannot be written is not gone on with. */
static void step_output(struct fx_daemon *d)
{
	struct fx_daemon_session *t = &d->session;

	if (!fx_daemon_session_is_open(t) || t->state == FX_SESSION_TERMINATING ||
	    !fx_writer_error(t->writer))
		return;
	daemon_session_answer_status(&t->stopper, FX_CONTROL_ABORTED);
	fx_daemon_session_terminate(d, NULL, false);
}

static bool is_ending(const struct fx_daemon_session *t)
{
	return t->state == FX_SESSION_STOPPING ||
	       (t->state == FX_SESSION_TERMINATING && !t->closed);
}

void fx_daemon_session_step(struct fx_daemon *d, uint64_t now, uint64_t *ret_next)
{
	struct fx_daemon_session *t = &d->session;

	step_output(d);
	if (fx_daemon_session_is_open(t))
		fx_roster_learn_functions(&d->roster, fx_writer_suppressed(t->writer));
	/* A process that has knocked before the end is in it, whatever was read first. */
	if (is_ending(t) && now >= t->deadline)
		fx_roster_serve(&d->roster);
	if (d->unnoticed && now >= t->deadline)
		notice_stops(d);
	if (t->state == FX_SESSION_STARTING)
		fx_daemon_session_step_starting(d, now);
	else if (t->state == FX_SESSION_STOPPING)
		step_stopping(d, now);
	else if (t->state == FX_SESSION_TERMINATING)
		step_terminating(d, now);
	if (t->flusher)
		step_flushing(d);
	if (t->choosing)
		fx_daemon_session_step_choosing(d, now);
	if (t->flusher || t->choosing || t->state == FX_SESSION_STARTING || is_ending(t))
		*ret_next = now + STEP_NS;
}

void fx_daemon_session_client_gone(struct fx_daemon *d, struct fx_client *client)
{
	struct fx_daemon_session *t = &d->session;

	fx_snapshots_abandon(&d->snapshots, client);
	if (t->starter == client)
		t->starter = NULL;
	if (t->stopper == client)
		t->stopper = NULL;
	if (t->terminator == client)
		t->terminator = NULL;
	if (t->flusher == client)
		t->flusher = NULL;
	if (t->chooser == client)
		t->chooser = NULL;
	if (t->client != client)
		return;
	t->client = NULL;
	fx_daemon_session_terminate(d, NULL, true);
}
