#!/bin/bash
# SPDX-License-Identifier: MIT
# A compressed archive is as new as a plain one: what a program has done stands in the file while it still runs, and
# all readers take it from there when the manager has been killed.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

cat >steps.c <<'SOURCE'
#include <signal.h>
#include <unistd.h>

__attribute__((noinline)) static void step(void)
{
	__asm__ volatile("");
}

/* Ten calls, and ten more for each signal. */
int main(void)
{
	sigset_t set;
	int sig;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	do {
		for (int i = 0; i < 10; i++)
			step();
		if (write(1, ".", 1) != 1)
			return 1;
	} while (sigwait(&set, &sig) == 0);
	return 0;
}
SOURCE
compile steps steps.c -O1 -finstrument-functions

# has_steps COUNT ARCHIVE: so many are in it, neither more nor less.
has_steps() {
	[ "$("$FX_BUILDDIR/tests/e2e/events" "$2" 2>/dev/null | grep -c '	step	')" -eq "$1" ]
}

has_dots() {
	[ "$(wc -c <dots)" -eq "$1" ]
}

for output in trace.fxt trace.fxt.gz trace.fxt.zst; do
	: >dots
	"$FXTRACE" run -q -o $output -- ./steps >dots &
	run=$!
	for turn in 1 2 3; do
		wait_for 60 has_dots $turn || fail "$output: the program does not go on"
		wait_for 20 has_steps $((10 * turn)) $output ||
			fail "$output: turn $turn is not in the file while the program waits"
		[ $turn -eq 3 ] || kill -USR1 "$(cat /proc/$run/task/$run/children)"
	done
	child=$(cat /proc/$run/task/$run/children)
	kill -9 $run
	wait $run 2>/dev/null
	# shellcheck disable=SC2086 # one word
	kill -9 $child
	expect_prefix $output
	has_steps 30 $output || fail "$output: $output has not what was in it"
	"$FXTRACE" dump $output >out 2>err
	grep -q 'name="step"' out || fail "$output: dump shows no call"
	"$FXTRACE" convert -f json $output $output.json >out 2>err
	expect_equal 30 "$(grep -o '"name":"step"' $output.json | wc -l)" "calls in the JSON of $output"
done

# Disk and time: one that is busy is compressed as before.
target producer producer.c
expect_ok "$FXTRACE" run -q -o busy.fxt -c function -b 1M --on-full block -- ./producer 1 300000
expect_ok "$FXTRACE" run -q -o busy.fxt.zst -c function -b 1M --on-full block -- ./producer 1 300000
[ "$(wc -c <busy.fxt.zst)" -lt $(($(wc -c <busy.fxt) / 3)) ] ||
	fail "$(wc -c <busy.fxt.zst) bytes instead of $(wc -c <busy.fxt), compressed"
