/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <string.h>

#include "convert/perfetto/stacks.h"

/* Of the functions, the outermost first. The numbers of their texts serve as the ids of frames. */
static size_t stacks_take_lines(struct fx_packets *packets, const char *text, size_t length,
				uint64_t ret_frames[FX_STACK_FRAMES])
{
	const char *end = text + length;
	size_t count = 0;

	while (end > text && count < FX_STACK_FRAMES) {
		const char *newline = memrchr(text, '\n', (size_t)(end - text));
		const char *start = newline ? newline + 1 : text;
		uint32_t id = 0;

		if (end > start)
			id = fx_texts_add(packets->strings, start, (size_t)(end - start));
		if (id)
			ret_frames[count++] = fx_packets_intern_frame(packets, id);
		end = newline ? newline : text;
	}
	return count;
}

static const struct fxt_arg *stack_of(const struct fx_event *event)
{
	for (uint32_t i = 0; i < event->nargs; i++) {
		const struct fxt_arg *arg = &event->args[i];

		if (arg->type == FXT_ARG_STRING && arg->string.serial &&
		    fxt_string_equals(&arg->name, "stack"))
			return arg;
	}
	return NULL;
}

void fx_stacks_set(struct fx_packets *packets, Fx__Pf__TrackEvent *message,
		   const struct fx_event *event)
{
	const struct fxt_arg *arg = stack_of(event);
	uint64_t frames[FX_STACK_FRAMES];
	size_t count;

	if (!arg || arg->string.length == 0)
		return;
	message->has_callstack_iid = 1;
	message->callstack_iid = arg->string.serial;
	if (!fx_packets_is_new(packets, FX_INTERN_STACK, arg->string.serial))
		return;
	count = stacks_take_lines(packets, arg->string.data, arg->string.length, frames);
	fx_packets_add_stack(packets, arg->string.serial, frames, count);
}
