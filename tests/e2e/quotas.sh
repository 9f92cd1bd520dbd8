#!/bin/bash
# SPDX-License-Identifier: MIT
# What one process, or all together, may take of memory: beyond it they run untraced, or with numbers for
# strings, and the summary says which option has more.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
. "$FX_SRCDIR/tests/e2e/control.sh"

# Three at a time, memory for two: all run, two are traced.
cat >three.sh <<'E2'
sleep 0.3 & sleep 0.3 &
wait
echo done
E2
expect_ok "$FXTRACE" run -o two.fxt -b 1M --max-memory 2M -- sh three.sh
expect_equal "done" "$(cat out)" "output of the program"
expect_line 'cannot be traced: its buffer would exceed --max-memory' err
expect_line '[0-9]+ process(es were| was) not traced for want of memory; a larger --max-memory or a smaller' err
expect_clean two.fxt
expect_ok "$FXTRACE" run -o three.fxt -b 1M --max-memory 3M -- sh three.sh
expect_no_line 'memory' err
expect_one_error 2 "$FXTRACE" run --max-memory 0 -- true
expect_one_error 2 "$FXTRACE" run --max-strings much -- true

# The same with a manager, which says so in its status, and gives what the dead had to others.
manager_start -b 1M --max-memory 1M
provider_start sleep 100
first=$PROVIDER
wait_for 10 providers_are 1 || fail "the process does not register"
with_provider sleep 0 || fail "a refused program does not run"
expect_ok "$FXTRACE" status
expect_line '^memory: 1[0-9]* KiB of 1024 KiB' out
expect_line '^not traced: 1 process, 1 for want of memory: .*--max-memory' out
expect_line 'sleep .*: cannot be traced: its buffer would exceed --max-memory' manager.err
kill "$first"
wait_for 10 providers_are 0 || fail "the manager keeps the dead"
provider_start sleep 100
wait_for 10 providers_are 1 || fail "the memory of the dead is not given back"
expect_one_error 2 "$FXTRACE" record --max-memory 1M -- true
expect_one_error 2 "$FXTRACE" start --max-strings 1M
kill "$PROVIDER"
manager_stop
