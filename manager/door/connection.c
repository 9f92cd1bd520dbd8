/* SPDX-License-Identifier: MIT */
#include "manager/door/connection.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fault.h"

/* How long a connection may be silent. */
#define SILENCE_MAX_NS UINT64_C(5000000000)

/* Descriptors that one of them may need besides the memory's: what comes along and another for it, the process, and what is
 * read in /proc. */
#define SERVE_ROOM 4u

struct fx_connection {
	struct fx_connection *prev, *next;
	struct fx_registry *registry;
	struct fx_watch watch;
	int fd;
	bool watched; /* the poller has it */
	struct fx_peer peer;
	uint64_t since; /* CLOCK_MONOTONIC ns */
};

/* Its descriptor stays open. */
static void connection_forget(struct fx_connection *c)
{
	struct fx_registry *registry = c->registry;

	if (c->watched)
		fx_poller_remove(registry->poller, c->fd);
	*(c->prev ? &c->prev->next : &registry->first) = c->next;
	*(c->next ? &c->next->prev : &registry->last) = c->prev;
	registry->count--;
	free(c);
}

void fx_connection_close(struct fx_connection *c)
{
	int fd = c->fd;

	connection_forget(c);
	close(fd);
}

static void registry_answer(struct fx_connection *c, int status,
			    const struct fx_admission *admission, int *ret_sent)
{
	struct fx_msg_registered message = {
	    .header = fx_message_header(FX_MSG_REGISTERED),
	    .status = status,
	};

	if (admission) {
		message.started = admission->started;
		message.control_size = admission->control_size;
		message.buffer_size = admission->buffer_size;
	}
	*ret_sent = fx_socket_send(c->fd, &message, sizeof(message),
				   admission ? admission->fds : NULL, admission ? FX_FD_COUNT : 0);
}

/* 0, and it is known to the owner; or -errno. */
static int take_in(struct fx_connection *c, const char name[FX_PROVIDER_NAME_MAX],
		   struct fx_applicant *applicant, struct fx_admission *ret)
{
	const struct fx_registry_owner *owner = &c->registry->owner;
	int r;

	memcpy(applicant->name, name, FX_PROVIDER_NAME_MAX);
	FX_FAULT(register_read);
	r = fx_peer_identify(&c->peer, owner, applicant);
	if ((r == -EMFILE || r == -ENFILE) && owner->turned_away)
		owner->turned_away(owner->opaque, applicant, r);
	if (r == 0 && applicant->is_kernel && !fx_policy_is_own(applicant->uid))
		r = -EPERM;
	if (r == 0)
		r = owner->admit(owner->opaque, applicant, ret);
	FX_FAULT(register_answer);
	return r;
}

static void came_in(struct fx_connection *c, int status, const struct fx_applicant *applicant,
		    struct fx_admission *admission, int sent)
{
	const struct fx_registry_owner *owner = &c->registry->owner;

	FX_FAULT(register_answered);
	if (status == 0)
		owner->admitted(owner->opaque, admission, sent);
	else if (applicant->pidfd >= 0)
		close(applicant->pidfd);
}

static void registry_serve(struct fx_connection *c, const struct fx_msg_register *request)
{
	struct fx_applicant applicant = {.pidfd = -1,
					 .own_pid = request->pid,
					 .own_parent = request->parent_pid,
					 .is_kernel = request->cause == FX_REGISTER_KERNEL,
					 .wish = request->wish};
	struct fx_admission admission = {0};
	int r = take_in(c, request->name, &applicant, &admission), sent;

	registry_answer(c, r, r == 0 ? &admission : NULL, &sent);
	came_in(c, r, &applicant, &admission, sent);
}

/* Nobody waits for an answer. */
static void serve_bringer(struct fx_connection *c, const struct fx_msg_bring *message, int memory)
{
	const struct fx_foreign brought = {
	    .fd = memory,
	    .control_size = message->control_size,
	    .buffer_size = message->buffer_size,
	    .born_ns = message->born_ns,
	};
	struct fx_applicant applicant = {.pidfd = -1,
					 .own_pid = message->pid,
					 .own_parent = message->parent_pid,
					 .wish = message->wish,
					 .brought = &brought};
	struct fx_admission admission = {0};
	int r = take_in(c, message->name, &applicant, &admission);

	came_in(c, r, &applicant, &admission, 0);
	if (r < 0 && memory >= 0)
		fx_foreign_refuse(&brought);
}

static void refuse_client(struct fx_connection *c, int error)
{
	const struct fx_msg_result message = {.header = fx_message_header(FX_MSG_RESULT),
					      .status = error};

	fx_socket_send(c->fd, &message, sizeof(message), NULL, 0);
}

/* A client stays: its connection is not ours any more. */
static void hand_over(struct fx_connection *c, const union fx_message_any *message, size_t size,
		      int passed)
{
	const struct fx_registry_owner owner = c->registry->owner;
	int fd = c->fd;

	connection_forget(c);
	owner.client(owner.opaque, fd, message, size, passed);
}

/* Whether a message that ends with a wish has come: all of it, or all but that, which is no wish then. */
static bool is_whole(ssize_t size, size_t with_wish, struct fx_msg_wish *wish)
{
	if (size == (ssize_t)(with_wish - sizeof(*wish))) {
		memset(wish, 0, sizeof(*wish));
		return true;
	}
	return size == (ssize_t)with_wish;
}

static bool is_bringer(union fx_message_any *message, ssize_t size)
{
	return is_whole(size, sizeof(message->BRING), &message->BRING.wish) &&
	       fx_message_check(&message->BRING.header, FX_MSG_BRING) == 0 &&
	       !message->BRING.name[FX_PROVIDER_NAME_MAX];
}

static void serve_provider(struct fx_connection *c, union fx_message_any *message, ssize_t n)
{
	int r = n < 0 ? (int)n : 0, sent;

	if (r == 0 && !is_whole(n, sizeof(message->REGISTER), &message->REGISTER.wish))
		r = -EMSGSIZE;
	if (r == 0)
		r = fx_message_check(&message->REGISTER.header, FX_MSG_REGISTER);
	if (r == 0 && message->REGISTER.name[FX_PROVIDER_NAME_MAX])
		r = -ENAMETOOLONG;
	if (r == 0)
		registry_serve(c, &message->REGISTER);
	else if (r != -EPIPE)
		registry_answer(c, r, NULL, &sent);
}

/* Reads what has come; false: nothing, and it stays. */
static bool connection_serve(struct fx_connection *c)
{
	const struct fx_registry_owner *owner = &c->registry->owner;
	union fx_message_any *message = c->registry->came;
	bool is_client;
	int passed, r;
	ssize_t n;

	/* Before: a descriptor that comes and finds no room is lost. */
	if (owner->give_back)
		owner->give_back(owner->opaque, SERVE_ROOM);
	n = fx_socket_receive_any(c->fd, message, sizeof(*message), &passed);
	if (n == -EAGAIN || n == -EINTR)
		return false;
	is_client = n >= (ssize_t)sizeof(message->GET_STATUS) &&
		    message->GET_STATUS.header.type >= FX_MSG_RESULT && owner->client;
	r = is_client ? fx_peer_authorize(&c->peer, owner) : 0;
	if (is_client && r == 0) {
		hand_over(c, message, (size_t)n, passed);
		return true;
	}
	if (is_client)
		refuse_client(c, r);
	else if (is_bringer(message, n))
		serve_bringer(c, &message->BRING, passed);
	else
		serve_provider(c, message, n);
	if (passed >= 0)
		close(passed);
	fx_connection_close(c);
	return true;
}

/* What a process has sent before it became another program comes first, however late it is read. */
static bool connection_serve_in_order(struct fx_connection *c)
{
	struct fx_connection *next;

	for (struct fx_connection *o = c->registry->first; c->peer.pid && o != c; o = next) {
		next = o->next;
		if (o->peer.pid == c->peer.pid)
			connection_serve(o);
	}
	return connection_serve(c);
}

static void connection_ready(void *opaque)
{
	connection_serve_in_order(opaque);
}

static struct fx_connection *connection_create(struct fx_registry *registry, int fd, pid_t pid)
{
	struct fx_connection *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->registry = registry;
	c->fd = fd;
	c->peer = fx_peer_of(fd, pid);
	c->since = fx_monotonic_ns();
	c->watch = (struct fx_watch){.ready = connection_ready, .opaque = c};
	c->prev = registry->last;
	*(c->prev ? &c->prev->next : &registry->first) = c;
	registry->last = c;
	registry->count++;
	return c;
}

static int connection_watch(struct fx_connection *c)
{
	int r = fx_poller_add(c->registry->poller, c->fd, &c->watch);

	c->watched = r == 0;
	return r;
}

int fx_registry_adopt(struct fx_registry *registry, int fd, pid_t pid)
{
	struct fx_connection *c = connection_create(registry, fd, pid);
	int r = c ? connection_watch(c) : -ENOMEM;

	if (c && r < 0)
		connection_forget(c);
	return r;
}

int fx_connection_accept(struct fx_registry *registry, int fd)
{
	struct fx_connection *c = connection_create(registry, fd, 0);
	int r = !c ? -ENOMEM : connection_serve_in_order(c) ? 0 : connection_watch(c);

	if (c && r < 0)
		connection_forget(c);
	return r;
}

void fx_connection_turn_away(struct fx_registry *registry, int fd, int error)
{
	struct fx_connection c = {.registry = registry, .fd = fd};
	struct fx_applicant applicant = {.pidfd = -1};
	union fx_message_any *message = registry->came;
	int passed = -1, sent;
	ssize_t n = fx_socket_receive_any(fd, message, sizeof(*message), &passed);

	if (passed >= 0)
		close(passed);
	if (n >= (ssize_t)sizeof(message->GET_STATUS) &&
	    message->GET_STATUS.header.type >= FX_MSG_RESULT) {
		refuse_client(&c, error);
	} else if (fx_socket_peer(fd, &applicant.pid, &applicant.uid) == 0 &&
		   fx_peer_admits(fd, &registry->owner, &applicant)) {
		if (is_whole(n, sizeof(message->REGISTER), &message->REGISTER.wish))
			memcpy(applicant.name, message->REGISTER.name, FX_PROVIDER_NAME_MAX);
		registry_answer(&c, error, NULL, &sent);
		if (registry->owner.turned_away)
			registry->owner.turned_away(registry->owner.opaque, &applicant, error);
	}
	close(fd);
}

void fx_connections_expire(struct fx_registry *registry, uint64_t now)
{
	struct fx_connection *c = registry->first, *next;

	for (; c; c = next) {
		next = c->next;
		if (now - c->since > SILENCE_MAX_NS)
			fx_connection_close(c);
	}
}
