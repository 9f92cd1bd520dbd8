#!/bin/bash
# SPDX-License-Identifier: MIT
# What a thread records after its end (in destructors) does not keep its room in the buffer for ever:
# hundreds of such threads find room in a small one. A few records may be lost while the manager is busy
# elsewhere; without this nearly all would be.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

expect_ok timeout 60 "$FXTRACE" run -q -b 1M -o trace.fxt -- \
	"$FX_BUILDDIR/tests/preload/targets/churn"
expect_equal 1199 "$(cat out)" "destructors that ran"
expect_clean trace.fxt
expect_ok "$FXTRACE" dump trace.fxt
closes=$(grep -c 'type=complete.*name="close"' out)
[ "$closes" -ge 1000 ] || fail "only $closes of 1199 calls in destructors are in the trace"
