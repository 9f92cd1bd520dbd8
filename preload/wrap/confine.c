/* SPDX-License-Identifier: MIT */
/*
 * Calls by which a process gives up what tracing needs: under a seccomp filter a system call that the
 * program did not foresee may be its last, and strict seccomp takes even reading the counter away.
 */
#include "preload/types.h"

#include <linux/futex.h>
#include <linux/seccomp.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "preload/boot/environ.h"
#include "engine/provider/string.h"
#include "preload/call/call.h"
#include "preload/call/file-locks.h"
#include "preload/host/filter.h"
#include "preload/host/real.h"

/* landlock_restrict_self(), for headers before Linux 5.13; libc has no function of it. */
#define LANDLOCK_RESTRICT_SELF 446

#ifndef FUTEX_LOCK_PI2
#define FUTEX_LOCK_PI2 13 /* Linux 5.14 */
#endif

#ifndef PR_SET_VMA
#define PR_SET_VMA 0x53564d41
#endif

/* Descriptors that are looked at while it may be done, if they are there. */
#define LOOKED_AT 64

/* What they are cannot be asked any more afterwards, as by the part of sshd that nobody trusts. */
static void before_lookless(void)
{
	if (!fx_category_on(FX_CAT_SYSCALL) || !fx_engine_may(FX_ASK_LOOK))
		return;
	for (int fd = 0; fd < LOOKED_AT; fd++)
		fx_compact_look(fd, FX_CAT_SYSCALL);
}

/* `filter`, or NULL: nothing but reading, writing and the end. */
static void before_seccomp(const void *filter)
{
	const uint32_t refused = filter ? fx_filter_refuses(filter) : FX_ASK_ALL;

	if (filter && refused & FX_ASK_LOOK)
		before_lookless();
	/* A vfork child records nothing, and has its parent's environment. */
	if (!filter && !fx_engine_is_lent())
		fx_engine_give_up();
	fx_engine_confine(refused);
	if (refused & FX_ASK_START && !fx_engine_is_stranger() && !fx_engine_is_lent())
		fx_environ_confine();
}

/* Without a filter the kernel refuses: the program asks what the kernel knows. */
static void before_prctl(int option, unsigned long value, unsigned long filter)
{
	if (option == PR_SET_SECCOMP && (value == SECCOMP_MODE_STRICT || filter))
		before_seccomp(value == SECCOMP_MODE_STRICT ? NULL
							    : (const void *)(uintptr_t)filter);
	else if (option == PR_SET_TSC && value == PR_TSC_SIGSEGV)
		fx_engine_give_up();
}

#define PRCTL_WORDS (FX_WORDS_text + FX_WORDS_ptr + FX_WORDS_size)

/* A name for a mapping, where the kernel has that: value 0 says so. */
static void arg_mapping(struct fx_call *call, const unsigned long *args)
{
	fx_arg_text(call, FX_STR_arg, (const char *)args[3]);
	fx_arg_ptr(call, FX_STR_addr, (const void *)args[1]);
	fx_arg_size(call, FX_STR_size, args[2]);
}

static void arg_prctl(struct fx_call *call, int option, const unsigned long *args)
{
	const unsigned long value = args[0];

	switch (option) {
	case PR_SET_NAME: /* the kernel has read the name if it took it */
	case PR_GET_NAME:
		fx_arg_name(call, FX_STR_arg, (const char *)value);
		break;
	case PR_SET_PDEATHSIG:
		fx_arg_signal(call, FX_STR_arg, (int)value);
		break;
	case PR_GET_PDEATHSIG:
		fx_arg_out_signal(call, FX_STR_arg, (const int *)value);
		break;
	case PR_GET_CHILD_SUBREAPER:
	case PR_GET_TSC:
		fx_arg_out_int(call, FX_STR_arg, (const int *)value);
		break;
	case PR_CAPBSET_READ:
	case PR_CAPBSET_DROP:
		fx_arg_capability(call, FX_STR_arg, (unsigned)value);
		break;
	case PR_CAP_AMBIENT:
		fx_arg_ambient_operation(call, FX_STR_arg, (unsigned)value);
		if (value != PR_CAP_AMBIENT_CLEAR_ALL)
			fx_arg_capability(call, FX_STR_capability, (unsigned)args[1]);
		break;
	case PR_SET_VMA:
		arg_mapping(call, args);
		break;
	case PR_GET_DUMPABLE:
	case PR_GET_KEEPCAPS:
	case PR_GET_NO_NEW_PRIVS:
	case PR_GET_SECCOMP:
	case PR_GET_SECUREBITS:
	case PR_GET_TIMERSLACK:
	case PR_GET_TIMING:
	case PR_GET_THP_DISABLE:
		break;
	default:
		fx_arg_long(call, FX_STR_arg, (long)value);
	}
}

int fx_wrap_prctl(int option, ...)
{
	enum {
		WORDS = FX_CALL_WORDS + FX_RESULT_WORDS + FX_WORDS_prctl_option + PRCTL_WORDS,
	};
	struct fx_call call;
	unsigned long args[4];
	va_list ap;
	bool on;
	int ret;

	va_start(ap, option);
	for (size_t i = 0; i < FX_ARRAY_LEN(args); i++)
		args[i] = va_arg(ap, unsigned long);
	va_end(ap);
	before_prctl(option, args[0], args[1]);
	on = fx_call_try(&call, FX_CAT_SYSCALL, FX_CALL_HEADER(syscall, prctl), FX_WRAPPER_SP(), 0);
	ret = FX_REAL(prctl)(option, args[0], args[1], args[2], args[3]);
	if (ret == 0 && option == PR_SET_NAME)
		fx_thread_set_name(0, (const char *)args[0]);
	if (on && fx_call_end(&call, WORDS, FX_ERROR_sys(ret))) {
		fx_arg_prctl_option(&call, FX_STR_option, (unsigned)option);
		arg_prctl(&call, option, args);
		fx_result_sys(&call, ret);
		fx_call_write(&call, FX_CALL_HEADER(syscall, prctl));
	}
	return ret;
}

/* Makes a child, or what other descriptors lead to, or takes one away. */
static bool moves_descriptors(long number)
{
	switch (number) {
#ifdef SYS_fork
	case SYS_fork:
	case SYS_vfork:
	case SYS_dup2:
#endif
	case SYS_clone:
	case SYS_clone3:
	case SYS_unshare:
	case SYS_dup:
	case SYS_dup3:
	case SYS_fcntl:
	case SYS_mmap:
	case SYS_close:
	case SYS_close_range:
	case SYS_sendmsg:
	case SYS_sendmmsg:
	case SYS_recvmsg:
	case SYS_recvmmsg:
	case SYS_io_uring_setup:
	case SYS_pidfd_getfd:
	case SYS_flock:
		return true;
	default:
		return false;
	}
}

/*
 * libseccomp goes this way, and some by prctl()'s number. Its questions take nothing away: other operations, a strict mode with flags and
 * a mode without its filter, which the kernel refuses.
 */
static void before_syscall(long number, const long *args)
{
	long operation = args[0], flags = args[1], filter = args[2];

	if (number == SYS_prctl)
		before_prctl((int)args[0], (unsigned long)args[1], (unsigned long)args[2]);
	if (moves_descriptors(number))
		fx_files_spread();
	if (number == LANDLOCK_RESTRICT_SELF)
		fx_environ_landlocked();
	if (number != SYS_seccomp)
		return;
	if ((operation == SECCOMP_SET_MODE_STRICT && !flags && !filter) ||
	    (operation == SECCOMP_SET_MODE_FILTER && filter))
		before_seccomp(
		    operation == SECCOMP_SET_MODE_STRICT ? NULL : (const void *)(uintptr_t)filter);
}

/* --- System calls by number ------------------------------------------------------------------------ */

/* How an argument is shown. */
enum shown {
	SHOWN_ = 0, /* nothing is known of it */
#define KIND(ident, kind, ...) SHOWN_##ident,
#include "preload/syscall-kinds.inc"
#undef KIND
};

static const struct {
	char name[27];
	uint8_t args;
	uint8_t shown[6]; /* enum shown */
} syscalls[] = {
#define KINDS(...)			  __VA_ARGS__
#define SYSCALL(name, args, kinds, words) [__NR_##name] = {#name, args, {KINDS kinds}},
#include "preload/syscalls.inc"
#undef SYSCALL
#undef KINDS
};

static bool confine_is_known(long number)
{
	return number >= 0 && (size_t)number < FX_ARRAY_LEN(syscalls) && syscalls[number].name[0];
}

static void arg_number(struct fx_call *call, long number)
{
	if (confine_is_known(number))
		fx_arg_bytes(call, FX_STR_number, syscalls[number].name,
			     strlen(syscalls[number].name));
	else
		fx_arg_long(call, FX_STR_number, number);
}

/* Room for what they come to: two paths, two sets of flags and the rest numbers. */
#define ARGS_WORDS (2 * FX_WORDS_path + 2 * FX_TEXT_WORDS(FX_FLAGS_TEXT) + 3 * FX_WORDS_long)

#define SYSCALL(name, args, kinds, words) _Static_assert((words) <= ARGS_WORDS, #name);
#include "preload/syscalls.inc"
#undef SYSCALL

/* What looks like an address is one. */
#define ADDRESS_BITS 47
static void fx_arg_unknown(struct fx_call *call, unsigned name, long value)
{
	if (value > UINT32_MAX && value >> ADDRESS_BITS == 0)
		fx_arg_handle(call, name, (uint64_t)value);
	else
		fx_arg_long(call, name, value);
}

static void arg_as(struct fx_call *call, unsigned name, enum shown shown, long value,
		   const long *args, long ret)
{
	switch (shown) {
	case SHOWN_:
		fx_arg_unknown(call, name, value);
		break;
#define KIND(ident, kind, ...)                                                                     \
	case SHOWN_##ident:                                                                        \
		fx_arg_##kind(call, name, __VA_ARGS__);                                            \
		break;
#include "preload/syscall-kinds.inc"
#undef KIND
	}
}

/* Of the operations whose time is a deadline. */
static void before_futex(struct fx_before_clock *before, long number, const long *args)
{
	const int operation = (int)args[1];

	before->known = false;
	if (number != SYS_futex || !args[3])
		return;
	switch (operation & FUTEX_CMD_MASK) {
	case FUTEX_LOCK_PI:
		fx_before_clock_realtime(before);
		break;
	case FUTEX_WAIT_BITSET:
	case FUTEX_LOCK_PI2:
	case FUTEX_WAIT_REQUEUE_PI:
		fx_before_clock_given(before, operation & FUTEX_CLOCK_REALTIME ? CLOCK_REALTIME
									       : CLOCK_MONOTONIC);
		break;
	}
}

static void args_syscall(struct fx_call *call, long number, const long *args, long ret)
{
	const unsigned count = confine_is_known(number) ? syscalls[number].args : 6;

	arg_number(call, number);
	for (unsigned i = 0; i < count; i++)
		arg_as(call, FX_STR_arg0 + i,
		       confine_is_known(number) ? syscalls[number].shown[i] : SHOWN_, args[i], args,
		       ret);
}

/* The call's name is the system call's, where it is known. */
static uint64_t confine_header_of(const struct fx_call *call, long number)
{
	uint32_t name = 0;

	if (confine_is_known(number))
		name = fx_string_literal(call->thread, syscalls[number].name);
	return FX_EVENT_HEADER(FX_EVENT_COMPLETE, 3, 0, FX_STR_syscall, name ?: FX_STR_syscall);
}

long fx_wrap_syscall(long number, ...)
{
	enum {
		WORDS = FX_CALL_WORDS + FX_RESULT_WORDS + FX_WORDS_name + ARGS_WORDS,
	};
	struct fx_before_clock before;
	uint64_t header = 0;
	struct fx_call call;
	long args[6], ret;
	va_list ap;
	bool on;

	va_start(ap, number);
	for (size_t i = 0; i < FX_ARRAY_LEN(args); i++)
		args[i] = va_arg(ap, long);
	va_end(ap);
	before_syscall(number, args);
	if (number == SYS_close)
		fx_fd_forget((int)args[0]);
	on = fx_call_try(&call, FX_CAT_SYSCALL, FX_CALL_HEADER(syscall, syscall), FX_WRAPPER_SP(),
			 (uint64_t)args[0]);
	if (on) {
		header = confine_header_of(&call, number);
		call.frame->id = header;
		before_futex(&before, number, args);
	}
	ret = FX_REAL(syscall)(number, args[0], args[1], args[2], args[3], args[4], args[5]);
	if (on && fx_call_end(&call, WORDS, FX_ERROR_sys(ret))) {
		args_syscall(&call, number, args, ret);
		if (before.known)
			fx_arg_clock_deadline(&call, FX_STR_timeout_ns,
					      (const struct timespec *)args[3], &before);
		fx_result_sys(&call, ret);
		fx_call_write(&call, header);
	}
	return ret;
}

_Static_assert(FX_STR_arg5 == FX_STR_arg0 + 5, "they stand together in wrappers.tbl");

#include "preload/unit-confine.inc"
