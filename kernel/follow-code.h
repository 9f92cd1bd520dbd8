/* SPDX-License-Identifier: MIT */
/* The instructions of the programs that kernel/follow.h loads into the kernel. */
#ifndef FX_KERNEL_FOLLOW_CODE_H
#define FX_KERNEL_FOLLOW_CODE_H

#include "kernel/follow-terms.h"
#include "kernel/insns.h"

/* For a raw tracepoint; 0 or -ENOTSUP: there is none for that one. */
int fx_follow_code(const struct fx_follow_terms *terms, enum fx_tracepoint which,
		   struct fx_insns *ret);

#endif
