#!/bin/bash
# SPDX-License-Identifier: MIT
# <fxtrace/observer.h>: programs hear of each start and stop, by a macro and by waiting; which categories there are after each start; in
# forked children, from threads, in a library that comes and goes; and what cannot be is said.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
. "$FX_SRCDIR/tests/e2e/control.sh"
need nm

include=-I$FX_SRCDIR/include

cat >observe.h <<'END'
#include <fxtrace/event.h>
#include <fxtrace/observer.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#define SECOND UINT64_C(1000000000)
static const char *const phases[] = {"stopped", "started", "stopping"};
static const char *who = "hears";
static void changed(struct fxtrace_observer *observer, enum fxtrace_phase phase)
{
	struct fxtrace_observer other = {0};
	TRACE_INSTANT("a", "heard", TRACE_SCOPE_THREAD);
	if (fxtrace_observer_add(observer) != -EDEADLK || fxtrace_observer_remove(observer) != -EDEADLK || fxtrace_observer_add(&other) != -EDEADLK)
		_exit(3);
	printf("%s %s %d %d\n", who, phases[phase], TRACE_CATEGORY_ENABLED("a"), TRACE_CATEGORY_ENABLED("b"));
	fflush(stdout);
}
static struct fxtrace_observer observer = {.changed = changed};
static inline void nap(void)
{
	const struct timespec t = {0, 10000000};
	nanosleep(&t, NULL);
}
END

# --- Alone, and for the whole run ---------------------------------------------------------------------------

alone_and_traced() {
	cat >once.c <<'END'
#include "observe.h"
int main(int argc, char **argv)
{
	int traced = argc > 1;
	enum fxtrace_phase phase = FXTRACE_STOPPED;
	struct fxtrace_observer waits = {0};
	(void)argv;
	printf("%s\n", strerror(-fxtrace_observer_add(&observer)));
	printf("%s\n", strerror(-fxtrace_observer_add(&observer)));
	printf("%s\n", strerror(-fxtrace_observer_wait(&waits, traced ? 10 * SECOND : 0, &phase)));
	printf("%s\n", phases[phase]);
	printf("%s\n", strerror(-fxtrace_observer_wait(&waits, 1000, &phase)));
	fflush(stdout);
	for (int i = 0; i < 3; i++)
		TRACE_INSTANT("a", "here", TRACE_SCOPE_THREAD);
	if (fork() == 0) {
		who = "child hears";
		TRACE_INSTANT("a", "here", TRACE_SCOPE_THREAD);
		_exit(fxtrace_observer_remove(&observer) == (traced ? 0 : -ENOSYS) ? 0 : 4);
	}
	int status;
	wait(&status);
	printf("%d %s\n", status, strerror(-fxtrace_observer_remove(&observer)));
	printf("%s\n", strerror(-fxtrace_observer_remove(&observer)));
	return 0;
}
END
	compile once "$include" -std=gnu11 -Wall -Wextra -Werror once.c
	expect_ok ./once
	printf '%s\n' 'Function not implemented' 'Function not implemented' 'Function not implemented' stopped 'Function not implemented' \
		'0 Function not implemented' 'Function not implemented' >expected
	expect_same_file expected out
	expect_ok "$FXTRACE" run -q -c a -o trace.fxt -- ./once traced
	printf '%s\n' Success 'File exists' Success started 'Connection timed out' 'hears started 1 0' '0 Success' 'No such file or directory' >expected
	expect_same_file expected out
	expect_clean trace.fxt
	list_archive trace.fxt
	expect_events 1 'name == "heard"'
	expect_events 4 'name == "here"'

	compile none "$include" -DNTRACE -Wall -Wextra -Werror -Wno-unused once.c
	expect_ok "$FXTRACE" run -q -c a -o trace.fxt -- ./none
	expect_line 'Function not implemented' out
	! nm none | grep fxtrace_events || fail "NTRACE leaves something"

	cat >deduced.cc <<'END'
#include <fxtrace/event.h>
#include <fxtrace/observer.h>
#include <cstdio>
static void changed(fxtrace_observer *, fxtrace_phase phase)
{
	std::printf("%d\n", phase);
}
static fxtrace_observer observer = {changed, nullptr, 0, 0};
int main()
{
	if (fxtrace_observer_add(&observer) == 0)
		TRACE_INSTANT("a", "here", TRACE_SCOPE_THREAD);
	return -fxtrace_observer_remove(&observer);
}
END
	compile deduced "$include" -std=c++17 -Wall -Wextra -Werror deduced.cc
	expect_ok "$FXTRACE" run -q -c a -o trace.fxt -- ./deduced
	expect_line '^1$' out
}

# --- Sessions that come and go ------------------------------------------------------------------------------

sessions_that_come_and_go() {
	cat >sessions.c <<'END'
#include "observe.h"
static void *waits(void *unused)
{
	struct fxtrace_observer o = {0};
	enum fxtrace_phase phase;
	int r;
	while ((r = fxtrace_observer_wait(&o, 20 * SECOND, &phase)) == 0) {
		printf("waits %s\n", phases[phase]);
		fflush(stdout);
	}
	printf("%s\n", strerror(-r));
	return unused;
}
int main(void)
{
	pthread_t thread;
	fxtrace_observer_add(&observer);
	pthread_create(&thread, NULL, waits, NULL);
	while (pthread_tryjoin_np(thread, NULL) != 0) {
		TRACE_INSTANT("a", "turn", TRACE_SCOPE_THREAD);
		TRACE_INSTANT("b", "turn", TRACE_SCOPE_THREAD);
		nap();
	}
	for (int i = 0; i < 3; i++)
		TRACE_INSTANT("a", "after it", TRACE_SCOPE_THREAD);
	return 0;
}
END
	compile sessions -D_GNU_SOURCE "$include" sessions.c
	manager_start
	provider_start ./sessions >heard
	wait_for 10 providers_are 1 || fail "the process does not register"
	heard_is() {
		[ "$(grep -c "^$1" heard)" = "$2" ]
	}
	expect_ok "$FXTRACE" start -c a -o first.fxt
	wait_for 10 heard_is 'hears started 1 0' 1 || fail "nothing of the first start: $(cat heard)"
	expect_ok "$FXTRACE" stop
	wait_for 10 heard_is 'hears stopped' 1 || fail "nothing of the first stop: $(cat heard)"
	expect_ok "$FXTRACE" start -c a,b
	wait_for 10 heard_is 'hears started 1 1' 1 || fail "nothing of the second start: $(cat heard)"
	expect_ok "$FXTRACE" terminate
	wait_for 10 heard_is 'hears stopped' 2 || fail "nothing of the end: $(cat heard)"
	expect_ok "$FXTRACE" start -c b -o second.fxt
	wait_for 10 heard_is 'hears started 0 1' 1 || fail "nothing of the next session: $(cat heard)"
	kill -9 "$MANAGER"
	wait "$MANAGER" 2>/dev/null
	wait "$PROVIDER" || fail "the program ends with $?"
	grep '^hears' heard >hears
	printf 'hears %s\n' 'started 1 0' 'stopping 0 0' 'stopped 0 0' 'started 1 1' 'stopping 0 0' 'stopped 0 0' \
		'started 0 1' 'stopping 0 0' 'stopped 0 0' >expected
	expect_same_file expected hears
	grep -v '^hears' heard | sed 's/^Transport endpoint is not connected$/Owner died/' >waits
	printf '%s\n' 'waits '{started,stopping,stopped} 'waits '{started,stopping,stopped} 'waits '{started,stopping,stopped} 'Owner died' >expected
	expect_same_file expected waits
	expect_clean first.fxt
	list_archive first.fxt
	expect_events 2 'name == "heard"' # of the starts: what is said of a stop comes after it
}

# --- Threads, a handler in the middle of them, a library that comes and goes -----------------------------------

threads_and_a_library() {
	cat >comes.c <<'END'
#include "observe.h"
static int heard;
static void hear(struct fxtrace_observer *o, enum fxtrace_phase phase)
{
	changed(o, phase);
	__atomic_store_n(&heard, 1, __ATOMIC_RELAXED);
}
static struct fxtrace_observer comes = {.changed = hear};
__attribute__((constructor)) static void come(void)
{
	who = "the library hears";
	if (fxtrace_observer_add(&comes) != 0)
		_exit(5);
	/* Another thread may be telling the others. */
	while (!__atomic_load_n(&heard, __ATOMIC_RELAXED))
		TRACE_INSTANT("a", "in the library", TRACE_SCOPE_THREAD);
}
__attribute__((destructor)) static void go(void)
{
	if (fxtrace_observer_remove(&comes) != 0)
		_exit(6);
}
END
	cat >threads.c <<'END'
#include "observe.h"
#include <dlfcn.h>
static int calls;
static void count(struct fxtrace_observer *o, enum fxtrace_phase phase)
{
	(void)o;
	__atomic_fetch_add(&calls, phase == FXTRACE_STARTED, __ATOMIC_RELAXED);
}
static void handler(int signal)
{
	struct fxtrace_observer mine = {.changed = count};
	(void)signal;
	int r = fxtrace_observer_add(&mine);
	if (r == 0)
		r = fxtrace_observer_remove(&mine);
	if (r != 0 && r != -EDEADLK)
		_exit(7);
}
static void *thread(void *unused)
{
	for (int i = 0; i < 2000; i++) {
		struct fxtrace_observer mine = {.changed = count};
		if (fxtrace_observer_add(&mine) != 0)
			_exit(8);
		TRACE_INSTANT("a", "turn", TRACE_SCOPE_THREAD);
		if (i % 50 == 0)
			raise(SIGUSR1);
		if (fxtrace_observer_remove(&mine) != 0)
			_exit(9);
	}
	return unused;
}
int main(void)
{
	pthread_t threads[6];
	signal(SIGUSR1, handler);
	for (int i = 0; i < 6; i++)
		pthread_create(&threads[i], NULL, thread, NULL);
	for (int i = 0; i < 20; i++) {
		void *library = dlopen("./comes.so", RTLD_NOW);
		if (!library)
			_exit(10);
		dlclose(library);
		TRACE_INSTANT("a", "after it", TRACE_SCOPE_THREAD);
	}
	for (int i = 0; i < 6; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
END
	compile comes.so -shared -fPIC "$include" comes.c
	compile threads "$include" threads.c -ldl
	expect_ok "$FXTRACE" run -q -c a -o trace.fxt -- ./threads
	# Each that comes hears it once, from the macro below it, or from another thread's.
	expect_equal 20 "$(grep -c '^the library hears started 1 0$' out)" "calls in a library that came 20 times"
	expect_clean trace.fxt
}

alone_and_traced
sessions_that_come_and_go
threads_and_a_library
