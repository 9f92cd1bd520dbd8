#!/bin/bash
# SPDX-License-Identifier: MIT
# --on-full block keeps all, also of 1,000 threads that each hold a chunk of a buffer with fewer.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

target turns turns.c

# whole THREADS CALLS OPTION...: of each call there is a record, or a begin and an end.
whole() {
	local threads=$1 calls=$2 status=0 records=1

	shift 2
	case $* in *pairs*) records=2 ;; esac
	"$FXTRACE" run -o trace.fxt --on-full block "$@" -- ./turns "$threads" "$calls" >out 2>err || status=$?
	[ "$status" -ne 77 ] || skip "there is no room for $threads threads"
	expect_equal 0 "$status" "$*: status ($(cat err))"
	expect_no_line 'lost|dropped' err
	expect_clean trace.fxt
	expect_equal $((2 * records * threads * calls)) \
		"$("$FXTRACE" dump trace.fxt | grep -c 'name="member"')" "$*: records of $threads threads"
}

whole 1000 100
whole 1000 20 -b 1M
whole 200 40 -c function -b 64K
whole 20 100 -c function -b 4K
whole 200 40 -c function --records pairs -b 64K
