#!/bin/bash
# SPDX-License-Identifier: MIT
# What newer kernels have, and older ones do not: all works with what was there before (doc/REQUIREMENTS.md).
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

compile nosys -O1 -w -D_GNU_SOURCE "$FX_SRCDIR/tests/e2e/targets/nosys.c"
./nosys 5.4 true || skip "a filter of system calls is not allowed here"
target leaf leaf.c
cat >asks.c <<'END'
#include <errno.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(void)
{
	long unused[2];

	return !(syscall(436, 3, 3, 0) == -1 && errno == ENOSYS &&
		 prctl(0x41555856, unused, sizeof unused, 0, 0) == -1 && errno == EINVAL);
}
END
compile asks -w asks.c
expect_ok ./nosys 5.4 ./asks

# expect_traced ARCHIVE: the program's functions and calls are in it, and its children.
expect_traced() {
	expect_clean "$1"
	list_archive "$1"
	expect_events 1+ 'process == "leaf" && category == "function" && name == "main"'
	expect_events 1+ 'process == "sh" && category == "process"'
}

for kernel in 5.4 old; do
	# The command, its manager and the program.
	rm -f trace.fxt
	expect_ok ./nosys "$kernel" "$FXTRACE" run -o trace.fxt -- sh -c './leaf; ./leaf; true'
	expect_traced trace.fxt
	expect_events 2 'process == "leaf" && category == "function" && name == "main"'

	# The program alone: what it asks of its kernel is another's than what the manager does.
	expect_ok "$FXTRACE" run -o trace.fxt -- ./nosys "$kernel" sh -c './leaf; ./leaf; true'
	expect_traced trace.fxt

	# Preloaded, with a manager that it starts itself.
	expect_ok env LD_PRELOAD="$LIBFXTRACE" FXTRACE_OUTPUT="$PWD/private.$kernel.fxt" ./nosys "$kernel" ./leaf
	wait_for 60 "$FXTRACE" check "private.$kernel.fxt" || fail "no archive under $kernel"
	list_archive "private.$kernel.fxt"
	expect_events 1+ 'process == "leaf" && category == "function" && name == "main"'

	# Children at a time, buffers that are waited for, and stacks.
	expect_ok ./nosys "$kernel" "$FXTRACE" run --on-full block --stacks process -o trace.fxt -- sh -c './leaf & ./leaf; wait'
	expect_traced trace.fxt

	# Doctor looks at the same.
	./nosys "$kernel" "$FXTRACE" doctor >said 2>&1 || [ $? -eq 1 ] || fail "doctor under $kernel: $(cat said)"
done
expect_line 'pidfd_open' said

# Where nothing can be recorded, the program runs, and one line says why not.
expect_ok ./nosys bare "$FXTRACE" run -o none.fxt -- ./leaf
expect_line 'memfd|memory' err
