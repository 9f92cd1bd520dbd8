#!/bin/bash
# SPDX-License-Identifier: MIT
# The kernel provider harms nobody: the program has nothing more in it than without, and does the same when the kernel refuses, or
# when the provider or the manager is killed; the provider itself ends with its manager.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

! is_emulated || skip "the emulator knows no performance events"
asks=(--sample 999 --kernel)
expect_ok "$FXTRACE" run "${asks[@]}" -o trace.fxt -- true
! grep -qE 'no samples are taken' err || skip "$(grep 'no samples' err)"

# --- What is in the program -----------------------------------------------------------------------

target state state.c -pthread
expect_ok traced -- ./state
mv out without
expect_ok traced "${asks[@]}" -- ./state
expect_same_file without out
expect_clean trace.fxt

# No thread of the provider weighs more than one of the program's: fair groups would give their processor to it, and let the program wait.
if [ "$(id -u)" -eq 0 ] && command -v pgrep >/dev/null && command -v ps >/dev/null; then
	"$FXTRACE" run "${asks[@]}" -o weighed.fxt -- sh -c 'echo >runs; exec sleep 60' >/dev/null 2>&1 &
	manager=$!
	wait_for 120 test -e runs || fail "the program does not begin"
	provider=$(pgrep -P "$manager" -x fxtrace-kernel)
	# The policy, and the nice value, "-" for that of a real-time thread.
	threads=$(ps -L -o cls=,ni= -p "$provider")
	expect_equal 2 "$(wc -l <<<"$threads")" "threads of the provider"
	! grep -qE -- '-[0-9]' <<<"$threads" || fail "a thread of it has a priority by weight: $threads"
	kill "$(pgrep -P "$manager" -x sleep)"
	wait "$manager"
fi

# Its status, its signals, a program that is not there.
expect_status 3 traced "${asks[@]}" -- sh -c 'exit 3'
expect_status 143 traced "${asks[@]}" -- sh -c 'kill -TERM $$'
expect_status 127 traced "${asks[@]}" -- ./nowhere
expect_line 'program not found' err

# --- Refused --------------------------------------------------------------------------------------

compile refused "$FX_SRCDIR/tests/e2e/targets/refused.c"
for error in 1 13 38; do # EPERM, EACCES, ENOSYS
	expect_ok ./refused "$error" "$FXTRACE" run "${asks[@]}" -o trace.fxt -- sh -c 'echo works'
	expect_line '^works$' out
	expect_equal 1 "$(grep -c 'no samples are taken' err)" "lines about it: $(cat err)"
	case $error in
	38) expect_line 'this kernel has no performance events' err ;;
	*) expect_line 'perf_event_paranoid|not permitted here; containers need CAP_PERFMON' err ;;
	esac
	expect_clean trace.fxt
	# Beforehand it is said of each.
	expect_ok ./refused "$error" "$FXTRACE" list-categories
	expect_equal 7 "$(grep -c 'not permitted here: ' out)" "categories that are not permitted: $(cat out)"
	expect_ok ./refused "$error" "$FXTRACE" list-categories --json
	expect_line '"name": "kernel:block", .* "permitted": false, "cure": "' out
done

# Who is not root has what is his own, and one line about the rest, in each place the same.
paranoid=$(cat /proc/sys/kernel/perf_event_paranoid 2>/dev/null || echo 9)
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null && [ "$paranoid" -ge 0 ] && [ "$paranoid" -le 2 ]; then
	other=(setpriv --reuid=12345 --regid=12345 --clear-groups env HOME=/nowhere)
	mkdir -m 777 theirs
	chmod 755 .
	if "${other[@]}" "$FXTRACE" --version >/dev/null 2>&1 && "${other[@]}" test -w theirs; then
		expect_ok "${other[@]}" "$FXTRACE" run --sample 999 --kernel=system -c 'kernel:*,tracepoint:sched' -o theirs/trace.fxt -- sh -c 'exit 0'
		what='who woke whom, what threads of other programs do, kernel:irq, kernel:block, kernel:net, tracepoints by name'
		expect_line "^fxtrace: $what: not recorded: root may have it; others need CAP_PERFMON" err
		expect_equal 1 "$(grep -c 'not recorded: ' err)" "lines about it: $(cat err)"
		expect_clean theirs/trace.fxt
		expect_ok "${other[@]}" "$FXTRACE" list-categories
		expect_equal 4 "$(grep -c 'not permitted here: root may have it' out)" "categories that are not permitted: $(cat out)"
		expect_ok "${other[@]}" FXTRACE_OUTPUT=theirs/trace.fxt "$FXTRACE" doctor
		expect_line 'the kernel.s tracepoints are not to be had: .*; cure: as root; or CAP_PERFMON' out
	fi
fi

# --- Killed ---------------------------------------------------------------------------------------

cat >waits.c <<'END'
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
static volatile unsigned sink;
int main(int argc, char **argv)
{
	const struct timespec nap = {.tv_nsec = 1000000};

	/* When it says that it has begun, there are samples of it, however little of a processor it has. */
	while (clock() < CLOCKS_PER_SEC / 5)
		sink++;
	close(open("began", O_CREAT | O_WRONLY, 0600));
	while (access(argv[argc - 1], F_OK) != 0) {
		for (int i = 0; i < 100000; i++)
			sink += i;
		nanosleep(&nap, NULL);
	}
	puts("done");
	return 0;
}
END
compile waits -O2 waits.c
begin() {
	rm -f began go
	"$FXTRACE" run "${asks[@]}" -o trace.fxt -- ./waits go >out 2>err &
	manager=$!
	at_end="kill -9 $manager 2>/dev/null"
	wait_for 120 test -e began || fail "it does not begin"
	provider=$(pgrep -P "$manager" -x fxtrace-kernel) || fail "there is no provider"
}
# Not everywhere is there an init that takes zombies away.
has_ended() {
	! kill -0 "$1" 2>/dev/null || grep -q '^State:.*zombie' "/proc/$1/status"
}

begin
kill -9 "$provider"
wait_for 120 has_ended "$provider" || fail "it cannot be killed"
touch go
wait "$manager" || fail "the program did not end well: $(cat err)"
expect_line '^done$' out
expect_clean trace.fxt

begin
program=$(pgrep -P "$manager" -x waits)
kill -9 "$manager"
wait_for 120 has_ended "$provider" || fail "the provider goes on without a manager"
touch go
wait_for 120 has_ended "$program" || fail "the program does not end"
expect_line '^done$' out
expect_prefix trace.fxt

# It cannot read for a while: what the kernel had no room for is counted.
cat >deep.c <<'END'
#include <fcntl.h>
#include <unistd.h>
static volatile unsigned sink;
__attribute__((noinline)) static void deep(int levels)
{
	volatile char room[256];

	room[0] = 1;
	if (levels)
		deep(levels - 1);
	else
		while (access("go", F_OK) != 0)
			for (int i = 0; i < 1000000; i++)
				sink += i;
	sink += room[0];
}
int main(void)
{
	close(open("began", O_CREAT | O_WRONLY, 0600));
	deep(100); /* more of a stack than is copied */
	return 0;
}
END
compile waits -O1 deep.c
asks=(--sample 9999)
begin
program=$(pgrep -P "$manager" -x waits)
kill -STOP "$provider"
ticks() {
	awk '{ print $14 }' "/proc/$program/stat"
}
until=$(($(ticks) + 300)) # three seconds of a processor: more than any ring has room for
has_computed() {
	[ "$(ticks)" -ge "$until" ]
}
wait_for 120 has_computed || fail "it does not compute"
kill -CONT "$provider"
touch go
wait "$manager" || fail "the program did not end well: $(cat err)"
expect_loss kernel-ring '[0-9]+' err
expect_clean trace.fxt
compile waits -O2 waits.c
asks=(--sample 999 --kernel)

# The program is killed: what it did is there.
begin
pkill -9 -P "$manager" -x waits
wait "$manager"
expect_equal 137 "$?" "the status"
expect_clean trace.fxt
wait_for 120 has_ended "$provider" || fail "the provider goes on"
expect_ok "$FXTRACE" report --samples trace.fxt
expect_line ' main$' out
