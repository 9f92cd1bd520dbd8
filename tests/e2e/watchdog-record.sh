#!/bin/bash
# SPDX-License-Identifier: MIT
# fxtrace record --watchdog: as that of `fxtrace run' (watchdog.sh), of all processes in the session, its program or not.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
. "$FX_SRCDIR/tests/e2e/control.sh"

! is_emulated || skip "the emulator has no other process's registers"
compile stuck -O2 "$FX_SRCDIR/tests/e2e/targets/stuck.c" -pthread
PROVIDER=
manager_start

# watch ARGUMENT...: a recording in the background, which is $runner; it reads $input.
input=/dev/null
watch() {
	"$FXTRACE" record -o trace.fxt --watchdog 300ms "$@" <"$input" >out 2>err &
	runner=$!
	at_end="kill -9 $runner $MANAGER \$(pgrep -P $runner) $PROVIDER 2>/dev/null"
}
said() {
	[ "$(grep -c '^fxtrace: nothing has progressed for ' err)" = "$1" ]
}
# shown NAME COUNT [ARCHIVE]: so many threads are said so in the archive.
shown() {
	"$FXTRACE" dump "${3:-trace.fxt}" >dumped || fail "no dump"
	expect_equal "$2" "$(grep -c "type=instant .*category=\"fxtrace\" name=\"$1\"" dumped)" "instants $1"
}
# killed: the program is, and the recording ends as it does.
killed() {
	kill -9 "$(pgrep -P $runner -x stuck)"
	wait $runner
	expect_equal 137 $? "status"
}

# --- The program of a recording --------------------------------------------------------------------

watch -- ./stuck circle 3
wait_for 60 said 1
sleep 1
said 1 || fail "said again: $(cat err)"
killed
expect_line '^fxtrace: nothing has progressed for [0-9.]+ s: DEADLOCK$' err
expect_line '^DEADLOCK: each of these waits for the next' err
expect_clean trace.fxt
shown deadlock 3
shown standstill 1
grep -qE 'name="deadlock" args=\{"where":string="[0-9]+ stuck: waits for .*traced_' dumped || fail "no stack: $(grep deadlock dumped)"
# With buffers that are saved at the end.
watch -m circular -- ./stuck condition
wait_for 60 said 1
expect_no_line DEADLOCK err
killed
expect_clean trace.fxt
shown standstill 1

# --- It goes on, and ends as it would --------------------------------------------------------------

cat >steps.c <<'END2'
#include <stdio.h>
#include <time.h>
#include <unistd.h>
/* Each byte of standard input is a step. */
int main(void)
{
	int steps = 0;
	char byte;

	while (read(0, &byte, 1) == 1) {
		clock_t end = clock() + CLOCKS_PER_SEC / 20;

		while (clock() < end)
			;
		steps++;
	}
	printf("%d steps\n", steps);
	return steps;
}
END2
compile steps -O2 steps.c
mkfifo go
input=go
watch -- ./steps
input=/dev/null
exec 9>go
for i in 1 2 3; do
	wait_for 60 said $i
	sleep 0.5
	said $i || fail "said again: $(cat err)"
	echo >&9
done
wait_for 60 said 4
exec 9>&-
wait $runner
expect_equal 3 $? "status"
expect_line '^3 steps$' out
shown standstill 4

# --- Others in the session -------------------------------------------------------------------------

# As long as one of them computes, nobody stands still.
provider_start ./stuck busy
busy=$PROVIDER
wait_for 30 providers_are 1 || fail "no provider"
watch -- ./stuck condition
sleep 1.5
said 0 || fail "one computes: $(cat err)"
kill -9 "$busy"
wait_for 60 said 1
killed
expect_clean trace.fxt
shown standstill 1
# Without a program of the recording.
if [ "$(id -u)" = 0 ] || [ "$(cat /proc/sys/kernel/yama/ptrace_scope 2>/dev/null || echo 0)" = 0 ]; then
	provider_start ./stuck circle 3
	wait_for 30 providers_are 1 || fail "no providers"
	watch
	wait_for 60 said 1
	kill -TERM $runner
	wait $runner
	expect_equal 0 $? "status"
	kill -9 "$PROVIDER"
	expect_line ': DEADLOCK$' err
	expect_clean trace.fxt
	shown deadlock 3
fi

# --- Whatever ends meanwhile -----------------------------------------------------------------------

for _ in $(seq 10); do
	"$FXTRACE" record -q --watchdog 20ms -o trace.fxt -- sh -c "(sleep 0.$((RANDOM % 3)); kill -9 \$\$) & sleep 0.0$((RANDOM % 9)); sleep 10" 2>err
	expect_equal 137 $? "status"
	expect_clean trace.fxt
done
# Children end while they are looked at, and are waited for.
# shellcheck disable=SC2016 # for the inner shell
expect_ok "$FXTRACE" record -q --watchdog 10ms -o trace.fxt -- sh -c 'for i in 1 2 3 4 5 6 7 8; do (sleep 0.1; exit $i) & p="$p $!"; done; for q in $p; do wait $q; s=$((s + $?)); done; [ $s = 36 ]'
expect_clean trace.fxt
# The manager ends, and the look with it.
watch -- ./stuck circle 2
wait_for 60 said 1
manager_stop
wait_for 30 eval 'grep -q "^fxtrace record: " err' || fail "nothing is said of the manager: $(cat err)"
kill -9 "$(pgrep -P $runner -x stuck)"
wait $runner

expect_one_error 2 "$FXTRACE" record --watchdog 0s true
