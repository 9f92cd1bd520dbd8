/* SPDX-License-Identifier: MIT */
/* Prints which functions it has of those that programs test for before they use them. */
#include <stdio.h>

#define TESTED(X)                                                                                  \
	X(mallocx)                                                                                 \
	X(sdallocx)                                                                                \
	X(mallctl)                                                                                 \
	X(je_malloc)                                                                               \
	X(tc_malloc)                                                                               \
	X(MallocExtension_Initialize)                                                              \
	X(mi_malloc)                                                                               \
	X(_Znwm)                                                                                   \
	X(_ZdlPv)                                                                                  \
	X(__asan_init)                                                                             \
	X(__tsan_init)                                                                             \
	X(__gmon_start__)                                                                          \
	X(_ITM_registerTMCloneTable)                                                               \
	X(__cyg_profile_func_enter)                                                                \
	X(pthread_create)                                                                          \
	X(__pthread_key_create)                                                                    \
	X(thrd_create)                                                                             \
	X(mq_open)                                                                                 \
	X(dlopen)                                                                                  \
	X(_Unwind_Resume)                                                                          \
	X(_Unwind_Backtrace)                                                                       \
	X(unw_backtrace)                                                                           \
	X(fxtrace_begin)

#define DECLARE(name) extern char name[] __attribute__((weak));
TESTED(DECLARE)

int main(void)
{
#define PRINT(name) printf("%s: %s\n", #name, name ? "there" : "not there");
	TESTED(PRINT)
	return 0;
}
