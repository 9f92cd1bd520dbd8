#!/bin/bash
# SPDX-License-Identifier: MIT
# fxtrace run --watchdog: where everybody stands is said once of each standstill, on standard error and in the archive; never of a program
# that computes, or whose child does, traced or not; and the program goes on as if nobody had looked.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

! is_emulated || skip "the emulator has no other process's registers"
target=$FX_SRCDIR/tests/e2e/targets/stuck.c
compile stuck -O2 "$target" -pthread

# watch PROGRAM...: it runs in the background, and is $runner.
watch() {
	"$FXTRACE" run --watchdog 300ms -o trace.fxt -- "$@" >out 2>err &
	runner=$!
	at_end="kill -9 $runner \$(pgrep -P $runner) 2>/dev/null"
}
# unwatch: the program is killed.
unwatch() {
	kill -9 "$(pgrep -P $runner -x stuck)"
	wait $runner
}
said() {
	[ "$(grep -c '^fxtrace: nothing has progressed for ' err)" = "$1" ]
}
# shown NAME COUNT: so many threads are said so in the archive.
shown() {
	"$FXTRACE" dump trace.fxt >dumped || fail "no dump"
	expect_equal "$2" "$(grep -c "type=instant .*category=\"fxtrace\" name=\"$1\"" dumped)" "instants $1"
}

# --- What is said ----------------------------------------------------------------------------------

for way in 'circle 3' pipes child; do
	# shellcheck disable=SC2086 # a way and its number
	watch ./stuck $way
	wait_for 60 said 1
	sleep 1
	said 1 || fail "said again: $(cat err)"
	unwatch
	expect_line '^fxtrace: nothing has progressed for [0-9.]+ s: DEADLOCK$' err
	expect_line '^DEADLOCK: each of these waits for the next' err
	expect_clean trace.fxt
	case $way in
	circle*) shown deadlock 3 && shown standstill 1 ;;
	*) shown deadlock 2 && shown standstill 0 ;;
	esac
	grep -qE 'name="deadlock" args=\{"where":string="[0-9]+ stuck: waits for .*traced_' dumped || fail "no stack: $(grep deadlock dumped)"
done
# The same with buffers that are saved at the end.
"$FXTRACE" run --watchdog 300ms -m circular -o trace.fxt -- ./stuck condition 2>err &
runner=$!
wait_for 60 said 1
expect_no_line DEADLOCK err
expect_line 'stuck: waits for a condition at 0x[0-9a-f]+, in futex' err
unwatch
shown standstill 1

# --- Once of each, and the program goes on -----------------------------------------------------------

cat >steps.c <<'END'
#include <errno.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>
static void compute(void)
{
	while (clock() % (CLOCKS_PER_SEC / 10) < CLOCKS_PER_SEC / 20)
		;
	while (clock() % (CLOCKS_PER_SEC / 10) > CLOCKS_PER_SEC / 20)
		;
}
/* Each byte of standard input is a step; it is waited for in a call that a signal, or a stop, would end. */
int main(void)
{
	struct epoll_event event = {.events = EPOLLIN};
	int fd = epoll_create1(0), steps = 0;
	char byte;

	if (epoll_ctl(fd, EPOLL_CTL_ADD, 0, &event) < 0)
		return 100;
	while (epoll_wait(fd, &event, 1, -1) == 1 && read(0, &byte, 1) == 1) {
		compute();
		steps++;
	}
	printf("%d steps\n", steps);
	return steps;
}
END
compile steps -O2 steps.c
mkfifo go
"$FXTRACE" run --watchdog 300ms -o trace.fxt -- ./steps <go >out 2>err &
runner=$!
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

# --- What goes on ----------------------------------------------------------------------------------

watch ./stuck busy
sleep 1.5
unwatch
said 0 || fail "a program that computes: $(cat err)"

# What is not traced counts as what is waited for.
printf 'int main(void)\n{\n\tfor (volatile unsigned i = 0;; i++)\n\t\t;\n}\n' >alone.c
if $FX_CC -O2 -static -o alone alone.c 2>/dev/null; then
	watch sh -c './alone; exit 3'
	alone=
	wait_for 60 eval 'alone=$(pgrep -P "$(pgrep -P $runner -x sh)" -x alone)'
	sleep 1.5
	said 0 || fail "a child that computes: $(cat err)"
	kill -STOP "$alone"
	wait_for 60 said 1
	expect_line 'alone: is stopped' err
	kill -9 "$alone"
	wait $runner
	expect_equal 3 $? "status"
fi

# --- Whatever ends meanwhile -----------------------------------------------------------------------

for _ in $(seq 20); do
	"$FXTRACE" run -q --watchdog 20ms -o trace.fxt -- sh -c "(sleep 0.$((RANDOM % 3)); kill -9 \$\$) & sleep 0.0$((RANDOM % 9)); sleep 10" 2>err
	expect_equal 137 $? "status"
	expect_clean trace.fxt
done
# Children end while they are looked at, and are waited for.
# shellcheck disable=SC2016 # for the inner shell
expect_ok "$FXTRACE" run -q --watchdog 10ms -o trace.fxt -- sh -c 'for i in 1 2 3 4 5 6 7 8; do (sleep 0.1; exit $i) & p="$p $!"; done; for q in $p; do wait $q; s=$((s + $?)); done; [ $s = 36 ]'
expect_clean trace.fxt

expect_one_error 2 "$FXTRACE" run --watchdog 0s true
expect_one_error 2 "$FXTRACE" run --watchdog soon true
expect_one_error 2 "$FXTRACE" start --watchdog 1s
