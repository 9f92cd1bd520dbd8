/* SPDX-License-Identifier: MIT */
#include "kernel/call-record.h"

#include <string.h>

#include "engine/provider/engine.h"
#include "engine/provider/record.h"
#include "engine/provider/string.h"
#include "format/encode.h"
#include "kernel/record-text.h"
#include "kernel/shown.h"
#include "kernel/texts.h"
#include "preload/strings.h"

/* What a system call returns that fails is a negative errno, from this one on. */
#define MAX_ERRNO 4095

/* Addresses of programs have so many bits. */
#define ADDRESS_BITS 47

/* Of a call's record what stands behind its thread. */
struct call_words {
	uint64_t words[4 + 2 * (FX_CALL_ARGS + 3) + FX_CALL_ARGS * (FX_TEXT_MAX / 8)];
	unsigned count, args;
};

static uint64_t *call_arg(struct call_words *call, uint32_t key, unsigned type, unsigned words,
			  uint64_t upper)
{
	uint64_t *at = &call->words[call->count];

	at[0] = FXT_PUT(ARG_TYPE, type) | FXT_PUT(ARG_SIZE, words) | FXT_PUT(ARG_NAME, key) |
		FXT_PUT(ARG_VALUE32_VALUE, upper);
	call->count += words;
	call->args++;
	return at + 1;
}

/* What can be an address is shown as one, and a number of 32 bits that is negative as such: -1, AT_FDCWD. */
static void call_value(struct call_words *call, uint32_t key, int64_t value)
{
	if (value >= UINT32_MAX - INT16_MAX && value <= UINT32_MAX)
		value = (int32_t)value;
	if (value >= INT32_MIN && value <= INT32_MAX)
		call_arg(call, key, FXT_ARG_INT32, 1, (uint32_t)value);
	else if (value > UINT32_MAX && value >> ADDRESS_BITS == 0)
		*call_arg(call, key, FXT_ARG_POINTER, 2, 0) = (uint64_t)value;
	else
		*call_arg(call, key, FXT_ARG_INT64, 2, 0) = (uint64_t)value;
}

static void call_text(struct call_words *call, const struct fx_thread *t, uint32_t key,
		      const struct fx_record_text *text)
{
	uint32_t ref = fx_record_text_ref(t, text);

	fx_record_text_write(
	    call_arg(call, key, FXT_ARG_STRING, 1 + fx_record_text_words(ref), ref), ref, text);
}

static void call_argument(struct call_words *call, const struct fx_thread *t,
			  const struct fx_kernel_call *of, unsigned i)
{
	const struct fx_call_arg *how = of->shape ? &of->shape->args[i] : NULL;
	uint32_t key = how ? fx_string_literal(t, how->name) : 0;
	uint64_t value = of->args[i];
	char shown[FX_SHOWN_MAX];
	struct fx_record_text text = {.data = shown};

	if (!key)
		key = FX_STR_arg0 + i;
	if (of->texts[i].data) {
		call_text(call, t, key, &of->texts[i]);
		return;
	}
	switch (how ? fx_shown(how->kind, value, shown, &text.length) : FX_SHOWN_UNKNOWN) {
	case FX_SHOWN_TEXT:
		call_text(call, t, key, &text);
		break;
	case FX_SHOWN_INT:
		call_arg(call, key, FXT_ARG_INT32, 1, (uint32_t)value);
		break;
	case FX_SHOWN_LONG:
		*call_arg(call, key, FXT_ARG_INT64, 2, 0) = value;
		break;
	case FX_SHOWN_POINTER:
		*call_arg(call, key, FXT_ARG_POINTER, 2, 0) = value;
		break;
	case FX_SHOWN_UNKNOWN:
		call_value(call, key, (int64_t)value);
		break;
	}
}

/* What a call ends with that a signal interrupts, and that may begin again: numbers that programs never see. NULL: it is another. */
static const char *restart_name(int64_t error)
{
	switch (error) {
	case 512:
		return "ERESTARTSYS";
	case 513:
		return "ERESTARTNOINTR";
	case 514:
		return "ERESTARTNOHAND";
	case 516:
		return "ERESTART_RESTARTBLOCK";
	default:
		return NULL;
	}
}

static void call_error(struct call_words *call, const struct fx_thread *t, int error)
{
	const char *restart = restart_name(error);
	unsigned name = fx_errno_string(error);

	if (restart)
		call_text(call, t, FX_STR_errno,
			  &(struct fx_record_text){restart, strlen(restart)});
	else if (name)
		call_arg(call, FX_STR_errno, FXT_ARG_STRING, 1, name);
	else
		call_value(call, FX_STR_errno, error);
}

static void call_result(struct call_words *call, const struct fx_thread *t,
			const struct fx_kernel_call *of)
{
	bool failed = of->result < 0 && of->result >= -MAX_ERRNO;

	if (of->end == FX_CALL_UNFINISHED)
		call_arg(call, fx_string_literal(t, "unfinished"), FXT_ARG_BOOL, 1, 1);
	if (of->end != FX_CALL_RETURNS)
		return;
	call_value(call, FX_STR_ret, failed ? -1 : of->result);
	if (failed)
		call_error(call, t, (int)-of->result);
}

/* Name or number, arguments, what it returned and when. The reference to its name. */
static uint32_t call_fill(struct call_words *call, const struct fx_thread *t,
			  const struct fx_kernel_call *of)
{
	const char *name = of->shape ? of->shape->name : "";
	const struct fx_record_text text = {name, strlen(name)};
	const unsigned count = of->shape ? of->shape->count : FX_CALL_ARGS;
	uint32_t ref = of->shape ? fx_record_text_ref(t, &text) : FX_STR_syscall;

	*call = (struct call_words){.count = 0};
	call->count = (unsigned)(fx_record_text_write(call->words, ref, &text) - call->words);
	if (!of->shape)
		call_value(call, FX_STR_number, of->number);
	for (unsigned i = 0; i < count; i++)
		call_argument(call, t, of, i);
	call_result(call, t, of);
	call->words[call->count++] = of->end_ns;
	return ref;
}

/* header, time, process, thread, and the words of the call. */
void fx_kernel_record_call(const struct fx_kernel_call *of)
{
	struct fx_thread *t = fx_thread_on(FX_CAT_USER);
	struct call_words call;
	struct fx_reservation r;
	unsigned words;
	uint32_t name;
	uint64_t *p;

	if (!t)
		return;
	name = call_fill(&call, t, of);
	words = 4 + call.count;
	p = fx_record_reserve(t, words, &r);
	if (!p)
		return;
	p[1] = of->begin_ns;
	p[2] = of->task.pid;
	p[3] = of->task.tid;
	memcpy(p + 4, call.words, call.count * sizeof(*p));
	fx_record_commit(t, p,
			 fx_header_event(words, FXT_EVENT_DURATION_COMPLETE, call.args,
					 FXT_THREAD_INLINE, FX_STR_syscall, name),
			 &r);
}
