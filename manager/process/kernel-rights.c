/* SPDX-License-Identifier: MIT */
#include "manager/process/kernel-rights.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PARANOID "/proc/sys/kernel/perf_event_paranoid"
#define LOCKDOWN "/sys/kernel/security/lockdown"
#define TRACEFS	 "/sys/kernel/tracing"
#define EVENTS	 TRACEFS "/events"
#define OLD	 "/sys/kernel/debug/tracing/events"
#define POINT	 "/sched/sched_switch/id"

/* perf_event_paranoid is no larger. */
#define PARANOID_UNKNOWN 99

static bool rights_read(const char *path, char *ret, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, ret, size - 1) : -1;

	if (fd >= 0)
		close(fd);
	ret[n > 0 ? n : 0] = 0;
	return n > 0;
}

static int paranoid_read(void)
{
	char text[16];

	return rights_read(PARANOID, text, sizeof(text)) ? atoi(text) : PARANOID_UNKNOWN;
}

/* An event, opened and closed again: 0 or -errno. */
static int rights_try(struct perf_event_attr *attr, pid_t pid, int cpu)
{
	int fd = (int)syscall(SYS_perf_event_open, attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

static int rights_try_clock(bool kernel, pid_t pid, int cpu)
{
	struct perf_event_attr attr = {
	    .type = PERF_TYPE_SOFTWARE,
	    .size = sizeof(attr),
	    .config = pid < 0 ? PERF_COUNT_SW_DUMMY : PERF_COUNT_SW_TASK_CLOCK,
	    .disabled = 1,
	    .exclude_kernel = !kernel,
	};

	return rights_try(&attr, pid, cpu);
}

/* The number of a tracepoint that every kernel has. 0: root will mount its folder. */
static int point_number(uint64_t *ret)
{
	char text[24];

	if (!rights_read(EVENTS POINT, text, sizeof(text)) &&
	    !rights_read(OLD POINT, text, sizeof(text))) {
		if (access(EVENTS, F_OK) < 0 && errno == ENOENT && geteuid() == 0 &&
		    access(TRACEFS, F_OK) == 0) {
			*ret = 0;
			return 0;
		}
		return access(EVENTS, F_OK) < 0 && errno == ENOENT ? -ENODEV : -EACCES;
	}
	*ret = strtoull(text, NULL, 10);
	return 0;
}

static int points_right(void)
{
	struct perf_event_attr attr = {
	    .type = PERF_TYPE_TRACEPOINT,
	    .size = sizeof(attr),
	    .sample_period = 1,
	    .sample_type = PERF_SAMPLE_RAW,
	    .disabled = 1,
	};
	uint64_t number;
	int r = point_number(&number);

	attr.config = number;
	if (r < 0)
		return r;
	return number ? rights_try(&attr, 0, -1) : rights_try_clock(true, -1, 0);
}

int fx_kernel_right(enum fx_kernel_part part)
{
	switch (part) {
	case FX_KERNEL_OF_OWN:
		return rights_try_clock(false, 0, -1);
	case FX_KERNEL_OF_ITSELF:
		return rights_try_clock(true, 0, -1);
	case FX_KERNEL_OF_POINTS:
		return points_right();
	case FX_KERNEL_OF_MACHINE:
		return rights_try_clock(true, -1, 0);
	}
	return 0;
}

/* The largest perf_event_paranoid that permits a part. */
static int paranoid_most(enum fx_kernel_part part)
{
	switch (part) {
	case FX_KERNEL_OF_OWN:
		return 2;
	case FX_KERNEL_OF_ITSELF:
		return 1;
	case FX_KERNEL_OF_MACHINE:
		return 0;
	case FX_KERNEL_OF_POINTS:
		break;
	}
	return -1;
}

static bool is_locked_down(void)
{
	char text[64];

	return rights_read(LOCKDOWN, text, sizeof(text)) && strstr(text, "[confidentiality]");
}

/* The folder of the tracepoints is root's alone, even where the kernel lets others have them. */
static const char *cure_of_points(char *text, size_t size, int error)
{
	int paranoid = paranoid_read();

	if (error == -ENODEV && geteuid() == 0)
		return "this kernel has no tracefs";
	if (geteuid() == 0)
		return NULL;
	snprintf(text, size,
		 "root may have it; others need CAP_PERFMON%s, and a " TRACEFS
		 " that is mounted and that they may read",
		 paranoid != PARANOID_UNKNOWN && paranoid > -1
		     ? " (or kernel.perf_event_paranoid=-1)"
		     : "");
	return text;
}

const char *fx_kernel_cure(enum fx_kernel_part part, int error)
{
	static char text[320];
	int paranoid = paranoid_read(), most = paranoid_most(part);
	const char *points = NULL;

	if (error == -ENOSYS || error == -ENOENT)
		return "this kernel has no performance events (perf_event_open())";
	if (error != -EACCES && error != -EPERM && error != -ENODEV)
		return strerror(-error);
	if (is_locked_down())
		return "the kernel is locked down (confidentiality), which forbids it to root, too";
	if (part == FX_KERNEL_OF_POINTS)
		points = cure_of_points(text, sizeof(text), error);
	if (points)
		return points;
	if (paranoid != PARANOID_UNKNOWN && paranoid > most && geteuid() != 0)
		snprintf(text, sizeof(text),
			 "kernel.perf_event_paranoid is %d; `sysctl kernel.perf_event_paranoid=%d' "
			 "by root, or CAP_PERFMON, permits it",
			 paranoid, most);
	else
		snprintf(text, sizeof(text),
			 "perf_event_open() is not permitted here; containers need CAP_PERFMON and "
			 "a seccomp filter that lets it through");
	return text;
}
