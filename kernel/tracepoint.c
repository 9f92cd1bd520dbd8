/* SPDX-License-Identifier: MIT */
#include "kernel/tracepoint.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#define PLACE	  "/sys/kernel/tracing"
#define OLD_PLACE "/sys/kernel/debug/tracing"

/* Where the flags of every tracepoint stand, and those of a hard interrupt, a soft one and one that nothing can hold up (the kernel's
 * trace_flag_type). */
enum { FLAGS_PLACE = 2, FLAGS_INTERRUPT = 0x08 | 0x10 | 0x40 };

static const struct {
	const char *group, *name;
} tracepoints_of_table[] = {
#define TRACEPOINT_(id, group, name) {group, name},
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

/* A file of a tracepoint; NULL, with errno. */
static FILE *tracepoint_open(const char *place, enum fx_tracepoint which, const char *file)
{
	char path[160];

	snprintf(path, sizeof(path), "%s/events/%s/%s/%s", place, tracepoints_of_table[which].group,
		 tracepoints_of_table[which].name, file);
	return fopen(path, "re");
}

static int number_read(const char *place, enum fx_tracepoint which, uint32_t *ret)
{
	FILE *file = tracepoint_open(place, which, "id");
	int r = file ? 0 : -errno;

	if (file && fscanf(file, "%u", ret) != 1)
		r = -ENOENT;
	if (file)
		fclose(file);
	return r;
}

/* A line: "\tfield:long args[6];\toffset:16;\tsize:48;\tsigned:0;". Of an array, `size' is that of one. */
static bool field_read(const char *line, const char *name, struct fx_tracepoint_place *ret)
{
	const char *end = strchr(line, ';'), *begin;
	unsigned offset, size, count = 1;
	char *bracket;
	char declared[160];

	if (strncmp(line, "\tfield:", 7) != 0 || !end || (size_t)(end - line) >= sizeof(declared))
		return false;
	memcpy(declared, line, (size_t)(end - line));
	declared[end - line] = 0;
	bracket = strchr(declared, '[');
	if (bracket) {
		count = (unsigned)strtoul(bracket + 1, NULL, 10);
		*bracket = 0;
	}
	begin = strrchr(declared, ' ');
	if (!begin || strcmp(begin + 1, name) != 0 || !count ||
	    sscanf(end, ";\toffset:%u;\tsize:%u;", &offset, &size) != 2)
		return false;
	*ret = (struct fx_tracepoint_place){(uint16_t)offset, (uint16_t)(size / count)};
	return true;
}

static int fields_read(const char *place, enum fx_tracepoint which, struct fx_tracepoints *ret)
{
	FILE *file = tracepoint_open(place, which, "format");
	char line[256];

	if (!file)
		return -errno;
	while (fgets(line, sizeof(line), file)) {
		for (unsigned i = 0; i < FX_FIELD_COUNT; i++) {
			if (fields_of_table[i].tracepoint == which)
				field_read(line, fields_of_table[i].name, &ret->fields[i]);
		}
	}
	fclose(file);
	return 0;
}

static int all_read(const char *place, struct fx_tracepoints *ret)
{
	int r = 0;

	memset(ret, 0, sizeof(*ret));
	for (unsigned i = 0; r == 0 && i < FX_TRACEPOINT_COUNT; i++) {
		r = number_read(place, i, &ret->numbers[i]);
		if (r == 0)
			r = fields_read(place, i, ret);
	}
	for (unsigned i = 0; r == 0 && i < FX_FIELD_COUNT; i++) {
		if (!ret->fields[i].size)
			r = -ENOENT;
	}
	return r;
}

/* In a mount namespace of its own, of which nothing comes out. */
static bool tracefs_mount(void)
{
	return geteuid() == 0 && unshare(CLONE_NEWNS) == 0 &&
	       mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
	       mount("tracefs", PLACE, "tracefs", 0, NULL) == 0;
}

int fx_tracepoints_find(struct fx_tracepoints *ret)
{
	int r = all_read(PLACE, ret);

	if (r == -ENOENT && all_read(OLD_PLACE, ret) == 0)
		return 0;
	if (r == -ENOENT && tracefs_mount())
		r = all_read(PLACE, ret);
	return r;
}

bool fx_tracepoint_read(const struct fx_tracepoints *tracepoints, const uint8_t *bytes, size_t size,
			struct fx_tracepoint_event *ret)
{
	uint16_t number;

	if (size < sizeof(number))
		return false;
	memcpy(&number, bytes, sizeof(number));
	for (unsigned i = 0; i < FX_TRACEPOINT_COUNT; i++) {
		if (tracepoints->numbers[i] != number)
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

	if (at + place->size > event->size)
		return 0;
	switch (place->size) {
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

bool fx_tracepoint_is_of_interrupt(const struct fx_tracepoint_event *event)
{
	return event->size <= FLAGS_PLACE || event->bytes[FLAGS_PLACE] & FLAGS_INTERRUPT;
}
