#!/bin/bash
# SPDX-License-Identifier: MIT
# `fxtrace record --hosts': two hosts, which are two servers of ssh on this machine with keys and managers of their own, record the
# same command into one archive; a host that is down, refuses the key, or has no manager is a line, and the others are there.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

PATH=$PATH:/usr/sbin
need sshd ssh ssh-keygen python3
is_emulated && skip 'the server is of another machine'
[ "$(id -u)" -eq 0 ] || skip 'a server of ssh wants to be root'
mkdir -p /run/sshd 2>/dev/null || skip '/run/sshd cannot be made'

ssh-keygen -q -t ed25519 -N '' -f key && ssh-keygen -q -t ed25519 -N '' -f host && ssh-keygen -q -t ed25519 -N '' -f other ||
	fail 'no keys'
cp key.pub authorized
chmod 600 authorized
read -r -a ports < <(python3 -c '
import socket
sockets = [socket.socket() for i in range(4)]
for s in sockets: s.bind(("127.0.0.1", 0))
print(*(s.getsockname()[1] for s in sockets))')
echo 'StrictHostKeyChecking no
UserKnownHostsFile /dev/null
LogLevel ERROR
BatchMode yes
ConnectTimeout 10
HostName 127.0.0.1
IdentitiesOnly yes' >config
ln -s "$FXTRACE" fxtrace
# shellcheck disable=SC2034 # for lib.sh
at_end='kill $(cat *.pid) 2>/dev/null'

# server NAME PORT AUTHORIZED: a host.
server() {
	cat >"$1.conf" <<-EOF
		Port $2
		ListenAddress 127.0.0.1
		HostKey $TEST_DIR/host
		PidFile $TEST_DIR/$1.pid
		AuthorizedKeysFile $TEST_DIR/$3
		StrictModes no
		UsePAM no
		PasswordAuthentication no
		SetEnv FXTRACE_SOCKET=$TEST_DIR/$1.sock PATH=$TEST_DIR:$PATH
	EOF
	"$(type -P sshd)" -D -f "$PWD/$1.conf" -E "$PWD/$1.log" </dev/null &
	printf 'Host %s\nPort %s\nIdentityFile %s\n' "$1" "$2" "$TEST_DIR/key" >>config
	wait_for 20 test -s "$1.pid" || fail "no server $1: $(cat "$1.log")"
}
server one "${ports[0]}" authorized
server two "${ports[1]}" authorized
server alone "${ports[2]}" authorized
server strict "${ports[3]}" other.pub
printf 'Host down\nPort 1\n' >>config
export FXTRACE_SSH="ssh -F $TEST_DIR/config"
expect_ok ssh -F config one true
for name in one two; do
	"$FXTRACE" manager --foreground --socket "$TEST_DIR/$name.sock" >$name.manager 2>&1 </dev/null &
	wait_for 20 test -S "$name.sock" || fail "no manager: $(cat $name.manager)"
done
expect_no_folder() {
	expect_equal '' "$(find . -name '*hosts-*')" 'what is left of the parts'
}

# Both, with words that a shell would have other ideas of.
# shellcheck disable=SC2016 # as it is
words='it'\''s $HOME; "two"  words *'
expect_ok "$FXTRACE" record --hosts one,two -q -o both.fxt.zst -c '#default' -- sh -c 'echo "$0" >>"$1"; ls / >/dev/null' "$words" "$PWD/spoken"
expect_clean both.fxt.zst
expect_no_folder
expect_equal "$words
$words" "$(cat spoken)" 'what was said on both hosts'
"$FXTRACE" info both.fxt.zst >info
"$FXTRACE" query --csv both.fxt.zst "SELECT count(*) FROM process WHERE name = 'sh'" | tail -n 1 | tr -d '"\r' >count
expect_equal 2 "$(cat count)" "shells of both hosts ($(cat info))"

# Some cannot: a line each, and the others' is there.
expect_ok "$FXTRACE" record --hosts one,down,strict,two,alone -o some.fxt -- ls /
cp err said
expect_clean some.fxt
expect_no_folder
expect_line '^fxtrace record: down: left out: .*(refused|timed out)' said
expect_line '^fxtrace record: strict: left out: .*denied' said
expect_line '^fxtrace record: alone: left out: .*manager' said
expect_equal 3 "$(grep -c 'left out: ' said)" 'hosts that are left out'
"$FXTRACE" query --csv some.fxt "SELECT count(*) FROM process WHERE name = 'ls'" | tail -n 1 | tr -d '"\r' >count
expect_equal 2 "$(cat count)" 'programs of the others'

# None can.
expect_status 1 "$FXTRACE" record --hosts down,strict -q -o none.fxt -- true
[ ! -e none.fxt ] || fail 'an archive of nobody'
expect_no_folder

# A program's end, and one that a signal ends.
expect_status 7 "$FXTRACE" record --hosts one,two -q -o seven.fxt -- sh -c 'exit 7'
expect_clean seven.fxt
"$FXTRACE" record --hosts one,two -q -o long.fxt -- sleep 1000 >out 2>err &
record=$!
run_there() {
	[ "$(pgrep -cf '^sleep 1000$')" -ge 2 ]
}
wait_for 30 run_there || fail "no programs: $(cat err)"
kill -INT $record
wait $record
expect_clean long.fxt
expect_no_folder
"$FXTRACE" query --csv long.fxt "SELECT count(*) FROM process WHERE name = 'sleep'" | tail -n 1 | tr -d '"\r' >count
expect_equal 2 "$(cat count)" 'programs that a signal ended'
# Of whoever runs already, for a while; and where nobody does.
FXTRACE_SOCKET=$TEST_DIR/one.sock LD_PRELOAD=$LIBFXTRACE python3 -c 'import time
while True: time.sleep(0.01)' &
is_registered() {
	"$FXTRACE" list-providers --socket "$TEST_DIR/one.sock" | grep -q python
}
wait_for 30 is_registered || fail 'no provider'
expect_ok "$FXTRACE" record --hosts one,two -q --duration 300ms -o while.fxt
cp err said
expect_line '^fxtrace record: two: left out: nothing was recorded there' said
expect_equal 1 "$(grep -c 'left out' said)" 'hosts that are left out'
expect_clean while.fxt

# What is no list.
for list in '' ',' 'one,' ',one' 'one,one' -x; do
	expect_one_error 2 "$FXTRACE" record "--hosts=$list" -o x.fxt -- true
done
expect_one_error 2 "$FXTRACE" record --hosts one -o - -- true
