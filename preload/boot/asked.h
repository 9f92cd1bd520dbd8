/* SPDX-License-Identifier: MIT */
/*
 * Whether anybody has asked for this process to be traced.
 *
 * A user that names this library (LD_PRELOAD, the link editor, dlopen) asks, and so does one that says to which manager or
 * into which archive. A name in /etc/ld.so.preload asks for nobody: it only sees to it that the library is there. Programs
 * of fxtrace itself are never traced, whatever asks.
 *
 * What `fxtrace run --no-follow' starts has its number in FXTRACE_PID: that process is traced, whatever it becomes, and
 * what it starts in its turn finds another's number there and asks for nothing.
 */
#ifndef FX_PRELOAD_ASKED_H
#define FX_PRELOAD_ASKED_H

#include <stdbool.h>

/* In the constructor. */
bool fx_asked(void);

/* Whether another process is to be traced, and none that it starts. */
bool fx_asked_of_another(void);

/* Whether this process is to be traced, and none that it starts. */
bool fx_asked_alone(void);

#endif
