#!/bin/bash
# SPDX-License-Identifier: MIT
# Programs under strace and under the tracer at once: every system call that comes through a function
# that is wrapped is in the archive, with the same arguments and result; the rest is listed by what made
# it (strace_agree.py).
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

need strace python3 nm
strace -k -o probe true 2>/dev/null || skip "strace cannot print stacks here"
libc=$(sed -n 's/.* => \(.*libc\.so\.6\) .*/\1/p' < <(ldd /bin/sh))
[ -e "$libc" ] || skip "no libc.so.6"

# agree COMMAND...
agree() {
	rm -f calls
	"$FXTRACE" run -q -b 64M --on-full block -o trace.fxt -- strace -f -k -s 300 -v -o calls "$@" \
		>out 2>err </dev/null || fail "status $? of $*: $(tail -n 3 err)"
	"$FXTRACE" dump --json trace.fxt >dump.json || fail "dump"
	python3 "$FX_SRCDIR/tests/e2e/strace_agree.py" calls dump.json \
		"$FX_BUILDDIR/preload/wrappers.txt" "$libc" >agreement ||
		fail "$*"$'\n'"$(cat agreement)"
	[ "$(awk 'NF == 2 && $2 == "agreed" { n = $1 } END { print n + 0 }' agreement)" -ge "$least" ] ||
		fail "too few calls agree: $*"$'\n'"$(cat agreement)"
	echo "== $*"
	cat agreement
}

printf 'text %d\n' 1 2 3 >file
least=4 agree cat file file
least=5 agree ls -l .
least=10 agree sh -c 'cat file | sort >sorted; (exit 3); true'
echo 'int main(void) { return 0; }' >source.c
least=10 agree "$FX_CC" -c -o object.o source.c
least=10 agree "$(command -v python3)" -c 'import subprocess, threading
t = threading.Thread(target=lambda: open("file").read())
t.start()
t.join()
subprocess.run(["cat", "file"])'
! command -v sqlite3 >/dev/null || least=10 agree sqlite3 data 'create table t(a); insert into t values (1); select * from t'
! command -v xz >/dev/null || least=5 agree xz -T2 -k file
! command -v git >/dev/null || least=5 agree git init -q repository
