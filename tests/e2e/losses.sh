#!/bin/bash
# SPDX-License-Identifier: MIT
# Each cause of loss is told in one line, by its own name and with a cure.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

# --- Children that end before they can be traced --------------------------------------------------

target hasty hasty.c

# However many they are, they are one line, and none for who wants to hear of problems alone. When the manager looks
# cannot be chosen: a few tries show some.
told=0
for ((i = 0; i < 20 && !told; i++)); do
	expect_ok "$FXTRACE" run -o trace.fxt -- ./hasty 200
	expect_no_line 'hasty' err
	told=$(grep -c 'ended before tracing could begin there$' err)
	[ "$told" -le 1 ] || fail "more than one line: $(cat err)"
	expect_clean trace.fxt
	expect_ok "$FXTRACE" run -q -o trace.fxt -- ./hasty 200
	expect_equal "" "$(cat err)" "lines with --quiet"
done
[ "$told" -eq 1 ] || echo "no child ended while it was given its buffer: not tried"

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
