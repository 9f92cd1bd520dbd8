#!/bin/bash
# SPDX-License-Identifier: MIT
# Two processes at full speed for two seconds in all: every call is recorded or counted as lost, and the
# manager does not grow. `bench/soak.sh' is the long form.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

TMPDIR=$PWD expect_ok bash "$FX_SRCDIR/bench/soak.sh" 0.5
expect_equal 4 "$(grep -c ' 0 lost\| lost (' out)" "ways"
cat out
