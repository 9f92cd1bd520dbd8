# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# What the tests of the whole program share. A test is a bash script that begins with
#
#	. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
#
# It works in a fresh directory of its own, which is removed when it ends; the first failed
# assertion ends it, with a line that says what was expected. Status 77 skips it.

set -u
LC_ALL=C.UTF-8
export LC_ALL

FX_SRCDIR=${FX_SRCDIR:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)}
FX_BUILDDIR=${FX_BUILDDIR:-$FX_SRCDIR/build}
FX_CC=${FX_CC:-cc}
FX_CXX=${FX_CXX:-c++}
FXTRACE=$FX_BUILDDIR/fxtrace
# shellcheck disable=SC2034 # for the tests
LIBFXTRACE=$FX_BUILDDIR/.libs/libfxtrace.so

# A test decides for itself what the tracer hears from the environment.
for name in ${!FXTRACE_@}; do
	unset "$name"
done
unset name
# FX_CLOCK: that all of a suite shall use this clock (counter, boottime).
[ -z "${FX_CLOCK-}" ] || export FXTRACE_CLOCK="$FX_CLOCK"

TEST_DIR=$(mktemp -d "${TMPDIR:-/tmp}/fxtrace-test.XXXXXX") || exit 99
cd "$TEST_DIR" || exit 99
# There is none: no test leaves anything to the next.
export XDG_CACHE_HOME=$TEST_DIR/caches

# keep_archives: what the test leaves, for tests/e2e/perfetto.sh to load.
keep_archives() {
	local archive count=0 test

	test=$(basename "$(dirname "$0")")-$(basename "$0" .sh)
	while read -r archive; do
		count=$((count + 1))
		cp "$archive" "$FX_ARCHIVES/$test-$count-${archive##*/}"
	done < <(find "$TEST_DIR" -name '*.fxt*' -type f -size -64M 2>/dev/null | sort)
}

# What a test has to take away beside its folder, whatever ends it: a command for eval. (A trap of its own would take the place
# of this one, and lose the status.)
at_end=
test_cleanup() {
	local status=$? pid

	eval "$at_end"
	for pid in $(jobs -p); do
		kill -9 "$pid" 2>/dev/null
	done
	wait 2>/dev/null
	[ -z "${FX_ARCHIVES-}" ] || keep_archives
	if [ "$status" -ne 0 ] && [ "$status" -ne 77 ] && [ -n "${FX_KEEP-}" ]; then
		echo "kept: $TEST_DIR"
	else
		chmod -R u+w "$TEST_DIR" && rm -rf "$TEST_DIR"
	fi
	exit "$status"
}
trap test_cleanup EXIT
trap 'exit 99' HUP INT TERM

skip() {
	echo "skipped: $*"
	exit 77
}

# not_sanitized WHY: skips a test that means nothing in a build with --enable-sanitizer.
not_sanitized() {
	! grep -q '^S\["FX_SANITIZE"\]="..*"' "$FX_BUILDDIR/config.status" || skip "$1"
}

# glibc_since MINOR: whether the C library is 2.MINOR or newer.
glibc_since() {
	getconf GNU_LIBC_VERSION | awk -v minor="$1" '{ split($2, v, "."); exit !(v[1] == 2 && v[2] >= minor) }'
}

# is_emulated: what is built runs under an emulator (tests/cross.sh). It forks for vfork, knows fewer system calls, gives
# no address twice, and lets no program start a manager of its own.
is_emulated() {
	[ -n "${FX_EMULATOR-}" ]
}

# scaled COUNT: so often; under an emulator, which takes many times as long, a tenth of it.
scaled() {
	if is_emulated; then
		echo $(($1 / 10))
	else
		echo "$1"
	fi
}

# need COMMAND...: skips the test where the machine has not got them.
need() {
	local command

	for command in "$@"; do
		command -v "$command" >/dev/null 2>&1 || skip "$command is not installed"
	done
}

fail() {
	echo "FAILED (${BASH_SOURCE[-1]##*/}:${BASH_LINENO[-2]}): $*"
	exit 1
}

# expect_status STATUS COMMAND...: runs it; its output goes to the files out and err.
expect_status() {
	local want=$1 status=0

	shift
	"$@" >out 2>err || status=$?
	[ "$status" -eq "$want" ] ||
		fail "status $status instead of $want: $*"$'\n'"$(tail -n 20 out err)"
}

expect_ok() {
	expect_status 0 "$@"
}

# expect_equal WANT GOT WHAT
expect_equal() {
	[ "$1" = "$2" ] || fail "$3: '$2' instead of '$1'"
}

expect_same_file() {
	cmp "$1" "$2" >cmp.out 2>&1 || fail "$(cat cmp.out)"$'\n'"$(diff "$1" "$2" | head -n 20)"
}

# expect_line REGEX FILE: some line matches.
expect_line() {
	grep -qE -e "$1" "$2" || fail "no line of $2 matches '$1':"$'\n'"$(head -n 40 "$2")"
}

expect_no_line() {
	! grep -qE -e "$1" "$2" || fail "$2 has a line with '$1': $(grep -m1 -E -e "$1" "$2")"
}

# expect_one_error STATUS COMMAND...: one line on stderr, that says who speaks.
expect_one_error() {
	local want=$1

	shift
	expect_status "$want" "$@"
	expect_equal 1 "$(wc -l <err)" "lines on stderr of: $*"
	expect_line '^fxtrace' err
}

# expect_loss WORD COUNT FILE: a summary tells of this cause of loss (manager/settings/losses.def), in its own words and
# with its cure, where it has one; COUNT is a regular expression. Each cause has its test: tests/lint/losses.sh.
expect_loss() {
	local said

	said=$(tr '\n' ' ' <"$FX_SRCDIR/manager/settings/losses.def" | sed 's/LOSS(/\n&/g' |
		awk -F'"' -v word="$1" '/^LOSS/ && $2 == word { print "{" $4 "|" $6 "} " $8 ($10 == "" ? "" : "; " $10) }' |
		sed 's/[][().*+?]/\\&/g; s/{/(/; s/}/)/; s/%s/[0-9]+[KM]?/')
	[ -n "$said" ] || fail "there is no loss by the name of $1"
	expect_line "^fxtrace: $2 $said\$" "$3"
}

# expect_clean ARCHIVE...: fxtrace check finds nothing to say against it.
expect_clean() {
	local archive

	for archive in "$@"; do
		[ -s "$archive" ] || fail "$archive: missing or empty"
		expect_ok "$FXTRACE" check "$archive"
	done
}

# expect_prefix ARCHIVE: what a killed manager leaves: no error but that the last record may be cut.
expect_prefix() {
	[ -s "$1" ] || fail "$1: missing or empty"
	"$FXTRACE" check "$1" >checked 2>&1 || [ $? -eq 1 ] || fail "check of $1: $(tail -n 5 checked)"
	expect_line ' records? ' checked
	grep ': error: ' checked | grep -v 'error: truncated inside this record' >unsound
	expect_equal '' "$(cat unsound)" "faults of $1"
}

# traced [OPTION...] -- PROGRAM...: fxtrace run into trace.fxt, with the program's own status.
traced() {
	"$FXTRACE" run -o trace.fxt "$@"
}

# expect_unharmed STATUS PROGRAM...: the program writes the same stdout and ends the same way with
# and without the tracer, and leaves a clean archive in trace.fxt. Reads stdin from /dev/null.
expect_unharmed() {
	local want=$1 status=0

	shift
	"$@" >plain.out 2>plain.err </dev/null || status=$?
	expect_equal "$want" "$status" "status without the tracer of: $*"
	status=0
	"$FXTRACE" run -q -o trace.fxt -- "$@" >traced.out 2>traced.err </dev/null || status=$?
	expect_equal "$want" "$status" "traced status of: $*"
	expect_same_file plain.out traced.out
	expect_clean trace.fxt
}

# compile OUTPUT OPTION...: with the compiler of the build; C++ if a source is.
compile() {
	local output=$1 compiler=$FX_CC word

	shift
	for word in "$@"; do
		case $word in
		*.cc | *.cpp) compiler=$FX_CXX ;;
		esac
	done
	# The compiler may come with options of its own.
	# shellcheck disable=SC2086
	$compiler -o "$output" "$@" -pthread >compile.log 2>&1 ||
		fail "cannot compile $output:"$'\n'"$(head -n 20 compile.log)"
}

# target OUTPUT SOURCE OPTION...: compiles a program of tests/e2e/targets, with the function hooks. Clang cannot leave
# out what stands in headers.
target() {
	local output=$1 source=$FX_SRCDIR/tests/e2e/targets/$2
	local hooks=(-finstrument-functions -finstrument-functions-exclude-file-list=/usr/)

	shift 2
	$FX_CC --version | grep -q clang && hooks=(-finstrument-functions)
	compile "$output" -O1 -w -D_GNU_SOURCE "${hooks[@]}" "$source" "$@"
}

# with_clocksource NAME COMMAND...: runs it where the kernel says that its clock source is NAME. The rest of the machine
# stays as it is; skips the test where that is not allowed.
CLOCKSOURCE=/sys/devices/system/clocksource/clocksource0/current_clocksource
with_clocksource() {
	local told=$TEST_DIR/clocksource.$1

	shift
	[ -e "$CLOCKSOURCE" ] || skip "the kernel does not say what its clock source is"
	echo "${told##*.}" >"$told"
	unshare -m mount --bind "$told" "$CLOCKSOURCE" 2>/dev/null ||
		skip "a mount namespace of its own is not allowed here"
	# shellcheck disable=SC2016 # another shell's
	unshare -m sh -c 'mount --bind "$0" "$1" && shift && exec "$@"' "$told" "$CLOCKSOURCE" "$@"
}

# list_archive ARCHIVE: what stands in it, as the files processes, threads and events (events.c).
list_archive() {
	local listing=$FX_BUILDDIR/tests/e2e/events

	"$listing" processes "$1" >processes && "$listing" threads "$1" >threads &&
		"$listing" "$1" >events || fail "cannot list $1"
}

# count_events CONDITION: how many lines of the file events meet an awk condition. In it the fields
# have names, and has("name=value") looks for an argument.
count_events() {
	awk -F'\t' '
		function has(argument, i) {
			for (i = 10; i <= NF; i++)
				if ($i == argument) return 1
			return 0
		}
		{ type = $1; pid = $2; tid = $3; process = $4; thread = $5; category = $6; name = $7
		  start = $8; end = $9 }
		'"$1"' { n++ }
		END { print n + 0 }' events
}

# expect_events COUNT CONDITION: so many, or at least N with COUNT "N+".
expect_events() {
	local want=$1 got

	got=$(count_events "$2")
	case $want in
	*+) [ "$got" -ge "${want%+}" ] ;;
	*) [ "$got" -eq "$want" ] ;;
	esac || fail "$got events instead of $want: $2"$'\n'"$(head -n 20 events)"
}

# wait_archive ARCHIVE: waits until what a private manager leaves is whole: nobody writes it any more. (A sound beginning
# passes check as well.)
archive_is_left() {
	[ -s "$1" ] && [ -z "$(find /proc/[0-9]*/fd -lname "$(realpath "$1")" 2>/dev/null)" ]
}
wait_archive() {
	wait_for 60 archive_is_left "$1" && "$FXTRACE" check -q "$1"
}

# wait_for SECONDS COMMAND...: polls until the command succeeds; an emulator has ten times as long.
wait_for() {
	local tries=$(($1 * 20))

	! is_emulated || tries=$((tries * 10))
	shift
	while ! "$@" >/dev/null 2>&1; do
		tries=$((tries - 1))
		[ "$tries" -gt 0 ] || return 1
		sleep 0.05
	done
}

# starters MANAGER: the process that starts readers of files: the manager's program, in a session of its own, and nobody's child. The
# manager was started with FX_TEST_MARK=$TEST_DIR.
starters() {
	local process pid program

	program=$(readlink "/proc/$1/exe")
	for process in /proc/[0-9]*; do
		pid=${process#/proc/}
		[ "$(readlink "$process/exe" 2>/dev/null)" = "$program" ] &&
			[ "$(cut -d' ' -f6 "$process/stat" 2>/dev/null)" = "$pid" ] &&
			tr '\0' '\n' <"$process/environ" 2>/dev/null | grep -qxF "FX_TEST_MARK=$TEST_DIR" && echo "$pid"
	done
}
