/* SPDX-License-Identifier: MIT */
/*
 * The users that a manager serves. Its own and root always; others as it is told, by the kernel's word
 * for which they are. To be served is to be traced: what others may control is a question of its own.
 */
#ifndef FX_MANAGER_POLICY_H
#define FX_MANAGER_POLICY_H

#include <stdbool.h>
#include <sys/types.h>

/* Users that can be told one by one. */
#define FX_POLICY_USERS 64u

/* All zero: nobody else. */
struct fx_policy {
	bool all;     /* any user's processes may register */
	bool kin;     /* root's manager: the processes that it started, as whatever user they run */
	bool control; /* a process that may register may be a client too */
	bool has_group;
	gid_t group; /* members' processes may register */
	uid_t users[FX_POLICY_USERS];
	unsigned user_count;
};

/* Whether this user owns the manager or is root. */
bool fx_policy_is_own(uid_t uid);

/* Whether the peer of a socket, a process of user `uid`, may register. */
bool fx_policy_admits(const struct fx_policy *policy, int fd, uid_t uid);

/* Whether it may be a client. */
bool fx_policy_controls(const struct fx_policy *policy, int fd, uid_t uid);

/* Whether anybody but the manager's own user and root is served. */
bool fx_policy_is_open(const struct fx_policy *policy);

/* Lets the users that are served reach the socket at `path`. 0 or -errno. */
int fx_policy_open(const struct fx_policy *policy, const char *path);

#endif
