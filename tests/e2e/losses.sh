#!/bin/bash
# SPDX-License-Identifier: MIT
# Each cause of loss is told in one line, by its own name and with a cure.
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

# However many they are, they are one line, and none for who wants to hear of problems alone. When the manager looks
# cannot be chosen: a few tries show some.
told=0
for ((i = 0; i < 20 && !told; i++)); do
	expect_ok "$FXTRACE" run -o trace.fxt -- ./hasty 200
	expect_no_line 'hasty' err
	told=$(grep -c 'ended before tracing could begin there$' err)
	[ "$told" -le 1 ] || fail "more than one line: $(cat err)"
	expect_children 200
	expect_clean trace.fxt
	expect_ok "$FXTRACE" run -q -o trace.fxt -- ./hasty 200
	expect_equal "" "$(cat err)" "lines with --quiet"
done
[ "$told" -eq 1 ] || echo "no child ended while it was given its buffer: not tried"

# --- Children of which nobody hears ------------------------------------------------------------------

target vanish vanish.c
ulimit -c 0

# They end before fork() returns in them.
expect_ok "$FXTRACE" run -o trace.fxt -- ./vanish atfork 7
expect_line '^fxtrace: 7 processes ended before tracing could begin there$' err
expect_children 8
expect_clean trace.fxt
expect_ok "$FXTRACE" run -q -o trace.fxt -- ./vanish atfork 7
expect_equal "" "$(cat err)" "lines with --quiet"

# What they become ends before its first instruction: a library that it needs is not there. One that cannot be traced,
# or does not become anything, is not missing.
echo 'int there(void) { return 0; }' >there.c
compile libthere.so -shared -fPIC there.c
echo 'int there(void); int main(void) { return there(); }' >needs.c
compile needs needs.c -L. -lthere -Wl,-rpath,"$TEST_DIR"
echo 'int main(void) { return 0; }' >plain.c
compile plain plain.c
for way in spawn vfork; do
	expect_ok "$FXTRACE" run -o trace.fxt -- ./vanish $way 3 ./needs
	expect_no_line 'ended before' err
	expect_children 4
	mv libthere.so away
	expect_ok "$FXTRACE" run -o trace.fxt -- ./vanish $way 3 ./needs
	expect_line '^fxtrace: 3 processes ended before tracing could begin there$' err
	expect_children 4
	mv away libthere.so
	expect_ok "$FXTRACE" run -o trace.fxt -- ./vanish $way 3 ./gone
	expect_no_line 'ended before' err
	if $FX_CC -static -o fixed plain.c 2>/dev/null; then
		expect_ok "$FXTRACE" run -o trace.fxt -- ./vanish $way 3 ./fixed
		expect_line 'not traced: .*fixed \(3 times\)' err
		expect_no_line 'ended before' err
	fi
done

# Of whom nobody is to hear, nobody is missing.
expect_ok "$FXTRACE" run --no-follow -o trace.fxt -- sh -c '(true); /bin/true; (true)'
expect_no_line 'ended before' err

# The manager hears of nobody for longer than anybody waits, and its queue has room for two or three.
if unshare -n sh -c 'echo 1 >/proc/sys/net/core/somaxconn' 2>/dev/null; then
	# shellcheck disable=SC2016 # another shell's
	expect_ok unshare -n sh -c 'echo 1 >/proc/sys/net/core/somaxconn && exec "$@"' sh \
		"$FXTRACE" run -o trace.fxt -- ./vanish behind 10
	expect_line '^fxtrace: [0-9]+ processes were not traced because the manager answered later than they waited; fewer processes at a time, ' err
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
expect_line '^fxtrace: 24 records lost of threads beyond the 2048 that can record at a time; .' err
list_archive trace.fxt
expect_events 1+ 'type == "instant" && name == "records dropped" && /cause=threads-many/'
expect_clean trace.fxt
