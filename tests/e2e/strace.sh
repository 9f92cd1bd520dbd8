#!/bin/bash
# SPDX-License-Identifier: MIT
# Programs under strace and under the tracer at once: every system call that comes through a function
# that is wrapped is in the archive, with the same arguments and result; the rest is listed by what made
# it and why it has no event (strace_agree.py). With FX_STRACE=all (`make check-strace') larger programs too.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
. "$FX_SRCDIR/tests/e2e/control.sh"

not_sanitized "strace prints the stacks of the sanitizer's functions"
need strace nm
strace -k -o probe true 2>/dev/null || skip "strace cannot print stacks here"
python=$(PATH=/usr/bin:/bin command -v python3) || skip "python3 is not installed"
libc=$(sed -n 's/.* => \(.*libc\.so\.6\) .*/\1/p' < <(ldd /bin/sh))
[ -e "$libc" ] || skip "no libc.so.6"

export HOME=$TEST_DIR GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b.c \
	GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b.c
manager_start

# agree LEAST COMMAND...: at least so many calls agree, and none disagrees. strace itself is not traced.
agree() {
	local least=$1 ran

	shift
	rm -f calls trace.fxt
	expect_ok "$FXTRACE" start -q --on-full block -o trace.fxt
	strace -f -k -s 300 -v -o calls -E LD_PRELOAD="$LIBFXTRACE" -E "FXTRACE_SOCKET=$TEST_DIR/fxtrace/manager.sock" \
		"$@" >ran.out 2>ran.err </dev/null
	ran=$?
	expect_ok "$FXTRACE" terminate
	[ "$ran" -eq 0 ] || fail "status $ran of $*: $(tail -n 3 ran.err)"
	"$FXTRACE" dump --json trace.fxt >dump.json || fail "dump"
	"$python" "$FX_SRCDIR/tests/e2e/strace_agree.py" calls dump.json "$FX_BUILDDIR/preload/wrappers.txt" \
		"$FX_SRCDIR/preload/wrap/skip.tbl" "$libc" >agreement || fail "$*"$'\n'"$(cat agreement)"
	[ "$(awk 'NF == 2 && $2 == "agreed" { n = $1 } END { print n + 0 }' agreement)" -ge "$least" ] ||
		fail "too few calls agree: $*"$'\n'"$(cat agreement)"
	echo "== $*"
	cat agreement
}

# with LEAST COMMAND...: if the command is there.
with() {
	! command -v "$2" >/dev/null || agree "$@"
}

seq 1 3000 >file
mkdir -p tree/sub && cp file tree/sub/ && ln -s sub tree/link
agree 4 cat file file
agree 10 sh -c 'cat file | sort >sorted; (exit 3); true'
agree 10 find tree -type f -newer tree/link -o -name file

if [ "${FX_STRACE-}" != all ]; then
	manager_stop
	exit 0
fi

agree 5 ls -l .
agree 10 "$python" -c 'import subprocess, threading
t = threading.Thread(target=lambda: open("file").read())
t.start()
t.join()
subprocess.run(["/bin/cat", "file"])'
with 50 perl -e 'open F, "<file"; while (<F>) { $n += $_ } print $n; print `echo hi`; system("true");
	rename "none", "other"; mkdir "made"; rmdir "made"; select undef, undef, undef, 0.01'
with 100 ps aux
with 4 ip addr
with 4 ssh-keygen -q -t ed25519 -N '' -f key
with 20 bash -c 'trap "echo x" USR1; (sleep 0.01 & wait); kill -USR1 $$; read -r x <file; umask 022; exec ls tree'
with 40 tar czf tree.tgz tree
with 20 tar xzf tree.tgz -C .
with 10 xz -T2 -k file
with 50 sqlite3 data 'create table t(a); insert into t values (1); select * from t'
echo 'int main(void) { return 0; }' >source.c
with 10 "${FX_CC%% *}" -c -o object.o source.c
printf 'all: a b\na: file\n\tcat file >a\nb: a\n\tsort a | uniq >b\n' >Makefile
with 50 make -s -j2

if command -v git >/dev/null; then
	agree 50 git init -q repository
	cp file repository/
	for command in 'add file' 'commit -q -m one' '--no-pager log --stat' 'gc -q'; do
		# shellcheck disable=SC2086 # words
		agree 50 git -C repository $command
	done
fi

# A server of the tests' own, on a port that the kernel chooses.
"$python" -u -c 'import http.server, socketserver
server = socketserver.TCPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
print(server.server_address[1])
server.serve_forever()' >port 2>/dev/null &
server=$!
wait_for 20 test -s port || fail "the server does not start"
with 20 curl -s -o fetched "http://127.0.0.1:$(cat port)/file"
with 10 wget -q -O fetched "http://127.0.0.1:$(cat port)/file"
kill "$server"
manager_stop
