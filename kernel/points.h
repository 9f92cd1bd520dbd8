/* SPDX-License-Identifier: MIT */
/* Tracepoints that the user names, and what stands in their records: fields of any kind, as libtraceevent reads their formats. Built
 * without it, there are none. */
#ifndef FX_KERNEL_POINTS_H
#define FX_KERNEL_POINTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/point-format.h"

/* Whether there can be any. */
bool fx_points_are_known(void);

/* All that a list of categories names. `unknown', of `size' bytes, gets the first word that means none; "": each means one. 0;
 * -ENOTSUP; -E2BIG: there are more, and FX_POINTS_MAX of them are had; or what the search met. */
int fx_points_find(const char *list, struct fx_points *ret, char *unknown, size_t size);
void fx_points_free(struct fx_points *points);

/* NULL: none of them. */
const struct fx_point *fx_points_of(const struct fx_points *points, const uint8_t *bytes,
				    size_t size);

/* The group that it is of. */
const char *fx_point_group(const struct fx_point *point);

/* What a record says: the bytes of a field, as far as they are there. NULL: the record does not have them. */
const uint8_t *fx_point_bytes(const struct fx_point_field *field, const uint8_t *bytes, size_t size,
			      size_t *ret_size);

#endif
