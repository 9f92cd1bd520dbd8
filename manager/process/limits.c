/* SPDX-License-Identifier: MIT */
#include "manager/process/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define DESCRIPTORS_MAX 32u

/* What was before; zero: there was nothing to raise. */
static struct {
	int resource;
	struct rlimit limit;
	bool raised;
} limits[] = {
    {.resource = RLIMIT_NOFILE}, /* one for each provider, and more while it registers */
    {.resource = RLIMIT_FSIZE},	 /* shared memory counts as a file */
};

#define N_LIMITS (sizeof(limits) / sizeof(limits[0]))

static struct sigaction too_large; /* the disposition of SIGXFSZ before */
static bool taken;

/*
 * By signal 33 libc's threads change users together, and tell nobody else of it. It is ignored in what posix_spawn() has started; once
 * there are two threads, a handler stands there, and exec() leaves neither.
 */
#define SIGNAL_OF_LIBC 33

/* As the kernel has it: the handler comes first. */
struct kernel_action {
	uint64_t handler, others[3];
};

static bool libc_ignored;

static void take_libc(void)
{
	struct kernel_action action;

	libc_ignored = syscall(SYS_rt_sigaction, SIGNAL_OF_LIBC, NULL, &action, 8) == 0 &&
		       action.handler == (uint64_t)(uintptr_t)SIG_IGN;
}

static void give_back_libc(void)
{
	const struct kernel_action ignore = {.handler = (uint64_t)(uintptr_t)SIG_IGN};

	if (libc_ignored)
		syscall(SYS_rt_sigaction, SIGNAL_OF_LIBC, &ignore, NULL, 8);
}

void fx_limits_take(void)
{
	const struct sigaction ignored = {.sa_handler = SIG_IGN};

	if (taken)
		return;
	take_libc();
	for (size_t i = 0; i < N_LIMITS; i++) {
		struct rlimit higher;

		if (getrlimit(limits[i].resource, &limits[i].limit) < 0 ||
		    limits[i].limit.rlim_cur >= limits[i].limit.rlim_max)
			continue;
		higher = limits[i].limit;
		higher.rlim_cur = higher.rlim_max;
		limits[i].raised = setrlimit(limits[i].resource, &higher) == 0;
	}
	taken = sigaction(SIGXFSZ, &ignored, &too_large) == 0;
}

void fx_limits_give_back(void)
{
	for (size_t i = 0; i < N_LIMITS; i++) {
		if (limits[i].raised)
			setrlimit(limits[i].resource, &limits[i].limit);
	}
	if (taken)
		sigaction(SIGXFSZ, &too_large, NULL);
	give_back_libc();
}

int fx_limits_descriptors(unsigned count)
{
	int fds[DESCRIPTORS_MAX], r = 0;
	unsigned n = 0;

	while (r == 0 && n < count && n < DESCRIPTORS_MAX) {
		fds[n] = open("/", O_PATH | O_CLOEXEC);
		if (fds[n] < 0)
			r = -errno;
		else
			n++;
	}
	while (n)
		close(fds[--n]);
	return r;
}
