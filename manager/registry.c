/* SPDX-License-Identifier: MIT */
#include "manager/registry.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fault.h"
#include "manager/kin.h"
#include "manager/stale.h"

/* How long a connection may be silent. */
#define SILENCE_MAX_NS UINT64_C(5000000000)

/* Connections open at a time; more wait in the listener's queue. */
#define CONNECTIONS_MAX 256

#define RUNTIME_OF_USERS "/run/user/"

struct fx_connection {
	struct fx_connection *prev, *next;
	struct fx_registry *registry;
	struct fx_watch watch;
	int fd;
	pid_t pid;	/* 0: whom the kernel names */
	uint64_t since; /* CLOCK_MONOTONIC ns */
};

/* --- Connections ----------------------------------------------------------------------------- */

/* Its descriptor stays open. */
static void connection_forget(struct fx_connection *c)
{
	struct fx_registry *registry = c->registry;

	fx_poller_remove(registry->poller, c->fd);
	*(c->prev ? &c->prev->next : &registry->first) = c->next;
	*(c->next ? &c->next->prev : &registry->last) = c->prev;
	registry->count--;
	free(c);
}

static void connection_close(struct fx_connection *c)
{
	int fd = c->fd;

	connection_forget(c);
	close(fd);
}

static const struct fx_policy nobody_else;

static const struct fx_policy *policy_of(const struct fx_connection *c)
{
	return c->registry->owner.policy ? c->registry->owner.policy : &nobody_else;
}

/* Whether the other end may be a client: 0 or -errno. */
static int authorize_client(const struct fx_connection *c)
{
	pid_t pid;
	uid_t uid;
	int r = fx_socket_peer(c->fd, &pid, &uid);

	if (r < 0)
		return r;
	return fx_policy_controls(policy_of(c), c->fd, uid) ? 0 : -EPERM;
}

static bool is_kin(const struct fx_connection *c, pid_t pid)
{
	const struct fx_registry_owner *owner = &c->registry->owner;

	return policy_of(c)->kin && fx_kin_descends(pid, owner->is_head, owner->opaque);
}

/* Who the other end is, if it may register. */
static int identify(const struct fx_connection *c, struct fx_applicant *ret)
{
	int r = fx_socket_peer(c->fd, &ret->pid, &ret->uid);

	if (r < 0)
		return r;
	if (!fx_policy_admits(policy_of(c), c->fd, ret->uid) && !is_kin(c, ret->pid))
		return -EPERM;
	if (c->pid) {
		ret->pid = c->pid;
		ret->pidfd = (int)syscall(SYS_pidfd_open, c->pid, 0);
		return ret->pidfd < 0 ? -errno : 0;
	}
	if (ret->pid <= 0)
		return -ESRCH;
	ret->pidfd = fx_socket_peer_pidfd(c->fd, ret->pid);
	return ret->pidfd < 0 ? ret->pidfd : 0;
}

static void answer(struct fx_connection *c, int status, const struct fx_admission *admission,
		   int *ret_sent)
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

/* A name is printed, and becomes part of archives: what a terminal would obey is taken out. */
static void name_sanitise(char *name)
{
	for (; *name; name++) {
		if ((unsigned char)*name < ' ' || (unsigned char)*name >= 0x7f)
			*name = '_';
	}
}

static void serve(struct fx_connection *c, const struct fx_msg_register *request)
{
	const struct fx_registry_owner *owner = &c->registry->owner;
	struct fx_applicant applicant = {.pidfd = -1};
	struct fx_admission admission = {0};
	int r, sent;

	applicant.cause = (enum fx_register_cause)request->cause;
	memcpy(applicant.name, request->name, FX_PROVIDER_NAME_MAX);
	name_sanitise(applicant.name);
	FX_FAULT(register_read);
	r = identify(c, &applicant);
	if (r == 0)
		r = owner->admit(owner->opaque, &applicant, &admission);
	FX_FAULT(register_answer);
	answer(c, r, r == 0 ? &admission : NULL, &sent);
	FX_FAULT(register_answered);
	if (r == 0)
		owner->admitted(owner->opaque, &admission, sent);
	else if (applicant.pidfd >= 0)
		close(applicant.pidfd);
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

static void connection_ready(void *opaque)
{
	struct fx_connection *c = opaque;
	union fx_message_any message;
	int passed, sent, r;
	ssize_t n = fx_socket_receive_any(c->fd, &message, sizeof(message), &passed);
	bool is_client = n >= (ssize_t)sizeof(message.GET_STATUS) &&
			 message.GET_STATUS.header.type >= FX_MSG_RESULT &&
			 c->registry->owner.client;

	if (n == -EAGAIN || n == -EINTR)
		return;
	r = is_client ? authorize_client(c) : 0;
	if (is_client && r == 0) {
		hand_over(c, &message, (size_t)n, passed);
		return;
	}
	if (passed >= 0)
		close(passed);
	if (is_client) {
		refuse_client(c, r);
		connection_close(c);
		return;
	}
	r = n < 0 ? (int)n : n != sizeof(message.REGISTER) ? -EMSGSIZE : 0;
	if (r == 0)
		r = fx_message_check(&message.REGISTER.header, FX_MSG_REGISTER);
	if (r == 0 && message.REGISTER.name[FX_PROVIDER_NAME_MAX])
		r = -ENAMETOOLONG;
	if (r == 0)
		serve(c, &message.REGISTER);
	else if (r != -EPIPE)
		answer(c, r, NULL, &sent);
	connection_close(c);
}

int fx_registry_adopt(struct fx_registry *registry, int fd, pid_t pid)
{
	struct fx_connection *c = calloc(1, sizeof(*c));
	int r;

	if (!c)
		return -ENOMEM;
	c->registry = registry;
	c->fd = fd;
	c->pid = pid;
	c->since = fx_monotonic_ns();
	c->watch = (struct fx_watch){.ready = connection_ready, .opaque = c};
	r = fx_poller_add(registry->poller, fd, &c->watch);
	if (r < 0) {
		free(c);
		return r;
	}
	c->prev = registry->last;
	*(c->prev ? &c->prev->next : &registry->first) = c;
	registry->last = c;
	registry->count++;
	return 0;
}

void fx_registry_expire(struct fx_registry *registry)
{
	struct fx_connection *c = registry->first, *next;
	uint64_t now = fx_monotonic_ns();

	for (; c; c = next) {
		next = c->next;
		if (now - c->since > SILENCE_MAX_NS)
			connection_close(c);
	}
}

/* --- The listener ---------------------------------------------------------------------------- */

static void listener_ready(void *opaque)
{
	struct fx_registry *registry = opaque;
	int fd;

	if (registry->count >= CONNECTIONS_MAX)
		/* The oldest has had its chance. */
		connection_close(registry->first);
	fd = fx_socket_accept(registry->listener);
	FX_FAULT(accept);
	if (fd >= 0 && fx_registry_adopt(registry, fd, 0) < 0)
		close(fd);
}

/* Makes a directory of mode 0700 with a name of its own below `base`. */
static int directory_make(struct fx_registry *registry, const char *base)
{
	int n = snprintf(registry->directory, sizeof(registry->directory), "%s/%s", base,
			 FX_PRIVATE_TEMPLATE);

	/* The socket's name must fit as well. */
	if (n < 0 || (size_t)n + 3 > sizeof(registry->directory))
		return -ENAMETOOLONG;
	if (!mkdtemp(registry->directory)) {
		registry->directory[0] = 0;
		return -errno;
	}
	fx_stale_remove(base);
	return 0;
}

/* What is made for each user lets no other enter. */
static bool is_closed(const struct fx_registry *registry, const char *runtime)
{
	return registry->owner.policy && fx_policy_is_open(registry->owner.policy) &&
	       strncmp(runtime, RUNTIME_OF_USERS, strlen(RUNTIME_OF_USERS)) == 0;
}

static int place_find(struct fx_registry *registry)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	int r = -ENOENT;

	if (runtime && runtime[0] == '/' && !is_closed(registry, runtime))
		r = directory_make(registry, runtime);
	if (r < 0)
		r = directory_make(registry, "/tmp");
	if (r < 0)
		return r;
	if (registry->owner.policy && fx_policy_is_open(registry->owner.policy) &&
	    chmod(registry->directory, 0711) < 0)
		return -errno;
	snprintf(registry->path, sizeof(registry->path), "%.*s/" FX_PRIVATE_SOCKET,
		 (int)sizeof(registry->path) - 3, registry->directory);
	return 0;
}

int fx_registry_init(struct fx_registry *ret, struct fx_poller *poller,
		     const struct fx_registry_owner *owner, const char *path, int listener)
{
	int r = 0;

	*ret = (struct fx_registry){
	    .poller = poller, .owner = *owner, .listener = listener, .given = listener >= 0};
	ret->watch = (struct fx_watch){.ready = listener_ready, .opaque = ret};
	if (!path)
		r = place_find(ret);
	else if (strlen(path) >= sizeof(ret->path))
		r = -ENAMETOOLONG;
	else
		strcpy(ret->path, path);
	if (r == 0 && !ret->given) {
		ret->listener = fx_socket_listen(ret->path);
		r = ret->listener < 0 ? ret->listener : 0;
		if (r == 0 && owner->policy)
			r = fx_policy_open(owner->policy, ret->path);
	}
	if (r == 0)
		r = fx_poller_add(poller, ret->listener, &ret->watch);
	if (r < 0)
		fx_registry_destroy(ret);
	return r;
}

void fx_registry_destroy(struct fx_registry *registry)
{
	while (registry->first)
		connection_close(registry->first);
	if (registry->listener >= 0) {
		close(registry->listener);
		if (!registry->given)
			unlink(registry->path);
	}
	if (registry->directory[0])
		rmdir(registry->directory);
	registry->listener = -1;
	registry->directory[0] = 0;
}
