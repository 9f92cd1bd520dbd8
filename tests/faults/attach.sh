#!/bin/bash
# SPDX-License-Identifier: MIT
# What attaches to a running program is killed at each of its steps, and what detaches: the program's threads go on, each
# result is right, and in the end no word of it leads to the library.
. "${FX_SRCDIR:=$(cd "$(dirname "$0")/../.." && pwd)}/tests/e2e/lib.sh"
. "$FX_SRCDIR/tests/faults/lib.sh"

need python3
! is_emulated || skip "the emulator's processes cannot be held"
[ "$(uname -m)" = x86_64 ] || skip "it is there for x86-64"
glibc_since 34 || skip "it needs glibc 2.34"
not_sanitized "libfxtrace.so cannot come late beside a sanitizer"

compile attached -O2 "$FX_SRCDIR/tests/e2e/targets/attached.c" -Wl,-z,now -ldl
words() {
	python3 "$FX_SRCDIR/tests/e2e/attach_words.py" "$@"
}
count=0

# killed_at POINT PASSING attach|detach: that command dies there.
killed_at() {
	FAULT="$1@$2 of $3"
	rm -f mark
	FXTRACE_FAULT="$1@$2:kill" FXTRACE_FAULT_MARK=$TEST_DIR/mark timeout 60 "$FXTRACE" "$3" "${@:4}" "$pid" >out 2>err &
	wait "$!" 2>/dev/null
	[ -e mark ] || return 1
	kill -0 "$pid" || fail "$FAULT: the program is gone"
	count=$((count + 1))
}

begin() {
	./attached >said &
	pid=$!
	wait_for 30 grep -q runs said || fail "the program does not run"
	words "$pid" | grep -v libm.so >before
}
# finish: puts back what is left; everything is as it was.
finish() {
	expect_ok timeout 60 "$FXTRACE" attach -q -c process -o whole.fxt --duration 20ms "$pid"
	expect_clean whole.fxt
	words "$pid" | grep -v libm.so >after
	expect_same_file before after
	kill "$pid"
	wait "$pid" || fail "$FAULT: it has ended with status $?: $(cat said)"
	expect_line '^ok [0-9]+$' said
}

# Each chain of calls passes there: for memory, for the library, for what it does, and for the memory to go.
while read -r point _ _; do
	last=
	for passing in 1 2 3 4; do
		begin
		killed_at "$point" $passing attach -q -o killed.fxt --duration 20ms || last=yes
		finish
		[ -z "$last" ] || break
	done
done < <(points attach)

begin
FAULT=none
while read -r point _ _; do
	last=
	for passing in 1 2 3; do
		expect_ok timeout 60 "$FXTRACE" attach -q -o whole.fxt --duration 20ms "$pid"
		killed_at "$point" $passing detach
	done
done < <(points attach)
finish
[ "$count" -ge 18 ] || fail "only $count were killed"
echo "$count killed"
