#!/bin/bash
# SPDX-License-Identifier: MIT
# The macros of <fxtrace/event.h> for virtual threads: times that the program chooses, tracks of their own, named and nested right,
# in C and C++; whatever thread writes them, in whatever order; several processes with the same ids; what is odd; 10,000 of them, and
# too many; that the writing thread's own calls stay as they are; nothing of it without a tracer and with NTRACE.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
need python3 nm

include=-I$FX_SRCDIR/include

# Times are told from T, in ticks, and printed: what lies in what, the archive has to tell as well.
cat >device.c <<'END'
#include <fxtrace/event.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#define BEGIN(name, id, at) TRACE_VTHREAD_DURATION_BEGIN("c", name, "device", id, at)
#define END(name, id, at) TRACE_VTHREAD_DURATION_END("c", name, "device", id, at)
static uint64_t began;
static void pause_for(long ns)
{
	struct timespec t = {0, ns};
	nanosleep(&t, NULL);
}
/* An end that comes before its begin, from another thread. */
static void *end_first(void *now)
{
	END("across", 5, *(uint64_t *)now + 4000);
	return NULL;
}
static void spread(void)
{
	pthread_t thread;
	uint64_t now = TRACE_TICKS();
	pthread_create(&thread, NULL, end_first, &now);
	pthread_join(thread, NULL);
	BEGIN("across", 5, now + 1000);
}
static int evaluated;
static uint64_t tick(uint64_t t) { evaluated++; return t; }
int main(void)
{
	uint64_t t;
	began = TRACE_TICKS();
	pause_for(3000000);
	t = TRACE_TICKS();
	TRACE_DURATION("c", "whole");
	TRACE_DURATION_BEGIN("c", "by hand");
	/* From the inside out, and backwards. */
	END("outer", 1, t - 1000);
	BEGIN("inner", 1, t - 5000);
	END("inner", 1, t - 3000);
	TRACE_VTHREAD_DURATION_BEGIN("c", "outer", "device", 1, t - 9000, "n", TA_INT32(1), "text", TA_STRING("words"));
	TRACE_INSTANT("c", "here", TRACE_SCOPE_THREAD);
	TRACE_VTHREAD_FLOW_BEGIN("c", "handed", "device", 1, 77, t - 4000, "k", TA_INT32(2));
	BEGIN("receives", 2, t - 2000);
	TRACE_VTHREAD_FLOW_STEP("c", "handed", "device", 2, 77, t - 1900);
	END("receives", 2, t - 1500);
	BEGIN("finishes", 3, t - 1000);
	TRACE_VTHREAD_FLOW_END("c", "handed", "device", 3, 77, t - 900);
	END("finishes", 3, t - 800);
	TRACE_VTHREAD_COUNTER("c", "load", "device", 1, 3, t - 8000, "used", TA_INT32(5), "free", TA_UINT64(7));
	/* What is odd. */
	TRACE_VTHREAD_DURATION_BEGIN("c", "nameless", NULL, 6, t);
	TRACE_VTHREAD_DURATION_END("c", "nameless", "named late", 6, t + 10);
	TRACE_VTHREAD_DURATION_BEGIN("c", "unnamed", "", 4711, t);
	TRACE_VTHREAD_DURATION_END("c", "unnamed", "", 4711, t + 10);
	TRACE_VTHREAD_DURATION_BEGIN("c", NULL, "no name", 8, t);
	TRACE_VTHREAD_DURATION_END("c", NULL, "no name", 8, t + 10);
	BEGIN("zero", 0, t);
	END("zero", 0, t + 10);
	BEGIN("largest", ~UINT64_C(0), t);
	END("largest", INT64_MAX, t + 10); /* bit 63 does not count */
	BEGIN("own pid", (uint64_t)getpid(), t);
	END("own pid", (uint64_t)getpid(), t + 10);
	BEGIN("no time", 9, 0);
	BEGIN("no time", 9, UINT64_MAX);
	END("never begun", 9, t);
	BEGIN("never ended", 10, t);
	BEGIN("before", 11, began - (began > 1000000 ? 1000000 : 0));
	END("before", 11, began);
	BEGIN("later", 12, t + 1000000);
	END("later", 12, t + 2000000);
	TRACE_VTHREAD_DURATION_BEGIN("off", "off", "device", 13, tick(t), "n", TA_INT32(++evaluated));
	TRACE_VTHREAD_DURATION_BEGIN("c", "counted", "device", 14, tick(t), "n", TA_INT32(++evaluated));
	TRACE_VTHREAD_DURATION_END("c", "counted", "device", 14, tick(t + 10));
	spread();
	TRACE_DURATION_END("c", "by hand");
	if (fork() == 0) {
		BEGIN("of the child", 1, TRACE_TICKS());
		END("of the child", 1, TRACE_TICKS() + 1);
		_exit(0);
	}
	wait(NULL);
	printf("%d %d\n", evaluated, t != 0);
	return 0;
}
END
cat >device.cc <<'END'
#include <fxtrace/event.h>
#include <string>
enum class channel : unsigned { dma = 3 };
template <typename T> static void transfer(T which, uint64_t t)
{
	std::string text = "a string";
	TRACE_VTHREAD_DURATION_BEGIN("c", "transfer", "channel", which, t, "text", text + " of C++", "n", 7);
	TRACE_VTHREAD_DURATION_END("c", "transfer", "channel", which, t + 100, "done", true);
	TRACE_VTHREAD_FLOW_BEGIN("c", "sent", "channel", which, 9, t + 50);
	TRACE_VTHREAD_FLOW_STEP("c", "sent", "channel", which, 9, t + 60, "x", nullptr);
	TRACE_VTHREAD_FLOW_END("c", "sent", "channel", which, 9, t + 70);
	TRACE_VTHREAD_COUNTER("c", "bytes", "channel", which, 0, t, "sent", 12.5);
}
int main()
{
	transfer(channel::dma, TRACE_TICKS());
	transfer(4u, TRACE_TICKS());
}
END

# nests ARCHIVE: what stands in the reader's view of the archive: one line for each slice of a virtual thread, in its parents.
nests() {
	"$FXTRACE" convert -f sqlite "$1" slices.db >/dev/null 2>convert.err || fail "$(cat convert.err)"
	python3 - <<'PY' >nested
import sqlite3
db = sqlite3.connect("slices.db")
rows = db.execute("""select s.id, s.parent_id, s.name, s.dur, t.name, t.tid, p.pid from slice s
    join thread_track k on s.track_id = k.id join thread t using (utid) join process p using (upid)
    where s.category = 'c' order by s.ts""").fetchall()
names = {r[0]: r[2] for r in rows}
for id, parent, name, dur, thread, tid, pid in rows:
    if tid >= 1000000000:
        print("%s|%s|%s|%s" % (thread, name or "", names.get(parent, ""), "open" if dur < 0 else "long" if dur else "0"))
for row in db.execute("""select a.name, b.name from flow f join slice a on f.slice_out = a.id join slice b on f.slice_in = b.id
    order by a.ts"""):
    print("%s -> %s" % row)
PY
}

compilers="gcc clang"
! is_emulated || compilers= # they make programs of this machine
for compiler in "$FX_CC" $compilers; do
	command -v "${compiler%% *}" >/dev/null || continue
	for optimise in -O0 -O2; do
		# shellcheck disable=SC2086 # several words
		$compiler $include -std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror $optimise -o device device.c -pthread ||
			fail "$compiler $optimise: does not compile"
		expect_ok ./device
		expect_line '^0 0$' out
		expect_ok "$FXTRACE" run -q -c c -o trace.fxt -- ./device
		expect_line '^3 1$' out
		expect_clean trace.fxt
		list_archive trace.fxt
		expect_events 0 'category == "off"'
		expect_events 1 'type == "begin" && name == "outer" && has("n=1") && has("text=words")'
		expect_events 1 'type == "flow-begin" && name == "handed" && has("k=2")'
		expect_events 1 'type == "flow-step" && name == "handed"'
		expect_events 1 'type == "flow-end" && name == "handed"'
		expect_events 1 'type == "counter" && name == "load" && has("used=5") && has("free=7") && tid >= 1000000000'
		expect_events 1 'name == "counted" && has("n=2")'
		expect_events 0 'name == "no time"'
		# The writing thread's are where they were: one track, the instant in both.
		expect_events 1 'type == "complete" && name == "whole" && tid < 1000000000 && pid == tid'
		awk -F'\t' '$7 == "by hand" { at[$1] = $8 } $7 == "here" { here = $8 } $7 == "whole" { s = $8; e = $9 }
			END { exit !(s <= at["begin"] && at["begin"] <= here && here <= at["end"] && at["end"] <= e) }' events ||
			fail "the writing thread's own do not nest: $(cat events)"
		# Numbers are the process's: those of id 1 in parent and child are two.
		expect_equal 2 "$(awk -F'\t' '$7 == "outer" || $7 == "of the child" { print $3 }' events | sort -u | wc -l)" \
			"tracks of id 1 in two processes"
		expect_equal 2 "$(awk -F'\t' '$7 == "outer" || $7 == "of the child" { print $2 }' events | sort -u | wc -l)" \
			"processes of them"
		nests trace.fxt
		LC_ALL=C sort nested >shown
		LC_ALL=C sort >expected <<'END'
device|across||long
device|before||long
device|counted||long
device|finishes||long
device|inner|outer|long
device|largest||long
device|later||long
device|never ended||open
device|of the child||long
device|outer||long
device|own pid||long
device|receives||long
device|zero||long
named late|nameless||long
no name|||long
inner -> receives
receives -> finishes
vthread 4711|unnamed||long
END
		expect_same_file expected shown
	done
done

# --- C++ ---------------------------------------------------------------------------------------------

compilers="g++ clang++"
! is_emulated || compilers=
for compiler in "$FX_CXX" $compilers; do
	command -v "${compiler%% *}" >/dev/null || continue
	# shellcheck disable=SC2086 # several words
	$compiler $include -std=c++17 -Wall -Wextra -Werror -O2 -o device-cc device.cc -pthread || fail "$compiler: does not compile"
	expect_ok ./device-cc
	expect_ok "$FXTRACE" run -q -c c -o trace.fxt -- ./device-cc
	expect_clean trace.fxt
	list_archive trace.fxt
	expect_events 2 'type == "begin" && name == "transfer" && has("text=a string of C++") && has("n=7") && thread == "channel"'
	expect_events 2 'type == "end" && name == "transfer" && has("done=true")'
	expect_events 6 'name == "sent" && type ~ /^flow/'
	expect_events 2 'type == "counter" && name == "bytes" && has("sent=12.5")'
	expect_equal 2 "$(awk -F'\t' '$7 == "transfer" { print $3 }' events | sort -u | wc -l)" "tracks"
done

# --- All that shows them -------------------------------------------------------------------------------

expect_ok "$FXTRACE" run -q -c c -o trace.fxt -- ./device
expect_ok "$FXTRACE" convert -f json trace.fxt trace.json
python3 - <<'PY' || fail "JSON"
import json
events = json.load(open("trace.json"))
events = events["traceEvents"] if isinstance(events, dict) else events
names = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e.get("name") == "thread_name"}
slices = [e for e in events if e.get("name") in ("outer", "inner") and e["ph"] in "XB"]
assert len(slices) == 2, slices
tracks = {(e["pid"], e["tid"]) for e in slices}
assert len(tracks) == 1 and names[tracks.pop()] == "device", slices
PY
expect_ok "$FXTRACE" convert -f perfetto trace.fxt trace.pftrace
grep -q device trace.pftrace || fail "Perfetto's has no track of the name"
expect_ok "$FXTRACE" report trace.fxt
expect_line 'outer' out
expect_ok "$FXTRACE" merge -o twice.fxt trace.fxt
expect_clean twice.fxt
nests twice.fxt
LC_ALL=C sort nested >shown
expect_same_file expected shown

# --- A buffer that goes round; the newest part -----------------------------------------------------------

for mode in circular oneshot; do
	expect_ok "$FXTRACE" run -q -m "$mode" -c c -o trace.fxt -- ./device
	expect_clean trace.fxt
	nests trace.fxt
	LC_ALL=C sort nested >shown
	expect_same_file expected shown
done

# --- Threads, a handler in the middle of it, kill -9 --------------------------------------------------------

cat >busy.c <<'END'
#include <fxtrace/event.h>
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>
static uint64_t began;
static sigset_t alarms;
/* Slices of 50 ticks each, in one row for each id. */
static void slice(uint64_t id, uint64_t number)
{
	TRACE_VTHREAD_DURATION_END("c", "slice", "row", id, began + number * 100 + 50);
	TRACE_VTHREAD_DURATION_BEGIN("c", "slice", "row", id, began + number * 100, "number", TA_UINT64(number));
}
static void handler(int signal)
{
	static uint64_t count;
	uint64_t number = __atomic_fetch_add(&count, 1, __ATOMIC_RELAXED);
	(void)signal;
	if (number < 20)
		slice(100, number);
}
static void *thread(void *which)
{
	uint64_t first = *(int *)which;
	for (uint64_t i = 0; i < 500; i++) {
		TRACE_DURATION("c", "writes");
		slice(7, first + 4 * i);
		if (i == 0) /* a handler in the middle of a thread's first event would lose records: it begins with signals blocked */
			pthread_sigmask(SIG_UNBLOCK, &alarms, NULL);
	}
	return NULL;
}
int main(void)
{
	pthread_t threads[4];
	int which[4];
	struct itimerval often = {{0, 200}, {0, 200}};
	began = TRACE_TICKS();
	sigemptyset(&alarms);
	sigaddset(&alarms, SIGALRM);
	signal(SIGALRM, handler);
	pthread_sigmask(SIG_BLOCK, &alarms, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	for (int i = 0; i < 4; i++) {
		which[i] = i;
		pthread_create(&threads[i], NULL, thread, &which[i]);
	}
	pthread_sigmask(SIG_UNBLOCK, &alarms, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < 20; i++)
		raise(SIGALRM);
	kill(getpid(), SIGKILL);
}
END
compile busy "$include" busy.c
expect_status 137 "$FXTRACE" run -q --on-full block -c c -o trace.fxt -- ./busy
expect_clean trace.fxt
nests trace.fxt
expect_equal 2020 "$(grep -c '^row|slice||long$' nested)" "slices of two virtual threads that five contexts wrote"
expect_ok "$FXTRACE" query trace.fxt "select count(distinct tid) from thread_slice where thread_name = 'row'"
expect_line '^ *2$' out
expect_ok "$FXTRACE" query trace.fxt "select count(*) from thread_slice where name = 'writes'"
expect_line '^ *2000$' out

# What takes archives apart keeps them.
expect_ok "$FXTRACE" filter -c c -o kept.fxt trace.fxt
expect_clean kept.fxt
nests kept.fxt
expect_equal 2020 "$(grep -c '^row|slice||long$' nested)" "slices of a filtered archive"

# --- Many, and too many ------------------------------------------------------------------------------------

cat >many.c <<'END'
#include <fxtrace/event.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
	long count = argc > 1 ? atol(argv[1]) : 0;
	uint64_t t = TRACE_TICKS();
	for (long i = 0; i < count; i++) {
		TRACE_VTHREAD_DURATION_BEGIN("c", "work", "worker", (uint64_t)i << 40 | 3, t + 10 * (uint64_t)i);
		TRACE_VTHREAD_DURATION_END("c", "work", "worker", (uint64_t)i << 40 | 3, t + 10 * (uint64_t)i + 5);
	}
	return 0;
}
END
compile many "$include" many.c
expect_ok "$FXTRACE" run --on-full block -c c -o trace.fxt -- ./many 10000
expect_no_line 'lost' err
expect_clean trace.fxt
nests trace.fxt
expect_equal 10000 "$(grep -c '^worker|work||long$' nested)" "slices, a virtual thread each"
expect_ok "$FXTRACE" run --on-full block -c c -o trace.fxt -- ./many 17000
expect_loss vthreads-many 1232 err
expect_clean trace.fxt
nests trace.fxt
expect_equal 16384 "$(grep -c '^worker|work||long$' nested)" "slices of those that are known"

# --- Nothing of it ---------------------------------------------------------------------------------------------

compile device -DNTRACE -O0 -Wall -Wextra -Werror -Wno-unused "$include" device.c
expect_ok ./device
nm device | grep -i fxtrace && fail "NTRACE leaves something"
exit 0
