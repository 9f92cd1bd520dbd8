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

static void before_prctl(int option, unsigned long value)
{
	if (option == PR_SET_SECCOMP)
		before_seccomp(value == SECCOMP_MODE_STRICT);
	else if (option == PR_SET_TSC && value == PR_TSC_SIGSEGV)
		fx_engine_detach();
}

int fx_wrap_prctl(int option, ...)
{
	unsigned long a, b, c, d;
	va_list ap;
	int ret;

	va_start(ap, option);
	a = va_arg(ap, unsigned long);
	b = va_arg(ap, unsigned long);
	c = va_arg(ap, unsigned long);
	d = va_arg(ap, unsigned long);
	va_end(ap);
	before_prctl(option, a);
	ret = FX_REAL(prctl)(option, a, b, c, d);
	/* The kernel has read the name if it took it. */
	if (ret == 0 && option == PR_SET_NAME)
		fx_thread_set_name(0, (const char *)a);
	return ret;
}

/* libseccomp goes this way. Its questions, which are other operations, take nothing away. */
static void before_syscall(long number, long operation)
{
	if (number == SYS_seccomp &&
	    (operation == SECCOMP_SET_MODE_STRICT || operation == SECCOMP_SET_MODE_FILTER))
		before_seccomp(operation == SECCOMP_SET_MODE_STRICT);
}

long fx_wrap_syscall(long number, ...)
{
	long args[6];
	va_list ap;

	va_start(ap, number);
	for (size_t i = 0; i < FX_ARRAY_LEN(args); i++)
		args[i] = va_arg(ap, long);
	va_end(ap);
	before_syscall(number, args[0]);
	return FX_REAL(syscall)(number, args[0], args[1], args[2], args[3], args[4], args[5]);
}

#include "preload/unit-confine.inc"
