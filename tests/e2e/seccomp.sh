#!/bin/bash
# SPDX-License-Identifier: MIT
# A process under a seccomp filter, its children and what it starts later are as they would be without the tracer; what
# is not recorded of them is told.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

target sandbox sandbox.c
if ! ./sandbox fork 1 >out || ! grep -qx alive out; then
	skip "libc needs other system calls than those that this filter allows"
fi

# --- Children under a filter that kills ------------------------------------------------------------

# expect_alive HOW CHILDREN OPTION...
expect_alive() {
	expect_unharmed 0 ./sandbox "$1" "$2"
	expect_equal "$2 alive" "$(sort plain.out | uniq -c | xargs)" "children by $1"
	expect_status 0 "$FXTRACE" run -o trace.fxt "${@:3}" -- ./sandbox "$1" "$2"
	expect_same_file plain.out out
	[ "$1" = nested ] && children=$(($2 * 2)) || children=$2
	expect_loss child-confined "$children" err
	expect_no_line 'buffer was full' err
	expect_clean trace.fxt
	list_archive trace.fxt
	expect_events "$(($2 + 2))" 'name == "in_parent"'
}

expect_alive fork 5
expect_alive raw 5
expect_alive nested 5
# Nobody would have followed them: nothing is lost.
FXTRACE_NO_FOLLOW=1 expect_ok "$FXTRACE" run -o trace.fxt -- ./sandbox fork 5
expect_no_line 'not traced' err
expect_alive fork 5 -m oneshot
expect_alive fork 5 -b 64K --on-full block

# --- Threads that begin under it -------------------------------------------------------------------

# Their room was made before, and they are told apart without a question to the kernel.
expect_threads() {
	expect_ok ./sandbox threads 30
	expect_status 0 "$FXTRACE" run -o trace.fxt "$@" -- ./sandbox threads 30
	expect_no_line 'lost' err
	sort out >numbers
	expect_clean trace.fxt
	list_archive trace.fxt
	expect_events 3000 'name == "in_thread"'
	expect_equal "$(cat numbers)" "$(awk -F'\t' '$1 == "complete" && $7 == "in_thread" { print $3 }' events | uniq | sort -u)" \
		"threads"
}

expect_threads
expect_threads -m oneshot
expect_threads --on-full block
