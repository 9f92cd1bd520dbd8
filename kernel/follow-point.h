/* SPDX-License-Identifier: MIT */
/* The instructions of a program that has the records of a tracepoint told as they are, of threads that are followed: for tracepoints of which more
 * is wanted than kernel/follow-code.h knows. */
#ifndef FX_KERNEL_FOLLOW_POINT_H
#define FX_KERNEL_FOLLOW_POINT_H

#include "kernel/follow-terms.h"
#include "kernel/insns.h"
#include "kernel/point-shape.h"

/* For the tracepoint of that number. 0; -E2BIG: its records are larger than there is room for. */
int fx_follow_point_code(const struct fx_follow_terms *terms, uint32_t number,
			 const struct fx_point_shape *shape, struct fx_insns *ret);

#endif
