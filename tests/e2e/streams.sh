#!/bin/bash
# SPDX-License-Identifier: MIT
# Arrows from who wrote to who read where stdio has part: programs write and read by turns, by stdio and by calls of their own, mixed, and
# say which bytes when. No arrow is wrong, and none is missing. Half of the cases are others in each run.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

need python3
compile streams -O1 -w -D_GNU_SOURCE "$FX_SRCDIR/tests/e2e/targets/streams.c"

RANDOM=${FX_SEED:-$(date +%N | sed 's/^0*//')}
turns=$(scaled 120)

# talk KIND SEED WRITERS READERS
talk() {
	timeout 200 "$FXTRACE" run --on-full block -o trace.fxt -- ./streams "$@" "$turns" >log 2>said || fail "streams $*: $(cat said)"
	expect_clean trace.fxt
	"$FXTRACE" dump trace.fxt >dump || fail "streams $*: no dump"
	read -r reads found wrong < <(python3 "$FX_SRCDIR/tests/e2e/streams_agree.py" dump log 2>differs)
	[ "${reads:-0}" -ge "$turns" ] || fail "streams $*: $(cat differs)"
	[ "$wrong" -eq 0 ] || fail "streams $*: $wrong arrows are wrong: $(grep wrong differs | head -n 5)"
	[ "$found" -eq "$reads" ] || fail "streams $*: $found of $reads have an arrow: $(head -n 5 differs); $(cat said)"
	echo "streams $*: $found of $reads"
}

for kind in pipe fifo stream tcp; do
	talk $kind 1 4 3
	talk $kind $RANDOM $((RANDOM % 8 + 1)) $((RANDOM % 8 + 1))
done

# What people do: nothing of a pipeline, or of what a shell takes in, is left out.
"$FXTRACE" run -o shell.fxt -- sh -c 'x=$(date); echo "$x"; seq 3000 | sort -r | cat | tail -n 2 | wc -l' >/dev/null 2>said || fail "a shell: $(cat said)"
! grep -q 'no arrow' said || fail "a shell: $(cat said)"
"$FXTRACE" dump shell.fxt >dump
[ "$(grep -c 'flow-end.*category="message"' dump)" -ge 5 ] || fail "a shell: too few arrows"
# It is what was asked for that is recorded: files have none of these calls.
"$FXTRACE" run -q -o file.fxt -- sh -c 'seq 3000 >a-file' || fail "a file"
"$FXTRACE" dump file.fxt >dump
! grep -q 'name="write".*a-file' dump || fail "what stdio writes to a file is a call of its own"

# An attached program has what stdio writes in its archive as well, and goes on by libc's own table afterwards.
cat >prints.c <<'END'
#include <stdio.h>
#include <unistd.h>

extern struct {
	FILE stream;
	void *const *table;
} _IO_2_1_stdout_;

int main(int argc, char **argv)
{
	FILE *file = fopen(argv[1], "w");

	for (;;) {
		printf("a line\n");
		fflush(stdout);
		fprintf(file, "%d", _IO_2_1_stdout_.table[15] == (void *)_IO_file_write);
		fflush(file);
		usleep(1000);
	}
}
END
sed -i '1i extern long _IO_file_write();' prints.c
# With its address from the linker: a program that is not position-independent would have one of its own for it.
compile prints -O1 -w -fPIE -pie prints.c
./prints words > >(cat >/dev/null) &
pid=$!
wait_for 30 grep -q 1 words
"$FXTRACE" attach -q -o printed.fxt $pid 2>said &
attacher=$!
wait_for 60 grep -q 0 words || fail "the table was not changed: $(cat said)"
kill -INT $attacher
wait $attacher || fail "attach has ended with status $?: $(cat said)"
expect_ok "$FXTRACE" dump printed.fxt
grep -q 'name="write".*pipe:' out || fail "nothing of what an attached program's stdio wrote"
size=$(wc -c <words)
goes_on() {
	[ "$(wc -c <words)" -gt $((size + 3)) ]
}
wait_for 30 goes_on
expect_equal 1 "$(tail -c 1 words)" "the table afterwards"
kill $pid

# What a stream's end writes belongs to the sum.
cat >closes.c <<'END'
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

int main(int argc, char **argv)
{
	char sink[200];
	int ends[2];
	FILE *f;

	socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
	f = fdopen(ends[0], "w");
	fprintf(f, "%100d", 1);
	fflush(f);
	fprintf(f, "%50d", 2);
	strcmp(argv[1], "fclose") ? freopen("/dev/null", "w", f) : fclose(f);
	return recv(ends[1], sink, sizeof sink, MSG_WAITALL | MSG_DONTWAIT) != 150;
}
END
compile closes -O1 -w closes.c
for way in fclose freopen; do
	expect_ok "$FXTRACE" run -q -o closes.fxt -- ./closes $way
	expect_ok "$FXTRACE" dump closes.fxt
	expect_equal 150 "$(grep 'name="write".*"count":uint32=50,' out | grep -o 'total_written":uint32=[0-9]*' | cut -d= -f2)" "what was written until $way"
done
