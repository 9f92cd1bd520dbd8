#!/bin/bash
# SPDX-License-Identifier: MIT
# Where much is missing that a machine usually has, as in a container: no /tmp, /dev/shm, HOME, XDG_RUNTIME_DIR or
# /proc, and a root that cannot be written. Tracing works, or one line says what to set.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
not_sanitized "a sanitizer wants /proc"
need unshare

target leaf leaf.c
privileges=(unshare -m)
"${privileges[@]}" true 2>/dev/null || privileges=(unshare -rm)
"${privileges[@]}" true 2>/dev/null || skip "no mount namespace can be made"

# A root of its own: the system's folders, the build, the test's folder as /data, and nothing else.
cat >enter <<'EOF'
set -e
mount -t tmpfs none root
for folder in bin etc lib lib32 lib64 sbin usr; do
	if [ -L "/$folder" ]; then
		cp -P "/$folder" root
	elif [ -d "/$folder" ]; then
		mkdir "root/$folder"
		mount --rbind "/$folder" "root/$folder"
	fi
done
mkdir root/build root/data root/dev root/proc
mount --bind "$BUILD" root/build
mount --bind . root/data
touch root/dev/null
mount --bind /dev/null root/dev/null
[ -z "$WITH_PROC" ] || mount --rbind /proc root/proc
mount -o remount,ro root
exec chroot root env -i PATH=/usr/bin:/bin LD_LIBRARY_PATH="$LIBRARIES" sh -c "cd /data; $1"
EOF
mkdir root

# inside COMMAND: the shell's, in that root; WITH_PROC is empty or not.
inside() {
	BUILD=$FX_BUILDDIR WITH_PROC=$with_proc LIBRARIES=${LD_LIBRARY_PATH-} "${privileges[@]}" sh enter "$1"
}
with_proc=
inside true 2>err || skip "no such root can be made: $(head -n 1 err)"

for with_proc in '' yes; do
	# Nowhere to make a socket: the program runs, and one line says what to set.
	expect_status 5 inside '/build/fxtrace run -o none.fxt ./leaf 5'
	expect_equal 1 "$(wc -l <err)" "lines about a socket that has no place"
	expect_line '^fxtrace: nothing is traced: set TMPDIR to a folder where a socket can be made: ' err
	expect_one_error 1 inside '/build/fxtrace manager'
	expect_line '; --socket PATH or XDG_RUNTIME_DIR names another place$' err

	if ! is_emulated; then
		expect_ok inside 'FXTRACE_VERBOSE=1 FXTRACE_OUTPUT=hand.fxt LD_PRELOAD=/build/.libs/libfxtrace.so ./leaf; sleep 0.2'
		expect_line 'set TMPDIR to a folder where a socket can be made: ' err
	fi

	# TMPDIR says where; a runtime directory that is not there does not matter.
	expect_status 5 inside 'TMPDIR=/data XDG_RUNTIME_DIR=/run/user/0 /build/fxtrace run -o here.fxt ./leaf 5'
	expect_line '^fxtrace: here.fxt: .* 1 process, ' err
	expect_clean here.fxt
	"$FXTRACE" dump here.fxt >dumped
	expect_line 'module=0 name="/data/leaf"' dumped
	expect_line 'name="leaf"' dumped
	expect_status 0 inside 'PATH=/build:$PATH; TMPDIR=/data fxtrace run -q -o path.fxt ./leaf'
	expect_clean path.fxt

	# An archive that cannot be made here can elsewhere.
	expect_one_error 1 inside 'cd /; TMPDIR=/data /build/fxtrace run /data/leaf'
	expect_line '^fxtrace run: fxtrace.fxt: .*; --output FILE names another place$' err

	# A manager, its clients and a program with the library preloaded by hand.
	expect_ok inside 'export TMPDIR=/data; /build/fxtrace manager; /build/fxtrace record -q -o record.fxt ./leaf && /build/fxtrace manager --stop'
	expect_line '^manager [0-9]+ has ended$' out
	expect_clean record.fxt
	if ! is_emulated; then
		rm -f hand.fxt
		expect_ok inside 'TMPDIR=/data FXTRACE_OUTPUT=hand.fxt LD_PRELOAD=/build/.libs/libfxtrace.so ./leaf'
		wait_for 60 "$FXTRACE" check -q hand.fxt || fail "no archive of a program that was preloaded by hand"
	fi

	# What reads archives needs no place for temporary files.
	expect_ok inside '/build/fxtrace report here.fxt'
	expect_line leaf out
	expect_ok inside '/build/fxtrace convert -f sqlite here.fxt here.sqlite && /build/fxtrace convert here.fxt && ls here.pftrace'
	expect_ok inside '/build/fxtrace query here.fxt "select count(*) from slice"'
	expect_ok inside 'TMPDIR=/data /build/fxtrace doctor ./leaf'
done
# A manager puts its archive away before its socket.
none_left() {
	[ -z "$(find . -maxdepth 1 -name 'fxtrace-*' ! -name 'fxtrace-[0-9]*')" ]
}
wait_for 20 none_left || fail "left of sockets: $(ls -d fxtrace-*)"
