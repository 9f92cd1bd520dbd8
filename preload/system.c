/* SPDX-License-Identifier: MIT */
/* Time, signals, identities, limits, terminals: wrappers of the generic shape. */
#include "preload/call.h"
#include "preload/flow.h"
#include "preload/real.h"

/* --- Signals that are sent -------------------------------------------------------------------- */

static int fx_call_raise(int sig)
{
	uint64_t begin = fx_signal_begin();
	int ret = FX_REAL(raise)(sig);

	if (begin && ret == 0)
		fx_signal_sent(begin, fx_engine.pid, fx_thread_tid((uint64_t)pthread_self()), sig,
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

/* Who is meant is not looked up: it is one of those that may be. */
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

#include "preload/unit-system.inc"
