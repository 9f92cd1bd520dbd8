/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stddef.h>
#include <string.h>

#include "convert/pictures/causes.h"

/* The first line that fits counts. A name that ends in * stands for all that begin so. */
static const struct {
	const char *category; /* NULL: any of the tracer's own */
	const char *name;
	const char *cause;
} waits[] = {
    {"pthread", "pthread_mutex_*", "[lock]"},
    {"pthread", "mtx_*", "[lock]"},
    {"pthread", "pthread_spin_*", "[lock]"},
    {"pthread", "pthread_rwlock_*", "[lock]"},
    {"pthread", "pthread_cond_*", "[condition]"},
    {"pthread", "cnd_*", "[condition]"},
    {"pthread", "sem_*", "[semaphore]"},
    {"pthread", "pthread_barrier_*", "[barrier]"},
    {"pthread", "pthread_once", "[once]"},
    {"pthread", "call_once", "[once]"},
    {"pthread", "pthread_join", "[thread]"},
    {"pthread", "pthread_timedjoin_np", "[thread]"},
    {"pthread", "pthread_clockjoin_np", "[thread]"},
    {"pthread", "thrd_join", "[thread]"},
    {NULL, "thrd_sleep", "[sleep]"},
    {NULL, "nanosleep", "[sleep]"},
    {NULL, "clock_nanosleep", "[sleep]"},
    {NULL, "usleep", "[sleep]"},
    {NULL, "sleep", "[sleep]"},
    {NULL, "pause", "[signal]"},
    {NULL, "sigsuspend", "[signal]"},
    {NULL, "sigwait*", "[signal]"},
    {NULL, "sigtimedwait", "[signal]"},
    {NULL, "sigpause", "[signal]"},
    {NULL, "wait", "[child]"},
    {NULL, "wait3", "[child]"},
    {NULL, "wait4", "[child]"},
    {NULL, "waitid", "[child]"},
    {NULL, "waitpid", "[child]"},
    {NULL, "system", "[child]"},
    {NULL, "pclose", "[child]"},
    {NULL, "vfork", "[child]"},
    {NULL, "poll", "[poll]"},
    {NULL, "ppoll", "[poll]"},
    {NULL, "select", "[poll]"},
    {NULL, "pselect", "[poll]"},
    {NULL, "epoll_wait", "[poll]"},
    {NULL, "epoll_pwait*", "[poll]"},
    {NULL, "read", "[read]"},
    {NULL, "readv", "[read]"},
    {NULL, "pread*", "[read]"},
    {NULL, "recv*", "[read]"},
    {NULL, "accept*", "[read]"},
    {NULL, "eventfd_read", "[read]"},
    {NULL, "mq_receive", "[read]"},
    {NULL, "mq_timedreceive", "[read]"},
    {NULL, "msgrcv", "[read]"},
    {NULL, "getrandom", "[read]"},
    {NULL, "write", "[write]"},
    {NULL, "writev", "[write]"},
    {NULL, "pwrite*", "[write]"},
    {NULL, "send*", "[write]"},
    {NULL, "connect", "[write]"},
    {NULL, "splice", "[write]"},
    {NULL, "tee", "[write]"},
    {NULL, "copy_file_range", "[write]"},
    {NULL, "eventfd_write", "[write]"},
    {NULL, "mq_send", "[write]"},
    {NULL, "mq_timedsend", "[write]"},
    {NULL, "msgsnd", "[write]"},
    {NULL, "fsync", "[write]"},
    {NULL, "fdatasync", "[write]"},
    {NULL, "sync*", "[write]"},
    {NULL, "msync", "[write]"},
    {NULL, "semop", "[semaphore]"},
    {NULL, "semtimedop", "[semaphore]"},
    {NULL, "flock", "[lock]"},
    {NULL, "lockf*", "[lock]"},
    {NULL, "aio_suspend*", "[read]"},
    {NULL, "getaddrinfo", "[resolver]"},
    {NULL, "gethostby*", "[resolver]"},
    {NULL, "getnameinfo", "[resolver]"},
};

/* A function of the program may be called `sleep' and do something else. */
static int cause_may_wait(const char *category)
{
	static const char *const categories[] = {"pthread", "pthread:all", "syscall",
						 "process", "stdio",	   "libc"};

	for (size_t i = 0; i < sizeof(categories) / sizeof(categories[0]); i++) {
		if (strcmp(categories[i], category) == 0)
			return 1;
	}
	return 0;
}

static int cause_fits(const char *pattern, const char *name)
{
	size_t length = strlen(pattern);

	if (length > 0 && pattern[length - 1] == '*')
		return strncmp(pattern, name, length - 1) == 0;
	return strcmp(pattern, name) == 0;
}

const char *fx_cause_of(const char *category, const char *name)
{
	if (!cause_may_wait(category))
		return NULL;
	for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
		if (waits[i].category && strncmp(waits[i].category, category, 7) != 0)
			continue;
		if (cause_fits(waits[i].name, name))
			return waits[i].cause;
	}
	return NULL;
}
