#!/bin/bash
# SPDX-License-Identifier: MIT
# Processes of a threaded program make, become and end one another, and say so: the arrows between them are just
# those, whatever the order in which buffers were saved.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

expect_ok "$FXTRACE" run -q --on-full block -o trace.fxt -- "$FX_BUILDDIR/tests/preload/targets/family"
sort out >said
expect_clean trace.fxt
expect_ok "$FXTRACE" dump trace.fxt
sed -n 's/.* event type=flow-\(begin\|end\) pid=\([0-9]*\) .* id=\([0-9]*\) .*category="process"[^ ]* name="\([^"]*\)".*/\1 \3 \2 \4/p' \
	out >flows
awk '
	BEGIN {
		verb["creates process>process starts"] = "creates"
		verb["becomes another program>program starts"] = "becomes"
		verb["process exits>told of its end"] = "ends"
		verb["kills>killed"] = "kills"
	}
	{ name = $4; for (i = 5; i <= NF; i++) name = name " " $i }
	$1 == "begin" { from[$2] = $3; what[$2] = name; begun[$2]++ }
	$1 == "end" { to[$2] = $3; whither[$2] = name; ended[$2]++ }
	END {
		for (id in begun) {
			arrow = what[id] ">" whither[id]
			if (begun[id] != 1 || ended[id] != 1 || !(arrow in verb))
				print "bad flow", id, arrow
			else
				print verb[arrow], from[id], to[id]
		}
		for (id in ended)
			if (!(id in begun))
				print "flow", id, "has no beginning"
	}' flows | sort >drawn
expect_same_file said drawn
for what in creates becomes ends kills; do
	[ "$(grep -c "^$what " drawn)" -ge 8 ] || fail "hardly any process $what another"
done
expect_line 'name="process exits".*"exited":int32=7' out
expect_line 'name="process exits".*"signal":string="SIGTERM"' out
expect_line 'name="exits".*"status":int32=' out
