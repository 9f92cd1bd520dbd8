#!/bin/bash
# SPDX-License-Identifier: MIT
# Threads that wait for one another to the end: report and why say for which locks, and who holds them, though no such
# call has ever returned.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

cat >stuck.c <<'END'
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>
static pthread_mutex_t left = PTHREAD_MUTEX_INITIALIZER, right = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t table = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t both;
/* glibc's words: 2 is a mutex that is waited for; readers of a lock are counted from bit 3 on. */
static int is_awaited(volatile void *lock) { return *(volatile int *)lock == 2; }
static void *taker(void *unused)
{
	pthread_setname_np(pthread_self(), "taker");
	pthread_mutex_lock(&right);
	pthread_barrier_wait(&both);
	pthread_mutex_lock(&left);
	return unused;
}
static void *reader(void *unused)
{
	pthread_setname_np(pthread_self(), "reader");
	pthread_rwlock_rdlock(&table);
	return unused;
}
static void *killer(void *others)
{
	if (others)
		while (!is_awaited(&right) || *(volatile unsigned *)&table < 8)
			sched_yield();
	while (!is_awaited(&left))
		sched_yield();
	kill(getpid(), SIGKILL);
	return 0;
}
int main(int argc, char **argv)
{
	pthread_t thread;

	pthread_setname_np(pthread_self(), "giver");
	if (argc > 1) {
		pthread_mutex_lock(&left);
		pthread_create(&thread, 0, killer, 0);
		pthread_mutex_lock(&left);
	}
	pthread_barrier_init(&both, 0, 2);
	pthread_rwlock_wrlock(&table);
	pthread_create(&thread, 0, reader, 0);
	pthread_create(&thread, 0, taker, 0);
	pthread_mutex_lock(&left);
	pthread_barrier_wait(&both);
	pthread_create(&thread, 0, killer, &thread);
	pthread_mutex_lock(&right);
	return 0;
}
END
compile stuck -O1 -w stuck.c
expect_status 137 "$FXTRACE" run -q -o stuck.fxt -- ./stuck
expect_clean stuck.fxt
list_archive stuck.fxt
expect_events 1 'name == "pthread_mutex_lock" && has("unfinished=true") && has("mutex_name=left") && has("holder_name=giver") && has("taken_name=main")'
expect_events 1 'name == "pthread_mutex_lock" && has("unfinished=true") && has("mutex_name=right") && has("holder_name=taker") && has("taken_name=taker")'
expect_events 1 'name == "pthread_rwlock_rdlock" && has("unfinished=true") && has("rwlock_name=table") && has("holder_name=giver") && has("taken_name=main")'
expect_ok "$FXTRACE" report --waits --json stuck.fxt
python3 - out <<'END' || fail "who waits for whom without an end"
import json, re, sys
rows = {r["lock"].split()[1]: (r["lock"].split()[0], r["longest_thread"], re.sub(r"[0-9]+\)", ")", r["holders"]))
        for r in json.load(open(sys.argv[1]))["locks"]["rows"]}
assert rows == {
    "left": ("mutex", "taker", "giver (tid ) 100 %"),
    "right": ("mutex", "giver", "taker (tid ) 100 %"),
    "table": ("rwlock", "reader", "giver (tid ) 100 %"),
}, rows
END
said='"a deadlock, it seems: giver \(tid [0-9]+\) waits for mutex right \(0x[0-9a-f]+\), '
said+='held by taker \(tid [0-9]+\), who waits for mutex left \(0x[0-9a-f]+\), held by the first one"'
expect_ok "$FXTRACE" report --summary --csv stuck.fxt
expect_line "$said" out
expect_ok "$FXTRACE" why --min-share 0 --json stuck.fxt
python3 - out <<'END' || fail "why they wait"
import json, sys
tables = json.load(open(sys.argv[1]))
whats = [r["what"].strip() for r in tables["why"]["rows"]]
waits = [w for w in whats if w.startswith("pthread_mutex_lock")]
assert waits == ["pthread_mutex_lock: mutex right", "pthread_mutex_lock: mutex left"], whats
assert "(the one that waits, in pthread_mutex_lock)" in whats, whats
END

# A thread that locks what it has already.
expect_status 137 "$FXTRACE" run -q -o self.fxt -- ./stuck self
expect_ok "$FXTRACE" report --summary --csv self.fxt
expect_line 'it seems: giver \(tid [0-9]+\) waits for mutex left \(0x[0-9a-f]+\), held by the same thread"' out
expect_ok "$FXTRACE" why --min-share 0 self.fxt
expect_line '\(the one that waits, in pthread_mutex_lock\)' out
