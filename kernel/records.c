/* SPDX-License-Identifier: MIT */
#include "kernel/records.h"

#include <string.h>

#include "base/utf8.h"
#include "engine/provider/engine.h"
#include "engine/provider/record.h"
#include "engine/provider/string.h"
#include "format/encode.h"
#include "kernel/record-text.h"

/* Weights of scheduling records: of any thread, and of a processor that has none. */
#define WEIGHT_USUAL 0
#define WEIGHT_IDLE  INT32_MIN

/* States of a thread that loses its processor, as the records have them. */
enum { STATE_RUNNABLE = 1, STATE_STOPPED = 2, STATE_WAITS = 3, STATE_ENDS = 5 };

/* --- Samples ------------------------------------------------------------------------------------ */

/* As much of a text as `most' bytes hold, in whole characters. */
static struct fx_record_text text_up_to(const char *data, size_t length, size_t most)
{
	if (length > most)
		length = most;
	while (length == most && length && fx_utf8_is_continuation((uint8_t)data[length]))
		length--;
	return (struct fx_record_text){data, length};
}

/* What of a stack any chunk has room for, beside all else that a sample is: whole lines, unless one alone is too long. */
static struct fx_record_text stack_cut(const char *data, size_t length)
{
	size_t most = fx_engine.layout.chunk_size / 2;

	while (length > most) {
		const char *end = memrchr(data, '\n', length);

		if (!end)
			return text_up_to(data, length, most);
		length = (size_t)(end - data);
	}
	return (struct fx_record_text){data, length};
}

/* The innermost function of a stack. */
static struct fx_record_text text_first_line(const struct fx_record_text *stack)
{
	const char *end = memchr(stack->data, '\n', stack->length);
	size_t length = end ? (size_t)(end - stack->data) : stack->length;

	return length > FXT_MAX_NAME_LENGTH ? text_up_to(stack->data, length, FXT_MAX_NAME_LENGTH)
					    : (struct fx_record_text){stack->data, length};
}

/* header, time, process, thread, name, stack and its text, period. */
void fx_kernel_sample(struct fx_task thread, uint64_t ns, uint32_t period, const char *stack,
		      size_t length)
{
	struct fx_thread *t = fx_thread_on(FX_CAT_USER);
	struct fx_record_text whole = stack_cut(stack, length), leaf = text_first_line(&whole);
	uint32_t name, key, span, value, category;
	struct fx_reservation r;
	unsigned words, arg;
	uint64_t *p, *out;

	if (!t)
		return;
	category = fx_string_literal(t, "sample");
	key = fx_string_literal(t, "stack");
	span = fx_string_literal(t, "period_ns");
	name = fx_record_text_ref(t, &leaf);
	value = fx_record_text_ref(t, &whole);
	if (!category || !key || !span)
		return; /* the first strings of all have room */
	arg = 1 + fx_record_text_words(value);
	words = 4 + fx_record_text_words(name) + arg + 1;
	p = fx_record_reserve(t, words, &r);
	if (!p)
		return;
	p[1] = ns;
	p[2] = thread.pid;
	p[3] = thread.tid;
	out = fx_record_text_write(p + 4, name, &leaf);
	*out = FXT_PUT(ARG_TYPE, FXT_ARG_STRING) | FXT_PUT(ARG_SIZE, arg) | FXT_PUT(ARG_NAME, key) |
	       FXT_PUT(ARG_STRING_VALUE, value);
	out = fx_record_text_write(out + 1, value, &whole);
	*out = FXT_PUT(ARG_TYPE, FXT_ARG_UINT32) | FXT_PUT(ARG_SIZE, 1) | FXT_PUT(ARG_NAME, span) |
	       FXT_PUT(ARG_VALUE32_VALUE, period);
	fx_record_commit(
	    t, p, fx_header_event(words, FXT_EVENT_INSTANT, 2, FXT_THREAD_INLINE, category, name),
	    &r);
}

/* --- Scheduling --------------------------------------------------------------------------------- */

static uint64_t *weight_write(uint64_t *out, uint32_t key, int32_t weight)
{
	*out = FXT_PUT(ARG_TYPE, FXT_ARG_INT32) | FXT_PUT(ARG_SIZE, 1) | FXT_PUT(ARG_NAME, key) |
	       FXT_PUT(ARG_VALUE32_VALUE, (uint32_t)weight);
	return out + 1;
}

/* header, time, outgoing thread, incoming thread, their weights, and of a wait that no signal ends, which has no state in the format,
 * that it is one. What the processor did before and does afterwards is not known:
 * nothing. */
void fx_kernel_switch(struct fx_task thread, uint64_t ns, uint32_t cpu, enum fx_kernel_switch what)
{
	struct fx_thread *t = fx_thread_on(FX_CAT_USER);
	static const uint8_t states[] = {
	    [FX_SWITCH_IN] = STATE_RUNNABLE,	  [FX_SWITCH_WAITS] = STATE_WAITS,
	    [FX_SWITCH_WAITS_DEEP] = STATE_WAITS, [FX_SWITCH_STOPPED] = STATE_STOPPED,
	    [FX_SWITCH_ENDS] = STATE_ENDS,	  [FX_SWITCH_PREEMPTED] = STATE_RUNNABLE};
	bool in = what == FX_SWITCH_IN;
	struct fx_reservation r;
	uint32_t outgoing, incoming, deep = 0;
	unsigned words = 6;
	uint64_t *p, *out;

	if (!t)
		return;
	outgoing = fx_string_literal(t, "outgoing_weight");
	incoming = fx_string_literal(t, "incoming_weight");
	if (what == FX_SWITCH_WAITS_DEEP)
		deep = fx_string_literal(t, "uninterruptible");
	words += deep != 0;
	p = fx_record_reserve(t, words, &r);
	if (!p)
		return;
	p[1] = ns;
	p[2] = in ? 0 : thread.tid;
	p[3] = in ? thread.tid : 0;
	out = weight_write(p + 4, outgoing, in ? WEIGHT_IDLE : WEIGHT_USUAL);
	out = weight_write(out, incoming, in ? WEIGHT_USUAL : WEIGHT_IDLE);
	if (deep)
		*out = FXT_PUT(ARG_TYPE, FXT_ARG_BOOL) | FXT_PUT(ARG_SIZE, 1) |
		       FXT_PUT(ARG_NAME, deep) | FXT_PUT(ARG_VALUE32_VALUE, 1);
	fx_record_commit(t, p, fx_header_context_switch(words, deep ? 3 : 2, cpu, states[what]),
			 &r);
}

/* header, time, thread, its weight, who woke it. */
void fx_kernel_wakeup(uint32_t tid, uint64_t ns, uint32_t cpu, uint32_t waker)
{
	struct fx_thread *t = fx_thread_on(FX_CAT_USER);
	struct fx_reservation r;
	uint32_t weight, by;
	uint64_t *p, *out;

	if (!t)
		return;
	weight = fx_string_literal(t, "weight");
	by = fx_string_literal(t, "waker");
	p = fx_record_reserve(t, 6, &r);
	if (!p)
		return;
	p[1] = ns;
	p[2] = tid;
	out = weight_write(p + 3, weight, WEIGHT_USUAL);
	*out++ = FXT_PUT(ARG_TYPE, FXT_ARG_KOID) | FXT_PUT(ARG_SIZE, 2) | FXT_PUT(ARG_NAME, by);
	*out = waker;
	fx_record_commit(t, p, fx_header_thread_wakeup(6, 2, cpu), &r);
}

/* --- Names -------------------------------------------------------------------------------------- */

/* header, process, name. */
static void image_name(struct fx_thread *t, uint32_t pid, const struct fx_record_text *name)
{
	unsigned words = 2 + (unsigned)fx_bytes_words(name->length);
	struct fx_reservation r;
	uint64_t *p = fx_record_reserve(t, words, &r);

	if (!p)
		return;
	p[1] = pid;
	fx_bytes_write(p + 2, name->data, name->length);
	fx_record_commit(
	    t, p,
	    fx_header_kernel_object(words, FXT_OBJECT_PROCESS, fx_ref_inline(name->length), 0), &r);
}

/* header, thread, name, its process. */
static void task_name(struct fx_thread *t, struct fx_task thread, const struct fx_record_text *name)
{
	unsigned words = 4 + (unsigned)fx_bytes_words(name->length);
	uint32_t key = fx_string_literal(t, "process");
	struct fx_reservation r;
	uint64_t *p = fx_record_reserve(t, words, &r), *out;

	if (!p)
		return;
	p[1] = thread.tid;
	out = fx_bytes_write(p + 2, name->data, name->length);
	*out++ = FXT_PUT(ARG_TYPE, FXT_ARG_KOID) | FXT_PUT(ARG_SIZE, 2) | FXT_PUT(ARG_NAME, key);
	*out = thread.pid;
	fx_record_commit(
	    t, p, fx_header_kernel_object(words, FXT_OBJECT_THREAD, fx_ref_inline(name->length), 1),
	    &r);
}

void fx_kernel_name(struct fx_task thread, const char *name, bool is_new_program)
{
	struct fx_thread *t = fx_thread_on(FX_CAT_USER);
	const struct fx_record_text text = {name, strlen(name)};

	if (!t || !text.length)
		return;
	if (is_new_program && thread.pid == thread.tid)
		image_name(t, thread.pid, &text);
	task_name(t, thread, &text);
}

/* --- Losses ------------------------------------------------------------------------------------- */

/* They may be very many: the first is lost as any, and the rest with it. */
void fx_kernel_lost(uint64_t count)
{
	struct fx_thread *t = fx_thread_on(FX_CAT_USER);

	if (!t || !count)
		return;
	fx_record_drop(t, FX_LOSS_KERNEL);
	fx_add_relaxed(&t->slot->lost[FX_LOSS_KERNEL], count - 1);
	/* Releases the count above: see read_facts() in drain-internal.h. */
	fx_add_acq_rel(&t->slot->dropped, count - 1);
}
