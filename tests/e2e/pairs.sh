#!/bin/bash
# SPDX-License-Identifier: MIT
# Begin and end records in a buffer that is too small: whatever is lost, each end has the name of what it ends, and
# nothing stays open of a thread that has ended.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

target paired paired.c -pthread

# What a viewer makes of the file `events`: by time, and of one time as they stand.
replay() {
	awk -F'\t' '$1 == "begin" || $1 == "end"' events | sort -s -t $'\t' -k 3,3n -k 8,8n |
		awk -F'\t' '
		$1 == "begin" { open[$3, ++depth[$3]] = $7; next }
		!depth[$3] { alone++; next }
		{ if (open[$3, depth[$3]--] != $7) other++ }
		END {
			for (t in depth) left += depth[t]
			print "alone", alone + 0, "other", other + 0, "open", left + 0
		}'
}

lossy=0
for mode in streaming oneshot circular; do
	for size in 4K 16K 64K; do
		for threads in 1 4 16; do
			what="-m $mode -b $size, $threads threads"
			expect_ok "$FXTRACE" run -o trace.fxt -c function --records=pairs -m "$mode" -b "$size" -- \
				./paired "$threads" 300
			lossy=$((lossy + $(grep -c 'lost because a buffer was full' err)))
			expect_clean trace.fxt
			list_archive trace.fxt
			expect_equal "alone 0 other 0 open 0" "$(replay)" "ends and begins with $what"
		done
	done
done
[ "$lossy" -gt 9 ] || fail "hardly anything was ever lost: $lossy"
