/* SPDX-License-Identifier: MIT */
#include "attach/thread.h"

#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>

#define TURN_NS 100000 /* between two looks */
#define QUICK	20     /* looks that do not sleep */

int fx_held_begin(struct fx_held *ret, pid_t tid)
{
	*ret = (struct fx_held){.tid = tid};
	return ptrace(PTRACE_SEIZE, tid, 0, PTRACE_O_TRACESYSGOOD) < 0 ? -errno : 0;
}

static uint64_t held_now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static enum fx_stop call_stop(pid_t tid)
{
	struct __ptrace_syscall_info info = {0};

	if (ptrace(PTRACE_GET_SYSCALL_INFO, tid, sizeof(info), &info) <= 0)
		return FX_STOP_ASKED;
	return info.op == PTRACE_SYSCALL_INFO_ENTRY ? FX_STOP_ENTRY : FX_STOP_EXIT;
}

static enum fx_stop held_judge(struct fx_held *held, int status)
{
	int signal;

	if (!WIFSTOPPED(status))
		return FX_STOP_GONE;
	held->stopped = true;
	signal = WSTOPSIG(status);
	if (signal == (SIGTRAP | 0x80))
		return call_stop(held->tid);
	if (status >> 16 == PTRACE_EVENT_STOP)
		return FX_STOP_ASKED;
	held->signal = signal;
	return FX_STOP_SIGNAL;
}

enum fx_stop fx_held_wait(struct fx_held *held, unsigned ms)
{
	const struct timespec turn = {.tv_nsec = TURN_NS};
	uint64_t deadline = held_now_ms() + ms;
	int status;

	for (unsigned i = 0;; i++) {
		pid_t r = waitpid(held->tid, &status, __WALL | WNOHANG);

		if (r == held->tid)
			return held_judge(held, status);
		if (r < 0 && errno != EINTR)
			return FX_STOP_GONE;
		if (held_now_ms() >= deadline)
			return FX_STOP_NOT;
		if (i > QUICK)
			nanosleep(&turn, NULL);
	}
}

/* Lets it run on, and hands on the signal that it was to get. */
static bool held_go_on(struct fx_held *held)
{
	intptr_t signal = held->signal;

	held->signal = 0;
	held->stopped = false;
	return ptrace(PTRACE_SYSCALL, held->tid, 0, (void *)signal) == 0;
}

enum fx_stop fx_held_run(struct fx_held *held, unsigned ms)
{
	uint64_t deadline = held_now_ms() + ms;
	enum fx_stop stop;

	do {
		uint64_t now = held_now_ms();

		if (!held_go_on(held))
			return FX_STOP_GONE;
		stop = fx_held_wait(held, now < deadline ? (unsigned)(deadline - now) : 0);
	} while (stop == FX_STOP_SIGNAL);
	return stop;
}

enum fx_stop fx_held_stop(struct fx_held *held, unsigned ms)
{
	uint64_t deadline = held_now_ms() + ms;
	enum fx_stop stop;

	if (ptrace(PTRACE_INTERRUPT, held->tid, 0, 0) < 0 || (held->stopped && !held_go_on(held)))
		return FX_STOP_GONE;
	stop = fx_held_wait(held, ms);
	/* Any other stop is as good, and there will be no further one. */
	while (stop == FX_STOP_SIGNAL) {
		uint64_t now = held_now_ms();

		if (!held_go_on(held))
			return FX_STOP_GONE;
		stop = fx_held_wait(held, now < deadline ? (unsigned)(deadline - now) : 0);
	}
	return stop;
}

bool fx_held_registers(const struct fx_held *held, struct user_regs_struct *ret)
{
	struct iovec iov = {ret, sizeof(*ret)};

	return ptrace(PTRACE_GETREGSET, held->tid, (void *)NT_PRSTATUS, &iov) == 0 &&
	       iov.iov_len == sizeof(*ret);
}

bool fx_held_set_registers(const struct fx_held *held, const struct user_regs_struct *registers)
{
	struct iovec iov = {(void *)(uintptr_t)registers, sizeof(*registers)};

	return ptrace(PTRACE_SETREGSET, held->tid, (void *)NT_PRSTATUS, &iov) == 0;
}

void fx_held_end(struct fx_held *held)
{
	ptrace(PTRACE_DETACH, held->tid, 0, (void *)(intptr_t)held->signal);
}
