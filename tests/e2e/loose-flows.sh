#!/bin/bash
# SPDX-License-Identifier: MIT
# Ends of arrows wherever a program draws them: those in a duration, of whatever kind, stand in it; those in none, before the first, between
# two, and behind the last, have an instant of their own, so that no viewer takes them for an error or for another slice's. The summary
# says how many there were.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

cat >loose.c <<'END'
#include <fxtrace/event.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static void one(const char *in, unsigned long id)
{
	TRACE_FLOW_BEGIN("c", in, id, "n", TA_UINT64(id));
	TRACE_FLOW_STEP("c", in, id);
	TRACE_FLOW_END("c", in, id);
}
/* Three in each of five durations; the last is begun by a record of its own. */
static void inside(unsigned long id)
{
	TRACE_DURATION("c", "outer");
	one("in outer", id);
	{
		TRACE_DURATION("c", "inner");
		one("in inner", id + 1);
	}
	one("in outer", id + 2);
	TRACE_INSTAFLOW_BEGIN("c", "insta", "insta step", id + 3);
	TRACE_INSTAFLOW_STEP("c", "insta", "insta step", id + 3);
	TRACE_INSTAFLOW_END("c", "insta", "insta step", id + 3);
	TRACE_DURATION_BEGIN("c", "begun");
	one("in begun", id + 4);
	TRACE_DURATION_END("c", "begun");
}
static void *threads(void *first)
{
	unsigned long id = (uintptr_t)first;
	for (int i = 0; i < 100; i++, id += 10) {
		one("before\tall", id + 5);
		inside(id);
		one("behind\tall", id + 6);
	}
	return NULL;
}
static void handler(int signal)
{
	(void)signal;
	one("in handler", 7);
}
static void at(const char *in, unsigned long vthread, unsigned long id, uint64_t t)
{
	TRACE_VTHREAD_FLOW_BEGIN("c", in, "virtual", vthread, id, t, "n", TA_UINT64(id));
	TRACE_VTHREAD_FLOW_STEP("c", in, "virtual", vthread, id, t);
	TRACE_VTHREAD_FLOW_END("c", in, "virtual", vthread, id, t);
}
/* Ends of arrows are said before, while and after the durations are that they lie in, and before and behind all. */
static void virtual_threads(void)
{
	uint64_t t = TRACE_TICKS();
	at("told first", 1, 1, t + 1500);
	at("before all", 1, 2, t + 500);
	TRACE_VTHREAD_DURATION_BEGIN("c", "slice", "virtual", 1, t + 1000);
	at("told between", 1, 3, t + 1600);
	at("at the begin", 1, 4, t + 1000);
	TRACE_VTHREAD_DURATION_END("c", "slice", "virtual", 1, t + 2000);
	at("told last", 1, 5, t + 1700);
	at("behind all", 1, 6, t + 2500);
	at("of another", 2, 7, t + 1500);
	TRACE_VTHREAD_DURATION_END("c", "end first", "virtual", 3, t + 2000);
	at("end first", 3, 8, t + 1500);
	TRACE_VTHREAD_DURATION_BEGIN("c", "end first", "virtual", 3, t + 1000);
}
/* Slices whose ends are told first, each with an arrow within, and one behind. `from`: where the first lies, `step`: the next one. They are
   told when they are over: what a time to come is in nanoseconds is known the better the nearer it is, so equal ones may differ. */
static void slices(long from, long step, long count)
{
	uint64_t t = TRACE_TICKS();
	while (TRACE_TICKS() < t + 10000 * ((uint64_t)count + 1))
		usleep(1000);
	t += 10000 * (uint64_t)from;
	for (long i = 0; i < count; i++, t += 10000 * (uint64_t)step) {
		TRACE_VTHREAD_DURATION_END("c", "slice", "virtual", 1, t + 2000);
		at("within", 1, 1 + i, t + 1000);
		at("behind", 1, 1 + count + i, t + 3000);
		TRACE_VTHREAD_DURATION_BEGIN("c", "slice", "virtual", 1, t);
	}
}
int main(int argc, char **argv)
{
	const char *what = argv[1];
	long count = argc > 2 ? atol(argv[2]) : 0;
	if (!strcmp(what, "inside")) {
		inside(10);
	} else if (!strcmp(what, "outside")) {
		one("first", 1);
		inside(10);
		one("between", 2);
		inside(20);
		one("last", 3);
	} else if (!strcmp(what, "threads")) {
		pthread_t t[8];
		for (unsigned long i = 0; i < 8; i++)
			pthread_create(&t[i], NULL, threads, (void *)(uintptr_t)(i * 10000));
		for (int i = 0; i < 8; i++)
			pthread_join(t[i], NULL);
	} else if (!strcmp(what, "open")) {
		TRACE_DURATION("c", "open");
		one("in open", 1);
		if (count)
			kill(getpid(), SIGKILL);
		_exit(0);
	} else if (!strcmp(what, "many")) {
		for (long i = 0; i < count; i++)
			TRACE_FLOW_BEGIN("c", "many", 100 + i);
		TRACE_DURATION("c", "one duration");
		for (long i = 0; i < count; i++)
			TRACE_FLOW_END("c", "many", 100 + i);
	} else if (!strcmp(what, "virtual")) {
		virtual_threads();
	} else if (!strcmp(what, "forwards")) {
		slices(0, 1, count);
	} else if (!strcmp(what, "backwards")) {
		slices(count, -1, count);
	} else if (!strcmp(what, "handler")) {
		signal(SIGUSR1, handler);
		raise(SIGUSR1);
		{
			TRACE_DURATION("c", "interrupted");
			raise(SIGUSR1);
		}
	}
	return 0;
}
END
compile loose "-I$FX_SRCDIR/include" -Wall -Werror -pthread loose.c

# loose COUNT STATUS WHAT...: so many ends are told as loose, and the archive is clean.
loose() {
	local count=$1 status=$2

	shift 2
	expect_status "$status" "$FXTRACE" run -c c -o trace.fxt --on-full block -- ./loose "$@"
	cp err told
	expect_clean trace.fxt
	list_archive trace.fxt
	if [ "$count" = 0 ]; then
		expect_no_line 'stand.* in no duration' told
	else
		expect_line "^fxtrace: $count ends? of arrows stands? in no duration" told
	fi
}

# in_slice SLICE COUNT: so many arrows lead from one slice of this name to another.
in_slice() {
	expect_ok "$FXTRACE" query --csv trace.fxt "select count(*) from flow join slice o on o.id = slice_out join slice i on i.id = slice_in
		where o.name = '$1' and i.name = '$1'"
	expect_equal "$2" "$(tail -n 1 out | tr -d '\r')" "arrows between '$1'"
}

ends_in_durations() {
	loose 0 0 inside
	expect_events 0 'type == "instant" && category == "c"'
	expect_events 5 'type == "flow-begin"'
	expect_events 5 'type == "flow-step"'
	expect_events 5 'type == "flow-end"'
	expect_events 2 'type == "flow-begin" && name == "in outer" && (has("n=10") || has("n=12"))'
}

ends_in_none() {
	loose 9 0 outside
	for name in first between last; do
		expect_events 3 "type == \"instant\" && name == \"$name\""
		expect_events 3 "type ~ /^flow/ && name == \"$name\""
		# Both at one time, and the instant first: that is what viewers bind it to.
		awk -F'\t' -v name="$name" '$7 == name { print $1, $4 }' events >pairs
		awk '$1 == "instant" { at = $2 } /^flow/ && $2 != at { exit 1 }' pairs || fail "arrows of $name stand apart: $(cat pairs)"
	done
	expect_events 9 'type == "instant" && category == "c"'
	in_slice first 2
}

ends_of_many_threads() {
	loose 4800 0 threads
	expect_events 4800 'type == "instant" && category == "c"'
	expect_events 16800 'type ~ /^flow/'
}

# What is open when the program ends lasts until then.
ends_in_what_is_open() {
	loose 0 0 open
	expect_events 3 'type ~ /^flow/'
	loose 0 137 open 1
	expect_events 3 'type ~ /^flow/'
}

# What is held is bounded, to 256 of a thread: the older ones stand by themselves then, be they in a duration or not.
more_than_is_held() {
	loose $((20000 - 256)) 0 many 10000
	expect_events 20000 'type ~ /^flow/'
	expect_events $((20000 - 256)) 'type == "instant" && category == "c"'
}

ends_in_signal_handlers() {
	loose 3 0 handler
	expect_events 6 'type ~ /^flow/ && name == "in handler"'
	expect_events 3 'type == "instant" && category == "c"'
}

ends_on_virtual_threads() {
	loose 9 0 virtual
	expect_line ' 0 warnings$' out
	expect_events 24 'type ~ /^flow/'
	for name in "before all" "behind all" "of another"; do
		expect_events 3 "type == \"instant\" && name == \"$name\""
	done
	expect_events 9 'type == "instant" && category == "c"'
	expect_ok "$FXTRACE" query --csv trace.fxt "select count(*) from flow join slice on slice.id = slice_out where name in ('slice', 'end first')"
	expect_equal 5 "$(tail -n 1 out | tr -d '\r')" "arrows from within slices"
}

# However many there are. What lies before all that is remembered stands by itself, be it in a slice or not.
ends_on_busy_virtual_threads() {
	loose 60000 0 forwards 20000
	expect_line ' 0 warnings$' out
	expect_events 120000 'type ~ /^flow/'
	expect_events 20000 'type == "begin" && name == "slice"'
	expect_events 60000 'type == "instant" && name == "behind"'
	loose '[0-9]+' 0 backwards 20000
	expect_line ' 0 warnings$' out
	expect_events 120000 'type ~ /^flow/'
	expect_events 60000 'type == "instant" && name == "behind"'
}

ends_in_durations
ends_in_none
ends_on_virtual_threads
ends_on_busy_virtual_threads
ends_of_many_threads
ends_in_what_is_open
more_than_is_held
ends_in_signal_handlers
