#!/bin/bash
# SPDX-License-Identifier: MIT
# Async events, and begins without ends: whatever a program says of them, the archive is one that viewers take whole. An end that nothing
# has begun is left out and counted, whichever thread's buffer comes first; processes that use the same ids are kept apart; what lies
# deeper than viewers show is left out on both sides, on virtual threads too.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

cat >asyncs.c <<'END'
#include <fxtrace/event.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static sem_t there, back;
static void *begins(void *count)
{
	for (long i = 0; i < (long)count; i++) {
		TRACE_ASYNC_BEGIN("c", "crosses", 7, "n", TA_INT64(i));
		sem_post(&there);
		sem_wait(&back);
	}
	return NULL;
}
/* The first thread's buffer comes first, and has the ends. */
static void crosses(long count)
{
	pthread_t thread;
	sem_init(&there, 0, 0);
	sem_init(&back, 0, 0);
	pthread_create(&thread, NULL, begins, (void *)count);
	for (long i = 0; i < count; i++) {
		char text[40];
		sem_wait(&there);
		snprintf(text, sizeof(text), "text\t%ld", i);
		TRACE_ASYNC_END("c", "crosses", 7, "end", TA_INT64(i), "said", TA_STRING(text));
		sem_post(&back);
	}
	pthread_join(thread, NULL);
}
int main(int argc, char **argv)
{
	const char *what = argv[1];
	long count = argc > 2 ? atol(argv[2]) : 0;
	if (!strcmp(what, "odd")) {
		TRACE_ASYNC_END("c", "never", 5);
		TRACE_ASYNC_BEGIN("c", "one", 6);
		TRACE_ASYNC_END("c", "two", 6);
		TRACE_ASYNC_END("d", "one", 6);
		TRACE_ASYNC_END("c", "one", 6);
		TRACE_ASYNC_END("c", "one", 6);
		TRACE_ASYNC_END("c", "early", 8);
		TRACE_ASYNC_BEGIN("c", "early", 8);
		TRACE_ASYNC_INSTANT("c", "alone", 9);
	} else if (!strcmp(what, "crosses")) {
		crosses(count);
	} else if (!strcmp(what, "processes")) {
		for (int i = 0; i < 3; i++)
			if (fork() == 0)
				break;
		TRACE_ASYNC_BEGIN("c", "same", 5);
		usleep(50000);
		TRACE_ASYNC_END("c", "same", 5);
		while (wait(NULL) > 0)
			;
	} else if (!strcmp(what, "deep")) {
		unsigned long t = TRACE_TICKS();
		for (long i = 0; i < count; i++) {
			TRACE_ASYNC_BEGIN("c", "async", 5);
			TRACE_DURATION_BEGIN("c", "thread");
			TRACE_VTHREAD_DURATION_BEGIN("c", "forth", "forth", 1, t + i);
			TRACE_VTHREAD_DURATION_END("c", "back", "back", 2, t + 2 * count - i);
		}
		for (long i = count; i-- > 0;) {
			TRACE_ASYNC_END("c", "async", 5);
			TRACE_DURATION_END("c", "thread");
			TRACE_VTHREAD_DURATION_END("c", "forth", "forth", 1, t + 2 * count - i);
			TRACE_VTHREAD_DURATION_BEGIN("c", "back", "back", 2, t + i);
		}
		TRACE_INSTANT("c", "after", TRACE_SCOPE_THREAD);
	} else if (!strcmp(what, "flows")) {
		pid_t child = fork();
		TRACE_DURATION("c", "has arrows");
		TRACE_FLOW_BEGIN("c", "same", 5, "parent", TA_BOOL(child != 0));
		usleep(50000);
		TRACE_FLOW_STEP("c", "same", 5, "parent", TA_BOOL(child != 0));
		TRACE_FLOW_END("c", "same", 5, "parent", TA_BOOL(child != 0));
		if (child != 0) {
			waitpid(child, NULL, 0);
			for (long i = 0; i < count; i++) {
				TRACE_DURATION("c", "again");
				TRACE_FLOW_BEGIN("c", "twice", 6);
			}
			TRACE_FLOW_END("c", "twice", 6);
			TRACE_FLOW_BEGIN("c", "across", 7);
			if (fork() == 0) {
				TRACE_DURATION("c", "has the end");
				TRACE_FLOW_END("c", "across", 7);
				_exit(0);
			}
			wait(NULL);
		}
	} else if (!strcmp(what, "many")) {
		for (long i = 0; i < count; i++)
			TRACE_ASYNC_END("c", "never", i % 100);
		for (long i = 0; i < count; i++)
			TRACE_ASYNC_BEGIN("c", "open", i);
		for (long i = 0; i < count; i++)
			TRACE_ASYNC_END("c", "open", i);
	}
	return 0;
}
END
compile asyncs "-I$FX_SRCDIR/include" -Wall -Werror -pthread asyncs.c

# asyncs WHAT...: the program's archive is clean.
asyncs() {
	expect_ok "$FXTRACE" run -o trace.fxt --on-full block -- ./asyncs "$@"
	cp err told
	expect_clean trace.fxt
	list_archive trace.fxt
}

ends_without_a_begin() {
	asyncs odd
	expect_loss async-unbegun 5 told
	expect_events 1 'type == "async-begin" && name == "one"'
	expect_events 1 'type == "async-end" && name == "one" && category == "c"'
	expect_events 1 'type == "async-begin" && name == "early"'
	expect_events 1 'type == "async-end"'
	expect_events 1 'type == "async-instant" && name == "alone"'
}

ends_that_come_first() {
	asyncs crosses 300
	expect_no_line 'async-unbegun|left out' told
	expect_events 300 'type == "async-begin" && name == "crosses"'
	expect_events 300 'type == "async-end" && name == "crosses"'
	# Each of the first thread, with what it has said.
	"$FXTRACE" dump trace.fxt | grep async-end >ends
	for n in 0 1 150 299; do
		expect_equal 1 "$(grep -c "\"end\":int64=${n}[,}].*text.*$n\"" ends)" "arguments of end $n"
	done
	expect_ok "$FXTRACE" query --csv trace.fxt "select count(*), sum(dur > 0), max(dur) < 1000000000 from slice where name = 'crosses'"
	expect_line '^300,300,1' out
}

processes_with_the_same_ids() {
	asyncs processes
	expect_no_line 'left out' told
	expect_events 4 'type == "async-begin" && name == "same"'
	expect_events 4 'type == "async-end" && name == "same"'
}

deeper_than_viewers_show() {
	asyncs deep 700
	# Where instants can lie in them, they have the last level.
	expect_loss too-deep $((188 + 3 * 189)) told
	expect_no_line 'ends? of async' told
	for name in async thread forth back; do
		levels=511
		[ $name != async ] || levels=512
		expect_events $levels "type ~ /begin/ && name == \"$name\""
		expect_events $levels "type ~ /end/ && name == \"$name\""
	done
	expect_events 1 'name == "after"'
}

# Arrows: in two processes with one id, begun anew before their end, from one process to another.
flows_of_all_kinds() {
	asyncs flows 300
	expect_events 2 'type == "flow-begin" && name == "same"'
	for parent in true false; do
		awk -F'\t' -v parent="parent=$parent" '$7 == "same" && $1 ~ /^flow/ && $10 == parent { print $9 }' events | sort | uniq -c >ids
		expect_equal 3 "$(awk '{ print $1 }' ids | xargs)" "parts of the arrow with one id, parent=$parent"
		awk '{ print $2 }' ids
	done | sort -u >both
	expect_equal 2 "$(wc -l <both)" "ids of two arrows"
	expect_equal 300 "$(awk -F'\t' '$1 == "flow-begin" && $7 == "twice" { print $9 }' events | sort -u | wc -l)" "arrows that were begun"
	expect_equal 1 "$(awk -F'\t' '$7 == "twice" && $1 == "flow-end" { end = $9 } $7 == "twice" && $1 == "flow-begin" { begin = $9 }
		END { print begin == end }' events)" "the end is the newest one's"
	expect_equal 7 "$(awk -F'\t' '$7 == "across" && $1 ~ /^flow/ { print $9 }' events | sort -u)" "the id of two processes"
	expect_events 2 'type == "flow-begin" && name == "across" || type == "flow-end" && name == "across"'
}

# Memory is bounded; so is what is matched.
more_than_is_remembered() {
	asyncs many 100000
	expect_loss async-unbegun $((100000 + 100000 - 65536)) told
	expect_events 100000 'type == "async-begin" && name == "open"'
	expect_events 65536 'type == "async-end" && name == "open"'
}

ends_without_a_begin
ends_that_come_first
processes_with_the_same_ids
deeper_than_viewers_show
flows_of_all_kinds
more_than_is_remembered
