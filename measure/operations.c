/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "measure/operations.h"

struct fx_operation {
	struct fx_event event;
	struct fx_thread thread;
	struct fxt_string name, category;
	char *texts; /* behind the arguments */
	struct fxt_arg args[];
};

struct fx_thread fx_operation_thread(const struct fx_async_track *track)
{
	return (struct fx_thread){
	    .key = {.pid = track->process->pid},
	    .process = (struct fx_process *)(uintptr_t)track->process,
	};
}

/* Whether the text of an argument is not the timeline's own, and gone with the record. */
static bool operation_is_inline(const struct fxt_arg *arg)
{
	return arg->type == FXT_ARG_STRING && arg->string.serial == 0 && arg->string.length > 0;
}

static void operation_copy_args(struct fx_operation *operation, const struct fx_event *begin)
{
	char *text = operation->texts;

	for (uint32_t i = 0; i < begin->nargs; i++) {
		struct fxt_arg *arg = &operation->args[i];

		*arg = begin->args[i];
		if (!operation_is_inline(arg))
			continue;
		memcpy(text, begin->args[i].string.data, arg->string.length);
		arg->string.data = text;
		text += arg->string.length;
	}
}

static struct fx_operation *operation_new(const struct fx_async_track *track,
					  const struct fx_event *begin)
{
	size_t size = sizeof(struct fx_operation) + begin->nargs * sizeof(struct fxt_arg);
	struct fx_operation *operation;
	size_t texts = 0;

	for (uint32_t i = 0; i < begin->nargs; i++) {
		if (operation_is_inline(&begin->args[i]))
			texts += begin->args[i].string.length;
	}
	operation = malloc(size + texts);
	if (!operation)
		return NULL;
	operation->texts = (char *)operation + size;
	operation->thread = fx_operation_thread(track);
	operation->name = *begin->name;
	operation->category = *begin->category;
	operation->event = (struct fx_event){
	    .thread = &operation->thread,
	    .ts = begin->ts,
	    .category = &operation->category,
	    .name = &operation->name,
	    .args = operation->args,
	    .nargs = begin->nargs,
	};
	operation_copy_args(operation, begin);
	return operation;
}

void fx_operation_free(struct fx_operation *operation)
{
	free(operation);
}

int fx_operations_open(struct fx_operations *operations, const struct fx_async_track *track,
		       const struct fx_event *begin)
{
	size_t count = operations->tracks.count;
	struct fx_operation_track *open;
	struct fx_operation *operation;

	if (track->number >= count) {
		size_t more = track->number + 1 - count;

		if (fx_vector_reserve(&operations->tracks, more) < 0)
			return -ENOMEM;
		memset(operations->tracks.items + count, 0, more * sizeof(*open));
		operations->tracks.count += more;
	}
	open = &operations->tracks.items[track->number];
	if (fx_vector_reserve(&open->open, 1) < 0)
		return -ENOMEM;
	operation = operation_new(track, begin);
	if (!operation)
		return -ENOMEM;
	open->open.items[open->open.count++] = operation;
	return 0;
}

struct fx_operation *fx_operations_close(struct fx_operations *operations,
					 const struct fx_async_track *track)
{
	struct fx_operation_track *open;

	if (track->number >= operations->tracks.count)
		return NULL;
	open = &operations->tracks.items[track->number];
	return open->open.count > 0 ? open->open.items[--open->open.count] : NULL;
}

struct fx_operation *fx_operations_take(struct fx_operations *operations)
{
	while (operations->tracks.count > 0) {
		struct fx_operation_track *open =
		    &operations->tracks.items[operations->tracks.count - 1];

		if (open->open.count > 0)
			return open->open.items[--open->open.count];
		fx_vector_free(&open->open);
		operations->tracks.count--;
	}
	return NULL;
}

const struct fx_event *fx_operation_event(struct fx_operation *operation,
					  const struct fx_event *end)
{
	operation->event.end = end ? end->ts : UINT64_MAX;
	operation->event.end_args = end ? end->args : NULL;
	operation->event.end_nargs = end ? end->nargs : 0;
	return &operation->event;
}

void fx_operations_free(struct fx_operations *operations)
{
	struct fx_operation *operation;

	while ((operation = fx_operations_take(operations)))
		fx_operation_free(operation);
	fx_vector_free(&operations->tracks);
}
