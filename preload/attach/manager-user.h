/* SPDX-License-Identifier: MIT */
/*
 * The user whose manager answers. It sees what this process does, and gives it memory: so it is root's or this user's own, or
 * that of the user that FXTRACE_MANAGER_USER names by number. And whether it is able to answer.
 */
#ifndef FX_PRELOAD_MANAGER_USER_H
#define FX_PRELOAD_MANAGER_USER_H

#include <stdbool.h>

#define FX_MANAGER_USER "FXTRACE_MANAGER_USER"

/* In the constructor: the environment may change. The auxiliary vector of a process that begins tells its user; NULL: the
 * kernel is asked. */
void fx_manager_user_init(const unsigned long *auxv);

/* The constructor is over: from now on the user may change. */
void fx_manager_user_began(void);

/* Whether the other end of a connected socket is such a manager, by the kernel's word. By raw system calls alone. An
 * abstract name is anybody's; a path tells of the user that may write its folder. *own: it is root's or this user's, which may
 * end this process whenever they like. */
bool fx_manager_is_trusted(int fd, bool by_path, bool *own);

/* Whether the process at the other end runs, or would if it got a processor: then it is starved and not stuck. False
 * too where it cannot be seen. By raw system calls alone. */
bool fx_manager_is_runnable(int fd);

#endif
