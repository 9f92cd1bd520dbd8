/* SPDX-License-Identifier: MIT */
/*
 * Calls by which a process gives up what tracing needs: under a seccomp filter a system call that the
 * program did not foresee may be its last, and strict seccomp takes even reading the counter away.
 */
#include "preload/types.h"

#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "preload/call.h"
#include "preload/real.h"

static void before_seccomp(bool strict)
{
	if (strict)
		fx_engine_detach();
	else
		fx_engine_confine();
}

/* Without a filter the kernel refuses: the program asks what the kernel knows. */
static void before_prctl(int option, unsigned long value, unsigned long filter)
{
	if (option == PR_SET_SECCOMP && (value == SECCOMP_MODE_STRICT || filter))
		before_seccomp(value == SECCOMP_MODE_STRICT);
	else if (option == PR_SET_TSC && value == PR_TSC_SIGSEGV)
		fx_engine_detach();
}

/* The kernel has read the name if it took it. */
static void arg_prctl(struct fx_call *call, int option, unsigned long value)
{
	if (option == PR_SET_NAME || option == PR_GET_NAME)
		fx_arg_name(call, FX_STR_arg, (const char *)value);
	else if (option == PR_SET_PDEATHSIG)
		fx_arg_signal(call, FX_STR_arg, (int)value);
	else
		fx_arg_long(call, FX_STR_arg, (long)value);
}

int fx_wrap_prctl(int option, ...)
{
	enum {
		WORDS = FX_CALL_WORDS + FX_RESULT_WORDS + FX_WORDS_prctl_option + FX_WORDS_name,
	};
	struct fx_call call;
	unsigned long a, b, c, d;
	va_list ap;
	bool on;
	int ret;

	va_start(ap, option);
	a = va_arg(ap, unsigned long);
	b = va_arg(ap, unsigned long);
	c = va_arg(ap, unsigned long);
	d = va_arg(ap, unsigned long);
	va_end(ap);
	before_prctl(option, a, b);
	on = fx_call_try(&call, FX_CAT_SYSCALL, FX_CALL_HEADER(syscall, prctl), FX_WRAPPER_SP(), 0);
	ret = FX_REAL(prctl)(option, a, b, c, d);
	if (ret == 0 && option == PR_SET_NAME)
		fx_thread_set_name(0, (const char *)a);
	if (on && fx_call_end(&call, WORDS, FX_ERROR_sys(ret))) {
		fx_arg_prctl_option(&call, FX_STR_option, (unsigned)option);
		arg_prctl(&call, option, a);
		fx_result_sys(&call, ret);
		fx_call_write(&call, FX_CALL_HEADER(syscall, prctl));
	}
	return ret;
}

/*
 * libseccomp goes this way. Its questions take nothing away: other operations, a strict mode with flags and
 * a mode without its filter, which the kernel refuses.
 */
static void before_syscall(long number, const long *args)
{
	long operation = args[0], flags = args[1], filter = args[2];

	if (number != SYS_seccomp)
		return;
	if ((operation == SECCOMP_SET_MODE_STRICT && !flags && !filter) ||
	    (operation == SECCOMP_SET_MODE_FILTER && filter))
		before_seccomp(operation == SECCOMP_SET_MODE_STRICT);
}

/* System calls by number. */
static const struct {
	char name[27];
	uint8_t args;
} syscalls[] = {
#include "preload/syscalls.inc"
};

static unsigned syscall_args(long number)
{
	if (number < 0 || (size_t)number >= FX_ARRAY_LEN(syscalls) || !syscalls[number].name[0])
		return 6;
	return syscalls[number].args;
}

static void arg_number(struct fx_call *call, long number)
{
	if (number >= 0 && (size_t)number < FX_ARRAY_LEN(syscalls) && syscalls[number].name[0])
		fx_arg_text(call, FX_STR_number, syscalls[number].name);
	else
		fx_arg_long(call, FX_STR_number, number);
}

/* Plain numbers, but for the futex operation, which is why most people look. */
static void args_syscall(struct fx_call *call, long number, const long *args)
{
	const unsigned count = syscall_args(number);

	arg_number(call, number);
	for (unsigned i = 0; i < count; i++) {
		if (number == SYS_futex && i == 1)
			fx_arg_futex_operation(call, FX_STR_arg1, (int)args[1]);
		else
			fx_arg_long(call, FX_STR_arg0 + i, args[i]);
	}
}

long fx_wrap_syscall(long number, ...)
{
	enum {
		WORDS = FX_CALL_WORDS + FX_RESULT_WORDS + FX_WORDS_name + 6 * FX_WORDS_long +
			FX_WORDS_futex_operation,
	};
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
			 0);
	ret = FX_REAL(syscall)(number, args[0], args[1], args[2], args[3], args[4], args[5]);
	if (on && fx_call_end(&call, WORDS, FX_ERROR_sys(ret))) {
		args_syscall(&call, number, args);
		fx_result_sys(&call, ret);
		fx_call_write(&call, FX_CALL_HEADER(syscall, syscall));
	}
	return ret;
}

_Static_assert(FX_STR_arg5 == FX_STR_arg0 + 5, "they stand together in wrappers.tbl");

#include "preload/unit-confine.inc"
