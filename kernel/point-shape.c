/* SPDX-License-Identifier: MIT */
#include "kernel/point-shape.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "kernel/tracefs.h"

/* A program at the tracepoint of a system call is given no record, but a block of the kernel's own: the head, the call's number and six arguments. Texts
 * that the format has behind these, as that of newer kernels does, are not in it. */
#define CALL_BLOCK 64u

static void shape_of_call(struct fx_point_shape *shape)
{
	shape->elsewhere_count = 0;
	if (shape->size <= CALL_BLOCK)
		return;
	shape->size = CALL_BLOCK;
	shape->is_cut = true;
}

/* False: there are too many. */
static bool shape_add(struct fx_point_shape *shape, const char *line, unsigned offset)
{
	bool is_relative = strncmp(line, "\tfield:__rel_loc ", 17) == 0;

	if (!is_relative && strncmp(line, "\tfield:__data_loc ", 18) != 0)
		return true;
	if (shape->elsewhere_count == FX_POINT_ELSEWHERE_MAX)
		return false;
	shape->elsewhere[shape->elsewhere_count].offset = (uint16_t)offset;
	shape->elsewhere[shape->elsewhere_count++].is_relative = is_relative;
	return true;
}

int fx_point_shape_read(const char *group, const char *name, struct fx_point_shape *ret)
{
	FILE *file = fx_tracefs_open(group, name, "format");
	char line[256];
	int r = 0;

	if (!file)
		return -errno;
	memset(ret, 0, sizeof(*ret));
	while (r == 0 && fgets(line, sizeof(line), file)) {
		unsigned offset, size;

		if (!fx_tracefs_field(line, &offset, &size))
			continue;
		if (offset + size > ret->size)
			ret->size = offset + size;
		if (!shape_add(ret, line, offset))
			r = -E2BIG;
	}
	fclose(file);
	if (strcmp(group, "syscalls") == 0)
		shape_of_call(ret);
	return r == 0 && !ret->size ? -ENOENT : r;
}
