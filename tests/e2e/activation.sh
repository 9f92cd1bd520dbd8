#!/bin/bash
# SPDX-License-Identifier: MIT
# A manager that is started with its socket, as by systemd; and who may talk to one.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
. "$FX_SRCDIR/tests/e2e/control.sh"
need python3

# Passes a listening socket as descriptor 3, and says when the manager says that it is ready.
cat >activate.py <<'E2'
import os, socket, sys
path, kind, command = sys.argv[1], sys.argv[2], sys.argv[3:]
s = socket.socket(socket.AF_UNIX, getattr(socket, kind))
s.bind(path)
s.listen(16)
notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
notify.bind("notify")
os.dup2(s.fileno(), 3)
os.set_inheritable(3, True)
if os.fork() == 0:
    os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS="1",
                      NOTIFY_SOCKET=os.path.abspath("notify"))
    os.execvp(command[0], command)
notify.settimeout(10)
try:
    print(notify.recv(100).decode(), flush=True)
except OSError:
    pass
_, status = os.wait()
sys.exit(os.waitstatus_to_exitcode(status))
E2

export FXTRACE_SOCKET=$TEST_DIR/passed
python3 activate.py "$FXTRACE_SOCKET" SOCK_SEQPACKET "$FXTRACE" manager >ready 2>activate.err &
helper=$!
wait_for 10 grep -q '^READY=1$' ready || fail "no word from the manager: $(cat activate.err)"
expect_ok "$FXTRACE" status --json
pid=$(json_number pid out)
expect_ok "$FXTRACE" record -q -o passed.fxt -- true
expect_clean passed.fxt
kill -TERM "$pid"
wait "$helper" || fail "the manager ended with $?: $(cat activate.err)"
[ -S passed ] || fail "the manager removed a socket that is not its own"
rm -f passed notify

# What is no such socket is refused; what is meant for another process is not looked at.
expect_one_error 1 python3 activate.py "$FXTRACE_SOCKET" SOCK_STREAM "$FXTRACE" manager
expect_line 'the socket that was passed' err
rm -f passed notify
unset FXTRACE_SOCKET
export LISTEN_PID=1 LISTEN_FDS=1
manager_start
unset LISTEN_PID LISTEN_FDS
expect_equal 700 "$(stat -c %a fxtrace)" "mode of the socket's directory"
expect_equal 600 "$(stat -c %a fxtrace/manager.sock)" "mode of the socket"

# Another user is kept out by the modes, and without them by his credentials: clients and processes.
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
	other=(setpriv --reuid=12345 --regid=12345 --clear-groups)
	FXTRACE_SOCKET=$TEST_DIR/fxtrace/manager.sock
	export FXTRACE_SOCKET
	chmod 755 "$TEST_DIR"
	expect_one_error 1 "${other[@]}" "$FXTRACE" status
	chmod 755 fxtrace && chmod 666 fxtrace/manager.sock
	expect_one_error 1 "${other[@]}" "$FXTRACE" status
	expect_one_error 1 "${other[@]}" "$FXTRACE" terminate
	LD_PRELOAD=$LIBFXTRACE "${other[@]}" sleep 0 || fail "a process that is refused does not run"
	providers_are 0 || fail "another user's process is registered"
	expect_ok "$FXTRACE" status
fi
manager_stop

# The units are sound.
if command -v systemd-analyze >/dev/null; then
	mkdir units
	cp "$FX_SRCDIR/manager/systemd/fxtrace-manager.socket" units
	sed "s|^ExecStart=[^ ]*|ExecStart=$FXTRACE|" \
		"$FX_BUILDDIR/manager/systemd/fxtrace-manager.service" >units/fxtrace-manager.service
	expect_ok systemd-analyze verify --man=no units/fxtrace-manager.service units/fxtrace-manager.socket
	expect_equal '' "$(grep fxtrace err)" "what systemd says of the units"
fi
