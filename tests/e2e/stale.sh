#!/bin/bash
# SPDX-License-Identifier: MIT
# A manager that was killed leaves the directory of its socket; the next one takes it away, and
# nothing else.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

export XDG_RUNTIME_DIR=$TEST_DIR/runtime
mkdir "$XDG_RUNTIME_DIR"

# place NAME: a directory as a manager makes it, two minutes ago.
place() {
	mkdir -m 700 "$XDG_RUNTIME_DIR/$1"
}

age() {
	touch -d '2 minutes ago' "$XDG_RUNTIME_DIR"/*/
}

directories() {
	find "$XDG_RUNTIME_DIR" -mindepth 1 -maxdepth 1 -name 'fxtrace-??????' | wc -l
}

# run_start: a traced program that waits to be killed; RUN traces it.
run_start() {
	rm -f started
	# shellcheck disable=SC2016 # for the program's shell
	"$FXTRACE" run -q -o waiting.fxt -- sh -c 'echo $$ >started; exec sleep 100' &
	RUN=$!
	wait_for 10 test -s started || fail "the program does not start"
}

# killed_run: leaves a directory behind.
killed_run() {
	run_start
	kill -9 "$RUN" "$(cat started)"
	wait "$RUN" 2>/dev/null
}

killed_run
expect_equal 1 "$(directories)" "directories of a killed manager"
# A fresh one may be that of a manager that begins.
expect_ok "$FXTRACE" run -q -o new.fxt -- true
expect_equal 1 "$(directories)" "fresh directories kept"
age
expect_ok "$FXTRACE" run -q -o new.fxt -- true
expect_equal 0 "$(directories)" "old directories left"

# One whose manager was killed before it had made its socket.
place fxtrace-Empty1
age
expect_ok "$FXTRACE" run -q -o new.fxt -- true
expect_equal 0 "$(directories)" "empty directories left"

# A manager that is alive, a directory that others may enter, one with more in it, one with a file or a
# link in place of the socket, and other names: all stay.
run_start
place fxtrace-Shared && chmod 755 "$XDG_RUNTIME_DIR/fxtrace-Shared"
place fxtrace-Other1 && touch "$XDG_RUNTIME_DIR/fxtrace-Other1/more"
place fxtrace-File01 && touch "$XDG_RUNTIME_DIR/fxtrace-File01/s"
place fxtrace-Link01 && ln -s /dev/null "$XDG_RUNTIME_DIR/fxtrace-Link01/s"
place fxtrace-toolong
place fxtrace-sh.rt
ln -s "$TEST_DIR" "$XDG_RUNTIME_DIR/fxtrace-Linked"
age
before=$(ls -R "$XDG_RUNTIME_DIR")
expect_ok "$FXTRACE" run -q -o new.fxt -- true
expect_equal "$before" "$(ls -R "$XDG_RUNTIME_DIR")" "what is no killed manager's"
kill "$RUN"
wait "$RUN"

# Another user's, where there is one: a namespace may have none.
if [ "$(id -u)" -eq 0 ] && touch theirs && chown 12345 theirs 2>/dev/null; then
	killed_run
	chown -R 12345 "$XDG_RUNTIME_DIR"/fxtrace-??????
	age
	before=$(ls -R "$XDG_RUNTIME_DIR")
	expect_ok "$FXTRACE" run -q -o new.fxt -- true
	expect_equal "$before" "$(ls -R "$XDG_RUNTIME_DIR")" "what is another user's"
fi
