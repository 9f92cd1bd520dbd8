/* SPDX-License-Identifier: MIT */
#include "manager/door/registry.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fault.h"
#include "manager/process/kin.h"
#include "manager/door/stale.h"
#include "protocol/place.h"

/* How long a connection may be silent. */
#define SILENCE_MAX_NS UINT64_C(5000000000)

/* A connection that cannot be accepted stays in the queue, and nothing else can be waited for; it is tried again after
 * so long. */
#define DEAF_NS UINT64_C(100000000)

/* How often it is seen whether somebody has waited in vain. */
#define LOOK_PERIOD_NS UINT64_C(400000000)

/* Connections open at a time; more wait in the listener's queue. */
#define CONNECTIONS_MAX 256

#define RUNTIME_OF_USERS "/run/user/"

struct fx_connection {
	struct fx_connection *prev, *next;
	struct fx_registry *registry;
	struct fx_watch watch;
	int fd;
	bool watched;	/* the poller has it */
	pid_t pid;	/* 0: the one that the kernel names */
	pid_t peer;	/* the one that it names; 0 unknown */
	uid_t uid;	/* its user */
	int unknown;	/* 0; -errno: the kernel names nobody */
	uint64_t since; /* CLOCK_MONOTONIC ns */
};

/* --- Connections ----------------------------------------------------------------------------- */

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
	if (c->unknown < 0)
		return c->unknown;
	return fx_policy_controls(policy_of(c), c->fd, c->uid) ? 0 : -EPERM;
}

/* Of a process that has ended since, the kernel knows no parent: the one that it names must be known here, live, and be
 * the same user's. */
static bool is_kin(const struct fx_connection *c, const struct fx_applicant *applicant)
{
	const struct fx_registry_owner *owner = &c->registry->owner;
	pid_t parent = (pid_t)applicant->own_parent;

	if (!policy_of(c)->kin)
		return false;
	if (fx_kin_descends(applicant->pid, owner->is_head, owner->opaque))
		return true;
	return applicant->brought && fx_kin_is_over(applicant->pid) &&
	       owner->is_head(owner->opaque, parent) && fx_kin_has_user(parent, applicant->uid);
}

/* Where the kernel has no pidfds, or a filter keeps them from us, the end of the process is looked for. */
static int without_pidfd(int error, struct fx_applicant *ret)
{
	ret->pidfd = -1;
	return error == -ENOSYS || error == -EPERM ? 0 : error;
}

/* A process that brings memory has said all, and may have ended since. Before Linux 6.9 the kernel calls that EINVAL;
 * without pidfds it says nothing. */
static bool may_have_ended(const struct fx_applicant *applicant, int error)
{
	if (!applicant->brought)
		return false;
	if (error == -ENOSYS || error == -EPERM)
		return fx_kin_is_over(applicant->pid);
	return error == -ESRCH || error == -EINVAL;
}

/* Which process the other end is, if it may register. */
static int identify(const struct fx_connection *c, struct fx_applicant *ret)
{
	int r;

	if (c->unknown < 0)
		return c->unknown;
	ret->pid = c->peer;
	ret->uid = c->uid;
	if (!fx_policy_admits(policy_of(c), c->fd, ret->uid) && !is_kin(c, ret))
		return -EPERM;
	if (c->pid) {
		ret->pid = c->pid;
		ret->pidfd = (int)syscall(SYS_pidfd_open, c->pid, 0);
		return ret->pidfd < 0 ? without_pidfd(-errno, ret) : 0;
	}
	if (ret->pid <= 0)
		return -ESRCH;
	ret->pidfd = fx_socket_peer_pidfd(c->fd, ret->pid);
	if (ret->pidfd >= 0)
		return 0;
	ret->ended = may_have_ended(ret, ret->pidfd);
	r = without_pidfd(ret->pidfd, ret);
	return ret->ended ? 0 : r;
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
	r = identify(c, applicant);
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
	union fx_message_any *message = c->registry->came;
	int passed, r;
	ssize_t n = fx_socket_receive_any(c->fd, message, sizeof(*message), &passed);
	bool is_client = n >= (ssize_t)sizeof(message->GET_STATUS) &&
			 message->GET_STATUS.header.type >= FX_MSG_RESULT &&
			 c->registry->owner.client;

	if (n == -EAGAIN || n == -EINTR)
		return false;
	r = is_client ? authorize_client(c) : 0;
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
	connection_close(c);
	return true;
}

/* What a process has sent before it became another program comes first, however late it is read. */
static bool connection_serve_in_order(struct fx_connection *c)
{
	struct fx_connection *next;

	for (struct fx_connection *o = c->registry->first; c->peer && o != c; o = next) {
		next = o->next;
		if (o->peer == c->peer)
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
	c->pid = pid;
	c->unknown = fx_socket_peer(fd, &c->peer, &c->uid);
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

/* A process that connects has something to say: as a rule that is there already, and nobody needs to wait for it. */
static int accepted_serve(struct fx_registry *registry, int fd)
{
	struct fx_connection *c = connection_create(registry, fd, 0);
	int r = !c ? -ENOMEM : connection_serve_in_order(c) ? 0 : connection_watch(c);

	if (c && r < 0)
		connection_forget(c);
	return r;
}

/* --- Too few descriptors ---------------------------------------------------------------------- */

static void spare_renew(struct fx_registry *registry)
{
	if (registry->spare < 0)
		registry->spare = open("/", O_PATH | O_CLOEXEC);
}

static int accept_by_spare(struct fx_registry *registry, int listener)
{
	if (registry->spare < 0)
		return -EMFILE;
	close(registry->spare);
	registry->spare = -1;
	return fx_socket_accept(listener);
}

/* A peer that is waited for in vain would be ready again and again. */
static void stop_listening(struct fx_registry *registry)
{
	registry->deaf = true;
	registry->deaf_since = fx_monotonic_ns();
	fx_poller_remove(registry->poller, registry->listener);
	if (registry->beside >= 0)
		fx_poller_remove(registry->poller, registry->beside);
}

static void listen_again(struct fx_registry *registry)
{
	if (fx_poller_add(registry->poller, registry->listener, &registry->watch) < 0)
		return;
	if (registry->beside >= 0)
		fx_poller_add(registry->poller, registry->beside, &registry->watch_beside);
	registry->deaf = false;
}

/* A peer that was accepted, and can be given nothing, is told. */
static void turn_away(struct fx_registry *registry, int fd, int error)
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
		   (fx_policy_admits(policy_of(&c), fd, applicant.uid) || is_kin(&c, &applicant))) {
		if (is_whole(n, sizeof(message->REGISTER), &message->REGISTER.wish))
			memcpy(applicant.name, message->REGISTER.name, FX_PROVIDER_NAME_MAX);
		registry_answer(&c, error, NULL, &sent);
		if (registry->owner.turned_away)
			registry->owner.turned_away(registry->owner.opaque, &applicant, error);
	}
	close(fd);
}

/* A process that has waited in vain keeps others from doing so (preload/attach/attach.c). */
static void look_at_silence(struct fx_registry *registry, uint64_t now)
{
	const struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_nsec = UTIME_NOW}};
	struct stat st;

	if (now < registry->next_look)
		return;
	registry->next_look = now + LOOK_PERIOD_NS;
	if (stat(registry->path, &st) == 0 && st.st_mtim.tv_sec > time(NULL))
		utimensat(AT_FDCWD, registry->path, times, 0);
}

void fx_registry_expire(struct fx_registry *registry)
{
	struct fx_connection *c = registry->first, *next;
	uint64_t now = fx_monotonic_ns();

	if (registry->deaf && now - registry->deaf_since >= DEAF_NS)
		listen_again(registry);
	for (; c; c = next) {
		next = c->next;
		if (now - c->since > SILENCE_MAX_NS)
			connection_close(c);
	}
	look_at_silence(registry, now);
}

/* --- The listener ---------------------------------------------------------------------------- */

static void accept_from(struct fx_registry *registry, int listener)
{
	int fd, error = 0;

	if (registry->count >= CONNECTIONS_MAX)
		/* The oldest has had its chance. */
		connection_close(registry->first);
	fd = fx_socket_accept(listener);
	FX_FAULT(accept);
	if (fd == -EAGAIN || fd == -EINTR || fd == -ECONNABORTED)
		return;
	if (fd < 0) {
		error = fd;
		fd = accept_by_spare(registry, listener);
	}
	if (fd < 0) {
		stop_listening(registry);
		return;
	}
	registry->accepted++;
	if (error == 0)
		error = accepted_serve(registry, fd);
	if (error < 0)
		turn_away(registry, fd, error);
	spare_renew(registry);
}

static void listener_ready(void *opaque)
{
	struct fx_registry *registry = opaque;

	accept_from(registry, registry->listener);
}

static void beside_ready(void *opaque)
{
	struct fx_registry *registry = opaque;

	accept_from(registry, registry->beside);
}

/* A process with a file system of its own may not see the path's folder; it finds the abstract name. What comes is
 * looked at as at the path. Without that name the others are served all the same. */
static void listen_beside(struct fx_registry *registry)
{
	registry->beside = fx_socket_listen_beside(registry->path);
	registry->watch_beside = (struct fx_watch){.ready = beside_ready, .opaque = registry};
	if (registry->beside >= 0 &&
	    fx_poller_add(registry->poller, registry->beside, &registry->watch_beside) < 0) {
		close(registry->beside);
		registry->beside = -1;
	}
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
	int r = -ENOENT;

	for (unsigned i = 0; i < FX_PLACES && r < 0; i++) {
		const char *place = fx_place_number(i);

		if (place && !is_closed(registry, place))
			r = directory_make(registry, place);
	}
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
	    .poller = poller,
	    .owner = *owner,
	    .listener = listener,
	    .beside = -1,
	    .spare = -1,
	    .given = listener >= 0,
	};
	ret->watch = (struct fx_watch){.ready = listener_ready, .opaque = ret};
	ret->came = malloc(sizeof(*ret->came));
	if (!ret->came)
		r = -ENOMEM;
	else if (!path)
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
	if (r == 0) {
		listen_beside(ret);
		spare_renew(ret);
	} else {
		fx_registry_destroy(ret);
	}
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
	if (registry->beside >= 0)
		close(registry->beside);
	if (registry->spare >= 0)
		close(registry->spare);
	if (registry->directory[0])
		rmdir(registry->directory);
	registry->listener = registry->beside = registry->spare = -1;
	registry->directory[0] = 0;
	free(registry->came);
	registry->came = NULL;
}
