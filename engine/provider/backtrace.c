/* SPDX-License-Identifier: MIT */
#include "engine/provider/backtrace.h"

#include <string.h>

#include "engine/provider/function.h"
#include "engine/provider/string.h"
#include "format/encode.h"

/* How often a module went. */
static uint32_t generation;

void fx_backtrace_forget(void)
{
	fx_add_relaxed(&generation,
		       1); /* relaxed: no stack goes through a module that is being unloaded */
}

/* Stacks stand in the table of addresses under a hash of theirs, which is no address that occurs: two
 * stacks in 2^46 have the same. */
static uint64_t backtrace_key_of(const uint64_t *frames, unsigned count)
{
	uint64_t h = count | (uint64_t)fx_load_relaxed(&generation) << 32;

	for (unsigned i = 0; i < count; i++) {
		h = (h ^ frames[i]) * UINT64_C(0x9e3779b97f4a7c15);
		h ^= h >> 29;
	}
	return (h & (FX_ADDRESS_NAMELESS - 1)) | 1;
}

struct stack {
	const uint64_t *frames;
	unsigned count;
};

static uint32_t stack_make(uint64_t key, const void *data)
{
	const struct stack *stack = data;

	(void)key;
	for (unsigned i = 0; fx_function_seen && i < stack->count; i++)
		if (stack->frames[i])
			fx_function_seen(stack->frames[i]);
	return fx_string_define(stack->frames, stack->count * sizeof(uint64_t), FX_STRING_STACK);
}

/* In the thread's own chunk, by its place there, with room behind it if a chunk can have so much. */
static struct fx_backtrace define_locally(struct fx_thread *t, const uint64_t *frames,
					  unsigned count, unsigned room)
{
	unsigned most = fx_engine.layout.chunk_size / 8 - 3; /* behind the Thread Record */
	struct fx_backtrace b = {0};
	struct fx_reservation r;
	uint64_t *p;

	if (1 + count + room > most)
		room = 0;
	p = fx_record_reserve(t, 1 + count + room, &r);
	if (!p)
		return b;
	b.level = r.level;
	b.serial = t->cursor[r.level].serial;
	b.string = FX_STRING_LOCAL + (uint32_t)(p - t->cursor[r.level].chunk);
	memcpy(p + 1, frames, count * sizeof(uint64_t));
	fx_record_shrink(t, p + 1 + count, &r);
	fx_record_commit(
	    t, p, fx_header_string(1 + count, b.string, count * sizeof(uint64_t)) | FX_STRING_STACK,
	    &r);
	return b;
}

struct fx_backtrace fx_backtrace_string(struct fx_thread *t, const uint64_t *frames, unsigned count,
					unsigned words)
{
	const struct stack stack = {frames, count};
	uint32_t index;

	if (count == 0)
		return (struct fx_backtrace){0};
	index = fx_string_of_address(t, backtrace_key_of(frames, count), stack_make, &stack);
	if (index)
		return (struct fx_backtrace){.string = index};
	return define_locally(t, frames, count, words);
}
