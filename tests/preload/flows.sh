#!/bin/bash
# SPDX-License-Identifier: MIT
# Every wait is a slice with an arrow from the one who ended it; arrows have both ends; what did not
# wait is not shown.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

expect_ok "$FXTRACE" run -q -o trace.fxt -- "$FX_BUILDDIR/tests/preload/targets/contend"
expect_clean trace.fxt
expect_ok "$FXTRACE" dump trace.fxt

# Lines "KIND ID TIME NAME" of the flows' ends.
sed -n 's/.* event type=flow-\(begin\|end\) .* ts=\([0-9]*\) id=\([0-9]*\) .*name="\([^"]*\)".*/\1 \3 \2 \4/p' \
	out >flows
awk '
	$1 == "begin" { begun[$2]++; at[$2] = $3 }
	$1 == "end" { ended[$2]++; end[$2] = $3 }
	END {
		for (id in begun)
			if (begun[id] > 1)
				print "flow", id, "begins twice"
		for (id in ended) {
			if (!(id in begun))
				print "flow", id, "has no beginning"
			else if (end[id] < at[id])
				print "flow", id, "ends before it begins"
			if (ended[id] > 1)
				print "flow", id, "ends twice"
		}
	}' flows >bad
expect_equal "" "$(cat bad)" "flows"

# arrows FROM TO COUNT: this many flows begin in FROM and end in TO.
arrows() {
	local n

	n=$(awk -v from="$1" -v to="$2" '
		{ name = $4; for (i = 5; i <= NF; i++) name = name " " $i }
		$1 == "begin" { begun[$2] = name }
		$1 == "end" { ended[$2] = name }
		END { for (id in ended) n += begun[id] == from && ended[id] == to; print n + 0 }' flows)
	expect_equal "$3" "$n" "arrows from $1 to $2"
}

arrows 'creates thread' 'thread starts' 12
arrows joined pthread_join 12
arrows pthread_mutex_unlock pthread_mutex_lock 1
arrows pthread_rwlock_unlock pthread_rwlock_wrlock 1
arrows pthread_rwlock_unlock pthread_rwlock_rdlock 2
arrows pthread_barrier_wait pthread_barrier_wait 2
arrows pthread_mutex_unlock mtx_lock 1
arrows cnd_signal cnd_wait 1
arrows pthread_once pthread_once 1
arrows sem_post sem_wait 1
arrows pthread_cond_broadcast pthread_cond_wait 2
arrows 'creates process' 'process starts' 1
arrows 'process exits' 'told of its end' 1

expect_line 'name="pthread_mutex_lock".*"holder":int32=[1-9]' out
expect_line 'name="thread exits".*"value":pointer=0x0' out

# What numbers mean is said in words: the lock, a global; who held it; who waited for it in which function; who gave it, and
# for how long that one had kept it.
expect_line 'name="pthread_create".*"start_name":string="wait_mutex"' out
expect_line 'name="pthread_mutex_lock".*"mutex_name":string="mutex".*"holder_name":string="contend".*"at_name":string="wait_mutex"' out
expect_line 'name="pthread_rwlock_wrlock".*"rwlock_name":string="rwlock".*"at_name":string="wait_rwlock"' out
expect_line 'name="pthread_cond_wait".*"cond_name":string="cond".*"mutex_name":string="mutex"' out
expect_line 'name="mtx_lock".*"mutex_name":string="c11_mutex"' out
expect_line 'type=instant.*name="woken by contend".*"held_ns":uint64=[1-9].*"by_name":string="contend"' out
expect_no_line 'name="wakes"' out
[ "$(grep -c 'type=complete.*name="pthread_mutex_lock"' out)" -lt 10 ] ||
	fail "locks that did not wait are shown"
expect_ok "$FXTRACE" run -q -c pthread,pthread:all -o trace.fxt -- \
	"$FX_BUILDDIR/tests/preload/targets/contend"
expect_ok "$FXTRACE" dump trace.fxt
[ "$(grep -c 'type=complete.*name="pthread_mutex_lock"' out)" -gt 1000 ] ||
	fail "pthread:all does not show every lock"
expect_line 'name="pthread_mutex_lock".*"holder":int32=[1-9]' out
expect_line 'type=flow-end.*name="pthread_mutex_lock"' out

# Who has a recursive lock has it once more at once, whatever its kind, alone or beside others.
cat >relock.c <<'EOF'
#include <pthread.h>
#include <stdlib.h>
#include <threads.h>

static void *relock(void *kind)
{
	int robust = kind == (void *)1, inherit = kind == (void *)2;
	pthread_mutexattr_t a;
	pthread_mutex_t m;
	mtx_t c11;

	pthread_mutexattr_init(&a);
	pthread_mutexattr_settype(&a, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutexattr_setrobust(&a, robust ? PTHREAD_MUTEX_ROBUST : PTHREAD_MUTEX_STALLED);
	pthread_mutexattr_setprotocol(&a, inherit ? PTHREAD_PRIO_INHERIT : PTHREAD_PRIO_NONE);
	pthread_mutex_init(&m, &a);
	mtx_init(&c11, mtx_plain | mtx_recursive);
	for (int i = 0; i < 5; i++)
		if (pthread_mutex_lock(&m) || mtx_lock(&c11) != thrd_success)
			abort();
	for (int i = 0; i < 5; i++)
		if (pthread_mutex_unlock(&m) || mtx_unlock(&c11) != thrd_success)
			abort();
	return NULL;
}

int main(void)
{
	pthread_t thread;

	for (long kind = 0; kind < 3; kind++)
		relock((void *)kind);
	for (long kind = 0; kind < 3; kind++) {
		pthread_create(&thread, NULL, relock, (void *)kind);
		pthread_join(thread, NULL);
	}
	return 0;
}
EOF
$FX_CC -O1 -pthread -o relock relock.c || fail "relock.c does not compile"
expect_ok "$FXTRACE" run -q -o trace.fxt -- ./relock
expect_ok "$FXTRACE" dump trace.fxt
expect_line 'name="pthread_create"' out
expect_no_line 'name="(pthread_mutex|mtx)_lock"' out

# Who runs what is to run once does not wait; who comes meanwhile does.
cat >runs.c <<'EOF'
#include <pthread.h>
#include <unistd.h>

static pthread_once_t outer = PTHREAD_ONCE_INIT, inner = PTHREAD_ONCE_INIT;
static volatile int runs;

static void run_inner(void)
{
}

static void run_outer(void)
{
	runs = 1;
	pthread_once(&inner, run_inner);
	usleep(300000);
}

static void *late(void *unused)
{
	while (!runs)
		usleep(1000);
	pthread_once(&outer, run_outer);
	return unused;
}

int main(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, late, NULL);
	pthread_once(&outer, run_outer);
	pthread_join(thread, NULL);
	return 0;
}
EOF
$FX_CC -O1 -pthread -o runs runs.c || fail "runs.c does not compile"
expect_ok "$FXTRACE" run -q -o trace.fxt -- ./runs
expect_ok "$FXTRACE" dump trace.fxt
expect_equal 2 "$(grep -c 'name="pthread_once".*"ran":int32=1' out)" "calls of pthread_once that ran it"
waits=$(grep 'type=complete.*name="pthread_once"' out | grep -cv '"ran"')
expect_ok "$FXTRACE" report --waits trace.fxt
listed=$(awk '$2 == "waits" || $1 == "total" { next } /once (outer|inner|0x)/ { n += $3 } END { print n + 0 }' out)
expect_equal "$waits" "$listed" "waits of pthread_once that the report lists"
