#!/bin/bash
# SPDX-License-Identifier: MIT
# Calls on a descriptor say what it is, who is at its other end, and the bytes so far; a program that knows says
# the same.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

need python3
program=$FX_BUILDDIR/tests/preload/targets/identities

# agree INPUT ARGUMENT...: runs the program, and compares.
agree() {
	local input=$1

	shift
	rm -rf work && mkdir work && cd work || exit 99
	printf '0123456789' >input
	expect_ok "$FXTRACE" run -q --on-full block -o ../trace.fxt -- "$program" "$@" <"$input"
	mv out ../said && cd .. || exit 99
	expect_clean trace.fxt
	"$FXTRACE" dump --json trace.fxt >dump.json || fail "dump"
	expect_ok python3 "$FX_SRCDIR/tests/preload/identities.py" said dump.json
	cat out
}

agree input
[ "$(sed 's/ .*//' out)" -ge 50 ] || fail "hardly anything was compared: $(cat out)"
agree input confined
expect_ok "$FXTRACE" convert trace.fxt trace.json

# Threads that use numbers which others close and open: nothing that was not open there is shown.
agree_file() {
	sed -n 's/.*"file":string="\([^"]*\)".*/\1/p' dump | sort -u
}
mkdir -p work
expect_ok "$FXTRACE" run -q --on-full block -o trace.fxt -- "$program" race
expect_clean trace.fxt
"$FXTRACE" dump trace.fxt >dump || fail "dump"
expect_equal '/dev/null /dev/zero' "$(agree_file | grep '^/dev/' | tr '\n' ' ' | sed 's/ $//')" "files"

# Strings for descriptors take a part of the indices and no more, and the program does not notice.
expect_ok "$FXTRACE" run -q -b 64M --on-full block -o trace.fxt -- "$program" 12000
expect_clean trace.fxt
"$FXTRACE" dump trace.fxt >dump || fail "dump"
expect_equal 12000 "$(grep -c 'event type=complete .* name="write"' dump)" "writes"
named=$(grep -c 'event type=complete .* name="write".*"file":string="/memfd:file' dump)
[ "$named" -ge 1000 ] && [ "$named" -le 8192 ] || fail "$named writes have a name"
