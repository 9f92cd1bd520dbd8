#!/bin/bash
# SPDX-License-Identifier: MIT
# Where archives go: they are their user's alone, nobody else's file or link is written through, two runs do not mix in one
# file, and what cannot be an archive is refused before anything runs.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
. "$FX_SRCDIR/tests/e2e/control.sh"

cat >holds.c <<'SOURCE'
#include <stdio.h>
#include <unistd.h>

/* Runs until the file "go" is there. */
int main(void)
{
	puts("said");
	fflush(stdout);
	while (access("go", F_OK) != 0)
		usleep(10000);
	return 5;
}
SOURCE
compile holds holds.c -O1 -finstrument-functions

mode_of() { stat -c %a "$1"; }

# expect_refused WHAT COMMAND...: one line that says so; nothing runs.
expect_refused() {
	local what=$1 status=0

	shift
	rm -f ran
	"$@" >out 2>err || status=$?
	[ "$status" -eq 1 ] || [ "$status" -eq 2 ] || fail "status $status: $* ($(cat err))"
	expect_equal 1 "$(wc -l <err)" "lines on stderr of: $*: $(cat err)"
	expect_line "$what" err
	[ ! -e ran ] || fail "it runs all the same: $*"
}

# --- Modes -----------------------------------------------------------------------------------------

umask 022
for name in trace.fxt trace.fxt.gz trace.fxt.zst; do
	expect_ok "$FXTRACE" run -q -o $name -- true
	expect_equal 600 "$(mode_of $name)" "mode of $name"
done
(umask 277 && "$FXTRACE" run -q -o strict.fxt -- true)
expect_equal 400 "$(mode_of strict.fxt)" "mode with umask 277"
chmod 644 trace.fxt
expect_ok "$FXTRACE" run -q -o trace.fxt -- true
expect_equal 600 "$(mode_of trace.fxt)" "mode of a file that was there"
expect_clean trace.fxt
expect_ok "$FXTRACE" convert -f json trace.fxt trace.json
expect_equal 600 "$(mode_of trace.json)" "mode of a conversion"

# Others are let in where that is asked for, the umask always has its way, and a file that was there is no exception.
for mode in 640 0644 660; do
	want=$(printf %o $((0$mode & ~022)))
	rm -f chosen.fxt
	for what in new old; do
		expect_ok "$FXTRACE" run -q --mode $mode -o chosen.fxt -- true
		expect_equal "$want" "$(mode_of chosen.fxt)" "mode of a $what file with --mode $mode"
	done
done
FXTRACE_MODE=644 expect_ok "$FXTRACE" run -q -o trace.fxt.gz -- true
expect_equal 644 "$(mode_of trace.fxt.gz)" "mode with FXTRACE_MODE"
expect_ok env FXTRACE_MODE=644 "$FXTRACE" run -q --mode 600 -o trace.fxt.gz -- true
expect_equal 600 "$(mode_of trace.fxt.gz)" "mode with both"
private_modes() {
	LD_PRELOAD=$LIBFXTRACE FXTRACE_MODE=640 FXTRACE_OUTPUT=own.fxt ./holds >out &
	wait_for 20 test -s own.fxt || fail "no archive of a private manager"
	expect_equal 640 "$(mode_of own.fxt)" "mode of a private manager's with FXTRACE_MODE"
	: >go
	wait $!
	rm own.fxt go
	LD_PRELOAD=$LIBFXTRACE FXTRACE_OUTPUT=own.fxt ./holds >out &
	wait_for 20 test -s own.fxt || fail "no archive of a private manager"
	expect_equal 600 "$(mode_of own.fxt)" "mode of a private manager's"
	: >go
	wait $!
	rm go
}
rm -f go
is_emulated || private_modes

# --- Names that promise what cannot be ---------------------------------------------------------------

for name in t.fxt.xz t.fxt.bz2 t.fxt.lz4 t.fxt.zip t.fxt.zstd t.tgz; do
	expect_refused "'?$name'?: its name ends as if compressed" "$FXTRACE" run -o $name -- touch ran
	[ ! -e $name ] || fail "$name was made"
done
expect_refused 'compressed' "$FXTRACE" record -o t.xz -- touch ran
expect_refused 'compressed' "$FXTRACE" start -o t.xz
expect_refused 'compressed' "$FXTRACE" snapshot -o t.xz
expect_refused 'compressed' "$FXTRACE" convert -f json trace.fxt t.json.xz
expect_ok "$FXTRACE" convert -f json trace.fxt t.json.zst

# --- Two runs, one name ------------------------------------------------------------------------------

for name in one.fxt one.fxt.zst; do
	rm -f go said
	"$FXTRACE" run -q -o $name -- ./holds >said &
	first=$!
	wait_for 20 test -s said || fail "the first does not run"
	expect_refused "$name: in use by fxtrace, pid $first\$" "$FXTRACE" run -o $name -- touch ran
	ln -sf $name by-link
	expect_refused "by-link: in use by fxtrace, pid $first\$" "$FXTRACE" run -o by-link -- touch ran
	[ $name != one.fxt ] ||
		expect_refused "in use by fxtrace, pid $first\$" "$FXTRACE" convert -f json trace.fxt $name
	: >go
	wait $first
	expect_equal 5 $? "status of the first"
	expect_clean $name
	list_archive $name
	expect_events 1 'name == "main"'
	# Who was killed holds nothing.
	rm -f go said
	"$FXTRACE" run -q -o $name -- ./holds >said &
	first=$!
	wait_for 20 test -s said || fail "it does not run"
	kill -9 $first
	wait $first 2>/dev/null
	expect_ok "$FXTRACE" run -q -o $name -- true
	: >go
	expect_clean $name
done

# Many at once: each refused, or an archive of its own. (One that ends lets the next one in.)
for i in 1 2 3 4 5 6; do
	"$FXTRACE" run -q -o many.fxt -- sh -c 'exit 7' 2>many.$i
	echo $? >status.$i &
done
wait
for i in 1 2 3 4 5 6; do
	[ "$(cat status.$i)" -eq 7 ] || expect_line 'many.fxt: in use by fxtrace, pid [0-9]+$' many.$i
done
expect_clean many.fxt

# Beside a manager of its own that goes on, the next takes a name of its own.
all_clean() { "$FXTRACE" check own.fxt && "$FXTRACE" check own.$second.fxt; }
private_names() {
	rm -f go said
	LD_PRELOAD=$LIBFXTRACE FXTRACE_OUTPUT=own.fxt ./holds >said &
	wait_for 20 test -s said || fail "the first does not run"
	LD_PRELOAD=$LIBFXTRACE FXTRACE_OUTPUT=own.fxt ./holds >out &
	second=$!
	wait_for 20 test -s own.$second.fxt || fail "the second has no archive: $(ls)"
	: >go
	wait
	wait_for 20 all_clean || fail "they are not clean"
	LD_PRELOAD=$LIBFXTRACE FXTRACE_OUTPUT=- ./holds >out &
	wait_for 20 test -s holds.$!.fxt || fail "with FXTRACE_OUTPUT=-: $(ls)"
	wait
}
is_emulated || private_names

# The daemon's.
manager_start
expect_ok "$FXTRACE" start -m circular -o daemon.fxt
expect_equal 600 "$(mode_of daemon.fxt)" "mode of a daemon's"
expect_refused "in use by " "$FXTRACE" run -o daemon.fxt -- touch ran
expect_refused "in use by " "$FXTRACE" snapshot -o daemon.fxt
expect_ok "$FXTRACE" snapshot -o snap.fxt
expect_equal 600 "$(mode_of snap.fxt)" "mode of a snapshot"
chmod 644 snap.fxt
expect_ok "$FXTRACE" snapshot -o snap.fxt
expect_equal 600 "$(mode_of snap.fxt)" "mode of a second snapshot"
expect_ok "$FXTRACE" snapshot --mode 644 -o snap.fxt
expect_equal 644 "$(mode_of snap.fxt)" "mode of a third snapshot, with --mode 644"
expect_ok "$FXTRACE" terminate
expect_clean daemon.fxt snap.fxt
for what in new old; do
	expect_ok "$FXTRACE" start --mode 640 -o chosen-$what.fxt
	expect_equal 640 "$(mode_of chosen-$what.fxt)" "mode of a daemon's with --mode"
	expect_ok "$FXTRACE" terminate
	[ $what = old ] || { expect_ok "$FXTRACE" run -q -o chosen-old.fxt -- true; }
	expect_ok "$FXTRACE" record -q --mode 640 -o recorded.fxt -- true
	expect_equal 640 "$(mode_of recorded.fxt)" "mode of a recording"
done
expect_ok "$FXTRACE" run -q -o daemon.fxt -- true

# --- Standard output ---------------------------------------------------------------------------------

: >go
for output in - /dev/stdout /proc/self/fd/1; do
	for reader in file pipe; do
		if [ $reader = file ]; then
			"$FXTRACE" run -q -o $output -- ./holds >stdout.fxt 2>told
		else
			"$FXTRACE" run -q -o $output -- ./holds 2>told | cat >stdout.fxt
		fi
		expect_clean stdout.fxt
		expect_equal said "$(cat told)" "what the program says, with -o $output into a $reader"
	done
done
"$FXTRACE" record -q -o - -- ./holds 2>told | cat >stdout.fxt
expect_clean stdout.fxt
expect_equal said "$(cat told)" "what the program says to record -o -"
# What nobody reads is not in the way.
"$FXTRACE" run -q -o /dev/null -- ./holds >out
expect_equal said "$(cat out)" "with -o /dev/null"
# What stood there before stays.
(echo before && "$FXTRACE" run -q -o - -- true) >both
expect_equal before "$(head -c 6 both)" "what was in the file"
manager_stop

if command -v script >/dev/null && script -qc true /dev/null >/dev/null 2>&1 </dev/null; then
	expect_terminal() {
		rm -f ran
		script -qec "$1" /dev/null </dev/null >seen 2>&1
		expect_line "$2" seen
		[ ! -e ran ] || fail "it runs: $1"
	}
	expect_terminal "$FXTRACE run -o - -- touch ran" 'a terminal, which cannot show it'
	expect_terminal "$FXTRACE run -o /dev/tty -- touch ran" 'a terminal, which cannot show it'
	expect_terminal "$FXTRACE convert -f perfetto trace.fxt -" 'a terminal, which cannot show it'
	expect_terminal "$FXTRACE convert -f json trace.fxt -" 'traceEvents'
fi

# --- Other users ---------------------------------------------------------------------------------------

[ "$(id -u)" = 0 ] && command -v setpriv >/dev/null || skip "only root has other users; the rest is as it should be"
as() { setpriv --reuid "$1" --regid "$1" --clear-groups "${@:2}"; }
as 65534 true 2>/dev/null || skip "no other user can be had"

mkdir -m 1777 shared
chmod 755 .
echo precious >mine
as 65534 sh -c 'cd shared && echo theirs >file && chmod 666 file && ln -s ../mine link && ln -s .. up && mkfifo fifo && chmod 666 fifo' ||
	fail "the other user can make nothing"
for name in file link fifo up/new.fxt; do
	expect_refused "shared/$name: .*another user's.*, in a folder where others may write" \
		timeout 20 "$FXTRACE" run -o shared/$name -- touch ran
	expect_refused "another user's" timeout 20 "$FXTRACE" convert -f json trace.fxt shared/$name
done
expect_equal precious "$(cat mine)" "what another's link leads to"
expect_equal theirs "$(cat shared/file)" "another's file"
[ ! -e new.fxt ] || fail "another's link was followed"
ln mine shared/second
expect_refused "it has another name" "$FXTRACE" run -o shared/second -- touch ran
# One's own are as good as anywhere.
ln -s ../linked.fxt shared/own
expect_ok "$FXTRACE" run -q -o shared/own -- true
expect_clean linked.fxt
expect_ok "$FXTRACE" run -q -o shared/new.fxt -- true
expect_ok "$FXTRACE" run -q -o shared/new.fxt -- true
expect_clean shared/new.fxt
# A folder that only its owner writes to is the business of both.
mkdir theirs
chown 65534 theirs
as 65534 sh -c 'ln -s ../by-them.fxt theirs/link'
expect_ok "$FXTRACE" run -q -o theirs/link -- true
expect_clean by-them.fxt
