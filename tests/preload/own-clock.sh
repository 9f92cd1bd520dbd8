#!/bin/bash
# SPDX-License-Identifier: MIT
# A clock of the program's own, or of a library that is preloaded: wrong, going back, and itself recorded. The archive
# has the machine's times, and nobody calls that clock but the program.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
not_sanitized "the manager gets a library before its sanitizer's"

# Every reading takes a lock, allocates and makes two system calls, in functions that are recorded.
cat >clock.c <<'END'
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int readings;

static long wrong(void)
{
	char c;

	__atomic_fetch_add(&readings, 1, __ATOMIC_RELAXED);
	pthread_mutex_lock(&lock);
	free(malloc(24));
	if (read(-1, &c, 1) == 0)
		abort();
	syscall(SYS_getppid);
	pthread_mutex_unlock(&lock);
	return 1000000 - readings;
}

int clock_gettime(clockid_t clock, struct timespec *ret)
{
	(void)clock;
	*ret = (struct timespec){wrong(), 0};
	return 0;
}

int gettimeofday(struct timeval *restrict ret, void *restrict zone)
{
	(void)zone;
	*ret = (struct timeval){wrong(), 0};
	return 0;
}

time_t time(time_t *ret)
{
	time_t t = wrong();

	if (ret)
		*ret = t;
	return t;
}
END
# What shows a deadline looks at the clock as well.
cat >main.c <<'END'
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern int readings __attribute__((weak));

static int work(int i)
{
	return i + (int)time(NULL) % 2;
}

static void *run(void *unused)
{
	struct timespec past = {1, 0};
	pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
	int sum = 0;

	pthread_mutex_lock(&mutex);
	if (pthread_cond_timedwait(&cond, &mutex, &past) != ETIMEDOUT)
		return run;
	pthread_mutex_unlock(&mutex);
	for (int i = 0; i < 100; i++)
		sum += work(i) + (int)getppid();
	return sum ? NULL : unused;
}

int main(void)
{
	pthread_t thread;
	void *result;
	int status;
	pid_t child;

	if (pthread_create(&thread, NULL, run, NULL) != 0 || pthread_join(thread, &result) != 0)
		return 1;
	child = fork();
	if (child == 0)
		_exit(run(NULL) != NULL);
	if (waitpid(child, &status, 0) != child || status != 0 || result)
		return 1;
	if (&readings)
		printf("%d readings\n", readings);
	return 0;
}
END
uptime_ns() {
	awk '{ printf "%.0f\n", $1 * 1e9 }' /proc/uptime
}

# expect_true_times FROM: all in the archive happened since, and before now; uptime has hundredths.
expect_true_times() {
	list_archive trace.fxt
	expect_events 200+ 'name == "getppid"'
	expect_events 200+ 'name == "work"'
	expect_equal '' "$(awk -F'\t' -v from="$1" -v to="$(uptime_ns)" '
		$8 != "" && ($8 < from - 2e7 || $8 > to + 2e7 || ($1 == "complete" && ($9 < $8 || $9 > to + 2e7))) { print; exit }
		' events)" "an event outside ($1..$(uptime_ns))"
}

compile clock.so -shared -fPIC -w clock.c
compile preloaded -O1 -w -finstrument-functions main.c
compile own -O1 -w -finstrument-functions main.c clock.c

for program in ./preloaded ./own; do
	preload=
	[ $program = ./own ] || preload=$PWD/clock.so
	expect_ok env LD_PRELOAD=$preload $program
	cp out plain.out
	expect_line '^[0-9]+ readings$' plain.out
	from=$(uptime_ns)
	# The manager too is told the wrong time.
	expect_ok env LD_PRELOAD=$preload "$FXTRACE" run -q -o trace.fxt -b 16M -- $program
	expect_same_file plain.out out
	expect_clean trace.fxt
	expect_true_times "$from"
done

if is_emulated; then
	echo "left out: the private manager, which is no emulator's"
	exit 0
fi
# The private manager.
rm trace.fxt
from=$(uptime_ns)
expect_ok env LD_PRELOAD="$LIBFXTRACE:$PWD/clock.so" FXTRACE_OUTPUT=trace.fxt ./preloaded
is_complete() {
	"$FXTRACE" check trace.fxt && list_archive trace.fxt && [ "$(count_events 'name == "getppid"')" -ge 200 ]
}
wait_for 60 is_complete || fail "the private manager's archive: $("$FXTRACE" check trace.fxt 2>&1)"
expect_true_times "$from"
