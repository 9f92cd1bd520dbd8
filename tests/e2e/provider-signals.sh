#!/bin/bash
# SPDX-License-Identifier: MIT
# Providers that are created and destroyed in signal handlers, which interrupt malloc() and creations and destructions of the same thread:
# that one is told -EDEADLK, all others succeed, and every event between is recorded.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
. "$FX_SRCDIR/tests/e2e/control.sh"

include=-I$FX_SRCDIR/include

cat >signals.c <<'END'
#include <errno.h>
#include <fxtrace/event.h>
#include <fxtrace/provider.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>
static volatile sig_atomic_t done, refused, failed, first_error;
static void on_alarm(int number)
{
	struct fxtrace_provider *provider;
	int saved = errno, r = fxtrace_provider_create(&provider, NULL);

	(void)number;
	if (r == 0) {
		TRACE_INSTANT("work", "handled", TRACE_SCOPE_THREAD);
		r = fxtrace_provider_destroy(provider);
		done++;
	} else if (r == -EDEADLK) {
		refused++;
		r = 0;
	}
	if (r != 0 && !failed++)
		first_error = -r;
	errno = saved;
}
int main(int argc, char **argv)
{
	struct itimerval often = {{0, 300}, {0, 300}}, never = {{0, 0}, {0, 0}};
	int wanted = atoi(argv[1]), own = 0;
	struct fxtrace_provider *first, *provider;

	(void)argc;
	if (fxtrace_provider_create(&first, NULL) != 0)
		return 2;
	signal(SIGALRM, on_alarm);
	raise(SIGALRM);
	setitimer(ITIMER_REAL, &often, NULL);
	/* Until both have happened often. */
	while ((done < wanted || refused < 3) && !failed) {
		void *volatile memory[8];

		for (int i = 0; i < 8; i++)
			memory[i] = malloc((size_t)(100 << i));
		for (int i = 0; i < 8; i++)
			free(memory[i]);
		for (int i = 0; i < 8; i++) {
			if (fxtrace_provider_create(&provider, NULL) != 0 || fxtrace_provider_destroy(provider) != 0)
				return 3;
			own++;
		}
		TRACE_INSTANT("work", "round", TRACE_SCOPE_THREAD);
	}
	setitimer(ITIMER_REAL, &never, NULL);
	if (fxtrace_provider_destroy(first) != 0 || own == 0)
		return 4;
	printf("%d %d %d\n", (int)done, (int)failed, (int)first_error);
	return 0;
}
END
compile signals-so "$include" signals.c -L"$FX_BUILDDIR/.libs" -lfxtrace-provider "-Wl,-rpath,$FX_BUILDDIR/.libs"
compile signals-a "$include" signals.c "$FX_BUILDDIR/libfxtrace-provider.a" -ldl

# judge WHAT: what the program has said is what the archive has.
judge() {
	local created failed error

	read -r created failed error <said
	expect_equal "0 0" "$failed $error" "$1: creations that failed, and the first errno"
	[ "$created" -ge 30 ] || fail "$1: $created creations in the handler"
	expect_clean signals.fxt
	list_archive signals.fxt
	expect_events "$created" 'name == "handled" && category == "work"'
}

manager_start
for way in so a; do
	expect_ok "$FXTRACE" start -c work -o signals.fxt
	expect_ok timeout -s KILL 60 ./signals-$way 30
	cp out said
	expect_ok "$FXTRACE" terminate
	judge "$way with its own engine"
done
expect_ok timeout -s KILL 60 "$FXTRACE" run -q -c work -o signals.fxt -- ./signals-so 30
cp out said
judge "with libfxtrace.so"
