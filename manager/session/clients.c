/* SPDX-License-Identifier: MIT */
/*
 * Clients of the daemon. Each request is checked for its size and version, done or refused, and
 * answered with one message; a client that does not take its answer is not waited for.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/atomic.h"
#include "manager/session/daemon-internal.h"
#include "manager/archive/known.h"

#define MS UINT64_C(1000000)

/* Between two looks at providers that have not said what they know. */
#define GATHER_STEP_NS (5 * MS)

/* --- Answers --------------------------------------------------------------------------------- */

static void reply(struct fx_client *c, const void *message, size_t size)
{
	/* If it cannot be sent, the client is gone or does not listen; its descriptor tells. */
	fx_socket_send(c->fd, message, size, NULL, 0);
}

void fx_client_result(struct fx_client *client, const struct fx_msg_result *result)
{
	struct fx_msg_result message = *result;

	message.header = fx_message_header(FX_MSG_RESULT);
	reply(client, &message, sizeof(message));
}

void fx_client_alert(struct fx_client *client, const struct fx_msg_alert *alert)
{
	struct fx_msg_alert message = *alert;

	client->wants_alert = false;
	message.header = fx_message_header(FX_MSG_ALERT);
	reply(client, &message, sizeof(message));
}

static void send_status(struct fx_client *c)
{
	const struct fx_daemon *d = c->daemon;
	const struct fx_daemon_session *t = &d->session;
	struct fx_msg_status m = {
	    .header = fx_message_header(FX_MSG_STATUS),
	    .state = t->state,
	    .snapshots = t->snapshots + t->late,
	    .pid = (uint32_t)getpid(),
	    .providers = d->roster.provider_count,
	    .clients = d->client_count,
	    .aborted = t->aborted,
	    .memory = fx_roster_memory(&d->roster),
	    .max_memory = d->roster.max_memory,
	    .refused = d->refused,
	    .no_memory = d->no_memory,
	};

	if (t->state != FX_SESSION_READY) {
		m.mode = t->config.mode;
		m.categories = t->config.categories | t->config.more_categories;
		m.buffer_size = t->config.buffer_size;
		m.snapshots = t->snapshots;
		m.detached = t->request.detached;
		m.state_ns = fx_monotonic_ns() - t->state_since;
		memcpy(m.output, t->request.output, sizeof(m.output));
	}
	reply(c, &m, sizeof(m));
}

static bool is_started(const struct fx_provider *p)
{
	return (uint32_t)p->state & ~FX_STATE_STOPPING;
}

void fx_client_describe(const struct fx_daemon *d, const struct fx_provider *p,
			struct fx_provider_entry *ret)
{
	const struct fx_buffer_header *h = p->buffer;
	bool attached = fx_drain_is_attached(&p->drain);
	uint64_t serial = fx_drain_next_serial(&p->drain), claimed;

	claimed = serial > p->first_serial ? serial - p->first_serial : 0;
	*ret = (struct fx_provider_entry){
	    .id = p->id,
	    .pid = (uint32_t)p->pid,
	    .mode = p->inlet ? p->mode : 0,
	    .started = p->inlet && attached && is_started(p) &&
		       fx_load_relaxed(&h->epoch_started) == d->epoch,
	    .buffer_size = p->drain.layout.durable_size + (uint64_t)p->drain.share *
							      p->drain.layout.halves *
							      p->drain.layout.chunk_size,
	    .wraps = claimed / p->drain.layout.chunks_per_half,
	    .rolling_used = claimed * p->drain.layout.chunk_size,
	    .gone = p->phase != FX_PROVIDER_LIVE,
	    .is_kernel = p->is_kernel,
	    .dropped = p->inlet ? fx_provider_dropped(p) : 0,
	    .durable_used = attached ? fx_load_relaxed(&h->durable_hint) : 0,
	    .durable_size = p->drain.layout.durable_size,
	};
	if (ret->durable_used > ret->durable_size)
		ret->durable_used = ret->durable_size;
	memcpy(ret->name, p->name, strnlen(p->name, sizeof(ret->name) - 1));
}

/* The provider with the least id above `after`; the list goes by falling ids. */
static const struct fx_provider *provider_after(const struct fx_daemon *d, uint32_t after,
						bool of_session)
{
	const struct fx_provider *found = NULL;

	for (const struct fx_provider *p = d->roster.providers; p && p->id > after; p = p->next) {
		if (of_session ? p->inlet != NULL : p->phase == FX_PROVIDER_LIVE)
			found = p;
	}
	return found;
}

/* The same among those that have ended. */
static const struct fx_provider_entry *gone_after(const struct fx_daemon_session *t, uint32_t after)
{
	for (unsigned i = 0; i < t->gone_count; i++) {
		if (t->gone[i].id > after)
			return &t->gone[i];
	}
	return NULL;
}

/* The next entry of the list. False: there is none. */
static bool entry_after(const struct fx_daemon *d, uint32_t after, bool of_session,
			struct fx_provider_entry *ret)
{
	const struct fx_provider *p = provider_after(d, after, of_session);
	const struct fx_provider_entry *gone = of_session ? gone_after(&d->session, after) : NULL;

	if (gone && (!p || gone->id < p->id))
		*ret = *gone;
	else if (p)
		fx_client_describe(d, p, ret);
	return p || gone;
}

static void send_providers(struct fx_client *c, const struct fx_msg_get_providers *request)
{
	struct fx_msg_providers m = {.header = fx_message_header(FX_MSG_PROVIDERS)};
	uint32_t after = request->after;

	while (m.count < FX_PROVIDERS_PER_MESSAGE &&
	       entry_after(c->daemon, after, request->of_session, &m.entries[m.count]))
		after = m.entries[m.count++].id;
	reply(c, &m, sizeof(m));
}

/* --- Known categories ------------------------------------------------------------------------ */

/* A provider's word is taken down. */
struct saying {
	struct fx_known_set *set;
	uint32_t id;
};

static void clients_say(void *opaque, const char *text, size_t length)
{
	const struct saying *s = opaque;

	fx_known_say(s->set, s->id, text, length);
}

/* What all providers know; how many have not said it. */
static unsigned known_gather(const struct fx_daemon *d, struct fx_known_set *ret)
{
	unsigned silent = 0;

	for (const struct fx_provider *p = d->roster.providers; p; p = p->next) {
		struct saying saying = {ret, p->id};

		if (p->phase != FX_PROVIDER_LIVE)
			continue;
		if (!fx_drain_is_attached(&p->drain))
			silent++;
		fx_drain_known(&p->drain, clients_say, &saying);
	}
	return silent;
}

static void describe_category(const struct fx_known *k, struct fx_category_entry *ret)
{
	ret->bit = k->bit;
	ret->is_default = k->by_default;
	ret->providers = k->providers;
	memcpy(ret->name, k->name, sizeof(k->name));
	if (k->help)
		memcpy(ret->help, k->help, strlen(k->help));
}

static void send_categories(struct fx_client *c)
{
	struct fx_msg_categories m = {.header = fx_message_header(FX_MSG_CATEGORIES)};
	struct fx_known_set set = {0};

	c->wants_categories = false;
	m.silent = known_gather(c->daemon, &set);
	fx_known_builtin(&set);
	fx_known_sort(&set);
	for (const struct fx_known *k = set.entries; k; k = k->hh.next) {
		if (m.count < FX_CATEGORIES_PER_MESSAGE && strcmp(k->name, c->categories_after) > 0)
			describe_category(k, &m.entries[m.count++]);
	}
	fx_known_destroy(&set);
	reply(c, &m, sizeof(m));
}

static bool all_have_attached(const struct fx_daemon *d)
{
	for (const struct fx_provider *p = d->roster.providers; p; p = p->next) {
		if (p->phase == FX_PROVIDER_LIVE && !p->drain.broken &&
		    !fx_drain_is_attached(&p->drain))
			return false;
	}
	return true;
}

static void get_categories(struct fx_client *c, const struct fx_msg_get_categories *request)
{
	uint64_t wait = request->timeout_ms;

	if (wait > FX_CATEGORIES_TIMEOUT_MAX)
		wait = FX_CATEGORIES_TIMEOUT_MAX;
	c->categories_until = fx_monotonic_ns() + wait * MS;
	memcpy(c->categories_after, request->after, sizeof(c->categories_after) - 1);
	if (wait == 0 || all_have_attached(c->daemon))
		send_categories(c);
	else
		c->wants_categories = true;
}

void fx_clients_step(struct fx_daemon *d, uint64_t now, uint64_t *ret_next)
{
	for (struct fx_client *c = d->clients; c; c = c->next) {
		if (!c->wants_categories)
			continue;
		if (now >= c->categories_until || all_have_attached(d))
			send_categories(c);
		else if (now + GATHER_STEP_NS < *ret_next)
			*ret_next = now + GATHER_STEP_NS;
	}
}

/* --- Alerts ---------------------------------------------------------------------------------- */

static void watch_alert(struct fx_client *c)
{
	struct fx_daemon_session *t = &c->daemon->session;

	if (t->alert_count == 0) {
		c->wants_alert = true;
		return;
	}
	fx_client_alert(c, &t->alerts[t->alert_first]);
	t->alert_first = (t->alert_first + 1) % FX_ALERT_QUEUE;
	t->alert_count--;
}

/* --- Requests -------------------------------------------------------------------------------- */

static int clients_take_snapshot(struct fx_client *c, const struct fx_msg_snapshot *request, int fd)
{
	char path[FX_OUTPUT_PATH_MAX];
	struct fx_output *output;
	int r;

	memcpy(path, request->output, sizeof(path));
	path[sizeof(path) - 1] = 0;
	if (fd < 0)
		return FX_CONTROL_BAD_REQUEST;
	r = fx_output_adopt(fd, path, &output);
	if (r < 0) {
		close(fd);
		return r;
	}
	return fx_daemon_session_snapshot(c->daemon, c, output, path);
}

/* The size that a request of this type has; 0 for what is no request. */
static size_t request_size(unsigned type)
{
	switch (type) {
#define CASE(sym, nr, type, fds, help)                                                             \
	case nr:                                                                                   \
		return sizeof(struct type);
		FX_MESSAGES(CASE)
#undef CASE
	default:
		return 0;
	}
}

/* 0: answered already; else as the functions of daemon-session.c. `passed` is taken over. */
static int serve_control(struct fx_client *c, const union fx_message_any *m, int passed)
{
	struct fx_daemon *d = c->daemon;
	int r;

	switch (m->GET_STATUS.header.type) {
	case FX_MSG_INITIALIZE:
		return fx_daemon_session_initialize(d, c, &m->INITIALIZE, passed);
	case FX_MSG_SNAPSHOT:
		return clients_take_snapshot(c, &m->SNAPSHOT, passed);
	case FX_MSG_START:
		r = fx_daemon_session_start(d, c, &m->START);
		break;
	case FX_MSG_STOP:
		r = fx_daemon_session_stop(d, c, m->STOP.write_results);
		break;
	case FX_MSG_TERMINATE:
		r = fx_daemon_session_terminate(d, c, m->TERMINATE.write_results);
		break;
	case FX_MSG_FLUSH:
		r = fx_daemon_session_flush(d, c);
		break;
	case FX_MSG_CHOOSE:
		r = fx_daemon_session_choose(d, c, &m->CHOOSE);
		break;
	case FX_MSG_NOTE:
		r = fx_daemon_session_note(d, c, &m->NOTE);
		break;
	default:
		r = FX_CONTROL_BAD_REQUEST;
	}
	if (passed >= 0)
		close(passed);
	return r;
}

/* Requests that are answered with what they ask for. False: another one. */
static bool serve_query(struct fx_client *c, const union fx_message_any *m)
{
	switch (m->GET_STATUS.header.type) {
	case FX_MSG_GET_STATUS:
		send_status(c);
		return true;
	case FX_MSG_GET_PROVIDERS:
		send_providers(c, &m->GET_PROVIDERS);
		return true;
	case FX_MSG_GET_CATEGORIES:
		get_categories(c, &m->GET_CATEGORIES);
		return true;
	case FX_MSG_WATCH_ALERT:
		watch_alert(c);
		return true;
	default:
		return false;
	}
}

static int check_request(const union fx_message_any *m, size_t size)
{
	const struct fx_msg_header *header = &m->GET_STATUS.header;

	if (size < sizeof(*header) || size != request_size(header->type))
		return -EMSGSIZE;
	return fx_message_check(header, (enum fx_message_type)header->type);
}

static void clients_serve(struct fx_client *c, const union fx_message_any *m, size_t size,
			  int passed)
{
	int r = check_request(m, size);

	if (r == 0 && serve_query(c, m)) {
		if (passed >= 0)
			close(passed);
		return;
	}
	if (r == 0)
		r = serve_control(c, m, passed);
	else if (passed >= 0)
		close(passed);
	if (r != FX_ANSWER_PENDING)
		fx_client_result(c, &(struct fx_msg_result){.status = r});
}

/* --- Connections ----------------------------------------------------------------------------- */

static void client_close(struct fx_client *c)
{
	struct fx_daemon *d = c->daemon;

	fx_poller_remove(&d->ground.poller, c->fd);
	close(c->fd);
	*(c->prev ? &c->prev->next : &d->clients) = c->next;
	if (c->next)
		c->next->prev = c->prev;
	d->client_count--;
	fx_daemon_session_client_gone(d, c);
	free(c);
}

static void client_ready(void *opaque)
{
	struct fx_client *c = opaque;
	union fx_message_any message;
	int passed;
	ssize_t n = fx_socket_receive_any(c->fd, &message, sizeof(message), &passed);

	if (n == -EAGAIN || n == -EINTR)
		return;
	if (n < 0)
		client_close(c);
	else
		clients_serve(c, &message, (size_t)n, passed);
}

static struct fx_client *client_create(struct fx_daemon *d, int fd)
{
	struct fx_client *c = d->client_count < FX_CLIENTS_MAX ? calloc(1, sizeof(*c)) : NULL;
	pid_t pid;
	uid_t uid;

	if (!c)
		return NULL;
	c->daemon = d;
	c->fd = fd;
	c->is_own = fx_socket_peer(fd, &pid, &uid) == 0 && fx_policy_is_own(uid);
	c->watch = (struct fx_watch){.ready = client_ready, .opaque = c};
	if (fx_poller_add(&d->ground.poller, fd, &c->watch) < 0) {
		free(c);
		return NULL;
	}
	c->next = d->clients;
	if (c->next)
		c->next->prev = c;
	d->clients = c;
	d->client_count++;
	return c;
}

void fx_clients_adopt(struct fx_daemon *d, int fd, const union fx_message_any *message, size_t size,
		      int passed)
{
	struct fx_client *c = client_create(d, fd);

	if (c) {
		clients_serve(c, message, size, passed);
		return;
	}
	close(fd);
	if (passed >= 0)
		close(passed);
}

void fx_clients_close_all(struct fx_daemon *d)
{
	while (d->clients)
		client_close(d->clients);
}
