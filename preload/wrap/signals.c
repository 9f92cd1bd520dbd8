/* SPDX-License-Identifier: MIT */
/* Signals that are sent, and taken by a call: told to the manager, which knows both sides. */
#include "preload/types.h"

#include <sys/syscall.h>

#include "base/syscall.h"
#include "preload/call/call.h"
#include "preload/call/flow.h"

/* Counts what this process tells: a loss is seen. A forked child goes on counting, as a process of its own. */
static uint64_t told;

uint64_t fx_signal_begin(void)
{
	return fx_category_on(FX_CAT_PROCESS) ? fx_now() : 0;
}

/* A Kernel Object Record of type process, with seven arguments: see enum fx_tie_kind. */
static void signals_tell(enum fx_tie_kind kind, uint64_t begin, pid_t pid, pid_t thread, int signal,
			 enum fx_signal_way way)
{
	struct fx_thread *t = begin ? fx_thread_on(FX_CAT_PROCESS) : NULL;
	uint64_t words[FX_TIE_SIGNAL_WORDS] = {FXT_PUT(RECORD_TYPE, FXT_RECORD_KERNEL_OBJECT) |
						   FXT_PUT(RECORD_SIZE, FX_TIE_SIGNAL_WORDS) |
						   FXT_PUT(KERNEL_OBJECT_TYPE, FXT_OBJECT_PROCESS) |
						   FXT_PUT(KERNEL_OBJECT_NARGS, 7),
					       (uint64_t)pid,
					       FX_ARG_HEADER(UINT64, 2, 0, 0),
					       0,
					       FX_ARG_HEADER(INT32, 1, 0, (uint32_t)kind),
					       FX_ARG_HEADER(INT32, 1, 0, (uint32_t)signal),
					       FX_ARG_HEADER(UINT64, 2, 0, 0),
					       begin,
					       FX_ARG_HEADER(UINT64, 2, 0, 0),
					       0,
					       FX_ARG_HEADER(INT32, 1, 0, (uint32_t)way),
					       FX_ARG_HEADER(INT32, 1, 0, (uint32_t)thread)};

	if (!t)
		return;
	words[3] = fx_thread_now(t);
	words[9] = fx_add_relaxed(&told, 1);
	fx_words_write(t, words, FX_TIE_SIGNAL_WORDS, words[0]);
}

void fx_signal_sent(uint64_t begin, pid_t pid, pid_t thread, int signal, enum fx_signal_way way)
{
	if (signal > 0)
		signals_tell(FX_TIE_SENDS, begin, pid, thread, signal, way);
}

static bool ends_process(int signal)
{
	return signal != SIGCHLD && signal != SIGCONT && signal != SIGURG && signal != SIGWINCH &&
	       signal != SIGTSTP && signal != SIGTTIN && signal != SIGTTOU;
}

/* What the kernel calls struct sigaction. */
struct action {
	uint64_t handler, flags, restorer, mask;
};

/* Whether only takes remove the signal: there is no handler, nor is it ignored. */
static bool is_sole(int signal)
{
	struct action action = {0};

	return ends_process(signal) && fx_engine_may(FX_ASK_LOOK) &&
	       fx_syscall4(SYS_rt_sigaction, signal, 0, (long)&action, sizeof action.mask) == 0 &&
	       action.handler == (uint64_t)(uintptr_t)SIG_DFL;
}

static enum fx_signal_way way_of(int code)
{
	switch (code) {
	case SI_USER:
		return FX_SIGNAL_TO_PROCESS;
	case SI_TKILL:
		return FX_SIGNAL_TO_THREAD;
	case SI_QUEUE:
		return FX_SIGNAL_QUEUED;
	default:
		return FX_SIGNAL_OTHER;
	}
}

void fx_signal_taken(uint64_t begin, int signal, int code, pid_t pid)
{
	const enum fx_signal_way way = way_of(code);

	if (!begin)
		return;
	/* a sender of which this pid namespace knows nothing is none that can be found */
	if (way == FX_SIGNAL_OTHER || pid <= 0)
		signals_tell(FX_TIE_TAKES, begin, 0, 0, signal, FX_SIGNAL_OTHER);
	else
		signals_tell(FX_TIE_TAKES, begin, pid, is_sole(signal), signal, way);
}

void fx_signal_waited(uint64_t begin, int signal)
{
	if (begin)
		signals_tell(FX_TIE_TAKES, begin, 0, is_sole(signal), signal, FX_SIGNAL_UNKNOWN);
}
