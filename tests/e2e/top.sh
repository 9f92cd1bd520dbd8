#!/bin/bash
# SPDX-License-Identifier: MIT
# `fxtrace top': its numbers are those of the archive, it ends with the session, and the terminal is as it was.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

need python3
top=$FX_SRCDIR/tests/e2e/top.py

cat >rate.c <<'END'
#include <fcntl.h>
#include <sys/sendfile.h>
#include <unistd.h>
int main(void)
{
	int fd = open("/dev/null", O_WRONLY), in = open("/proc/self/exe", O_RDONLY);

	for (int i = 0; access("enough", F_OK) != 0; i++) {
		for (int k = 0; k < 10; k++)
			(void)!write(fd, "0123456789", 10);
		sendfile(fd, in, &(off_t){0}, 4000);
		usleep(10000);
	}
	return 0;
}
END
compile rate -O1 -w rate.c

# begin: a session that goes on until the file `enough' is there.
begin() {
	rm -f enough trace.fxt
	"$FXTRACE" run -q -o trace.fxt --on-full block -- ./rate &
	session=$!
	wait_for 60 test -s trace.fxt || fail "no archive"
}

begin
"$FXTRACE" top --batch --interval 200ms trace.fxt >samples 2>err &
watcher=$!
wait_for 60 eval "[ \$(grep -c '^time' samples) -ge 6 ]" || fail "no samples"
expect_ok "$FXTRACE" top --batch -n 2 --interval 100ms --threads --sort waiting trace.fxt
expect_equal 2 "$(grep -c '^time' out)" "samples of -n 2"
expect_equal 2 "$(awk '$1 == $2 && $1 > 0' out | wc -l)" "rows of the thread"
touch enough
wait "$session"
wait "$watcher" || fail "status $? at the end of the session"
expect_equal 0 "$(wc -c <err)" "bytes of errors"
"$FXTRACE" dump --json trace.fxt >dump.json
python3 "$top" batch samples dump.json || fail "other numbers than the archive's"

begin
python3 "$top" screen "$FXTRACE" trace.fxt || fail "not on a terminal as it should be"
touch enough
wait "$session"

# Of a session that is over, what it did.
expect_ok "$FXTRACE" top --batch trace.fxt
expect_equal 1 "$(grep -c '^time' out)" "samples of what is over"

# --- One clear line ---

expect_one_error 2 "$FXTRACE" top trace.fxt
expect_one_error 2 "$FXTRACE" top --batch --sort nonsense trace.fxt
expect_one_error 2 "$FXTRACE" top --batch -n 0 trace.fxt
expect_one_error 2 "$FXTRACE" top --batch --interval 1ns trace.fxt
expect_one_error 2 "$FXTRACE" top --batch -
expect_one_error 1 "$FXTRACE" top --batch missing.fxt
expect_one_error 1 "$FXTRACE" top --batch --socket "$PWD/none" -n 1
echo nonsense of another kind >foreign.fxt
expect_status 1 "$FXTRACE" top --batch foreign.fxt
expect_equal 1 "$(wc -l <err)" "lines on a foreign file"
