/* SPDX-License-Identifier: MIT */
#include "kernel/point-format.h"

#include <errno.h>
#include <stddef.h>

#include "config.h"

#if HAVE_LIBTRACEEVENT

#include <dirent.h>
#include <event-parse.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/asked.h"
#include "kernel/tracefs.h"

/* A format is no larger. */
#define FORMAT_MAX 65536u

bool fx_point_formats_are_known(void)
{
	return true;
}

static enum fx_point_kind format_kind(const struct tep_format_field *field)
{
	if (field->flags & TEP_FIELD_IS_STRING)
		return FX_POINT_TEXT;
	if (field->flags & (TEP_FIELD_IS_ARRAY | TEP_FIELD_IS_DYNAMIC))
		return FX_POINT_BYTES;
	if (field->flags & TEP_FIELD_IS_POINTER)
		return FX_POINT_ADDRESS;
	if (field->size != 1 && field->size != 2 && field->size != 4 && field->size != 8)
		return FX_POINT_BYTES;
	return field->flags & TEP_FIELD_IS_SIGNED ? FX_POINT_SIGNED : FX_POINT_UNSIGNED;
}

/* Takes the group's name over into the category. 0 or -ENOMEM. */
static int format_take(const struct tep_event *event, struct fx_point *ret)
{
	struct fx_point_field *fields;
	char *category;

	fields = calloc((size_t)event->format.nr_fields + 1, sizeof(*fields));
	if (asprintf(&category, "tracepoint:%s", event->system) < 0)
		category = NULL;
	if (!fields || !category) {
		free(fields);
		free(category);
		return -ENOMEM;
	}
	*ret = (struct fx_point){(uint32_t)event->id, category, event->name, fields, 0};
	for (const struct tep_format_field *f = event->format.fields;
	     f && ret->field_count < (unsigned)event->format.nr_fields; f = f->next)
		fields[ret->field_count++] = (struct fx_point_field){
		    .name = f->name,
		    .kind = format_kind(f),
		    .offset = (unsigned)f->offset,
		    .size = (unsigned)f->size,
		    .is_elsewhere = f->flags & TEP_FIELD_IS_DYNAMIC,
		    .is_relative = f->flags & TEP_FIELD_IS_RELATIVE,
		};
	return 0;
}

/* One that has no format that can be read is none. */
static int format_read(struct tep_handle *tep, const char *group, const char *name,
		       struct fx_points *points)
{
	FILE *file = fx_tracefs_open(group, name, "format");
	struct tep_event *event = NULL;
	char *text;
	size_t size;
	int r = 0;

	if (!file)
		return errno == ENOENT || errno == ENOTDIR ? 0 : -errno;
	text = malloc(FORMAT_MAX);
	size = text ? fread(text, 1, FORMAT_MAX, file) : 0;
	fclose(file);
	if (!text)
		return -ENOMEM;
	if (size && size < FORMAT_MAX)
		tep_parse_format(tep, &event, text, size, group);
	if (event && points->count == FX_POINTS_MAX)
		r = -E2BIG;
	else if (event)
		r = format_take(event, &points->points[points->count]);
	if (event && r == 0)
		points->count++;
	free(text);
	return r;
}

static int group_read(struct tep_handle *tep, const char *list, const char *group,
		      struct fx_points *points)
{
	char path[512];
	struct dirent *entry;
	DIR *folder;
	int r = 0;

	snprintf(path, sizeof(path), "%s/%s", fx_tracefs_events(), group);
	folder = opendir(path);
	while (folder && r == 0 && (entry = readdir(folder))) {
		if (entry->d_name[0] != '.' && fx_asked_point(list, group, entry->d_name))
			r = format_read(tep, group, entry->d_name, points);
	}
	if (folder)
		closedir(folder);
	return r;
}

int fx_point_formats_read(const char *list, struct fx_points *points)
{
	const char *events = fx_tracefs_events();
	struct tep_handle *tep;
	struct dirent *entry;
	DIR *folder;
	int r = 0;

	if (!events)
		return -errno;
	tep = tep_alloc();
	if (!tep)
		return -ENOMEM;
	points->formats = tep;
	tep_set_loglevel(
	    TEP_LOG_NONE); /* what it cannot read of the printed form is of no interest */
	tep_set_long_size(tep, sizeof(long));
	folder = opendir(events);
	while (folder && r == 0 && (entry = readdir(folder))) {
		if (entry->d_name[0] != '.')
			r = group_read(tep, list, entry->d_name, points);
	}
	if (folder)
		closedir(folder);
	return r;
}

void fx_point_formats_free(void *formats)
{
	tep_free(formats);
}

#else

bool fx_point_formats_are_known(void)
{
	return false;
}

int fx_point_formats_read(const char *list, struct fx_points *points)
{
	(void)list;
	(void)points;
	return -ENOTSUP;
}

void fx_point_formats_free(void *formats)
{
	(void)formats;
}

#endif
