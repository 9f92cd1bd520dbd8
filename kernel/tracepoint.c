/* SPDX-License-Identifier: MIT */
#include "kernel/tracepoint.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/tracefs.h"

/* Where the flags of every tracepoint stand, the thread's number, and those of a hard interrupt, a soft one and one that nothing can hold up (the kernel's
 * trace_flag_type). */
enum { FLAGS_PLACE = 2, THREAD_PLACE = 4, FLAGS_INTERRUPT = 0x08 | 0x10 | 0x40 };

static const struct {
	uint32_t set;
	bool is_wide;
	const char *group, *name;
} tracepoints_of_table[] = {
#define TRACEPOINT_(id, set, wide, group, name) {FX_KERNEL_##set, wide, group, name},
    FX_TRACEPOINTS(TRACEPOINT_)
#undef TRACEPOINT_
};

static const struct {
	enum fx_tracepoint tracepoint;
	const char *name;
} fields_of_table[] = {
#define FIELD_(id, tracepoint, name) {FX_TRACEPOINT_##tracepoint, name},
    FX_TRACEPOINT_FIELDS(FIELD_)
#undef FIELD_
};

static FILE *tracepoint_open(enum fx_tracepoint which, const char *file)
{
	return fx_tracefs_open(tracepoints_of_table[which].group, tracepoints_of_table[which].name,
			       file);
}

static int number_read(enum fx_tracepoint which, uint32_t *ret)
{
	FILE *file = tracepoint_open(which, "id");
	int r = file ? 0 : -errno;

	if (file && fscanf(file, "%u", ret) != 1)
		r = -ENOENT;
	if (file)
		fclose(file);
	return r;
}

/* A line: "\tfield:long args[6];\toffset:16;\tsize:48;\tsigned:0;". What lies elsewhere is declared with __data_loc. */
static bool field_read(const char *line, const char *name, struct fx_tracepoint_place *ret)
{
	const char *end = strchr(line, ';'), *begin;
	unsigned offset, size, count = 1;
	char *bracket;
	char declared[160];
	bool is_elsewhere = strncmp(line, "\tfield:__data_loc ", 18) == 0;

	if (!fx_tracefs_field(line, &offset, &size) || (size_t)(end - line) >= sizeof(declared))
		return false;
	memcpy(declared, line, (size_t)(end - line));
	declared[end - line] = 0;
	bracket = is_elsewhere ? NULL : strchr(declared, '[');
	if (bracket) {
		count = (unsigned)strtoul(bracket + 1, NULL, 10);
		*bracket = 0;
	}
	begin = strrchr(declared, ' ');
	if (!begin || strcmp(begin + 1, name) != 0 || !count)
		return false;
	*ret = (struct fx_tracepoint_place){(uint16_t)offset, (uint16_t)(size / count),
					    (uint16_t)count, is_elsewhere};
	return true;
}

/* False: it lacks one that is read. */
static bool fields_read(enum fx_tracepoint which, struct fx_tracepoints *ret)
{
	FILE *file = tracepoint_open(which, "format");
	bool are_all = file != NULL;
	char line[256];

	while (file && fgets(line, sizeof(line), file)) {
		for (unsigned i = 0; i < FX_FIELD_COUNT; i++) {
			if (fields_of_table[i].tracepoint == which && !ret->fields[i].size)
				field_read(line, fields_of_table[i].name, &ret->fields[i]);
		}
	}
	if (file)
		fclose(file);
	for (unsigned i = 0; i < FX_FIELD_COUNT; i++)
		are_all &= fields_of_table[i].tracepoint != which || ret->fields[i].size;
	return are_all;
}

void fx_tracepoints_find(uint32_t sets, struct fx_tracepoints *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->sets = sets;
	for (unsigned i = 0; i < FX_TRACEPOINT_COUNT; i++) {
		if (sets & tracepoints_of_table[i].set &&
		    (number_read(i, &ret->numbers[i]) < 0 || !fields_read(i, ret)))
			ret->sets &= ~tracepoints_of_table[i].set;
	}
	for (unsigned i = 0; i < FX_TRACEPOINT_COUNT; i++) {
		if (!(ret->sets & tracepoints_of_table[i].set))
			ret->numbers[i] = 0;
	}
}

uint32_t fx_tracepoint_set(enum fx_tracepoint which)
{
	return tracepoints_of_table[which].set;
}

const char *fx_tracepoint_group(enum fx_tracepoint which)
{
	return tracepoints_of_table[which].group;
}

const char *fx_tracepoint_name(enum fx_tracepoint which)
{
	return tracepoints_of_table[which].name;
}

bool fx_tracepoint_is_wide(enum fx_tracepoint which)
{
	return tracepoints_of_table[which].is_wide;
}

/* A thread that waits or whose processor was taken away has a record of its switch all the same (PERF_RECORD_SWITCH), which tells the one
 * from the other. What that does not tell: waits that no signal ends, stops, and ends. */
const char *fx_tracepoint_filter(enum fx_tracepoint which)
{
	return which == FX_TRACEPOINT_SWITCH ? "prev_state & 0x3e" : NULL;
}

bool fx_tracepoint_read(const struct fx_tracepoints *tracepoints, const uint8_t *bytes, size_t size,
			struct fx_tracepoint_event *ret)
{
	uint16_t number;

	if (size < sizeof(number))
		return false;
	memcpy(&number, bytes, sizeof(number));
	for (unsigned i = 0; i < FX_TRACEPOINT_COUNT; i++) {
		if (!number || tracepoints->numbers[i] != number)
			continue;
		*ret = (struct fx_tracepoint_event){tracepoints, i, bytes, size};
		return true;
	}
	return false;
}

int64_t fx_tracepoint_value(const struct fx_tracepoint_event *event, enum fx_tracepoint_field field,
			    unsigned index)
{
	const struct fx_tracepoint_place *place = &event->tracepoints->fields[field];
	size_t at = place->offset + (size_t)index * place->size;
	int64_t eight;
	int32_t four;
	uint16_t two;

	if (at + place->size > event->size)
		return 0;
	switch (place->size) {
	case 2:
		memcpy(&two, event->bytes + at, 2);
		return two;
	case 4:
		memcpy(&four, event->bytes + at, 4);
		return four;
	case 8:
		memcpy(&eight, event->bytes + at, 8);
		return eight;
	default:
		return 0;
	}
}

const uint8_t *fx_tracepoint_array(const struct fx_tracepoint_event *event,
				   enum fx_tracepoint_field field, size_t *ret_size)
{
	const struct fx_tracepoint_place *place = &event->tracepoints->fields[field];
	size_t at = place->offset, size = (size_t)place->size * place->count;
	uint32_t where; /* the place, and in the upper half the size */

	if (place->is_elsewhere) {
		if (at + sizeof(where) > event->size)
			return NULL;
		memcpy(&where, event->bytes + at, sizeof(where));
		at = where & 0xffff;
		size = where >> 16;
	}
	if (!size || at + size > event->size)
		return NULL;
	*ret_size = size;
	return event->bytes + at;
}

bool fx_tracepoint_is_followed(const struct fx_tracepoint_event *event)
{
	int32_t thread = 0;

	if (event->size >= THREAD_PLACE + sizeof(thread))
		memcpy(&thread, event->bytes + THREAD_PLACE, sizeof(thread));
	return thread < 0;
}

bool fx_tracepoint_is_of_interrupt(const struct fx_tracepoint_event *event)
{
	return event->size <= FLAGS_PLACE || event->bytes[FLAGS_PLACE] & FLAGS_INTERRUPT;
}
