/* SPDX-License-Identifier: MIT */
#include "where/frozen.h"

#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <libunwind.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* How long it may take a thread to stop; one that is on no processor takes its turn first. */
#define STOP_TURNS   10000
#define STOP_TURN_NS 100000
#define STOP_QUICK   10 /* turns that do not sleep */
#define STOP_ENDS    8	/* after so many it is looked whether it has ended */

/* So much of a stack is copied at a time; a thread that has been held for so long gets no more of it copied. */
#define STACK_PIECE	(16u << 10)
#define HELD_AT_MOST_NS UINT64_C(1000000)

#define HURRY_TURN_NS UINT64_C(100000)

static uint64_t frozen_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

/* Piece by piece, up to its end; of a thread that is held since then (0: it is not) as much as there is time for. */
static void stack_copy(pid_t pid, uint64_t sp, uint64_t since, struct fx_frozen *ret)
{
	ssize_t n = STACK_PIECE;

	ret->stack_size = 0;
	while (n == STACK_PIECE && ret->stack_size + STACK_PIECE <= sizeof(ret->stack)) {
		struct iovec to = {ret->stack + ret->stack_size, STACK_PIECE};
		struct iovec from = {(void *)(uintptr_t)(sp + ret->stack_size), STACK_PIECE};

		n = process_vm_readv(pid, &to, 1, &from, 1, 0);
		ret->stack_size += n > 0 ? (size_t)n : 0;
		if (since && frozen_now() - since > HELD_AT_MOST_NS)
			break;
	}
}

int fx_call_read(pid_t pid, pid_t tid, struct fx_call_place *ret)
{
	char path[64], line[256] = "";
	FILE *file;
	int r = 0;

	*ret = (struct fx_call_place){.call = -1};
	snprintf(path, sizeof(path), "/proc/%d/task/%d/syscall", (int)pid, (int)tid);
	file = fopen(path, "re");
	if (!file || !fgets(line, sizeof(line), file))
		r = errno == EACCES ? -EPERM : -errno;
	if (file)
		fclose(file);
	if (r < 0)
		return r;
	if (sscanf(line,
		   "%" SCNd64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64
		   " %" SCNx64 " %" SCNx64 " %" SCNx64,
		   &ret->call, &ret->args[0], &ret->args[1], &ret->args[2], &ret->args[3],
		   &ret->args[4], &ret->args[5], &ret->sp, &ret->ip) != 9) {
		ret->call = -1;
		return -EAGAIN;
	}
	return 0;
}

bool fx_call_ends_by_stop(int64_t call)
{
	static const int64_t calls[] = {
#ifdef SYS_epoll_wait
	    SYS_epoll_wait,
#endif
#ifdef SYS_epoll_pwait2
	    SYS_epoll_pwait2,
#endif
#ifdef SYS_io_pgetevents
	    SYS_io_pgetevents,
#endif
#ifdef SYS_io_uring_enter
	    SYS_io_uring_enter,
#endif
	    SYS_epoll_pwait,	SYS_io_getevents, SYS_semop, SYS_rt_sigtimedwait, SYS_semtimedop,
	};

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		if (calls[i] == call)
			return true;
	}
	return false;
}

int fx_frozen_read(pid_t pid, pid_t tid, struct fx_frozen *ret, int64_t *call, uint64_t args[6])
{
	struct fx_call_place place;
	int r = fx_call_read(pid, tid, &place);

	*call = place.call;
	memcpy(args, place.args, sizeof(place.args));
	if (r < 0)
		return r;
	memset(ret->registers, 0, sizeof(ret->registers));
	ret->ip = place.ip;
#if defined(__x86_64__)
	ret->registers[FX_REGISTER_UNW_X86_64_RSP] = place.sp;
	ret->registers[FX_REGISTER_UNW_X86_64_RIP] = place.ip;
	ret->known = UINT64_C(1) << FX_REGISTER_UNW_X86_64_RSP | UINT64_C(1)
								     << FX_REGISTER_UNW_X86_64_RIP;
#else
	ret->known = 0; /* the caller's address is in a register */
	return -EAGAIN;
#endif
	stack_copy(pid, place.sp, 0, ret);
	return ret->stack_size ? 0 : -EAGAIN;
}

/* Where the registers of a sample lie among those that ptrace() gives. */
static const uint16_t frozen_places[FX_REGISTER_COUNT] = {
#if defined(__x86_64__)
#define PLACE_(name, field)                                                                        \
	[FX_REGISTER_UNW_X86_64_##name] = offsetof(struct user_regs_struct, field)
    PLACE_(RAX, rax), PLACE_(RBX, rbx), PLACE_(RCX, rcx), PLACE_(RDX, rdx), PLACE_(RSI, rsi),
    PLACE_(RDI, rdi), PLACE_(RBP, rbp), PLACE_(RSP, rsp), PLACE_(RIP, rip), PLACE_(R8, r8),
    PLACE_(R9, r9),   PLACE_(R10, r10), PLACE_(R11, r11), PLACE_(R12, r12), PLACE_(R13, r13),
    PLACE_(R14, r14), PLACE_(R15, r15),
#define SP_PLACE FX_REGISTER_UNW_X86_64_RSP
#define IP_PLACE FX_REGISTER_UNW_X86_64_RIP
#elif defined(__aarch64__)
/* x0 to x30, sp and pc stand there in the same order, each of eight bytes. */
#define SP_PLACE FX_REGISTER_UNW_AARCH64_SP
#define IP_PLACE FX_REGISTER_UNW_AARCH64_PC
#endif
};

static uint64_t register_of(const struct user_regs_struct *all, unsigned i)
{
	uint64_t value;
#if defined(__aarch64__)
	size_t place = 8 * (size_t)i;

	(void)frozen_places;
#else
	size_t place = frozen_places[i];
#endif

	memcpy(&value, (const char *)all + place, sizeof(value));
	return value;
}

static int registers_copy(pid_t tid, struct fx_frozen *ret)
{
	struct user_regs_struct all;
	struct iovec iov = {&all, sizeof(all)};

	if (ptrace(PTRACE_GETREGSET, tid, (void *)NT_PRSTATUS, &iov) < 0)
		return -errno;
	if (iov.iov_len != sizeof(all))
		return -ENOTSUP; /* a program of 32 bits */
	for (unsigned i = 0; i < FX_REGISTER_COUNT; i++)
		ret->registers[i] = register_of(&all, i);
	ret->known = UINT64_MAX;
	ret->ip = ret->registers[IP_PLACE];
	return 0;
}

int fx_frozen_copy(pid_t pid, pid_t tid, struct fx_frozen *ret)
{
	int r = registers_copy(tid, ret);

	ret->held_ns = 0;
	if (r == 0)
		stack_copy(pid, ret->registers[SP_PLACE], 0, ret);
	return r;
}

/* Whether a thread has ended; *child: it is the first one of a process that this one has made. */
static bool frozen_is_over(pid_t pid, pid_t tid, bool *child)
{
	char path[32], text[512] = "", state;
	const char *close;
	FILE *file;
	int parent;

	*child = false;
	snprintf(path, sizeof(path), "/proc/%d/stat", (int)tid);
	file = fopen(path, "re");
	if (!file)
		return true;
	text[fread(text, 1, sizeof(text) - 1, file)] = 0;
	fclose(file);
	close = strrchr(text, ')'); /* a name may have anything in it */
	if (!close || sscanf(close + 1, " %c %d", &state, &parent) != 2)
		return true;
	*child = tid == pid && parent == getpid();
	return state == 'Z' || state == 'X';
}

/* Its end was told to us first, since we look at it: now to its parent. That of a child of ours is for whoever waits for it. */
static void end_hand_on(pid_t tid, bool child)
{
	siginfo_t info;

	if (!child)
		waitid(P_PID, (id_t)tid, &info, WEXITED | WNOHANG | __WALL);
}

/*
 * 1: it is stopped; 0: it has ended; -ETIMEDOUT: it does not stop. *signal: one that it was just to get. *since: it has not been stopped
 * for longer; at first it is when it was told to.
 */
static int stop_await(pid_t pid, pid_t tid, int *signal, uint64_t *since)
{
	const struct timespec turn = {.tv_nsec = STOP_TURN_NS};
	uint64_t polled = *since;
	bool child;

	for (int i = 0; i < STOP_TURNS; i++) {
		siginfo_t info = {0};

		*since = polled;
		polled = frozen_now();
		if (waitid(P_PID, (id_t)tid, &info, WSTOPPED | WNOHANG | __WALL) < 0 &&
		    errno != EINTR)
			return errno == ECHILD ? 0 : -errno;
		if (info.si_pid == tid) {
			*signal =
			    info.si_status >> 8 == PTRACE_EVENT_STOP ? 0 : info.si_status & 0xff;
			return 1;
		}
		if (i > STOP_QUICK)
			nanosleep(&turn, NULL);
		if (i > STOP_QUICK && i % STOP_ENDS == 0 && frozen_is_over(pid, tid, &child)) {
			end_hand_on(tid, child);
			return 0;
		}
	}
	return -ETIMEDOUT;
}

/* As the kernel has it, which knows longer ones, too. */
struct frozen_turns {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline,
	    period; /* runtime, of usual threads: the length of a turn, ns; 0: as it chooses */
};

/*
 * A thread that asks for short turns gets the first of them sooner (since Linux 6.12): when another one that it has told to stop has
 * done so, and when it was woken. False: they are as they were.
 */
static bool turns_set(uint64_t ns)
{
	struct frozen_turns turns = {.size = sizeof(turns)};

	if (syscall(SYS_sched_getattr, 0, &turns, sizeof(turns), 0) < 0 ||
	    turns.policy != SCHED_OTHER)
		return false;
	turns.runtime = ns;
	return syscall(SYS_sched_setattr, 0, &turns, 0) == 0;
}

enum hurry { NO_HURRY, SHORT_TURNS, NO_TURNS };

/* Where that is permitted, nobody takes the processor away from this thread while it holds another one; else it is to be rare. */
static enum hurry hurry_begin(void)
{
	const struct sched_param hurry = {.sched_priority = 1};

	if (sched_getscheduler(0) != SCHED_OTHER)
		return NO_HURRY;
	if (sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &hurry) == 0)
		return NO_TURNS;
	return turns_set(HURRY_TURN_NS) ? SHORT_TURNS : NO_HURRY;
}

static void hurry_end(enum hurry began)
{
	const struct sched_param usual = {0};

	if (began == NO_TURNS)
		sched_setscheduler(0, SCHED_OTHER, &usual);
	else if (began == SHORT_TURNS)
		turns_set(0);
}

static int frozen_stop(pid_t pid, pid_t tid, struct fx_frozen *ret)
{
	int r, signal = 0;
	uint64_t since = frozen_now();

	r = ptrace(PTRACE_INTERRUPT, tid, 0, 0) < 0 ? -errno
						    : stop_await(pid, tid, &signal, &since);
	if (r <= 0)
		return r == 0 ? -ESRCH : r; /* what does not stop is let go when this thread ends */
	r = registers_copy(tid, ret);
	if (r == 0)
		stack_copy(pid, ret->registers[SP_PLACE], since, ret);
	ptrace(PTRACE_DETACH, tid, 0, (void *)(intptr_t)signal);
	ret->held_ns = frozen_now() - since;
	return r;
}

int fx_frozen_take(pid_t pid, pid_t tid, struct fx_frozen *ret)
{
	enum hurry hurry;
	int r;

	ret->held_ns = 0;
	if (ptrace(PTRACE_SEIZE, tid, 0, 0) < 0)
		return -errno;
	hurry = hurry_begin();
	r = frozen_stop(pid, tid, ret);
	hurry_end(hurry);
	return r;
}
