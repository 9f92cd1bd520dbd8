/* SPDX-License-Identifier: MIT */
/* The listening socket, and what to do where descriptors run out. */
#include "manager/door/registry.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fault.h"
#include "manager/door/connection.h"
#include "manager/door/private-place.h"

/* A connection that cannot be accepted stays in the queue, and nothing else can be waited for; it is tried again after
 * so long. */
#define DEAF_NS UINT64_C(100000000)

/* How often it is seen whether somebody has waited in vain. */
#define LOOK_PERIOD_NS UINT64_C(400000000)

/* Connections open at a time; more wait in the listener's queue. */
#define CONNECTIONS_MAX 256

/* --- Too few descriptors ---------------------------------------------------------------------- */

static void spare_renew(struct fx_registry *registry)
{
	if (registry->spare < 0)
		registry->spare = open("/", O_PATH | O_CLOEXEC);
}

/* -errno if there is none, or no descriptor for it. */
static int accept_next(struct fx_registry *registry, int listener)
{
	const struct fx_registry_owner *owner = &registry->owner;
	int fd = fx_socket_accept(listener);

	if ((fd == -EMFILE || fd == -ENFILE) && owner->give_back &&
	    owner->give_back(owner->opaque, 0))
		fd = fx_socket_accept(listener);
	return fd;
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
	uint64_t now = fx_monotonic_ns();

	if (registry->deaf && now - registry->deaf_since >= DEAF_NS)
		listen_again(registry);
	fx_connections_expire(registry, now);
	look_at_silence(registry, now);
}

/* --- The listener ---------------------------------------------------------------------------- */

static void accept_from(struct fx_registry *registry, int listener)
{
	int fd, error = 0;

	if (registry->count >= CONNECTIONS_MAX)
		/* The oldest has had its chance. */
		fx_connection_close(registry->first);
	fd = accept_next(registry, listener);
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
		error = fx_connection_accept(registry, fd);
	if (error < 0)
		fx_connection_turn_away(registry, fd, error);
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

static int place_find(struct fx_registry *registry)
{
	struct fx_private_place place;
	int r = fx_private_place_make(&place, registry->owner.policy);

	memcpy(registry->directory, place.directory, sizeof(place.directory));
	memcpy(registry->path, place.path, sizeof(place.path));
	return r;
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
		ret->listener = fx_socket_listen(ret->path, &ret->file);
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
		fx_connection_close(registry->first);
	if (registry->listener >= 0 && registry->given)
		close(registry->listener);
	else if (registry->listener >= 0)
		fx_socket_leave(registry->listener, registry->path, &registry->file);
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
