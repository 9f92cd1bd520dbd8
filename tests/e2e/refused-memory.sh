#!/bin/bash
# SPDX-License-Identifier: MIT
# A manager that gets no memory, for one request or for all from some one on: the program runs and ends as ever, its status
# is ours, what is in the archive is sound, and what is not is told.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
not_sanitized "sanitizers have memory of their own"

compile refuse.so -O1 -shared -fPIC "$FX_SRCDIR/tests/e2e/targets/refuse.c"

cat >calls.c <<'SOURCE'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
__attribute__((noinline)) static void step(void)
{
	__asm__ volatile("");
}
static void *steps(void *unused)
{
	for (int i = 0; i < 20; i++)
		step();
	return unused;
}
int main(int argc, char **argv)
{
	pthread_t thread;

	if (argc > 1)
		return steps(NULL) != NULL;
	pthread_create(&thread, NULL, steps, NULL);
	pthread_join(thread, NULL);
	if (fork() == 0) {
		steps(NULL);
		execl(argv[0], argv[0], "again", NULL);
	}
	wait(NULL);
	puts("done");
	return 3;
}
SOURCE
compile calls calls.c -O1 -finstrument-functions -pthread

expect_status 3 "$FXTRACE" run -o trace.fxt ./calls
list_archive trace.fxt
expect_events 60 'name == "step"'

# What lacks is told in one of these ways.
lack='out of memory|no memory|Cannot allocate memory|more symbols than memory holds|Resource temporarily unavailable'

# with_refused FIRST LAST: what its words and its archive are.
with_refused() {
	local what="requests $1 to $2" status=0

	rm -f trace.fxt
	LD_PRELOAD=$PWD/refuse.so REFUSE=$1-$2 timeout -k 1 60 "$FXTRACE" run -o trace.fxt ./calls >out 2>said ||
		status=$?
	if [ ! -s out ]; then
		# It could not even read its options, and has run nothing.
		expect_equal 1 "$(wc -l <said)" "lines of $what: $(cat said)"
		expect_line "$lack" said
		[ "$1" -lt 20 ] && [ ! -s trace.fxt ] || fail "the program does not run without $what: $(cat said)"
		return
	fi
	expect_equal 3 "$status" "status without $what: $(cat said)"
	expect_line '^done$' out
	expect_no_line 'of another make' said
	if grep -q '^fxtrace: nothing is traced: ' said; then
		told=$((told + 1))
		return
	fi
	expect_line '^fxtrace: trace.fxt: ' said
	expect_clean trace.fxt
	list_archive trace.fxt
	if grep -qE "$lack" said; then
		told=$((told + 1))
	else
		expect_equal 60 "$(count_events 'name == "step"')" "calls without $what: $(cat said)"
	fi
}

told=0
for ((n = 1; n < 260; n += 1 + n % 3)); do
	with_refused "$n" "$n"
done
[ "$told" -gt 30 ] || fail "of single requests $told alone were missed"
echo "$told single requests were missed"
told=0
for ((n = 1; n < 260; n += 9)); do
	with_refused "$n" 1000000000
done
[ "$told" -gt 10 ] || fail "of all requests from some one on $told alone were missed"

# Nor does a report take the status.
for ((n = 150; n < 1200; n += 75)); do
	status=0
	LD_PRELOAD=$PWD/refuse.so REFUSE=$n-$n "$FXTRACE" run --report -o trace.fxt ./calls >out 2>said || status=$?
	expect_equal 3 "$status" "status with a report without request $n: $(cat said)"
done

# Each has its own words. Names of functions are asked for after their processes are known.
for ((n = 60; n < 260; n++)); do
	LD_PRELOAD=$PWD/refuse.so REFUSE=$n-$n "$FXTRACE" run -q -o trace.fxt ./calls >out 2>err
	! grep -q 'left out because' err || break
done
expect_loss manager-memory '[0-9]+' err
