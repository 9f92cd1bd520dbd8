#!/bin/bash
# SPDX-License-Identifier: MIT
# --auto-suppress: functions that drown the others are found, left out, and named with about as many calls as they had; all others
# are there, call for call.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
need python3

cat >prog.c <<'END'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#define NO_INLINE __attribute__((noinline))
static _Thread_local volatile unsigned long sink;
NO_INLINE void tiny(void) { sink++; }
NO_INLINE void small(void) { sink += 2; }
NO_INLINE void rare(void) { sink += 3; }
NO_INLINE void lengthy(void)
{
	for (volatile int i = 0; i < 5000; i++)
		;
}
NO_INLINE void *body(void *n)
{
	for (unsigned long i = 1; i <= (unsigned long)n; i++) {
		tiny();
		if (i % 4 == 0)
			small();
		if (i % 1000 == 0)
			rare();
		if (i % 2000 == 0)
			lengthy();
	}
	return NULL;
}
int main(int argc, char **argv)
{
	unsigned long n = strtoul(argv[1], NULL, 10);
	pthread_t t;

	pthread_create(&t, NULL, body, (void *)n);
	body((void *)n);
	pthread_join(t, NULL);
	if (argc > 2 && strcmp(argv[2], "fork") == 0) {
		pid_t child = fork();

		if (child == 0) {
			body((void *)n);
			_exit(0);
		}
		waitpid(child, NULL, 0);
	}
	if (argc > 2 && strcmp(argv[2], "exec") == 0)
		execl(argv[0], argv[0], argv[1], NULL);
	if (argc > 2 && strcmp(argv[2], "kill") == 0)
		raise(SIGKILL);
	return 0;
}
END
sed -i 's/#include <pthread.h>/&\n#include <signal.h>/' prog.c
"$FX_CC" -O1 -finstrument-functions prog.c -o prog -pthread

# calls FUNCTION ARCHIVE: how many calls of it the archive has.
calls() {
	"$FXTRACE" dump "$2" | grep -c "type=complete .*category=\"function\"[^ ]* name=\"$1\""
}

# told FUNCTION FILE: what a summary says of it: about so many left out, so many recorded.
told() {
	sed -n "s/^fxtrace:   $1: about \([0-9]*\) calls\{0,1\} of .* in all, behind \([0-9]*\) that are recorded\$/\1 \2/p" "$2"
}

# expect_suppressed FUNCTION CALLS ARCHIVE SUMMARY: it was left out, and what is told of it is about true. Of n samples some
# sqrt(n)/3 more or less are met; eight times that is not seen by chance.
expect_suppressed() {
	local out recorded
	read -r out recorded < <(told "$1" "$4") || fail "$1 is not named: $(cat "$4")"
	[ "$out" -gt 0 ] || fail "of $1 nothing was left out"
	python3 -c '
import sys
calls, out, recorded = map(int, sys.argv[1:])
samples = calls / 1024
sys.exit(abs(out + recorded - calls) > 1024 * (3 + 3 * samples ** .5))' "$2" "$out" "$recorded" ||
		fail "$1: $out and $recorded, of $2 calls"
	[ -z "$3" ] || expect_equal "$recorded" "$(calls "$1" "$3")" "calls of $1 that are recorded"
}

# --- One process ---------------------------------------------------------------------------------

n=2000000
"$FXTRACE" run --auto-suppress --on-full block -o a.fxt -- ./prog $n 2>summary || fail "run: $(cat summary)"
"$FXTRACE" check -q a.fxt || fail "check"
grep -q '^fxtrace: functions that drown the others were left out (--auto-suppress):$' summary ||
	fail "no summary: $(cat summary)"
expect_suppressed tiny $((2 * n)) a.fxt summary
expect_suppressed small $((2 * n / 4)) a.fxt summary
expect_equal "$((2 * n / 1000))" "$(calls rare a.fxt)" "calls of rare"
expect_equal "$((2 * n / 2000))" "$(calls lengthy a.fxt)" "calls of lengthy"
expect_equal 2 "$(calls body a.fxt)" "calls of body"
expect_equal "" "$(told rare summary)$(told lengthy summary)$(told body summary)" "what is told of the others"
expect_equal 2 "$("$FXTRACE" dump a.fxt | grep -c 'name="function left out" args={"function":string="\(tiny\|small\)"')" \
	"marks on the timeline"
# The samples are nobody's to see.
! "$FXTRACE" dump a.fxt | grep -q '"calls":uint32' || fail "a sample is in the archive"

# --- Nothing drowns ------------------------------------------------------------------------------

"$FXTRACE" run --auto-suppress --on-full block -o few.fxt -- ./prog 20000 2>summary || fail "run: $(cat summary)"
! grep -q drown summary || fail "of few calls some are left out: $(cat summary)"
expect_equal 40000 "$(calls tiny few.fxt)" "calls of tiny, of which there are few"
"$FXTRACE" run --auto-suppress=90% --on-full block -o share.fxt -- ./prog 200000 2>summary || fail "run: $(cat summary)"
! grep -q drown summary || fail "tiny has 80 % of the calls: $(cat summary)"
# Of what is recorded without tiny, small has nearly all; but where it waits for a processor, its calls are not short.
for _ in {1..10}; do
	"$FXTRACE" run --auto-suppress=79 --on-full block -o share.fxt -- ./prog 200000 2>summary || fail "run: $(cat summary)"
	[ -z "$(told small summary)" ] || break
done
expect_suppressed tiny 400000 share.fxt summary
[ -n "$(told small summary)" ] || fail "small is not named: $(cat summary)"

# --- Children, other programs, ends --------------------------------------------------------------

"$FXTRACE" run --auto-suppress --on-full block -o fork.fxt -- ./prog $n fork 2>summary || fail "fork: $(cat summary)"
"$FXTRACE" check -q fork.fxt || fail "check, fork"
expect_suppressed tiny $((3 * n)) "" summary
expect_equal "$((3 * n / 1000))" "$(calls rare fork.fxt)" "calls of rare, fork"
"$FXTRACE" run --auto-suppress --on-full block -o exec.fxt -- ./prog $n exec 2>summary || fail "exec: $(cat summary)"
"$FXTRACE" check -q exec.fxt || fail "check, exec"
expect_suppressed tiny $((4 * n)) "" summary
expect_equal "$((4 * n / 1000))" "$(calls rare exec.fxt)" "calls of rare, exec"
"$FXTRACE" run --auto-suppress --on-full block -o kill.fxt -- ./prog $n kill 2>summary
"$FXTRACE" check -q kill.fxt || fail "check, kill"
expect_suppressed tiny $((2 * n)) "" summary
expect_equal "$((2 * n / 1000))" "$(calls rare kill.fxt)" "calls of rare, kill"

# --- Beside other choices ------------------------------------------------------------------------

"$FXTRACE" run --auto-suppress -N small --on-full block -o both.fxt -- ./prog $n 2>summary || fail "-N: $(cat summary)"
expect_suppressed tiny $((2 * n)) both.fxt summary
expect_equal 0 "$(calls small both.fxt)" "calls of small, -N"
expect_equal "" "$(told small summary)" "small, -N"

# --- A session -----------------------------------------------------------------------------------

. "$FX_SRCDIR/tests/e2e/control.sh"
manager_start
expect_ok "$FXTRACE" start --auto-suppress -b 4M --on-full block -o session.fxt
with_provider ./prog $n || fail "a program in a session"
expect_ok "$FXTRACE" stop
"$FXTRACE" terminate 2>summary || fail "terminate: $(cat summary)"
expect_suppressed tiny $((2 * n)) session.fxt summary
expect_equal "$((2 * n / 1000))" "$(calls rare session.fxt)" "calls of rare, session"
# Another one begins anew.
expect_ok "$FXTRACE" start --auto-suppress -b 4M --on-full block -o session.fxt
with_provider ./prog $n || fail "a program in a session"
"$FXTRACE" terminate --json >json || fail "terminate --json"
python3 -c '
import json, sys
found = {f["name"]: f for f in json.load(open("json"))["suppressed"]}
sys.exit(sorted(found) != ["small", "tiny"] or found["tiny"]["recorded"] != int(sys.argv[1]))' \
	"$(calls tiny session.fxt)" || fail "--json: $(cat json)"
manager_stop
