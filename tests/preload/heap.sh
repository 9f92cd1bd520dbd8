#!/bin/bash
# SPDX-License-Identifier: MIT
# The heap counter ends where the program's own count does, whatever ends the process, and is never negative; with
# category malloc every call is shown.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

expect_ok "$FXTRACE" run -q -o trace.fxt -- "$FX_BUILDDIR/tests/preload/targets/heap"
read -r bytes blocks <out
expect_ok "$FXTRACE" dump trace.fxt
last=$(grep 'type=counter.*name="heap"' out | tail -n 1)
shown_bytes=$(sed 's/.*"bytes":[a-z0-9]*=\(-*[0-9]*\).*/\1/' <<<"$last")
shown_blocks=$(sed 's/.*"blocks":[a-z0-9]*=\(-*[0-9]*\).*/\1/' <<<"$last")

# The program has some blocks besides (its standard output, its threads').
near() {
	local difference=$(($2 - $1))

	[ "$difference" -gt "-$3" ] && [ "$difference" -lt "$3" ] || fail "heap $4: $2, really $1"
}
near "$bytes" "$shown_bytes" 40000 bytes
near "$blocks" "$shown_blocks" 600 blocks

expect_ok "$FXTRACE" run -q -c malloc -o trace.fxt -- "$FX_BUILDDIR/tests/preload/targets/heap"
expect_ok "$FXTRACE" dump trace.fxt
[ "$(grep -c 'name="malloc".*"size":uint32=1000,' out)" -ge 2666 ] || fail "mallocs are missing"
[ "$(grep -c 'name="realloc"' out)" -ge 400 ] || fail "reallocs are missing"
expect_line 'name="calloc".*"count":uint32=10, "size":uint32=200, "ret":pointer=0x' out

# What is held by threads that go on counts to the block, though nothing but SIGKILL ends them; and no value on the way
# is one that cannot be: half of the blocks are freed by a thread that has allocated none.
cat >held.c <<'EOF'
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
static void *volatile blocks[200];
static pthread_barrier_t held;
static int count;
static void *hold(void *unused)
{
	for (int i = 0; i < count; i++)
		blocks[i] = malloc(100);
	pthread_barrier_wait(&held);
	pause();
	return unused;
}
static void *release(void *unused)
{
	for (int i = 0; i < count; i += 2)
		free(blocks[i]);
	return unused;
}
int main(int argc, char **argv)
{
	pthread_t holder, releaser;
	count = argc > 1 ? atoi(argv[1]) : 0;
	pthread_barrier_init(&held, NULL, 2);
	pthread_create(&holder, NULL, hold, NULL);
	pthread_barrier_wait(&held);
	pthread_create(&releaser, NULL, release, NULL);
	pthread_join(releaser, NULL);
	return kill(getpid(), SIGKILL);
}
EOF
compile held held.c -O1

# values FILE: bytes and blocks of each value of the counter
values() {
	"$FXTRACE" dump "$1" | sed -n 's/.*type=counter.*name="heap".*"bytes":[a-z0-9]*=\(-*[0-9]*\),.*"blocks":[a-z0-9]*=\(-*[0-9]*\).*/\1 \2/p'
}

expect_status 137 "$FXTRACE" run -q -o none.fxt -- ./held 0
expect_status 137 "$FXTRACE" run -q -o some.fxt -- ./held 200
values none.fxt >none
values some.fxt >some
expect_no_line '-' none
expect_no_line '-' some
read -r none_bytes none_blocks < <(tail -n 1 none)
read -r some_bytes some_blocks < <(tail -n 1 some)
expect_equal 100 $((some_blocks - none_blocks)) "blocks that are held"
expect_equal 10400 $((some_bytes - none_bytes)) "bytes that are held"
