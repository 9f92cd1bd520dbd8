#!/bin/bash
# SPDX-License-Identifier: MIT
# Functions that the compiler has divided: their calls end where the second part does.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

cat >want <<'END'
1 0 main
1 1 in_its_caller
1 2 divided
1 3 within
1 2 after
1 1 with_arguments
1 2 of_many
1 3 within
1 2 after
1 1 with_space
1 2 divided
1 3 within
1 2 after
1 1 recursive
1 2 again
1 3 within
1 3 again
1 4 within
1 4 again
1 5 within
1 4 after
1 3 after
1 2 after
1 1 by_a_jump
1 2 divided
1 3 within
1 2 after
END
for optimise in -O1 -O2 -O3 '-O2 -fomit-frame-pointer' '-O2 -fno-omit-frame-pointer'; do
	# shellcheck disable=SC2086 # several
	compile parts $optimise -foptimize-sibling-calls -finstrument-functions "$FX_SRCDIR/tests/preload/targets/parts.c"
	expect_ok "$FXTRACE" run -q -c function --on-full block -o trace.fxt -- ./parts
	expect_clean trace.fxt
	"$FX_BUILDDIR/tests/e2e/calltree" archive trace.fxt >got || fail "no calls"
	expect_same_file want got
done
