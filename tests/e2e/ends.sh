#!/bin/bash
# SPDX-License-Identifier: MIT
# How and when a process ended stands on its own timeline, where it ended, and not where its parent heard of it.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

cat >late.c <<'EOF'
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void)
{
	pid_t child = fork();
	if (!child)
		exit(3);
	sleep(3);
	waitpid(child, NULL, 0);
	return 5;
}
EOF
compile late late.c -O1
expect_status 5 "$FXTRACE" run -q -o trace.fxt -- ./late
expect_clean trace.fxt
list_archive trace.fxt
expect_events 1 'type == "instant" && name == "process exits" && has("exited=3")'
expect_events 1 'type == "instant" && name == "process exits" && has("exited=5")'
expect_events 1 'type == "instant" && name == "told of its end"'
# Not in seconds: half of the time between its start and its parent's word would be late.
awk -F'\t' '$1 == "instant" && $7 == "process starts" { start = $8 }
	$1 == "instant" && $7 == "process exits" && / *exited=3/ { exit_ = $8 }
	$1 == "instant" && $7 == "told of its end" { told = $8 }
	END { exit !(start < exit_ && exit_ - start < (told - start) / 2) }' events ||
	fail "the child ended where its parent heard of it: $(grep instant events)"

# What is said of a run is what stands in its archive.
expect_counted() { # OPTION... -- PROGRAM...
	"$FXTRACE" run -o trace.fxt "$@" >/dev/null 2>said
	expect_ok "$FXTRACE" check trace.fxt
	expect_equal "$(sed -nE 's/.*, ([0-9]+ events?), .*/\1/p' out)" \
		"$(sed -nE 's/^fxtrace: trace.fxt: .*, ([0-9]+ events?)$/\1/p' said)" "events of: $*: $(cat said)"
}
target forks forks.c -lutil
target producer producer.c
for options in '' '-c function' '--records pairs' '-m circular -b 64K' '-m oneshot -b 16K' '--last 10ms -m circular' '--no-trace in_child'; do
	# shellcheck disable=SC2086 # several options
	{
		expect_counted $options -- sh -c 'ls / | wc; kill -9 $$'
		expect_counted $options -- ./forks burst 5
		expect_counted $options -- ./producer 4 2000
	}
done
expect_counted -c dl,-syscall -- true

# Six calls deep, and nothing has ended: these are events too.
cat >crash.c <<'EOF'
static volatile int *nothing = (int *)8;
static int f(int n)
{
	return n ? 1 + f(n - 1) : *nothing;
}
int main(void)
{
	return f(4);
}
EOF
compile crash crash.c -O0 -finstrument-functions
expect_status 139 "$FXTRACE" run -o trace.fxt -c function -- ./crash
expect_line ' 1 process, 1 thread, 7 events' err
expect_clean trace.fxt
list_archive trace.fxt
expect_events 1 'type == "instant" && name == "process exits" && has("signal=SIGSEGV")'

# In a second thread: the signal, and which calls of which thread were open, are always there. The thread that has faulted,
# and where, the kernel says in its log alone, of so many in some seconds: it is tried again.
cat >crash-in-thread.c <<'EOF'
#include <pthread.h>
static volatile int *nothing = (int *)8;
static int f(int n)
{
	return n ? 1 + f(n - 1) : *nothing;
}
static void *in_thread(void *unused)
{
	f(4);
	return unused;
}
int main(void)
{
	pthread_t thread;
	pthread_create(&thread, 0, in_thread, 0);
	return pthread_join(thread, 0);
}
EOF
compile crash-in-thread crash-in-thread.c -O0 -finstrument-functions -pthread
tells_faults() { # the kernel, of any, and to us
	[ "$(cat /proc/sys/debug/exception-trace 2>/dev/null)" = 1 ] && dmesg >/dev/null 2>&1
}
told=0
for try in 1 2 3 4; do
	expect_status 139 "$FXTRACE" run -o trace.fxt -c function -- ./crash-in-thread
	expect_line ' 1 process, 2 threads, 8 events' err
	expect_clean trace.fxt
	list_archive trace.fxt
	expect_events 1 'type == "instant" && name == "process exits" && has("signal=SIGSEGV")'
	thread=$(awk -F'\t' '$7 == "in_thread" { print $3 }' events)
	expect_events 5 "name == \"f\" && tid == $thread && tid != pid && /unfinished/"
	# The archive and the log agree, whatever that tells.
	if tells_faults && dmesg | grep -q "\[$thread\]: segfault at 8 "; then
		expect_events 1 "name == \"process exits\" && has(\"thread=$thread\") && has(\"address=0x8\") && /code=0x/"
		told=1
		break
	fi
	tells_faults && [ "$try" -lt 4 ] || break
	sleep 6
done
[ "$told" -eq 1 ] || echo "the kernel's log does not tell of faults here: whose it was is not tried"

# Three programs one after the other in one process: of each, its first thread is the process's, and its others are more.
cat >threaded.c <<'EOF'
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
static void *run(void *unused)
{
	return unused;
}
int main(int argc, char **argv)
{
	for (int i = atoi(argv[1]); i > 0; i--) {
		pthread_t t;

		if (pthread_create(&t, NULL, run, NULL) != 0 || pthread_join(t, NULL) != 0)
			return 1;
	}
	argv[1] = argv[0];
	return argc > 2 ? execv(argv[0], argv + 1) : 0;
}
EOF
compile threaded threaded.c -O1 -pthread
for threads in '0 1' '3 4' '3 0 2 6'; do
	# shellcheck disable=SC2086 # several numbers
	expect_status 0 "$FXTRACE" run -o trace.fxt -- ./threaded ${threads% *}
	expect_line " 1 process, ${threads##* } threads?, " err
	expect_clean trace.fxt
done
