#!/bin/bash
# SPDX-License-Identifier: MIT
# What newer kernels have, and older ones do not: all works with what was there before (doc/REQUIREMENTS.md).
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
. "$FX_SRCDIR/tests/e2e/control.sh"

compile nosys -O1 -w -D_GNU_SOURCE "$FX_SRCDIR/tests/e2e/targets/nosys.c"
./nosys 5.4 true || skip "a filter of system calls is not allowed here"
target leaf leaf.c
target turns turns.c
cat >asks.c <<'END'
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(void)
{
	long unused[2];
	uint64_t info[8] = {0};
	int self = syscall(434, getpid(), 0);

	return !(syscall(436, 3, 3, 0) == -1 && errno == ENOSYS &&
		 prctl(0x41555856, unused, sizeof unused, 0, 0) == -1 && errno == EINVAL &&
		 ioctl(self, _IOWR(0xff, 11, info), info) == -1 && errno == ENOTTY);
}
END
compile asks -w asks.c
expect_ok ./nosys 5.4 ./asks

# fxtrace as it is on this kernel.
newest=$FXTRACE
FXTRACE=$PWD/older
cat >older <<END
#!/bin/sh
exec $PWD/nosys \$(cat $PWD/kernel) $newest "\$@"
END
chmod +x older

# expect_traced ARCHIVE: the program's functions and calls are in it, and its children.
expect_traced() {
	expect_clean "$1"
	list_archive "$1"
	expect_events 1+ 'process == "leaf" && category == "function" && name == "main"'
	expect_events 1+ 'process == "sh" && category == "process"'
}

# holders FILE: the processes that have it open.
holders() {
	find /proc/[0-9]*/fd -maxdepth 1 -lname "$PWD/$1" -printf '%h\n' 2>/dev/null | cut -d/ -f3 | sort -u
}

# has_holder FILE
has_holder() {
	[ -n "$(holders "$1")" ]
}

is_gone() {
	! kill -0 "$1" 2>/dev/null
}

# Preloaded, with a manager that the program starts itself: it has none of the program's descriptors, which it closes one
# by one, and the program has them all.
expect_private() {
	local archive=$1.fxt manager program

	mkfifo go
	# shellcheck disable=SC2016 # the other shell's
	./nosys "$kernel" env LD_PRELOAD="$LIBFXTRACE" FXTRACE_OUTPUT="$PWD/$archive" \
		sh -c './leaf; read line; echo "$line" >&9' <go 9>held &
	program=$!
	exec 8>go
	wait_for 60 has_holder "$archive" || fail "no manager under $kernel"
	manager=$(holders "$archive")
	expect_equal 1 "$(wc -w <<<"$manager")" "processes that write the archive"
	expect_line '^Seccomp:.2' "/proc/$manager/status"
	! holders held | grep -qx "$manager" || fail "the manager holds a file of the program's under $kernel"
	holders held | grep -qx "$program" || fail "the program has lost its file under $kernel"
	echo passed >&8
	exec 8>&-
	wait "$program" || fail "the program ended with $? under $kernel"
	expect_equal passed "$(cat held)" "written to the program's own file"
	# Before it is complete, what there is of the archive is sound, too.
	wait_for 60 is_gone "$manager" || fail "the manager stays under $kernel"
	expect_traced "$archive"
	rm go
}

# How a child ended is known, though nobody ever waits for it.
expect_end() {
	local record

	mkfifo first last
	"$FXTRACE" record -q -o trace.fxt -- sh -c '(read line; ./leaf; exit 4) <first & exec cat last' >out 2>err &
	record=$!
	exec 8>first
	wait_for 60 providers_are 2 || fail "the child did not come under $kernel"
	exec 8>&-
	wait_for 60 providers_are 1 || fail "the child is not gone under $kernel"
	: >last
	wait "$record" || fail "record ended with $? under $kernel: $(cat err)"
	rm first last
	expect_traced trace.fxt
	expect_events 1 'name == "process exits" && has("exited=4")'
}

for kernel in 5.4 old; do
	echo "$kernel" >kernel

	# The command, its manager and the program.
	rm -f trace.fxt
	expect_ok "$FXTRACE" run -o trace.fxt -- sh -c './leaf; ./leaf; true'
	expect_traced trace.fxt
	expect_events 2 'process == "leaf" && category == "function" && name == "main"'

	# The program alone: what it asks of its kernel is another's than what the manager does.
	expect_ok "$newest" run -o trace.fxt -- ./nosys "$kernel" sh -c './leaf; ./leaf; true'
	expect_traced trace.fxt

	expect_private "private.$kernel"

	# Children at a time, buffers that are waited for, and stacks.
	expect_ok "$FXTRACE" run --on-full block --stacks process -o trace.fxt -- sh -c './leaf & ./leaf; wait'
	expect_traced trace.fxt

	# A daemon, and its client.
	manager_start
	expect_ok "$FXTRACE" record -q -o trace.fxt -- sh -c './leaf; ./leaf; true'
	expect_traced trace.fxt
	expect_events 2 'process == "leaf" && category == "function" && name == "main"'
	expect_end
	manager_stop

	# Doctor looks at the same.
	"$FXTRACE" doctor >said 2>&1 || [ $? -eq 1 ] || fail "doctor under $kernel: $(cat said)"
done
expect_line 'pidfd_open' said

# More children than can be traced at a time, of which none is there any more: without pidfds that is looked for.
target forks forks.c -lutil
ulimit -n "$(ulimit -Hn)"
expect_ok "$FXTRACE" run -q -b 4M -o trace.fxt -- ./forks silent 1100
expect_equal '' "$(cat err)" "said of many children"
expect_clean trace.fxt
list_archive trace.fxt
expect_equal 1101 "$(wc -l <processes)" "processes"

# Without membarrier, what threads hold that wait stays theirs: the others go on after some time, and what that costs is
# counted.
expect_ok "$FXTRACE" run --on-full block -b 4K -c function -o trace.fxt -- ./turns 20 100
expect_loss wait-hopeless '[1-9][0-9]*' err
lost=$(sed -nE 's/^fxtrace: ([0-9]+) records lost.*/\1/p' err)
expect_clean trace.fxt
list_archive trace.fxt
expect_events $((2 * 20 * 100 - lost)) 'name == "member"'

# Where nothing can be recorded, the program runs, and one line says why not.
echo bare >kernel
expect_ok "$FXTRACE" run -o none.fxt -- ./leaf
expect_line 'memfd|memory' err
