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

#include "manager/door/applicant.h"
#include "manager/door/poller.h"
#include "protocol/socket.h"

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
	struct fx_socket_file file;	     /* that was made there */
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
