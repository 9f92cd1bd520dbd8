#!/bin/bash
# SPDX-License-Identifier: MIT
# More threads in the life of one process than the manager remembers: all are recorded, and
# counted.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

THREADS=20000

compile short_lived -O1 -D_GNU_SOURCE "$FX_SRCDIR/tests/e2e/targets/short_lived.c"
expect_ok "$FXTRACE" run -c syscall,pthread --on-full block -o trace.fxt -- ./short_lived $THREADS
expect_line "1 process, $((THREADS + 1)) threads, " err
expect_equal 1 "$(wc -l <err)" "lines of summary: $(cat err)"
expect_clean trace.fxt
list_archive trace.fxt
expect_events $THREADS 'name == "getppid"'
expect_events $THREADS 'name == "thread exits"'
