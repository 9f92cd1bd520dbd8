/* SPDX-License-Identifier: MIT */
/* A running process is looked at before it gets libfxtrace.so. */
#ifndef FX_ATTACH_OPEN_H
#define FX_ATTACH_OPEN_H

#include "attach/target.h"

/* 0, or -errno with *why, of FX_TARGET_WHY bytes (attach/refusal.h), filled. fx_target_close() releases what is in *ret. */
int fx_target_open(pid_t pid, struct fx_target *ret, char *why);

#endif
