#!/bin/bash
# SPDX-License-Identifier: MIT
# What starts programs needs no more than a stack of 8 KiB for it, whatever the environment; and one that another
# thread changes meanwhile overflows nothing.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

cp "$FX_BUILDDIR/tests/preload/targets/narrow" . || exit 99

# glibc has execveat() since 2.34.
execveat=$(! glibc_since 34 || echo execveat)
for way in execv execve execvp execvpe execl execlp execle fexecve $execveat posix_spawn \
	posix_spawnp vfork changing; do
	expect_ok timeout 60 "$FXTRACE" run -q -c process -o trace.fxt -- ./narrow $way
	expect_equal "1500 variables in order, 1 preload, 1 socket" "$(cat out)" "$way"
	expect_clean trace.fxt
done
expect_ok timeout 60 "$FXTRACE" run -q -c process -o trace.fxt -- ./narrow children
expect_equal "not grown" "$(tail -n 1 out)" "vfork"
