#!/bin/bash
# SPDX-License-Identifier: MIT
# Waits that were left by a jump or cancelled, or that handlers interrupted, spoil nothing: the arrows are those of the
# waits that somebody ended, all of them, and no other.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

expect_ok "$FXTRACE" run -q -c pthread --on-full block -o trace.fxt -- \
	"$FX_BUILDDIR/tests/preload/targets/left"
sed -n 's/^woken //p' out | sort >said
expect_clean trace.fxt
expect_ok "$FXTRACE" dump trace.fxt
# Where an arrow begins stands the object's address.
sed -n 's/.* event type=instant .* name="\(sem_post\|pthread_cond_signal\|ends as the owner\)"[^ ]* args={"[a-z]*":pointer=\(0x[0-9a-f]*\)[,}].*/\2/p' \
	out | sort >drawn
expect_same_file said drawn
expect_line 'name="pthread_mutex_lock".*"errno":string="EOWNERDEAD"' out
expect_line 'name="thread exits".*"value":string="cancelled"' out
expect_equal "$(grep -c 'type=flow-begin' out)" "$(grep -c 'type=flow-end' out)" "ends of flows"
