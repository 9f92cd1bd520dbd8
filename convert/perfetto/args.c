/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "convert/perfetto/args.h"
#include "convert/utf8.h"

static Fx__Pf__DebugAnnotation *add_annotation(struct fx_annotations *annotations, uint32_t name)
{
	size_t at = annotations->count;
	Fx__Pf__DebugAnnotation *annotation = &annotations->items[at];

	fx__pf__debug_annotation__init(annotation);
	annotation->has_name_iid = 1;
	annotation->name_iid = fx_packets_intern(annotations->packets, FX_INTERN_ARG_NAME, name);
	annotations->list[annotations->count++] = annotation;
	return annotation;
}

/* Our own remark on an event. */
static Fx__Pf__DebugAnnotation *add_remark(struct fx_annotations *annotations, const char *name)
{
	uint32_t id = fx_texts_add(annotations->packets->strings, name, strlen(name));

	if (!id) {
		annotations->packets->error = -ENOMEM;
		return NULL;
	}
	return add_annotation(annotations, id);
}

static void add_text_remark(struct fx_annotations *annotations, const char *text)
{
	Fx__Pf__DebugAnnotation *annotation = add_remark(annotations, "fxtrace");

	if (annotation)
		annotation->string_value = (char *)text;
}

/* How many bytes the texts of these arguments can take. */
static size_t text_size(const struct fxt_arg *args, uint32_t nargs)
{
	size_t size = 0;

	for (uint32_t i = 0; i < nargs; i++) {
		if (args[i].type == FXT_ARG_STRING && !args[i].string.serial)
			size += FX_UTF8_CLEAN_MAX(args[i].string.length) + 1;
	}
	return size;
}

/* The string, terminated; there is room for it (text_size()). */
static char *add_text(struct fx_annotations *annotations, const struct fxt_string *string)
{
	char *text = annotations->text.items + annotations->text.count;
	size_t length = fx_utf8_clean(string->data, string->length, text);

	text[length] = '\0';
	annotations->text.count += length + 1;
	return text;
}

static void set_string(struct fx_annotations *annotations, Fx__Pf__DebugAnnotation *annotation,
		       const struct fxt_string *string)
{
	if (!string->serial) {
		annotation->string_value = add_text(annotations, string);
		return;
	}
	annotation->has_string_value_iid = 1;
	annotation->string_value_iid =
	    fx_packets_intern(annotations->packets, FX_INTERN_ARG_VALUE, string->serial);
}

static void set_uint(Fx__Pf__DebugAnnotation *annotation, uint64_t value)
{
	annotation->has_uint_value = 1;
	annotation->uint_value = value;
}

static void set_int(Fx__Pf__DebugAnnotation *annotation, int64_t value)
{
	annotation->has_int_value = 1;
	annotation->int_value = value;
}

static void set_blob(struct fx_annotations *annotations, Fx__Pf__DebugAnnotation *annotation,
		     uint64_t size)
{
	char *text = annotations->blob_texts[annotations->count - 1];

	snprintf(text, sizeof(annotations->blob_texts[0]), "%" PRIu64 " bytes", size);
	annotation->string_value = text;
}

static void set_value(struct fx_annotations *annotations, Fx__Pf__DebugAnnotation *annotation,
		      const struct fxt_arg *arg)
{
	switch (arg->type) {
	case FXT_ARG_NULL:
		annotation->string_value = "null";
		break;
	case FXT_ARG_INT32:
		set_int(annotation, arg->int32);
		break;
	case FXT_ARG_UINT32:
		set_uint(annotation, arg->uint32);
		break;
	case FXT_ARG_INT64:
		set_int(annotation, arg->int64);
		break;
	case FXT_ARG_UINT64:
		set_uint(annotation, arg->uint64);
		break;
	case FXT_ARG_DOUBLE:
		annotation->has_double_value = 1;
		annotation->double_value = arg->real;
		break;
	case FXT_ARG_STRING:
		set_string(annotations, annotation, &arg->string);
		break;
	case FXT_ARG_POINTER:
		annotation->has_pointer_value = 1;
		annotation->pointer_value = arg->pointer;
		break;
	case FXT_ARG_KOID:
		set_uint(annotation, arg->koid);
		break;
	case FXT_ARG_BOOL:
		annotation->has_bool_value = 1;
		annotation->bool_value = arg->boolean;
		break;
	case FXT_ARG_BLOB:
		set_blob(annotations, annotation, arg->blob.size);
		break;
	}
}

static void add_args(struct fx_annotations *annotations, const struct fxt_arg *args, uint32_t nargs)
{
	for (uint32_t i = 0; i < nargs; i++) {
		if (args[i].type <= FXT_ARG_BLOB && args[i].name.serial)
			set_value(annotations, add_annotation(annotations, args[i].name.serial),
				  &args[i]);
	}
}

static void add_remarks(struct fx_annotations *annotations, const struct fx_event *event)
{
	Fx__Pf__DebugAnnotation *annotation;

	if (event->payload > 0) {
		annotation = add_remark(annotations, "blob_bytes");
		if (annotation)
			set_uint(annotation, event->payload);
	}
	if (event->flags & FX_ENTRY_UNFINISHED)
		add_text_remark(annotations, "did not finish");
	else if (event->flags & FX_ENTRY_CUT)
		add_text_remark(annotations, "cut off at the end of the slice around it");
}

void fx_annotations_set(struct fx_annotations *annotations, Fx__Pf__TrackEvent *message,
			const struct fx_event *event)
{
	size_t size =
	    text_size(event->args, event->nargs) + text_size(event->end_args, event->end_nargs);

	annotations->count = 0;
	annotations->text.count = 0;
	if (fx_vector_reserve(&annotations->text, size) < 0) {
		annotations->packets->error = -ENOMEM;
		return;
	}
	add_args(annotations, event->args, event->nargs);
	add_args(annotations, event->end_args, event->end_nargs);
	add_remarks(annotations, event);
	message->debug_annotations = annotations->list;
	message->n_debug_annotations = annotations->count;
}

void fx_annotations_release(struct fx_annotations *annotations)
{
	fx_vector_free(&annotations->text);
}
