#!/bin/bash
# SPDX-License-Identifier: MIT
# fxtrace attach refuses what it cannot do without harm, with one line that says why; the process goes on as it was.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

need python3
! is_emulated || skip "the emulator's processes cannot be held"
[ "$(uname -m)" = x86_64 ] || skip "it is there for x86-64"
glibc_since 34 || skip "it needs glibc 2.34"

cat >waits.c <<'END'
#include <unistd.h>
int main(void)
{
	for (;;)
		pause();
}
END

# refused WHY: the process $pid.
refused() {
	expect_one_error 1 timeout 60 "$FXTRACE" attach --duration 1s -o refused.fxt "$pid"
	expect_line "^fxtrace attach: $pid: .*$1" err
	kill -0 "$pid" 2>/dev/null || fail "the process is gone"
}
begin() {
	"$@" &
	pid=$!
	wait_for 30 test -e "/proc/$pid/exe"
	sleep 0.2
}
finish() {
	kill -9 "$pid"
	wait "$pid" 2>/dev/null
}

expect_one_error 1 "$FXTRACE" attach 4000000
expect_line 'there is no such process' err
expect_one_error 1 "$FXTRACE" detach 4000000
for words in '' 0 -- 1x '1 2'; do
	# shellcheck disable=SC2086 # none or several
	expect_status 2 "$FXTRACE" attach $words
	expect_equal 1 "$(wc -l <err)" "lines of: attach $words"
done

compile waits -O1 waits.c
if compile waits-static -O1 -static waits.c; then
	begin ./waits-static
	refused 'static'
	finish
fi
if command -v musl-gcc >/dev/null && musl-gcc -O1 -o waits-musl waits.c 2>/dev/null; then
	begin ./waits-musl
	refused 'not glibc'
	finish
fi
if $FX_CC -m32 -O1 -o waits-32 waits.c 2>/dev/null; then
	begin ./waits-32
	refused '64 bits'
	finish
fi

begin ./waits
kill -STOP "$pid"
wait_for 30 grep -q 'stopped' "/proc/$pid/status"
refused 'it is stopped'
kill -CONT "$pid"
expect_one_error 1 "$FXTRACE" detach "$pid"
expect_line 'libfxtrace.so is not in it' err
if command -v strace >/dev/null; then
	strace -o /dev/null -p "$pid" 2>/dev/null &
	tracer=$!
	wait_for 30 grep -q "TracerPid:[[:space:]]*$tracer" "/proc/$pid/status"
	refused "process $tracer traces it"
	kill "$tracer"
	wait "$tracer" 2>/dev/null
fi
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	expect_one_error 1 setpriv --reuid 65533 --clear-groups "$FXTRACE" attach -o /tmp/refused.fxt "$pid"
	expect_line "another user's" err
fi
finish

cat >filtered.py <<'END'
import ctypes, struct, time
libc = ctypes.CDLL(None)
code = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0x7fff0000))  # allows all
program = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", 1, ctypes.addressof(code)))
assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, program) == 0
while True:
    time.sleep(1)
END
begin python3 filtered.py
wait_for 30 grep -q 'Seccomp:[[:space:]]*2' "/proc/$pid/status"
refused 'seccomp'
finish

begin env LD_PRELOAD="$LIBFXTRACE" FXTRACE_OUTPUT="$TEST_DIR/own.fxt" ./waits
refused 'started with libfxtrace'
finish

# It sleeps, and is to sleep on.
cat >sleeps.c <<'END'
#include <stdio.h>
#include <time.h>
int main(void)
{
	struct timespec time = {4, 0}, before, after;
	clock_gettime(CLOCK_MONOTONIC, &before);
	int r = nanosleep(&time, NULL);
	clock_gettime(CLOCK_MONOTONIC, &after);
	printf("%d %d\n", r, (int)(after.tv_sec - before.tv_sec + (after.tv_nsec > before.tv_nsec)) > 4);
	return 0;
}
END
compile sleeps -O1 sleeps.c
./sleeps >said &
pid=$!
sleep 0.2
timeout 60 "$FXTRACE" attach -q -o slept.fxt "$pid" 2>err
wait "$pid" || fail "it has ended with status $?"
expect_equal '0 1' "$(cat said)" "a sleep of four seconds, its result and whether it was as long"

if [ "$(id -u)" = 0 ] && unshare -p -f true 2>/dev/null; then
	unshare -p -f ./waits &
	outer=$!
	wait_for 30 eval 'pid=$(cat "/proc/$outer/task/$outer/children" 2>/dev/null) && [ -n "$pid" ]'
	pid=${pid% }
	sleep 0.2
	refused 'another PID namespace'
	kill -9 "$pid"
	wait "$outer" 2>/dev/null
fi
exit 0
