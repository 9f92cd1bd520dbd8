/* SPDX-License-Identifier: MIT */
#include "preload/call/execs.h"

#include <string.h>

#include "preload/call/call.h"
#include "preload/show/fdname.h"
#include "preload/call/flow.h"

#define HEAD_WORDS (FX_TIE_WORDS + 2)

_Static_assert(HEAD_WORDS + FX_WORDS_EXECUTED == FX_TIE_EXEC_WORDS, "room for two texts");

/* By the memory that parent and child share: the child's two arguments, as they stand in a record. */
static __thread struct {
	uint64_t words[FX_WORDS_EXECUTED];
	unsigned count; /* 0: nothing */
	bool traced;
} left;

static unsigned put_texts(uint64_t *words, const char *path, fx_strings argv)
{
	struct fx_call texts = {.next = words};

	fx_arg_text(&texts, FX_STR_path, path);
	fx_arg_far_argv(&texts, FX_STR_argv, argv);
	return (unsigned)(texts.next - words);
}

/* The call's own frame is the innermost; a call that was too deep has none. */
static uint64_t frame_start(const struct fx_thread *t, uint64_t header)
{
	return t->top[-1].id == header ? t->top[-1].start : 0;
}

/* A Kernel Object Record of type process, with six arguments: see enum fx_tie_kind. */
static void tell_manager(struct fx_thread *t, uint64_t header, const char *path, fx_strings argv,
			 bool traced)
{
	uint64_t words[FX_TIE_EXEC_WORDS] = {
	    0,
	    (uint64_t)fx_engine.pid,
	    FX_ARG_HEADER(UINT64, 2, 0, 0),
	    fx_thread_now(t),
	    FX_ARG_HEADER(INT32, 1, 0, FX_TIE_EXECS),
	    FX_ARG_HEADER(INT32, 1, 0, (uint32_t)fx_tie_value(traced)),
	    FX_ARG_HEADER(UINT64, 2, 0, 0),
	    frame_start(t, header),
	};
	const unsigned count = HEAD_WORDS + put_texts(words + HEAD_WORDS, path, argv);

	fx_words_write(
	    t, words, count,
	    FXT_PUT(RECORD_TYPE, FXT_RECORD_KERNEL_OBJECT) | FXT_PUT(RECORD_SIZE, count) |
		FXT_PUT(KERNEL_OBJECT_TYPE, FXT_OBJECT_PROCESS) | FXT_PUT(KERNEL_OBJECT_NARGS, 6));
}

void fx_exec_tell(uint64_t header, const char *path, fx_strings argv, bool traced)
{
	struct fx_thread *t = fx_thread_on(UINT32_MAX);

	if (t && fx_category_on(FX_CAT_PROCESS))
		tell_manager(t, header, path, argv, traced);
	else if (t && traced)
		fx_tie_execs(true);
	if (t || !fx_category_on(UINT32_MAX) || !fx_is_own())
		return;
	if (fx_category_on(FX_CAT_PROCESS))
		left.count = put_texts(left.words, path, argv);
	left.traced = traced;
}

void fx_exec_tell_fd(uint64_t header, int fd, fx_strings argv, bool traced)
{
	char name[FX_FD_NAME_MAX + 1];
	struct fx_text t = FX_TEXT(name);

	t.end--;
	if (fx_category_on(FX_CAT_PROCESS) && fx_engine_may(FX_ASK_LOOK))
		fx_fd_name(&t, fd);
	*t.at = 0;
	fx_exec_tell(header, name, argv, traced);
}

void fx_exec_failed(bool traced)
{
	if (traced)
		fx_tie_execs(false);
	if (fx_engine_is_stranger())
		return;
	left.count = 0;
	left.traced = false;
}

bool fx_exec_will_register(void)
{
	const bool traced = left.traced;

	left.traced = false;
	return traced && fx_engine_has_children();
}

void fx_exec_show(struct fx_call *call)
{
	memcpy(call->next, left.words, left.count * sizeof(*left.words));
	call->next += left.count;
	call->nargs += left.count ? 2 : 0;
	left.count = 0;
}
