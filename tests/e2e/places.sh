#!/bin/bash
# SPDX-License-Identifier: MIT
# Where descriptors lead that were opened by names in directories' descriptors, of which not all are asked for: as /proc says, also where
# directories have been moved meanwhile.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
target places places.c

./places >plain || fail "status $?"
rm -rf below other
"$FXTRACE" run -q -c syscall -o places.fxt -- ./places >said || fail "status $?"
expect_clean places.fxt
expect_equal "$(wc -l <plain)" "$(wc -l <said)" "lines"
list_archive places.fxt
# What each write() of one byte was told to go to.
awk -F'\t' '$7 == "write" {
	one = 0; file = ""
	for (i = 10; i <= NF; i++) {
		if ($i == "count=1") one = 1
		if ($i ~ /^file=/) file = substr($i, 6)
	}
	if (one && file !~ /^fifo:/) print file
}' events | sort >told
sort said >wanted
diff wanted told >differ || fail "not where /proc says: $(head differ)"
[ "$(count_events 'name == "write" && /file=fifo:\[[0-9]+\] .*\/below\/queue/')" -eq 1 ] || fail "the named pipe is not called one"
