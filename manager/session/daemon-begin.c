/* SPDX-License-Identifier: MIT */
/*
 * A session of the daemon begins: what leads from READY to STARTED.
 */
#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/fault.h"
#include "manager/session/daemon-internal.h"
#include "manager/settings/terms.h"

#define MS UINT64_C(1000000)

/* Makes the configuration of our own copy of the request. */
static void configure(struct fx_daemon *d, const struct fx_msg_initialize *request)
{
	struct fx_daemon_session *t = &d->session;
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
	    .max_symbols = d->defaults->max_symbols,
	    .max_user_symbols = d->defaults->max_user_symbols,
	    .symbol_cache = d->defaults->symbol_cache,
	    .lines = d->defaults->lines,
	    .patch = r->patch,
	    .max_depth = r->max_depth,
	    .categories = r->categories,
	    .words = r->words,
	    .min_duration_ns = r->min_duration_ns,
	    .last_ns = r->last_ns,
	    .functions = r->functions,
	    .stack_categories = r->stack_categories,
	    .stack_duration_ns = r->stack_duration_ns,
	    .triggers = r->triggers,
	    .trigger_count = r->trigger_count,
	};
}

static void daemon_session_done_ready(void *opaque)
{
	fx_daemon_session_finished(opaque);
}

/* The output becomes the writer's, also if this fails. */
static int daemon_session_writer_start(struct fx_daemon *d, struct fx_output *output)
{
	struct fx_daemon_session *t = &d->session;
	struct fx_writer_config config = {
	    .output = output,
	    .path = t->request.output,
	    .clock = &d->roster.clock,
	    .first_anchor = t->first_anchor,
	    .queue_limit = FX_QUEUE_LIMIT,
	    .cures_of = &t->config,
	    .session = &t->config,
	    .pairs = t->config.pairs,
	    .functions = t->config.functions,
	    .last_ns = fx_terms_last(&t->config),
	    .max_strings = t->config.max_strings,
	    .max_symbols = t->config.max_symbols,
	    .max_user_symbols = t->config.max_user_symbols,
	    .symbol_cache = t->config.symbol_cache,
	    .lines = t->config.lines,
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
	struct fx_daemon_session *t = &d->session;

	for (struct fx_provider *p = d->roster.providers; p; p = p->next) {
		struct fx_provider_terms terms = fx_terms_for(
		    &t->config, d->roster.clock.kind, d->roster.first_anchor, p->name, &p->wish);

		if (p->phase != FX_PROVIDER_LIVE || fx_provider_join(p, &terms, NULL) < 0)
			continue;
		t->small_buffers += p->reserve < terms.buffer_size;
		p->inlet = fx_provider_enlist(p, t->writer, false);
	}
}

static int refuse_initialize(const struct fx_daemon *d, const struct fx_msg_initialize *request,
			     int fd)
{
	int r = fx_daemon_session_refuse(&d->session, FX_REQUEST_INITIALIZE);

	if (r)
		return r;
	if (fd < 0 || d->ending || !fx_daemon_session_initialize_is_sound(request))
		return FX_CONTROL_BAD_REQUEST;
	return fx_daemon_session_sizes_are_sound(request) ? 0 : FX_CONTROL_BAD_SIZE;
}

int fx_daemon_session_initialize(struct fx_daemon *d, struct fx_client *client,
				 const struct fx_msg_initialize *request, int fd)
{
	struct fx_daemon_session *t = &d->session;
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
	t->first_anchor = fx_anchor_take(d->roster.clock.kind);
	r = daemon_session_writer_start(d, output);
	if (r < 0)
		return r;
	t->client = request->detached ? NULL : client;
	t->is_own = client->is_own;
	fx_daemon_session_enter(t, FX_SESSION_INITIALIZED);
	fx_roster_want_recipes(&d->roster, &t->config);
	join_all(d);
	FX_FAULT(trace_joined);
	return 0;
}

/* --- Start ----------------------------------------------------------------------------------- */

static void dispose(struct fx_provider *p, enum fx_disposition disposition)
{
	if (disposition == FX_RETAIN)
		return;
	if (disposition == FX_CLEAR_ENTIRE)
		fx_drain_retell(&p->drain);
	if (p->mode == FX_MODE_CIRCULAR)
		fx_drain_forget(&p->drain);
	if (p->mode == FX_MODE_ONESHOT)
		fx_provider_refill(p);
}

/* Providers of the session that have not said that they record since the newest start. */
static unsigned count_silent(const struct fx_daemon *d)
{
	unsigned count = 0;

	for (const struct fx_provider *p = d->roster.providers; p; p = p->next) {
		const struct fx_buffer_header *h = p->buffer;

		if (p->inlet && p->phase == FX_PROVIDER_LIVE &&
		    (!fx_drain_is_attached(&p->drain) ||
		     fx_load_relaxed(&h->epoch_started) < d->epoch))
			count++;
	}
	return count;
}

int fx_daemon_session_start(struct fx_daemon *d, struct fx_client *client,
			    const struct fx_msg_start *request)
{
	struct fx_daemon_session *t = &d->session;
	uint64_t wait = request->timeout_ms;
	int r = fx_daemon_session_refuse(t, FX_REQUEST_START);

	if (r)
		return r;
	if (!fx_daemon_session_start_is_sound(t, request))
		return FX_CONTROL_BAD_REQUEST;
	fx_writer_hurry(t->writer, false);
	t->config.more_categories = request->categories;
	memcpy(t->more_words, request->words, sizeof(t->more_words));
	d->epoch++;
	fx_daemon_session_enter(t, FX_SESSION_STARTING);
	for (struct fx_provider *p = d->roster.providers; p; p = p->next) {
		if (!p->inlet || p->phase != FX_PROVIDER_LIVE)
			continue;
		dispose(p, (enum fx_disposition)request->disposition);
		p->settled = false;
		fx_provider_want(p, &t->config);
		fx_provider_start(p, (uint32_t)d->epoch);
	}
	FX_FAULT(trace_start);
	if (wait > FX_START_TIMEOUT_MAX)
		wait = FX_START_TIMEOUT_MAX;
	t->deadline = t->state_since + wait * MS;
	t->recipes_deadline = t->state_since + FX_START_RECIPES_MAX * MS;
	t->starter = client;
	return FX_ANSWER_PENDING;
}

void fx_daemon_session_step_starting(struct fx_daemon *d, uint64_t now)
{
	struct fx_daemon_session *t = &d->session;
	unsigned silent = count_silent(d);

	if (silent && now < t->deadline)
		return;
	/* What those that have just answered told of their modules, they did before. */
	if (fx_roster_makes_recipes(&d->roster) && now < t->recipes_deadline)
		return;
	fx_daemon_session_enter(t, FX_SESSION_STARTED);
	fx_daemon_session_answer(
	    &t->starter,
	    &(struct fx_msg_result){.silent_providers = silent, .small_buffers = t->small_buffers});
}
