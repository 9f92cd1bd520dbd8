#!/bin/bash
# SPDX-License-Identifier: MIT
# Whose manager it is: commands and programs take root's or their own user's, another one only if they are told to; and
# they map only memory whose size can no longer change.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
. "$FX_SRCDIR/tests/e2e/control.sh"
need python3

# --- Memory that can shrink ------------------------------------------------------------------------

cat >waits.c <<'END'
#include <stdio.h>
#include <unistd.h>

static int step(int i)
{
	return i + (getppid() == 0);
}

/* Says that it is up, waits for a word, and does much that is recorded. */
int main(void)
{
	int sum = 0;

	puts("up");
	fflush(stdout);
	getchar();
	for (int i = 0; i < 100000; i++)
		sum += step(i) & 1;
	return sum == 50000 ? 5 : 1;
}
END
compile waits -O1 -finstrument-functions waits.c

# Registers with the manager, and hands on what it has got to another process: as it is, or a copy of one of the three
# that it cuts off when it has been taken.
cat >lend.py <<'END'
import fcntl, os, socket, struct, subprocess, sys
library, replaced, seals = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
request = struct.pack("=IHH16x104s", 0x54584630, 1, 1, b"lender")
with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as s:
    s.connect(os.environ["FXTRACE_SOCKET"])
    s.send(request)
    answer, fds, _, _ = socket.recv_fds(s, 32, 3)
fds = list(fds)
if replaced >= 0:
    size = os.fstat(fds[replaced]).st_size
    copy = os.memfd_create("copy", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.ftruncate(copy, size)
    os.pwrite(copy, os.pread(fds[replaced], min(size, 1 << 20), 0), 0)
    if seals:
        fcntl.fcntl(copy, fcntl.F_ADD_SEALS, seals)
    fds[replaced] = copy
door = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
door.bind("lend")
door.listen(4)
environment = dict(os.environ, LD_PRELOAD=library, FXTRACE_SOCKET=os.path.abspath("lend"))
del environment["FXTRACE_DISABLE"]
program = subprocess.Popen(["./waits"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)
peer, _ = door.accept()
peer.recv(1024)
socket.send_fds(peer, [answer], fds)
assert program.stdout.readline() == b"up\n"
mapped = open("/proc/%d/maps" % program.pid).read().count("/memfd:")
if replaced >= 0:
    try:
        os.ftruncate(copy, 0)
    except PermissionError:
        pass
program.communicate(b"\n")
os.unlink("lend")
print("mapped", mapped, "status", program.returncode)
END
lend() { # MAPPED REPLACED SEALS
	expect_ok env FXTRACE_DISABLE=1 "$FXTRACE" run -q -o lent.fxt -- python3 lend.py "$LIBFXTRACE" "$2" "$3"
	expect_equal "mapped $1 status 5" "$(tail -n 1 out)" "with $2 in a copy with seals $3"
}
lend 3 -1 0
for which in 0 1 2; do
	lend 0 $which 0
	lend 0 $which 4 # it cannot grow
done

# --- Whose it is -----------------------------------------------------------------------------------

[ "$(id -u)" -eq 0 ] || skip "only root has other users"
need setpriv

other=(setpriv --reuid=12345 --regid=12345 --clear-groups)
third=(setpriv --reuid=12346 --regid=12346 --clear-groups)
chmod 755 .
mkdir lib && cp "$LIBFXTRACE" lib
"${third[@]}" test -r lib/libfxtrace.so || skip "the test's folder is closed"
mkdir -m 1777 shared
target leaf leaf.c

# is_running: the manager of another user, in a place where anybody could have been first.
is_running() {
	"${other[@]}" "$FXTRACE" status
}
export XDG_RUNTIME_DIR=$TEST_DIR/shared
"${other[@]}" "$FXTRACE" manager --foreground --allow-users=all --allow-control >manager.out 2>manager.err &
MANAGER=$!
wait_for 10 is_running || fail "the other user's manager does not listen: $(cat manager.err)"
socket=$XDG_RUNTIME_DIR/fxtrace/manager.sock
chmod 711 "${socket%/*}"

# expect_refused WHY USER... -- : commands of USER send it nothing, and do not start a program.
expect_refused() {
	local why=$1 command

	shift
	for command in status list-providers stop terminate "record -o no.fxt -- touch started"; do
		# shellcheck disable=SC2086 # words
		expect_one_error 1 "$@" "$FXTRACE" $command
		expect_line "$why" err
	done
	[ ! -e started ] || fail "record started its program"
}

theirs="the manager there is user 12345's, neither root's nor yours"
cd shared || exit 99
for user in "env" "${third[*]}"; do
	# shellcheck disable=SC2086 # words
	{
		# Where it is usual, in a folder that is another user's, and in one that only looks as if it were not.
		expect_refused 'folder is another user' $user
		expect_refused "$theirs" $user env FXTRACE_SOCKET="$socket"
		expect_ok $user "$FXTRACE" status --socket "$socket"
		expect_ok $user env FXTRACE_SOCKET="$socket" FXTRACE_MANAGER_USER=12345 "$FXTRACE" status
		expect_refused "$theirs" $user env FXTRACE_SOCKET="$socket" FXTRACE_MANAGER_USER=12344
	}
	rm -f out err
done
cd .. || exit 99
mkdir -m 755 trap trap/fxtrace && ln -s "$socket" trap/fxtrace/manager.sock
XDG_RUNTIME_DIR=$PWD/trap expect_refused "$theirs" env
chmod 777 trap/fxtrace
XDG_RUNTIME_DIR=$PWD/trap expect_refused 'others may write there' env
# What su leaves of another user's.
mkdir left && chown 12345 left
XDG_RUNTIME_DIR=$PWD/left expect_one_error 1 "$FXTRACE" status
expect_no_line "$PWD/left" err
XDG_RUNTIME_DIR=$PWD/left expect_ok traced -- sh -c 'echo "$FXTRACE_SOCKET"'
expect_no_line "$PWD/left" out

# Programs: preloaded, they run; they register where they are told to.
registers() { # COUNT USER... -- VARIABLE...
	local count=$1 pid

	shift
	"$@" env LD_PRELOAD="$PWD/lib/libfxtrace.so" FXTRACE_SOCKET="$socket" sh -c 'echo up && exec sleep 100' >up &
	pid=$!
	wait_for 10 grep -q up up || fail "it does not run: $*"
	wait_for 10 grep -q sleep "/proc/$pid/comm" || fail "it does not go on: $*"
	# It has had its answer before its first instruction.
	"$FXTRACE" status --json --socket "$socket" >status
	kill "$pid"
	wait "$pid" 2>/dev/null
	: >up
	expect_line "\"providers\": $count," status
	wait_for 10 none_is_registered || fail "its end is not seen: $*"
}
none_is_registered() {
	"$FXTRACE" status --json --socket "$socket" | grep -q '"providers": 0,'
}
registers 1 "${other[@]}"
registers 0 env
registers 0 "${third[@]}"
registers 1 env FXTRACE_MANAGER_USER=12345
registers 1 "${third[@]}" env FXTRACE_MANAGER_USER=12345
registers 0 env FXTRACE_MANAGER_USER=12344
registers 0 env FXTRACE_MANAGER_USER=12345x
# Who was told to record with it has his programs recorded.
expect_ok "$FXTRACE" record -q --socket "$socket" -o mine.fxt -- ./leaf
expect_clean mine.fxt
list_archive mine.fxt
expect_events 1 'name == "leaf_function"'
# A user whom a user namespace does not have.
if "${third[@]}" unshare -r true 2>/dev/null; then
	registers 1 "${other[@]}" unshare -r
	registers 1 "${third[@]}" unshare -r
fi
manager_stop
