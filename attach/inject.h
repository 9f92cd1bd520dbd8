/* SPDX-License-Identifier: MIT */
/* libfxtrace.so comes into a running process, and calls lead to its wrappers or back: base/late.h. */
#ifndef FX_ATTACH_INJECT_H
#define FX_ATTACH_INJECT_H

#include <stdint.h>
#include <sys/types.h>

#include "attach/refusal.h"
#include "attach/target.h"

struct fx_injected {
	uint32_t words; /* lead to wrappers, or were put back */
	uint32_t left;	/* could not be */
};

/*
 * `library`: its path, as the process sees it too; `socket`: where it is to register; `patience`: ms in which a thread is to come to
 * where it may be used. 0, or -errno with *why filled: nothing has changed then, but that the library may be loaded.
 */
int fx_inject_begin(pid_t pid, const char *library, const char *socket, unsigned patience,
		    struct fx_injected *ret, char why[FX_TARGET_WHY]);

/* 0, or -errno with *why filled; -ENOENT: the library is not there. */
int fx_inject_end(pid_t pid, unsigned patience, struct fx_injected *ret, char why[FX_TARGET_WHY]);

#endif
