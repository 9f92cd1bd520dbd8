#!/bin/bash
# SPDX-License-Identifier: MIT
# fxtrace run: what it answers, what it leaves behind, and what survives when things go wrong.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

cat >calls.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define SILENT __attribute__((no_instrument_function))

__attribute__((noinline)) int leaf(int x)
{
	return x + 1;
}

/* calls COUNT: so many calls; calls for SECONDS: calls as long as that. Exit status 3. */
SILENT int main(int argc, char **argv)
{
	time_t end = time(NULL) + (argc > 2 ? atoi(argv[2]) : 0);
	long count = atol(argv[1]);
	int x = 0;

	for (long i = 0; i < count; i++)
		x = leaf(x);
	while (time(NULL) < end)
		x = leaf(x);
	puts("done");
	return 3;
}
END
compile calls -O1 -finstrument-functions calls.c

# summary_number REGEX: the number before the text, in the summary of the newest run.
summary_number() {
	sed -nE "s/.*[ :]([0-9]+) $1.*/\1/p" err | head -n 1
}

# --- What it answers -----------------------------------------------------------------------------

expect_status 0 traced -- true
expect_status 1 traced -- false
expect_status 3 traced -- ./calls 10
expect_equal "done" "$(cat out)" "the program's output"
# shellcheck disable=SC2016
expect_status 143 traced -- sh -c 'kill $$'
expect_line 'ended by signal 15' err
expect_one_error 127 traced -- ./no-such-program
expect_one_error 126 traced -- ./calls.c
expect_one_error 1 "$FXTRACE" run -o no/such/folder/t.fxt -- true
expect_one_error 1 "$FXTRACE" run -o . -- true
for bad in --no-such-option --buffer-size --buffer-size=huge --buffering-mode=x --on-full=x \
	--records=x --min-duration=5 --max-depth=0 --duration=0s '--categories=x,' --provider-buffer=x; do
	expect_one_error 2 "$FXTRACE" run "$bad" -- true
done
expect_one_error 2 "$FXTRACE" run
expect_one_error 2 env FXTRACE_BUFFER_SIZE=x "$FXTRACE" run -- true
[ ! -e fxtrace.fxt ] || fail "an archive was written although the program never ran"

# A program that cannot be run does not cost an older archive.
echo precious >trace.fxt
expect_status 127 traced -- ./no-such-program
expect_equal precious "$(cat trace.fxt)" "the older archive"
rm -f trace.fxt
expect_status 127 traced -- ./no-such-program
[ ! -e trace.fxt ] || fail "an archive was left behind"

# --- What it writes ------------------------------------------------------------------------------

for suffix in "" .gz .zst; do
	expect_status 3 "$FXTRACE" run -q -c function -o "t.fxt$suffix" -- ./calls 1000
	expect_equal 0 "$(wc -c <err)" "bytes on stderr with --quiet"
	expect_clean "t.fxt$suffix"
	expect_equal 1000 "$("$FXTRACE" dump "t.fxt$suffix" | grep -c 'name="leaf"')" "calls in t.fxt$suffix"
done
"$FXTRACE" run -q -c function -o - -- sh -c './calls 100 >&2' >piped.fxt 2>/dev/null
expect_clean piped.fxt
expect_equal 100 "$("$FXTRACE" dump piped.fxt | grep -c 'name="leaf"')" "calls in a piped archive"

expect_equal "$(printf 'a\nb\n')" "$(printf 'a\nb\n' | traced -q -- cat)" "standard input passed on"

# Every process is there.
# shellcheck disable=SC2016
expect_ok traced -- sh -c 'for i in $(seq 200); do /bin/true; done'
expect_equal 202 "$(summary_number process)" "processes: the shell, seq, and 200"
expect_clean trace.fxt

expect_ok traced --no-follow -- sh -c '/bin/true; /bin/true'
expect_equal 1 "$(summary_number process)" "processes with --no-follow"

# shellcheck disable=SC2016
FXTRACE_CATEGORIES=-syscall expect_ok traced -- sh -c 'echo x >/dev/null'
! "$FXTRACE" dump trace.fxt | grep -q 'category="syscall"' || fail "FXTRACE_CATEGORIES was not heard"

# --- Losses --------------------------------------------------------------------------------------

# With room for everything, everything is there; with too little, what is lost is counted.
for count in 1000 300000; do
	for options in "-b 64K" "-b 1M" "-b 64K -m oneshot" "-b 64K --on-full block" \
		"--provider-buffer calls=32K"; do
		# shellcheck disable=SC2086
		expect_status 3 traced -c function $options -- ./calls "$count"
		recorded=$("$FXTRACE" dump trace.fxt | grep -c 'name="leaf"')
		lost=$(summary_number 'records? lost')
		expect_equal "$count" $((recorded + ${lost:-0})) "recorded and lost with $options"
		if [ -n "$lost" ]; then
			expect_line '--buffer-size|--buffering-mode' err
			"$FXTRACE" dump trace.fxt | grep -q 'name="records dropped"' ||
				fail "losses are not on the timeline"
		fi
		case $options in
		*block) expect_equal "" "$lost" "records lost with --on-full block" ;;
		esac
		expect_clean trace.fxt
	done
done

# --- Ends ----------------------------------------------------------------------------------------

# A program killed inside a read shows that read.
mkfifo fifo
# shellcheck disable=SC2016
"$FXTRACE" run -o trace.fxt -- sh -c 'echo $$ >pid; exec cat fifo' >out 2>err &
run=$!
exec 3>fifo
sleep 0.2
kill -KILL "$(cat pid)"
status=0
wait "$run" || status=$?
exec 3>&-
expect_equal 137 "$status" "status of a killed program"
expect_clean trace.fxt
"$FXTRACE" dump trace.fxt | grep 'name="read"' | grep -q unfinished || fail "the open read is missing"

# A signal to the tracer alone reaches the program.
# shellcheck disable=SC2016
"$FXTRACE" run -o trace.fxt -- sh -c 'trap "echo heard; exit 5" TERM; echo ready; while :; do sleep 0.05; done' >out 2>err &
run=$!
wait_for 10 grep -q ready out || fail "the program did not start"
kill -TERM "$run"
status=0
wait "$run" || status=$?
expect_equal 5 "$status" "status after a signal that the program handles"
expect_line heard out
expect_clean trace.fxt

# Told twice, it no longer waits for a program that will not end.
rm -f out
# shellcheck disable=SC2016
"$FXTRACE" run -o trace.fxt -- sh -c 'trap "" TERM; echo $$; i=0; while [ $i -lt 400 ]; do sleep 0.05; i=$((i + 1)); done' \
	>out 2>err &
run=$!
wait_for 10 test -s out || fail "the program did not start"
kill -TERM "$run"
sleep 0.2
kill -TERM "$run"
status=0
wait "$run" || status=$?
kill -KILL "$(cat out)"
expect_equal 143 "$status" "status after two signals"
expect_clean trace.fxt

# The program's status is known even if whoever started us ignores SIGCHLD.
expect_status 7 timeout -k 1 20 bash -c 'trap "" CHLD; exec "$@"' - \
	"$FXTRACE" run -o trace.fxt -- sh -c 'exit 7'

# What outlives the program is told, and not waited for.
expect_ok traced -- sh -c 'sleep 20 >/dev/null 2>&1 & sleep 0.3'
expect_line '1 process still ran' err
expect_clean trace.fxt

expect_status 3 traced -c function --duration 100ms -- ./calls 1 2
expect_line '^done$' out
expect_clean trace.fxt

# --- Full disks and killed managers --------------------------------------------------------------

expect_status 1 "$FXTRACE" run -o /dev/full -- true
expect_line 'No space left on device' err
expect_equal 1 "$(grep -c 'No space left' err)" "lines about the full disk"
expect_status 3 "$FXTRACE" run -o /dev/full -- ./calls 100000
expect_line '^done$' out

for options in "" "--on-full block"; do
	mkfifo status
	rm -f trace.fxt begun
	# The program's status goes its own way, since its parent will be gone.
	# shellcheck disable=SC2016,SC2086
	"$FXTRACE" run -o trace.fxt -b 256K $options -- sh -c '>begun; ./calls 1 2 >calls.out; echo $? >status' >out 2>err &
	run=$!
	wait_for 60 test -e begun -a -s trace.fxt || fail "nothing is traced"
	sleep 0.7
	kill -KILL "$run"
	expect_equal 3 "$(timeout 20 cat status)" "status of a program whose manager was killed"
	expect_line '^done$' calls.out
	expect_prefix trace.fxt
	rm -f status
done
