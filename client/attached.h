/* SPDX-License-Identifier: MIT */
/* What `fxtrace attach' and `fxtrace detach' have in common. */
#ifndef FX_CLIENT_ATTACHED_H
#define FX_CLIENT_ATTACHED_H

#include <stdbool.h>
#include <sys/types.h>

/* How long a thread is waited for that may be used, in milliseconds. */
#define FX_ATTACHED_PATIENCE 10000u

/* The number of a process; anything else is wrong usage. */
pid_t fx_attached_pid(const char *command, const char *text);

/* Puts back what is changed in a process. 0, or an exit status after a line that says why. */
int fx_attached_end(const char *command, pid_t pid, const char *name, bool verbose);

#endif
