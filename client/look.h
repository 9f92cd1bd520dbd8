/* SPDX-License-Identifier: MIT */
/* What --watchdog and the triggers of `fxtrace run' look with: where/. */
#ifndef FX_CLIENT_LOOK_H
#define FX_CLIENT_LOOK_H

#include <stddef.h>
#include <sys/types.h>

struct fx_look_answer;

/* See fx_look_function. */
void fx_client_look(const pid_t *pids, size_t count, struct fx_look_answer *ret);

#endif
