/* SPDX-License-Identifier: MIT */
/*
 * The door: the listening socket, and connections whose request has not come yet. A connection
 * lives for one request and one answer. One that says nothing is closed after a while, so that it
 * can keep nobody out.
 */
#ifndef FX_MANAGER_REGISTRY_H
#define FX_MANAGER_REGISTRY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "manager/door/foreign.h"
#include "manager/settings/policy.h"
#include "manager/door/poller.h"
#include "protocol/socket.h"

/* The process that asks to be registered. The name is terminated. */
struct fx_applicant {
	pid_t pid;	     /* by the kernel's word */
	uid_t uid;	     /* the same */
	uint32_t own_pid;    /* as it calls itself, and its first thread */
	uint32_t own_parent; /* as it calls its parent */
	int pidfd; /* the callee's if it succeeds; -1: the kernel has none, or it has ended */
	bool ended;
	bool is_kernel; /* the kernel provider, and may be */
	const struct fx_foreign
	    *brought; /* memory that it has made itself; NULL: it is to be given some */
	struct fx_msg_wish wish;
	char name[FX_PROVIDER_NAME_MAX + 1];
};

/* What it is given. */
struct fx_admission {
	uint32_t started;
	uint64_t control_size;
	uint64_t buffer_size;
	int fds
	    [FX_FD_COUNT]; /* the owner's; admitted() closes what is its own. None for a process that brings memory */
};

struct fx_registry_owner {
	/* Decides: 0 and *ret, or -errno, which the applicant is told. */
	int (*admit)(void *opaque, const struct fx_applicant *applicant, struct fx_admission *ret);
	/* The answer was sent, or could not be (-errno): *admission is no longer needed. */
	void (*admitted)(void *opaque, struct fx_admission *admission, int result);
	/*
	 * A client's first request, of `size` bytes, with a descriptor or -1: both descriptors are
	 * the callee's. NULL: clients are not served.
	 */
	void (*client)(void *opaque, int fd, const union fx_message_any *message, size_t size,
		       int passed);
	/* Could not even be asked what it wants, for want of descriptors or memory: it was told so. May be NULL. */
	void (*turned_away)(void *opaque, const struct fx_applicant *applicant, int error);
	/* Whether a process is the manager's own or a provider's. NULL if the policy asks nothing of kin. */
	bool (*is_head)(void *opaque, pid_t pid);
	void *opaque;
	const struct fx_policy *policy; /* the users that it serves; NULL: no others */
};

struct fx_connection;

struct fx_registry {
	struct fx_poller *poller;
	struct fx_registry_owner owner;
	int listener;
	int beside; /* listens at the abstract name beside the path; -1 none */
	struct fx_watch watch;
	struct fx_watch watch_beside;
	int spare; /* a descriptor that is given up to turn somebody away when there is no other; -1 none */
	bool deaf;	     /* nobody can be accepted for now: the listeners are not watched */
	uint64_t deaf_since; /* CLOCK_MONOTONIC ns */
	union fx_message_any *came;	    /* what a peer has sent: too large for a narrow stack */
	struct fx_connection *first, *last; /* oldest first */
	unsigned count;
	uint64_t accepted;		     /* since it listens */
	uint64_t next_look;		     /* CLOCK_MONOTONIC ns; at what others say of us */
	bool given;			     /* the listener was: its path is another's */
	char directory[FX_SOCKET_PATH_SIZE]; /* made for this registry; "" none */
	char path[FX_SOCKET_PATH_SIZE];	     /* of the socket */
};

/* Listens at `path`, or with `listener`, which does so already and becomes the registry's, unless it is -1;
 * no path: in a fresh directory that is the user's alone. 0 or -errno. The registry must
 * not move. */
int fx_registry_init(struct fx_registry *ret, struct fx_poller *poller,
		     const struct fx_registry_owner *owner, const char *path, int listener);
void fx_registry_destroy(struct fx_registry *registry);

/* Serves a connected descriptor like an accepted one; it becomes the registry's. `pid` is the other
 * end's process, 0: the one that the kernel names. 0 or -errno. */
int fx_registry_adopt(struct fx_registry *registry, int fd, pid_t pid);

/* Closes connections that have been silent for too long; listens again when there may be room; takes back what was said
 * of our own silence. */
void fx_registry_expire(struct fx_registry *registry);

#endif
