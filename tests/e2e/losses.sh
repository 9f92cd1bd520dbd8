#!/bin/bash
# SPDX-License-Identifier: MIT
# Each cause of loss is told in one line, by its own name and with a cure. Those that a signal makes: tests/faults/losses.sh.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

# --- Children that end before they can be traced --------------------------------------------------

target hasty hasty.c

# Each child is a process of the archive, or is counted: expect_children COUNT.
expect_children() {
	local traced lost

	traced=$(sed -nE 's/^fxtrace: .*[^0-9]([0-9]+) process(es)?, .*/\1/p' err)
	lost=$(sed -nE 's/^fxtrace: ([0-9]+) process(es)? (ended before tracing|were not traced because the manager).*/\1/p;
		s/^fxtrace: (1) process was not traced because the manager .*/\1/p' err | awk '{ n += $1 } END { print n + 0 }')
	expect_equal "$(($1 + 1))" "$((traced + lost))" "processes, traced ($traced) and counted ($lost): $(cat err)"
}

# expect_quiet: who wants to hear of problems alone hears of them at the most that the manager was too busy for some; and
# what an emulator says itself.
expect_quiet() {
	expect_equal "" "$(grep -vE 'not traced because the manager answered later|^qemu: uncaught target signal' err)" "lines with --quiet"
}

# However many they are, they are one line, and none with --quiet. When the manager looks cannot be chosen: a few tries
# show some.
told=0
for ((i = 0; i < 20 && !told; i++)); do
	expect_ok "$FXTRACE" run -o trace.fxt -- ./hasty 200
	expect_no_line 'hasty' err
	told=$(grep -c 'ended before tracing could begin there' err)
	[ "$told" -le 1 ] || fail "more than one line: $(cat err)"
	expect_children 200
	expect_clean trace.fxt
	expect_ok "$FXTRACE" run -q -o trace.fxt -- ./hasty 200
	expect_quiet
done
[ "$told" -eq 1 ] || echo "no child ended while it was given its buffer: not tried"

# --- Children of which nobody hears ------------------------------------------------------------------

target vanish vanish.c
ulimit -c 0

# They end before fork() returns in them.
expect_ok "$FXTRACE" run -o trace.fxt -- ./vanish atfork 7
expect_loss ended-early 7 err
expect_children 8
expect_clean trace.fxt
expect_ok "$FXTRACE" run -q -o trace.fxt -- ./vanish atfork 7
expect_quiet

# What they become ends before its first instruction: a library that it needs is not there. One that cannot be traced,
# or does not become anything, is not missing.
echo 'int there(void) { return 0; }' >there.c
compile libthere.so -shared -fPIC there.c
echo 'int there(void); int main(void) { return there(); }' >needs.c
compile needs needs.c -L. -lthere -Wl,-rpath,"$TEST_DIR"
echo 'int main(void) { return 0; }' >plain.c
compile plain plain.c
$FX_CC -static -o fixed plain.c 2>/dev/null || echo "nothing static can be made here: not tried"

# expect_vanished WAY CATEGORIES: children by that way; those of fork() are in the archive before they become anything.
expect_vanished() {
	local run=("$FXTRACE" run -o trace.fxt -c "$2" -- ./vanish "$1" 3)

	expect_ok "${run[@]}" ./needs
	expect_no_line 'ended before' err
	expect_children 4
	mv libthere.so away
	expect_ok "${run[@]}" ./needs
	# (An emulator on a busy machine takes a second to start one, which is time enough to be heard of.)
	is_emulated || expect_loss ended-early 3 err
	[ "$1" = exec ] || expect_children 4
	expect_clean trace.fxt
	mv away libthere.so
	# An emulator forks for vfork(): posix_spawn() does not hear that there is no such program.
	if [ "$1" != spawn ] || ! is_emulated; then
		expect_ok "${run[@]}" ./gone
		expect_no_line 'ended before' err
	fi
	[ -e fixed ] || return 0
	expect_ok "${run[@]}" ./fixed
	expect_line 'not traced: .*fixed \(3 times\)' err
	expect_no_line 'ended before' err
}

# (An emulator forks for vfork(): what the child becomes its parent does not hear.)
ways=(spawn vfork exec)
! is_emulated || ways=(spawn exec)
for way in "${ways[@]}"; do
	expect_vanished "$way" '#default'
	# Who is missing is counted whatever is recorded, and then not shown.
	expect_vanished "$way" function
	list_archive trace.fxt
	expect_events 0 'name == "creates process" || name == "becomes another program"'
done
expect_ok "$FXTRACE" run -o trace.fxt -c function -- ./vanish atfork 7
expect_loss ended-early 7 err
expect_children 8

# Of whom nobody is to hear, nobody is missing.
expect_ok "$FXTRACE" run --no-follow -o trace.fxt -- sh -c '(true); /bin/true; (true)'
expect_no_line 'ended before' err
for way in "${ways[@]}"; do
	[ -e fixed ] || break
	expect_ok "$FXTRACE" run --no-follow -o trace.fxt -- ./vanish "$way" 3 ./fixed
	expect_no_line 'ended before|not traced' err
done
if [ -e fixed ]; then
	expect_ok "$FXTRACE" run --no-follow -o trace.fxt -- sh -c 'exec ./fixed'
	expect_line 'not traced: .*fixed' err
fi

# The manager hears of nobody for longer than anybody waits, and its queue has room for two or three.
if unshare -n sh -c 'echo 1 >/proc/sys/net/core/somaxconn' 2>/dev/null; then
	# shellcheck disable=SC2016 # another shell's
	expect_ok unshare -n sh -c 'echo 1 >/proc/sys/net/core/somaxconn && exec "$@"' sh \
		"$FXTRACE" run -o trace.fxt -- ./vanish behind 10
	expect_loss answered-late '[0-9]+' err
	expect_children 11
	expect_clean trace.fxt
else
	echo "no network of its own is allowed here: a full queue is not tried"
fi

# --- More threads than can record at a time --------------------------------------------------------

cat >multitude.c <<'EOF'
#include <pthread.h>
#define THREADS 2060
static pthread_barrier_t all;
static void work(void) {}
static void *record(void *unused)
{
	pthread_barrier_wait(&all);
	work();
	pthread_barrier_wait(&all);
	return unused;
}
__attribute__((no_instrument_function)) int main(void)
{
	pthread_t threads[THREADS];
	pthread_attr_t small;
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 64 << 10);
	pthread_barrier_init(&all, 0, THREADS + 1);
	work(); /* this thread is the first of all */
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], &small, record, 0))
			return 77;
	pthread_barrier_wait(&all);
	pthread_barrier_wait(&all);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], 0);
	return 0;
}
EOF
compile multitude multitude.c -O0 -finstrument-functions
"$FXTRACE" run -o trace.fxt -b 256M -c function -- ./multitude 2>err || skip "no room for 2,060 threads"
# There is room enough for records: that is not to blame.
expect_no_line 'buffer was full' err
expect_loss threads-many 26 err
list_archive trace.fxt
expect_events 1+ 'type == "instant" && name == "records dropped" && /cause=threads-many/'
expect_clean trace.fxt

# --- No room ---------------------------------------------------------------------------------------------

target producer producer.c
expect_ok "$FXTRACE" run -o trace.fxt -c function -b 4K -- ./producer 8 "$(scaled 200000)"
expect_loss buffer-full '[0-9]+' err

# Threads that wait for room when tracing ends.
cat >endless.c <<'EOF2'
#include <pthread.h>
#include <time.h>
static void work(void) {}
__attribute__((no_instrument_function)) static void *record(void *end)
{
	struct timespec now;
	do {
		for (int i = 0; i < 1000; i++)
			work();
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while (now.tv_sec < *(time_t *)end);
	return 0;
}
__attribute__((no_instrument_function)) int main(void)
{
	pthread_t threads[20];
	struct timespec now;
	time_t end;
	clock_gettime(CLOCK_MONOTONIC, &now);
	end = now.tv_sec + 3;
	for (int i = 0; i < 20; i++)
		pthread_create(&threads[i], 0, record, &end);
	for (int i = 0; i < 20; i++)
		pthread_join(threads[i], 0);
	return 0;
}
EOF2
compile endless endless.c -O0 -finstrument-functions
# At the moment of the end from none to all of the twenty wait.
for _ in 1 2 3 4 5 6; do
	expect_ok "$FXTRACE" run -o trace.fxt -c function -b 4K --on-full block --duration 500ms -- ./endless
	! grep -q 'tracing ended while' err || break
	expect_clean trace.fxt
done
expect_loss wait-ended '[0-9]+' err
expect_clean trace.fxt

# --- Under a filter ------------------------------------------------------------------------------------

target sandbox sandbox.c
target nosys nosys.c
if ./sandbox fork 1 >out && grep -qx alive out; then
	# Room may not be waited for.
	expect_ok "$FXTRACE" run -o trace.fxt -c function -b 4K --on-full block -- ./sandbox calls 1000000
	expect_loss wait-forbidden '[0-9]+' err
	expect_no_line 'buffer was full;' err
	expect_clean trace.fxt
	# Threads may not ask who they are. On x86-64 it is found at the start where libc has that; elsewhere it was never told.
	if ./nosys mute ./sandbox threads 10 >out; then
		expect_ok ./nosys mute "$FXTRACE" run -o trace.fxt -c function -- ./sandbox threads 10
		expect_clean trace.fxt
		list_archive trace.fxt
		if [ "$(uname -m)" = x86_64 ]; then
			expect_no_line 'under a seccomp filter' err
			expect_events 1000+ 'type == "complete"'
		else
			expect_loss thread-confined 1000 err
			expect_events 1+ 'type == "instant" && name == "records dropped" && /cause=thread-confined/'
		fi
	fi
fi

# --- Threads that libc has not made -------------------------------------------------------------------------

cat >foreign.c <<'EOF2'
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
static char stack[65536] __attribute__((aligned(16)));
static char storage[8192] __attribute__((aligned(64)));
static volatile int done;
__attribute__((noinline)) static void work(void)
{
	__asm__ volatile("");
}
__attribute__((no_instrument_function)) static int record(void *unused)
{
	for (int i = 0; i < 10; i++)
		work();
	done = 1;
	for (;;)
		syscall(SYS_exit, unused != 0);
}
__attribute__((no_instrument_function)) int main(void)
{
	const struct timespec moment = {0, 10000000};
	char *own = storage + sizeof storage / 2;
#ifdef __x86_64__ /* elsewhere variables begin there */
	*(void **)own = *(void **)(own + 16) = own;
#endif
	work();
	if (clone(record, stack + sizeof stack,
		  CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | CLONE_SETTLS, 0, 0,
		  own, 0) < 0)
		return 77;
	while (!done)
		nanosleep(&moment, 0);
	nanosleep(&moment, 0);
	return 0;
}
EOF2
compile foreign foreign.c -O1 -fno-stack-protector -D_GNU_SOURCE -finstrument-functions
expect_ok "$FXTRACE" run -o trace.fxt -c function -- ./foreign
expect_loss thread-foreign 10 err
expect_clean trace.fxt

# A process or a thread on the storage of who has made it.
cat >lodger.c <<'EOF2'
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static char stack[65536] __attribute__((aligned(16)));
static volatile int done;
__attribute__((noinline)) static void work(void)
{
	__asm__ volatile("");
}
__attribute__((no_instrument_function)) static int record(void *unused)
{
	for (int i = 0; i < 10; i++)
		work();
	done = 1;
	for (;;)
		syscall(SYS_exit, unused != 0);
}
__attribute__((no_instrument_function)) int main(int argc, char **argv)
{
	const int thread = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM;
	const struct timespec moment = {0, 10000000};
	work();
	if (clone(record, stack + sizeof stack, argc > 1 ? thread : CLONE_VM | SIGCHLD, argv) < 0)
		return 77;
	while (!done)
		nanosleep(&moment, 0);
	if (argc == 1)
		wait(0);
	work();
	return 0;
}
EOF2
compile lodger lodger.c -O1 -fno-stack-protector -D_GNU_SOURCE -finstrument-functions
for kind in '' thread; do
	status=0
	./lodger $kind || status=$?
	[ "$status" -ne 77 ] || continue # an emulator knows threads and processes, and nothing between
	expect_ok "$FXTRACE" run -o trace.fxt -c function -- ./lodger $kind
	expect_loss thread-foreign 10 err
	expect_clean trace.fxt
	list_archive trace.fxt
	expect_events 2 'name == "work"'
done

# --- What a process gives up -----------------------------------------------------------------------------

cat >gives.c <<'EOF2'
#include <linux/seccomp.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
__attribute__((noinline)) static void work(void)
{
	__asm__ volatile("");
}
__attribute__((no_instrument_function)) static long give_up(const char *how)
{
	if (strcmp(how, "strict") == 0)
		return prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
	if (strcmp(how, "strict-by-number") == 0)
		return syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 0, 0);
	if (strcmp(how, "prctl-by-number") == 0)
		return syscall(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
	if (strcmp(how, "clock") == 0)
		return prctl(PR_SET_TSC, PR_TSC_SIGSEGV);
	return syscall(SYS_prctl, PR_SET_TSC, PR_TSC_SIGSEGV);
}
__attribute__((no_instrument_function)) int main(int argc, char **argv)
{
	if (argc > 2 && fork())
		return wait(0) < 0;
	for (int i = 0; argc == 2 && i < 10; i++)
		work();
	if (give_up(argv[1]))
		return 77;
	for (int i = 0; i < 10; i++)
		work();
	write(1, "alive\n", 6);
	for (;;)
		syscall(SYS_exit, 0); /* strict seccomp allows no other end */
}
EOF2
compile gives gives.c -O1 -finstrument-functions
for how in strict strict-by-number prctl-by-number clock clock-by-number; do
	status=0
	./gives $how >plain.out || status=$?
	[ "$status" -ne 77 ] || continue
	expect_equal alive "$(cat plain.out)" "what gives up by $how, without the tracer"
	expect_unharmed 0 ./gives $how
	expect_ok "$FXTRACE" run -o trace.fxt -- ./gives $how
	expect_loss given-up 1 err
	expect_clean trace.fxt
	list_archive trace.fxt
	expect_events 10 'name == "work"'
	expect_events 1 'type == "instant" && name == "tracing ends" && has("cause=given-up")'
	# A child's first act.
	expect_ok "$FXTRACE" run -o trace.fxt -- ./gives $how child
	expect_equal alive "$(cat out)" "a child that gives up by $how"
	expect_loss given-up 1 err
	expect_no_line 'ended before' err
	list_archive trace.fxt
	expect_equal 2 "$(wc -l <processes)" "processes, one of which gives up by $how"
done

# --- What is in the way of the archive ---------------------------------------------------------------------

cat >deep.c <<'EOF2'
__attribute__((noinline)) static int descend(int levels)
{
	return levels ? descend(levels - 1) + 1 : 0;
}
__attribute__((no_instrument_function)) int main(void)
{
	return descend(599) != 599;
}
EOF2
compile deep deep.c -O0 -finstrument-functions
expect_ok "$FXTRACE" run -o trace.fxt -c function -- ./deep
expect_loss too-deep 97 err
expect_clean trace.fxt
expect_ok "$FXTRACE" info trace.fxt
expect_line '^losses +too-deep 97$' out
# What was asked for is no loss; how much it was is told.
expect_ok "$FXTRACE" run -o trace.fxt -c function --max-depth 20 -- ./deep
expect_no_line 'too deeply' err
expect_ok "$FXTRACE" info trace.fxt
expect_line '^losses +none recorded$' out
expect_ok "$FXTRACE" run -o trace.fxt -c function --min-duration 1h -- ./deep
expect_line '^fxtrace: 503 calls of functions left out by --min-duration$' err

# More stacks than the manager is to remember: each call has one of its own.
cat >descends.c <<'EOF2'
#include <unistd.h>
static int descend(int n)
{
	return (n ? descend(n - 1) : 0) + access("/", F_OK);
}
int main(void)
{
	return descend(60);
}
EOF2
compile descends descends.c -O0
expect_ok "$FXTRACE" run -o trace.fxt -c syscall --stacks syscall --max-strings 1K -- ./descends
expect_loss strings-numbered '[0-9]+' err
expect_clean trace.fxt
