#!/bin/bash
# SPDX-License-Identifier: MIT
# Providers and events at odd moments: a provider that is created twice; both after fork(), in signal handlers, and from threads that end, up
# to the last destructor of what is theirs. With libfxtrace-provider, shared and static, and under fxtrace run. fxtrace_event(3) and
# fxtrace_provider(3) say what comes of each.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
. "$FX_SRCDIR/tests/e2e/control.sh"

include=-I$FX_SRCDIR/include

cat >odd.h <<'END'
#include <errno.h>
#include <fxtrace/event.h>
#include <fxtrace/provider.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#define EVENT(name) TRACE_INSTANT("work", name, TRACE_SCOPE_THREAD)
#define MUST(condition)                                                                        \
	do {                                                                                   \
		if (!(condition)) {                                                            \
			fprintf(stderr, "%d: %s\n", __LINE__, #condition);                     \
			_exit(9);                                                              \
		}                                                                              \
	} while (0)
__attribute__((unused)) static void join(void *(*function)(void *), void *data)
{
	pthread_t thread;

	MUST(pthread_create(&thread, NULL, function, data) == 0 && pthread_join(thread, NULL) == 0);
}
END

cat >twice.c <<'END'
#include "odd.h"
static int heard;
static void changed(void *data, enum fxtrace_phase phase)
{
	heard += *(int *)data;
	(void)phase;
}
int main(void)
{
	struct fxtrace_provider_options options = FXTRACE_PROVIDER_OPTIONS_INIT;
	struct fxtrace_provider *first, *second, *third;
	int one = 1, hundred = 100;

	options.name = "the first";
	options.changed = changed;
	options.data = &one;
	MUST(fxtrace_provider_create(&first, &options) == 0);
	options.name = "the second";
	options.data = &hundred;
	MUST(fxtrace_provider_create(&second, &options) == 0 && first != second);
	MUST(fxtrace_provider_create(&third, &options) == 0);
	EVENT("with three");
	MUST(heard == 201); /* each handler hears of the start once for each provider */
	MUST(fxtrace_provider_destroy(third) == 0);
	EVENT("with two");
	MUST(fxtrace_provider_destroy(first) == 0);
	EVENT("with the second");
	MUST(fxtrace_provider_destroy(second) == 0 && fxtrace_provider_destroy(NULL) == 0);
	EVENT("with none");
	return 0;
}
END

cat >fork.c <<'END'
#include "odd.h"
static void *records(void *unused)
{
	for (int i = 0; i < 1000; i++) {
		TRACE_DURATION("work", "beside");
	}
	return unused;
}
static void wait_all(void)
{
	int status;

	while (wait(&status) > 0)
		MUST(status == 0);
}
int main(void)
{
	struct fxtrace_provider *provider, *other;
	pthread_t threads[2];

	/* A child creates one before its parent has any. */
	if (fork() == 0) {
		MUST(fxtrace_provider_create(&provider, NULL) == 0);
		EVENT("child before");
		_exit(0);
	}
	wait_all();
	MUST(fxtrace_provider_create(&provider, NULL) == 0);
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, records, NULL);
	for (int i = 0; i < 20; i++) {
		TRACE_DURATION("work", "forks");
		if (fork() == 0) {
			EVENT("child"); /* its parent's provider is its own, */
			MUST(fxtrace_provider_create(&other, NULL) == 0);
			MUST(fxtrace_provider_destroy(other) == 0);
			EVENT("child");
			if (i % 2 == 0) {
				MUST(fxtrace_provider_destroy(provider) == 0); /* to destroy, too */
				EVENT("child without");
				MUST(fxtrace_provider_create(&other, NULL) == 0);
				EVENT("child again");
			} else if (fork() == 0) {
				EVENT("grandchild");
				_exit(0);
			}
			wait_all();
			_exit(0);
		}
	}
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	wait_all();
	EVENT("parent");
	return 0;
}
END

cat >handler.c <<'END'
#include "odd.h"
static struct fxtrace_provider *provider;
static sigjmp_buf back;
static int asked(void)
{
	raise(SIGUSR1); /* while an event's arguments are put together */
	return 5;
}
static void on_usr1(int number)
{
	struct fxtrace_provider *own;
	int saved = errno;

	TRACE_DURATION("work", "handler", "n", TA_INT32(number));
	MUST(fxtrace_provider_create(&own, NULL) == 0);
	EVENT("in handler");
	MUST(fxtrace_provider_destroy(own) == 0);
	errno = saved;
}
static void on_usr2(int number)
{
	TRACE_DURATION("work", "jumps out", "n", TA_INT32(number));
	siglongjmp(back, 1);
}
int main(void)
{
	static char stack[65536];
	stack_t alternate = {.ss_sp = stack, .ss_size = sizeof(stack)};
	struct sigaction usr1 = {.sa_handler = on_usr1, .sa_flags = SA_ONSTACK};

	MUST(fxtrace_provider_create(&provider, NULL) == 0);
	sigaltstack(&alternate, NULL);
	sigaction(SIGUSR1, &usr1, NULL);
	signal(SIGUSR2, on_usr2);
	for (int i = 0; i < 100; i++) {
		TRACE_DURATION("work", "around", "n", TA_INT32(asked()));
		TRACE_INSTANT("work", "interrupted", TRACE_SCOPE_THREAD, "n", TA_INT32(asked()));
		if (sigsetjmp(back, 1) == 0) {
			TRACE_DURATION("work", "is left");
			raise(SIGUSR2);
		}
	}
	EVENT("behind");
	return 0;
}
END

cat >ending.c <<'END'
#include "odd.h"
static struct fxtrace_provider *provider;
static pthread_key_t keys[4];
static void at_end(void *rounds)
{
	TRACE_DURATION("work", "destructor");
	EVENT("at the end");
	/* Once more than the tracer's own, which may come before: in each round that there is. */
	if (rounds > (void *)1)
		pthread_setspecific(keys[3], (char *)rounds - 1);
}
static void cleans(void *unused)
{
	TRACE_DURATION("work", "cleanup");
	(void)unused;
}
static void *creates(void *ret)
{
	struct fxtrace_provider *own;

	MUST(fxtrace_provider_create(ret ? (struct fxtrace_provider **)ret : &own, NULL) == 0);
	EVENT("creator");
	if (!ret)
		MUST(fxtrace_provider_destroy(own) == 0);
	return NULL;
}
static void *ends(void *unused)
{
	pthread_setspecific(keys[0], (void *)1);
	pthread_setspecific(keys[3], (void *)3);
	pthread_cleanup_push(cleans, NULL);
	{
		TRACE_DURATION("work", "is open");
		TRACE_DURATION_BEGIN("work", "never ended");
		pthread_exit(unused);
	}
	pthread_cleanup_pop(0);
	return unused;
}
static void at_end_create(void *unused)
{
	struct fxtrace_provider *own;

	(void)unused;
	MUST(fxtrace_provider_create(&own, NULL) == 0);
	EVENT("created at the end");
	MUST(fxtrace_provider_destroy(own) == 0);
}
static void *ends_creating(void *unused)
{
	pthread_setspecific(keys[1], (void *)1);
	return unused;
}
static void *survives(void *main_thread)
{
	pthread_join(*(pthread_t *)main_thread, NULL);
	EVENT("survivor");
	exit(0);
}
int main(void)
{
	static pthread_t self;
	pthread_t thread;

	pthread_key_create(&keys[0], at_end);
	pthread_key_create(&keys[1], at_end_create);
	join(creates, &provider); /* who has created it ends, and it stays */
	EVENT("after its creator");
	pthread_key_create(&keys[2], at_end);
	pthread_key_create(&keys[3], at_end);
	for (int i = 0; i < 50; i++)
		join(ends, NULL);
	for (int i = 0; i < 50; i++)
		join(creates, NULL);
	for (int i = 0; i < 50; i++)
		join(ends_creating, NULL);
	MUST(fxtrace_provider_destroy(provider) == 0);
	EVENT("without");
	join(creates, &provider);
	self = pthread_self();
	MUST(pthread_create(&thread, NULL, survives, &self) == 0);
	pthread_exit(NULL);
}
END

for case in twice fork handler ending; do
	compile $case-so "$include" -D_GNU_SOURCE $case.c -L"$FX_BUILDDIR/.libs" -lfxtrace-provider "-Wl,-rpath,$FX_BUILDDIR/.libs"
	compile $case-a "$include" -D_GNU_SOURCE $case.c "$FX_BUILDDIR/libfxtrace-provider.a" -ldl
done

# each CASE: what it records, of each way in turn, which is in $way.
each() {
	for way in so a; do
		expect_ok "$FXTRACE" start -c work -o odd.fxt
		expect_ok timeout -s KILL 120 "./$1-$way"
		expect_ok "$FXTRACE" terminate
		expect_clean odd.fxt
		list_archive odd.fxt
		"expect_$1"
	done
	way=run
	expect_ok timeout -s KILL 120 "$FXTRACE" run -q -c work -o odd.fxt -- "./$1-so"
	expect_clean odd.fxt
	list_archive odd.fxt
	"expect_$1"
}

# Who is without a provider records nothing, unless libfxtrace.so is there, which goes on.
expect_without() {
	local count=$1

	[ $way = run ] || count=0
	expect_events "$count" "$2"
}

provider_created_twice() {
	each twice
}
expect_twice() {
	for name in 'with three' 'with two' 'with the second'; do
		expect_events 1 "name == \"$name\""
	done
	expect_without 1 'name == "with none"'
	expect_equal 1 "$(sort -u processes | wc -l)" "$way: processes"
	[ $way = run ] && return
	expect_ok "$FXTRACE" info odd.fxt
	expect_line 'the first' out
	expect_no_line 'the second' out
}

after_fork() {
	each fork
}
expect_fork() {
	expect_events 1 'name == "child before"'
	expect_events 2000 'type == "complete" && name == "beside"'
	expect_events 20 'type == "complete" && name == "forks"'
	expect_events 40 'name == "child"'
	expect_without 10 'name == "child without"'
	expect_events 10 'name == "child again"'
	expect_events 10 'name == "grandchild"'
	expect_events 1 'name == "parent"'
	expect_equal 20 "$(awk -F'\t' '$7 == "child" { print $2 }' events | sort -u | wc -l)" "$way: children"
	expect_equal "" "$(awk -F'\t' '$7 ~ /child/ { child[$2] } $7 == "parent" || $7 == "forks" { parent[$2] }
		END { for (p in parent) if (p in child) print p }' events)" "$way: a child's event in its parent"
}

in_a_signal_handler() {
	each handler
}
expect_handler() {
	expect_events 200 'type == "complete" && name == "handler"'
	expect_events 200 'name == "in handler"'
	expect_events 100 'type == "complete" && name == "around" && has("n=5")'
	expect_events 100 'name == "interrupted" && has("n=5")'
	expect_events 100 'type == "complete" && name == "is left"'
	expect_events 100 'type == "complete" && name == "jumps out"'
	expect_events 1 'name == "behind"'
}

from_a_thread_that_ends() {
	each ending
}
expect_ending() {
	expect_events 1 'name == "after its creator"'
	expect_events 52 'name == "creator"'
	expect_events 50 'type == "complete" && name == "is open"'
	expect_events 50 'type == "complete" && name == "cleanup"'
	expect_events 50 'type == "begin" && name == "never ended"'
	# Of four, in three rounds.
	expect_events 200 'type == "complete" && name == "destructor"'
	expect_events 200 'name == "at the end"'
	expect_events 50 'name == "created at the end"'
	expect_without 1 'name == "without"'
	expect_events 1 'name == "survivor"'
}

manager_start
provider_created_twice
after_fork
in_a_signal_handler
from_a_thread_that_ends
manager_stop
