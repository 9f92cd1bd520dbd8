/* SPDX-License-Identifier: MIT */
/*
 * System calls without libc: no errno, no cancellation point, no interposable symbol. The result is
 * the kernel's: -errno on failure. Safe in signal handlers and in a child of any kind of fork.
 */
#ifndef FX_BASE_SYSCALL_H
#define FX_BASE_SYSCALL_H

#include <stdbool.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#ifndef MADV_POPULATE_WRITE /* before glibc 2.35 */
#define MADV_POPULATE_WRITE 23
#endif

#if defined(__x86_64__)

static inline long fx_syscall6(long nr, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long ret;

	__asm__ __volatile__("syscall"
			     : "=a"(ret)
			     : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			     : "rcx", "r11", "memory");
	return ret;
}

#elif defined(__aarch64__)

static inline long fx_syscall6(long nr, long a, long b, long c, long d, long e, long f)
{
	register long x8 __asm__("x8") = nr;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = f;

	__asm__ __volatile__("svc 0"
			     : "+r"(x0)
			     : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
			     : "memory");
	return x0;
}

#else
#error "fxtrace knows the system call convention of x86-64 and aarch64 only"
#endif

#define fx_syscall0(nr)		 fx_syscall6((nr), 0, 0, 0, 0, 0, 0)
#define fx_syscall1(nr, a)	 fx_syscall6((nr), (long)(a), 0, 0, 0, 0, 0)
#define fx_syscall2(nr, a, b)	 fx_syscall6((nr), (long)(a), (long)(b), 0, 0, 0, 0)
#define fx_syscall3(nr, a, b, c) fx_syscall6((nr), (long)(a), (long)(b), (long)(c), 0, 0, 0)
#define fx_syscall4(nr, a, b, c, d)                                                                \
	fx_syscall6((nr), (long)(a), (long)(b), (long)(c), (long)(d), 0, 0)

/* Whether a result is -errno, and no address either. */
static inline bool fx_syscall_failed(long result)
{
	return result < 0 && result > -4096;
}

static inline int fx_getpid(void)
{
	return (int)fx_syscall0(SYS_getpid);
}

static inline int fx_gettid(void)
{
	return (int)fx_syscall0(SYS_gettid);
}

#endif
