#!/bin/bash
# SPDX-License-Identifier: MIT
# Whom else a manager serves: other users' processes and clients, as its options say.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
. "$FX_SRCDIR/tests/e2e/control.sh"

expect_one_error 2 "$FXTRACE" manager --allow-users=no-such-user-here
expect_one_error 2 "$FXTRACE" manager --allow-users=1,,2
expect_one_error 2 "$FXTRACE" manager --allow-users=
expect_one_error 2 "$FXTRACE" manager --allow-users=4294967295
expect_one_error 2 "$FXTRACE" manager --allow-group=no-such-group-here

[ "$(id -u)" -eq 0 ] || skip "only root has other users"
need setpriv

one=(setpriv --reuid=12345 --regid=12345 --clear-groups)
two=(setpriv --reuid=12346 --regid=12346 --clear-groups)
member=(setpriv --reuid=12346 --regid=12346 "--groups=777,4321")
chmod 755 "$TEST_DIR"
export FXTRACE_SOCKET=$TEST_DIR/fxtrace/manager.sock

# processes_of COUNT USER...: whether that many processes of the user are let in.
processes_of() {
	local count=$1
	shift
	"$@" env LD_PRELOAD="$LIBFXTRACE" sleep 100 &
	local pid=$!
	if [ "$count" -eq 0 ]; then
		# It runs, and has had its answer before its first instruction.
		wait_for 10 grep -q sleep "/proc/$pid/comm" || fail "a process that is refused does not run"
		sleep 0.2
		providers_are 0 || fail "a process of another user is registered: $*"
	else
		wait_for 10 providers_are "$count" || fail "a process that is allowed is not registered: $*"
	fi
	kill "$pid"
	wait "$pid" 2>/dev/null
	wait_for 10 providers_are 0 || fail "its end is not seen: $*"
}

# start OPTION...: a manager at its usual place.
start() {
	unset FXTRACE_SOCKET
	manager_start "$@"
	export FXTRACE_SOCKET=$TEST_DIR/fxtrace/manager.sock
}

# Users by number: their processes, not their commands.
start --allow-users=12345
expect_equal 711 "$(stat -c %a fxtrace)" "mode of the socket's directory"
expect_equal 666 "$(stat -c %a fxtrace/manager.sock)" "mode of the socket"
processes_of 1 "${one[@]}"
processes_of 0 "${two[@]}"
for command in status list-providers stop terminate; do
	expect_one_error 1 "${one[@]}" "$FXTRACE" "$command"
	expect_line 'Operation not permitted' err
done
expect_ok "$FXTRACE" record -q -o mine.fxt -- "${one[@]}" true
expect_clean mine.fxt
expect_equal 0 "$(stat -c %u mine.fxt)" "owner of the archive"
manager_stop

# Everybody, and their commands: an archive is its client's, who has opened it.
start --allow-users=all --allow-control
processes_of 1 "${two[@]}"
mkdir theirs && chown 12345 theirs
expect_ok "${one[@]}" "$FXTRACE" record -q -o theirs/one.fxt -- true
expect_clean theirs/one.fxt
expect_equal 12345 "$(stat -c %u theirs/one.fxt)" "owner of the archive"
# The manager opens no path that another user names.
LD_PRELOAD=$LIBFXTRACE sleep 100 &
sleeper=$!
wait_for 10 providers_are 1 || fail "the sleeper is not registered"
"${one[@]}" "$FXTRACE" record -q -m circular -o theirs/two.fxt --trigger death:snapshot -- sleep 1 &
recorder=$!
wait_for 10 state_is started || fail "another user's session does not start"
kill "$sleeper"
wait "$sleeper" 2>/dev/null
kill -USR2 "$MANAGER"
wait "$recorder" || fail "another user's session ended with $?"
expect_clean theirs/two.fxt
expect_equal 'one.fxt two.fxt' "$(cd theirs && echo *)" "files of another user's session"
manager_stop

# A group, by the kernel's list of the process's groups.
start --allow-group=4321
expect_equal '660 4321' "$(stat -c '%a %g' fxtrace/manager.sock)" "mode and group of the socket"
processes_of 1 "${member[@]}"
chmod 666 fxtrace/manager.sock
processes_of 0 "${one[@]}"
expect_one_error 1 "${member[@]}" "$FXTRACE" status
manager_stop

# Without the options it is the user's alone again.
start
expect_equal 700 "$(stat -c %a fxtrace)" "mode of the socket's directory"
expect_equal 600 "$(stat -c %a fxtrace/manager.sock)" "mode of the socket"
manager_stop
