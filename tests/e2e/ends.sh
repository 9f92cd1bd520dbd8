#!/bin/bash
# SPDX-License-Identifier: MIT
# How and when a process ended stands on its own timeline, where it ended, and not where its parent heard of it.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

cat >late.c <<'EOF'
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void)
{
	pid_t child = fork();
	if (!child)
		exit(3);
	sleep(3);
	waitpid(child, NULL, 0);
	return 5;
}
EOF
compile late late.c -O1
expect_status 5 "$FXTRACE" run -q -o trace.fxt -- ./late
expect_clean trace.fxt
list_archive trace.fxt
expect_events 1 'type == "instant" && name == "process exits" && has("exited=3")'
expect_events 1 'type == "instant" && name == "process exits" && has("exited=5")'
expect_events 1 'type == "instant" && name == "told of its end"'
# Not in seconds: half of the time between its start and its parent's word would be late.
awk -F'\t' '$1 == "instant" && $7 == "process starts" { start = $8 }
	$1 == "instant" && $7 == "process exits" && / *exited=3/ { exit_ = $8 }
	$1 == "instant" && $7 == "told of its end" { told = $8 }
	END { exit !(start < exit_ && exit_ - start < (told - start) / 2) }' events ||
	fail "the child ended where its parent heard of it: $(grep instant events)"

# Six calls deep, and nothing has ended: these are events too.
cat >crash.c <<'EOF'
static volatile int *nothing = (int *)8;
static int f(int n)
{
	return n ? 1 + f(n - 1) : *nothing;
}
int main(void)
{
	return f(4);
}
EOF
compile crash crash.c -O0 -finstrument-functions
expect_status 139 "$FXTRACE" run -o trace.fxt -c function -- ./crash
expect_line ' 1 process, 1 thread, 6 events' err
expect_clean trace.fxt
list_archive trace.fxt
expect_events 1 'type == "instant" && name == "process exits" && has("signal=SIGSEGV")'
if dmesg 2>/dev/null | grep -q "crash.*segfault at 8 "; then
	expect_events 1 'name == "process exits" && /thread=/ && /address=0x8(\t|$)/ && /code=0x/'
fi
