/* SPDX-License-Identifier: MIT */
/* Whether a process may get libfxtrace.so, by what /proc says of it; and why not. */
#ifndef FX_ATTACH_REFUSAL_H
#define FX_ATTACH_REFUSAL_H

#include <sys/types.h>

/* Room for why not, a text without a stop. */
#define FX_TARGET_WHY 256u

/* 0, or -errno with *why, of FX_TARGET_WHY bytes, filled. */
int fx_target_may_be(pid_t pid, char *why);

/* Fills *why; -ENOTSUP. */
int fx_target_refuse(char *why, const char *text);

#endif
