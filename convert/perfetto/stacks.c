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

/* False: the sequence has it already. */
static bool stacks_intern(struct fx_packets *packets, uint32_t id, const char *text, size_t length)
{
	uint64_t frames[FX_STACK_FRAMES];
	size_t count;

	if (!fx_packets_is_new(packets, FX_INTERN_STACK, id))
		return false;
	count = stacks_take_lines(packets, text, length, frames);
	fx_packets_add_stack(packets, id, frames, count);
	return true;
}

const struct fxt_arg *fx_stacks_of(const struct fx_event *event)
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
	const struct fxt_arg *arg = fx_stacks_of(event);

	if (!arg || arg->string.length == 0)
		return;
	message->has_callstack_iid = 1;
	message->callstack_iid = arg->string.serial;
	stacks_intern(packets, arg->string.serial, arg->string.data, arg->string.length);
}

void fx_stacks_name(struct fx_packets *packets, uint32_t id)
{
	const struct fx_text *text = fx_texts_get(packets->strings, id);

	stacks_intern(packets, id, text->data, text->length);
}

void fx_stacks_write(struct fx_packets *packets, uint32_t id, uint64_t ts)
{
	const struct fx_text *text = fx_texts_get(packets->strings, id);
	Fx__Pf__TracePacket packet = FX__PF__TRACE_PACKET__INIT;

	if (stacks_intern(packets, id, text->data, text->length))
		fx_packets_write_next(packets, ts, &packet);
}
