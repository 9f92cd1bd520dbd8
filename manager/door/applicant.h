/* SPDX-License-Identifier: MIT */
/*
 * Who is at the other end of a connection, by the kernel's word, and what that one may: be registered, or be a client. What the
 * registry's owner decides and is told.
 */
#ifndef FX_MANAGER_APPLICANT_H
#define FX_MANAGER_APPLICANT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "manager/door/foreign.h"
#include "manager/settings/policy.h"
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
	/* Could not even be asked what it wants, or named, for want of descriptors or memory: it was told so. May be NULL. */
	void (*turned_away)(void *opaque, const struct fx_applicant *applicant, int error);
	/* Gives back descriptors that it keeps for who may come, unless so many are free; 0: in any case. True if it had some. May be
	 * NULL. */
	bool (*give_back)(void *opaque, unsigned unless_free);
	/* Whether a process is the manager's own or a provider's. NULL if the policy asks nothing of kin. */
	bool (*is_head)(void *opaque, pid_t pid);
	void *opaque;
	const struct fx_policy *policy; /* the users that it serves; NULL: no others */
};

/* The other end of a connection. */
struct fx_peer {
	int fd;
	pid_t given; /* its process; 0: the one that the kernel names, */
	pid_t pid;   /* which is this one; 0 unknown */
	uid_t uid;   /* its user */
	int unknown; /* 0; -errno: the kernel names nobody */
};

/* `given`: as above. */
struct fx_peer fx_peer_of(int fd, pid_t given);

/* Whether it may be a client: 0 or -errno. */
int fx_peer_authorize(const struct fx_peer *peer, const struct fx_registry_owner *owner);

/* Which process it is, if it may register: 0, and *ret has pid, uid, pidfd and ended; or -errno. Whether it has brought memory, and whom
 * it calls its parent, is known already. */
int fx_peer_identify(const struct fx_peer *peer, const struct fx_registry_owner *owner,
		     struct fx_applicant *ret);

/* Whether one could register, by its pid and uid, with what there is to be known without asking. */
bool fx_peer_admits(int fd, const struct fx_registry_owner *owner,
		    const struct fx_applicant *applicant);

#endif
