#!/bin/bash
# SPDX-License-Identifier: MIT
# What circular buffers have kept is said as it is, and --last keeps what it says.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
. "$FX_SRCDIR/tests/e2e/control.sh"

cat >turns.c <<'EOF'
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *busy(void *calls)
{
	for (long i = 0; i < *(long *)calls; i++)
		getppid();
	return calls;
}

static void *contend(void *naps)
{
	const struct timespec nap = {0, 10000000};

	for (long i = 0; i < *(long *)naps; i++) {
		pthread_mutex_lock(&lock);
		nanosleep(&nap, NULL);
		pthread_mutex_unlock(&lock);
	}
	return naps;
}

/* turns busy SECONDS CALLS: sleeps, then a thread is busy. turns contend NAPS LEFT: two threads and a lock; sleeps LEFT s. */
int main(int argc, char **argv)
{
	pthread_t threads[2];
	long n = atol(argv[argc - 1]);

	if (argv[1][0] == 'b') {
		sleep((unsigned)atoi(argv[2]));
		pthread_create(&threads[0], NULL, busy, &n);
		pthread_join(threads[0], NULL);
		return 0;
	}
	n = atol(argv[2]);
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, contend, &n);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	sleep((unsigned)atoi(argv[3]));
	return 0;
}
EOF
$FX_CC -O1 -pthread -o turns turns.c || fail "turns.c does not compile"

# kept FILE: how many milliseconds a summary says are kept.
kept() {
	sed -n 's/^fxtrace: \(the last\|all\) \([0-9.]*\) s .*/\2/p' "$1" | awk '{ printf "%d\n", $1 * 1000 }'
}

number() {
	"$FXTRACE" query --csv "$1" "$2" | tail -n 1 | tr -d '\r'
}

# A thread that has slept since the start has its first chunk still; of the busy one but the end is left.
busy_and_idle() {
	expect_ok "$FXTRACE" run -m circular -b 256K -o idle.fxt -- ./turns busy 4 300000
	expect_line '^fxtrace: the last .* kept; a larger --buffer-size' err
	[ "$(kept err)" -lt 4000 ] || fail "a thread sleeps for 4 s, and so much is kept of the busy one: $(cat err)"
	expect_clean idle.fxt
}

# What had ended earlier is left out, arrows with both their ends.
old_is_left_out() {
	expect_ok "$FXTRACE" run --last 2s -o last.fxt -- ./turns contend 200 0
	expect_line '^fxtrace: the last 2\.000 s of every process are kept, as --last says$' err
	expect_clean last.fxt
	[ "$(number last.fxt "SELECT max(ts + dur) - min(ts + dur) AS ns FROM slice")" -le 2000000000 ] ||
		fail "what ended earlier than 2 s before the end is kept"
	sleeps=$(number last.fxt "SELECT count(*) AS n FROM slice WHERE name = 'nanosleep'")
	[ "$sleeps" -ge 1 ] && [ "$sleeps" -lt 400 ] || fail "$sleeps naps are kept of 400"

	expect_ok "$FXTRACE" run --last 1h -o all.fxt -- ./turns contend 5 0
	expect_line '^fxtrace: all .* s are kept: no buffer was full$' err
	expect_equal 10 "$(number all.fxt "SELECT count(*) AS n FROM slice WHERE name = 'nanosleep'")" "naps"
}

# What cannot be kept is said, with what would help.
too_small() {
	expect_ok "$FXTRACE" run --last 20s -b 64K -o small.fxt -- ./turns busy 0 100000
	expect_line '^fxtrace: the last .* less than --last asks for; (--buffer-size [0-9]+[KM] would|a larger --buffer)' err
	expect_clean small.fxt
	expect_ok "$FXTRACE" run --last 1ms -c syscall -o none.fxt -- ./turns contend 1 1
	! grep -q 'did nothing' err || fail "it did something: $(cat err)"
}

snapshots() {
	"$FXTRACE" run --last 1s -o shot.fxt -- ./turns contend 200 0 2>run.err &
	wait_for 20 [ -s shot.fxt ] || fail "the program does not start"
	sleep 2
	kill -USR2 $!
	wait $! || fail "fxtrace run ends with $?"
	expect_line '^fxtrace: shot.1.fxt: a snapshot, the last 1.000 s of every process, [1-9]' run.err
	expect_clean shot.1.fxt shot.fxt

	manager_start
	provider_start ./turns contend 1000 0
	wait_for 20 providers_are 1 || fail "the process does not register"
	expect_ok "$FXTRACE" start --last 1s -o session.fxt
	sleep 2
	expect_ok "$FXTRACE" snapshot -o one.fxt
	expect_line 'the last 1\.000 s of every process are kept, as --last says' err
	expect_ok "$FXTRACE" terminate
	expect_line 'the last 1\.000 s of every process are kept, as --last says' err
	expect_clean one.fxt session.fxt
	manager_stop
}

busy_and_idle
old_is_left_out
too_small
snapshots
