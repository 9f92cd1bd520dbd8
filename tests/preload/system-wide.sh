#!/bin/bash
# SPDX-License-Identifier: MIT
# The library in /etc/ld.so.preload, where every program loads it: whoever asks is traced, nobody else is, fxtrace's own
# programs never, and a privileged program does not hear its caller.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
not_sanitized "the programs would get the library before their sanitizer's"
need unshare setpriv

USER_ID=23457 # nobody else's: its processes are counted
MOST=40	      # of them at a time

[ "$(id -u)" -eq 0 ] || skip "only root has other users"
unshare -m true 2>/dev/null || skip "a mount namespace of its own is not allowed here"

# Installed, where that user can read it; and a place of his own.
chmod 755 .
mkdir lib bin etc
cp "$LIBFXTRACE" lib
cp "$FXTRACE" bin
ln -s fxtrace bin/fxtrace-manager
mkdir -m 755 theirs && chown $USER_ID theirs
unset XDG_RUNTIME_DIR
for file in passwd group nsswitch.conf ld.so.cache alternatives; do
	[ ! -e /etc/$file ] || cp -a /etc/$file etc
done
echo "# none.so $PWD/lib/libfxtrace.so" >etc/ld.so.preload
echo "$PWD/lib/libfxtrace.so" >>etc/ld.so.preload

target leaf leaf.c
target children children.c
cat >told.c <<'END'
#include <stdio.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

/* What it has heard of the tracer; then starts a program, for good as who its file made it. */
int main(int argc, char **argv)
{
	for (char **e = environ; *e; e++)
		if (strncmp(*e, "FXTRACE_", 8) == 0 || strncmp(*e, "LD_", 3) == 0)
			puts(*e);
	fflush(stdout);
	if (argc > 1 && (setreuid(geteuid(), geteuid()) || setregid(getegid(), getegid())))
		return 1;
	return argc > 1 ? execv(argv[1], argv + 1) : 3;
}
END
compile told told.c

# everywhere COMMAND...: as that user, in theirs, on a machine where everybody loads the library.
everywhere() {
	# shellcheck disable=SC2016 # another shell's
	unshare -m bash -c 'mount --bind "$0/etc" /etc && cd "$0/theirs" && ulimit -u "$1" && who=$2 && shift 2 &&
		exec timeout 60 setpriv --reuid="$who" --regid="$who" --clear-groups "$@"' \
		"$TEST_DIR" $MOST $USER_ID "$@"
}

# Managers that start managers are faster than one look at who is there.
end_all() {
	local tries=100 pids

	while pids=$(find /proc -maxdepth 1 -user $USER_ID -printf '%f ' 2>/dev/null) &&
		[ -n "$pids" ] && [ $((tries -= 1)) -gt 0 ]; do
		# shellcheck disable=SC2086 # many
		kill -9 $pids 2>/dev/null
	done
}
# shellcheck disable=SC2034 # lib.sh has it
at_end=end_all

nobody_is_left() {
	[ -z "$(find /proc -maxdepth 1 -user $USER_ID 2>/dev/null)" ]
}

# expect_archives [GLOB]: what lies in theirs once all managers are gone; it has the leaf, and nobody of fxtrace.
expect_archives() {
	wait_for 60 nobody_is_left || fail "processes stay: $(ps -o pid,ppid,args -u $USER_ID)"
	# shellcheck disable=SC2206 # a pattern
	local archives=(theirs/${1-none})

	expect_equal "${1:+${archives[*]}}" "$(find theirs -type f)" "archives"
	[ $# -gt 0 ] || return 0
	expect_clean "${archives[0]}"
	list_archive "${archives[0]}"
	expect_events 1 'name == "leaf_function"'
	expect_no_line 'fxtrace' processes
	rm "${archives[0]}"
}

# --- Nobody asks ----------------------------------------------------------------------------------

expect_status 5 everywhere ../leaf 5
expect_equal '' "$(cat out err)" "what is printed"
for variable in FXTRACE_CATEGORIES=syscall FXTRACE_QUIET=1 FXTRACE_SOCKET= FXTRACE_OUTPUT=; do
	expect_ok everywhere env $variable ../children fork-exec ../leaf
done
expect_ok everywhere env FXTRACE_DISABLE=1 FXTRACE_OUTPUT=no.fxt ../leaf
expect_archives

# --- Somebody does --------------------------------------------------------------------------------

expect_status 5 everywhere env FXTRACE_OUTPUT=asked.fxt ../leaf 5
expect_equal '' "$(cat out err)" "what is printed"
expect_archives asked.fxt

expect_ok everywhere env LD_PRELOAD="$TEST_DIR/lib/libfxtrace.so" ../leaf
expect_archives 'leaf.*.fxt'

# What starts the manager is no program of fxtrace, as where a script stands in its place.
rm bin/fxtrace-manager
printf '#!/bin/sh\nexec "%s/bin/fxtrace" manager "$@"\n' "$TEST_DIR" >bin/fxtrace-manager
chmod 755 bin/fxtrace-manager
expect_ok everywhere env FXTRACE_OUTPUT=script.fxt ../leaf
expect_archives script.fxt
ln -sf fxtrace bin/fxtrace-manager

# The commands, whatever their own environment asks for.
expect_ok everywhere ../bin/fxtrace run -o run.fxt -- ../children fork-exec ../leaf
expect_archives run.fxt
expect_ok everywhere env FXTRACE_OUTPUT=var.fxt LD_PRELOAD="$TEST_DIR/lib/libfxtrace.so" \
	../bin/fxtrace run -- ../leaf
expect_archives var.fxt
cat >session.sh <<'END'
FXTRACE_SOCKET=$PWD/socket FXTRACE_OUTPUT=session.fxt
export FXTRACE_SOCKET FXTRACE_OUTPUT
../bin/fxtrace manager &&
	../bin/fxtrace record -q -- ../leaf &&
	exec ../bin/fxtrace status --json
END
expect_ok everywhere sh ../session.sh
kill "$(sed -n 's/.*"pid": \([0-9]*\).*/\1/p' out)"
expect_archives session.fxt

# A command says what it does not do.
expect_ok everywhere ../bin/fxtrace run -o self.fxt -- ../bin/fxtrace --version
expect_line 'nothing was traced: ../bin/fxtrace: it is fxtrace itself' err
rm theirs/self.fxt
expect_archives
expect_ok everywhere ../bin/fxtrace doctor
expect_no_line 'trial' out

# --- A privileged program -------------------------------------------------------------------------

# heard FILE: it hears nothing, nor does what it starts, and neither leaves anything behind.
heard() {
	expect_status 3 everywhere env FXTRACE_OUTPUT="$TEST_DIR/theirs/heard.fxt" \
		FXTRACE_SOCKET="$TEST_DIR/theirs/socket" FXTRACE_VERBOSE=1 "$1"
	expect_equal '' "$(cat out err)" "what a privileged program hears ($1)"
	for variable in FXTRACE_OUTPUT="$TEST_DIR/theirs/heard.fxt" FXTRACE_VERBOSE=1; do
		expect_status 5 everywhere env "$variable" "$1" ../leaf 5
		expect_equal '' "$(cat out err)" "what is printed ($1)"
	done
	expect_archives
}

# The same program without a privilege is traced.
expect_status 3 everywhere env FXTRACE_OUTPUT=plain.fxt ../told
expect_line '^FXTRACE_OUTPUT=plain.fxt$' out
wait_for 60 nobody_is_left || fail "the manager stays"
expect_clean theirs/plain.fxt
rm theirs/plain.fxt

if findmnt -n -o OPTIONS -T . 2>/dev/null | grep -qw nosuid; then
	skip "set-user-ID files do nothing here"
fi
cp told suid && chmod 4755 suid
heard ../suid
cp told sgid && chmod 2755 sgid
heard ../sgid
if command -v setcap >/dev/null; then
	cp told capable && setcap cap_net_raw+ep capable && heard ../capable
fi
