/* SPDX-License-Identifier: MIT */
/* How long the record of a tracepoint is, as its format in tracefs says: the fields, and what stands behind them. */
#ifndef FX_KERNEL_POINT_SHAPE_H
#define FX_KERNEL_POINT_SHAPE_H

#include <stdbool.h>
#include <stdint.h>

/* Fields whose bytes are elsewhere. One that has more is left to events. */
#define FX_POINT_ELSEWHERE_MAX 8u

struct fx_point_shape {
	uint32_t size; /* bytes, to the end of the last field */
	/* Of each of these where 4 bytes stand, that say how long it is, and where: from the record's begin, or from behind them. */
	struct {
		uint16_t offset;
		bool is_relative;
	} elsewhere[FX_POINT_ELSEWHERE_MAX];
	unsigned elsewhere_count;
	bool is_cut; /* the record has more, which a program is not given */
};

/* 0; -errno; -E2BIG: it has more of them. */
int fx_point_shape_read(const char *group, const char *name, struct fx_point_shape *ret);

#endif
