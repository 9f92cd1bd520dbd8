/* SPDX-License-Identifier: MIT */
/* Time, signals, identities, limits, terminals: wrappers of the generic shape. */
#include "base/handle.h"
#include "preload/call/call.h"
#include "preload/call/file-locks.h"
#include "preload/call/flow.h"
#include "preload/show/fdtable.h"
#include "preload/host/real.h"

/* --- Deadlines ------------------------------------------------------------------------------------ */

/* The other clocks may take a system call, or do not exist, which libc would tell by errno. */
static bool is_usual_clock(clockid_t clock)
{
	return clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC || clock == CLOCK_BOOTTIME;
}

void fx_before_clock_given(struct fx_before_clock *before, clockid_t clock)
{
	struct timespec now = {0};

	before->clock = clock;
	before->known = is_usual_clock(clock) && fx_load_relaxed(&fx_clock_read)(clock, &now) == 0;
	before->now = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void fx_before_clock_realtime(struct fx_before_clock *before)
{
	fx_before_clock_given(before, CLOCK_REALTIME);
}

/* The bit of glibc's that pthread_condattr_setclock() leads to. */
#define COND_MONOTONIC 2u

void fx_before_clock_of_cond(struct fx_before_clock *before, const pthread_cond_t *cond)
{
	const bool monotonic = fx_load_relaxed(&cond->__data.__wrefs) & COND_MONOTONIC;

	fx_before_clock_given(before, monotonic ? CLOCK_MONOTONIC : CLOCK_REALTIME);
}

void fx_before_clock_if_absolute(struct fx_before_clock *before, clockid_t clock, int flags)
{
	if (flags & TIMER_ABSTIME)
		fx_before_clock_given(before, clock);
}

/* --- Signals that are sent -------------------------------------------------------------------- */

static int fx_call_raise(int sig)
{
	uint64_t begin = fx_signal_begin();
	int ret = FX_REAL(raise)(sig);

	if (begin && ret == 0)
		fx_signal_sent(begin, fx_engine.pid, fx_thread_tid(fx_thread_handle()), sig,
			       FX_SIGNAL_TO_THREAD);
	return ret;
}

static int fx_call_tgkill(pid_t pid, pid_t tid, int sig)
{
	uint64_t begin = fx_signal_begin();
	int ret = FX_REAL(tgkill)(pid, tid, sig);

	if (ret == 0)
		fx_signal_sent(begin, pid, tid, sig, FX_SIGNAL_TO_THREAD);
	return ret;
}

/* Which process is meant is not looked up: it is one of those that may be. */
static int fx_call_killpg(pid_t group, int sig)
{
	uint64_t begin = fx_signal_begin();
	int ret = FX_REAL(killpg)(group, sig);

	if (ret == 0)
		fx_signal_sent(begin, 0, 0, sig, FX_SIGNAL_TO_PROCESS);
	return ret;
}

static int fx_call_pidfd_send_signal(int pidfd, int sig, siginfo_t *info, unsigned flags)
{
	uint64_t begin = fx_signal_begin();
	int ret = FX_REAL(pidfd_send_signal)(pidfd, sig, info, flags);

	if (ret == 0 && !info)
		fx_signal_sent(begin, 0, 0, sig, FX_SIGNAL_TO_PROCESS);
	return ret;
}

/* --- Signals that are taken ------------------------------------------------------------------- */

static int fx_call_sigwait(const sigset_t *set, int *sig)
{
	uint64_t begin = fx_signal_begin();
	int ret = FX_REAL(sigwait)(set, sig);

	if (ret == 0)
		fx_signal_waited(begin, *sig);
	return ret;
}

/* The information is asked for even if the program does not. */
static int fx_call_sigwaitinfo(const sigset_t *set, siginfo_t *info)
{
	siginfo_t own = {0}, *where = info ? info : &own;
	uint64_t begin = fx_signal_begin();
	int ret = FX_REAL(sigwaitinfo)(set, where);

	if (ret > 0)
		fx_signal_taken(begin, ret, where->si_code, where->si_pid);
	return ret;
}

static int fx_call_sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *time)
{
	siginfo_t own = {0}, *where = info ? info : &own;
	uint64_t begin = fx_signal_begin();
	int ret = FX_REAL(sigtimedwait)(set, where, time);

	if (ret > 0)
		fx_signal_taken(begin, ret, where->si_code, where->si_pid);
	return ret;
}

/* A thread may have descriptors of its own from there on. */
static int fx_call_unshare(int flags)
{
	fx_files_spread();
	return FX_REAL(unshare)(flags);
}

/* Another process has what it leads to. */
static int fx_call_pidfd_getfd(int pidfd, int fd, unsigned flags)
{
	int ret;

	fx_files_spread();
	ret = FX_REAL(pidfd_getfd)(pidfd, fd, flags);
	if (ret >= 0) {
		fx_fd_forget(ret);
		fx_fd_doubled(ret);
	}
	return ret;
}

#include "preload/unit-system.inc"
