/* SPDX-License-Identifier: MIT */
/* Formats of the kernel's tracepoints, read by libtraceevent: the only place that names it. */
#ifndef FX_KERNEL_POINT_FORMAT_H
#define FX_KERNEL_POINT_FORMAT_H

#include <stdbool.h>
#include <stdint.h>

/* More are not opened: each takes a descriptor for each processor, and the kernel some 40 ms to begin with. */
#define FX_POINTS_MAX 64u

enum fx_point_kind {
	FX_POINT_SIGNED,
	FX_POINT_UNSIGNED,
	FX_POINT_ADDRESS,
	FX_POINT_TEXT,
	FX_POINT_BYTES, /* shown as such */
};

struct fx_point_field {
	const char *name;
	enum fx_point_kind kind;
	unsigned offset, size; /* bytes */
	/* There stand, in 4 bytes, how long it is, and where: from the record's begin, or from behind these 4 bytes. */
	bool is_elsewhere, is_relative;
};

struct fx_point {
	uint32_t number;
	const char *category; /* "tracepoint:GROUP" */
	const char *name;
	const struct fx_point_field *fields;
	unsigned field_count;
};

struct fx_points {
	struct fx_point *points; /* by number */
	unsigned count;
	void *formats; /* what the texts stand in */
};

/* Whether this was built with libtraceevent. */
bool fx_point_formats_are_known(void);

/* Adds all tracepoints that a list of categories names to points, which have room for FX_POINTS_MAX. 0, or as fx_points_find(). */
int fx_point_formats_read(const char *list, struct fx_points *points);

/* What points->formats is; NULL is let be. */
void fx_point_formats_free(void *formats);

#endif
