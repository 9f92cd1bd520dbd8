#!/bin/bash
# SPDX-License-Identifier: MIT
# Threads and processes send signals that others take by sigwait() and its like, or from a signalfd, and say who:
# what must be known has its arrow, and no arrow is wrong. Signals that go to handlers have none.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

expect_ok "$FXTRACE" run -q -b 16M --on-full block -o trace.fxt -- "$FX_BUILDDIR/tests/preload/targets/signalled"
mv out said
expect_clean trace.fxt
expect_ok "$FXTRACE" dump trace.fxt
sed -n 's/.* event type=flow-\(begin\|end\) pid=[0-9]* tid=\([0-9]*\) .* id=\([0-9]*\) .*category="process"[^ ]* name="\(sends\|takes\) signal".*/\1 \2 \3/p' \
	out >flows
# Arrows of the same two threads are counted: as many as must be, not more than may be.
awk '
	FILENAME == "said" { pair = $2 " " $3; told[pair]++; must[pair] += $1 == "must"; next }
	$1 == "begin" { from[$3] = $2; begun[$3]++ }
	$1 == "end" { to[$3] = $2; ended[$3]++ }
	END {
		for (id in begun) {
			if (begun[id] != 1 || ended[id] != 1)
				print "bad flow", id
			drawn[from[id] " " to[id]]++
			all++
		}
		for (pair in drawn)
			if (drawn[pair] > told[pair])
				print "wrong arrow:", pair
		for (pair in must)
			if (drawn[pair] < must[pair])
				print "no arrow:", pair
		print all + 0, "arrows" >"count"
	}' said flows >bad
expect_equal "" "$(sort bad | head -n 20)" "arrows"
[ "$(grep -c ^must said)" -ge 200 ] || fail "hardly any signal"
cat count
