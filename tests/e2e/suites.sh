#!/bin/bash
# SPDX-License-Identifier: MIT
# Programs' own tests, test by test: what passes alone passes traced, by default and in every category. What
# differs is tried again, since some of them go by the clock. In `make check' a few seconds of them; all of
# them with FX_SUITES=all, as `make check-suites' does, which needs the packages that packages.txt lists for
# it. FX_LIBUV_TESTS may name a built test/run-tests of libuv, which then runs too, unless as root.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

all=${FX_SUITES-}
glib=/usr/share/installed-tests/glib
tried=0

# Each suite: NAME_list prints its tests, NAME_run TEST COMMAND... runs one under a command and prints its
# parts and how they ended, a line each.

glib_list() {
	local test

	[ -d $glib ] || { echo "glib: libglib2.0-tests is not installed" >&2; return; }
	for test in cond thread spawn-singlethread; do
		[ -z "$all" ] && [ -e $glib/$test.test ] && echo $test
	done
	[ -n "$all" ] || return
	# What needs a session's bus, measures, or is a test of the compiler.
	for test in "$glib"/*.test; do
		test=${test##*/}
		case ${test%.test} in
		*.py | *gdbus* | *dbus* | *performance* | *slice* | *testfilemonitor* | actions | *portal*) ;;
		*) echo "${test%.test}" ;;
		esac
	done
}

glib_run() {
	local test status=0

	test=$(sed -n 's/^Exec=//p' "$glib/$1.test")
	shift
	# shellcheck disable=SC2086 # a program and its arguments
	timeout 300 "$@" $test --tap >log 2>&1 || status=$?
	sed -n 's/^\(not ok\|ok\) [0-9]* \([^ ]*\).*/\2 \1/p' log | sed 's/seed:[^ ]*//'
	echo "status $status"
}

python_list() {
	local some=(test_thread)

	"$python" -c 'import test.test_os' 2>/dev/null ||
		{ echo "python: libpython3.11-testsuite is not installed" >&2; return; }
	[ -z "$all" ] || some=(test_os test_posix test_signal test_select test_mmap test_gc test_faulthandler
		test_fork1 test_wait3 test_wait4 test_epoll test_subprocess test_threading test_thread
		test_threadsignals test_io test_pty test_popen test_poll test_pipes test_resource test_fcntl
		test_tempfile test_eintr test_selectors test_ctypes test_asyncio test_concurrent_futures
		test_multiprocessing_fork test_multiprocessing_spawn test_socketserver test_queue test_capi
		test_logging test_atexit test_tracemalloc)
	printf '%s\n' "${some[@]}"
}

python_run() {
	local test=$1 status=0

	shift
	rm -f results.xml
	timeout 1800 "$@" "$python" -m test --junit-xml "$PWD/results.xml" "$test" >log 2>&1 || status=$?
	"$python" - <<'END' 2>>log
import xml.etree.ElementTree as tree
for case in tree.parse("results.xml").getroot().iter("testcase"):
    bad = [part.tag for part in case if part.tag in ("failure", "error", "skipped")]
    print(case.get("name"), bad[0] if bad else "ok")
END
	echo "status $status"
}

libuv_list() {
	[ -n "$all" ] && [ -n "${FX_LIBUV_TESTS-}" ] && [ "$(id -u)" -ne 0 ] || return
	# The network's own ways.
	"$FX_LIBUV_TESTS" --list | grep -vE 'platform_output|connecting|connect_timeout|getaddrinfo'
}

libuv_run() {
	local test=$1 status=0

	shift
	(cd "${FX_LIBUV_TESTS%/test/*}" && timeout 100 "$@" "$FX_LIBUV_TESTS" "$test") >log 2>&1 || status=$?
	echo "status $status"
}

# outcome SUITE TEST HOW: its lines, sorted.
outcome() {
	local prefix=()

	case $3 in
	default) prefix=("$FXTRACE" run -q -o "$PWD/trace.fxt" --) ;;
	every) prefix=("$FXTRACE" run -q -c '*,malloc,pthread:all' -o "$PWD/trace.fxt" --) ;;
	esac
	"$1_run" "$2" "${prefix[@]}" </dev/null | sort
}

# differs SUITE TEST HOW: after three tries of each.
differs() {
	local try

	for try in 1 2 3; do
		[ "$try" -eq 1 ] && [ -s plain ] || outcome "$1" "$2" plain >plain
		outcome "$1" "$2" "$3" >traced
		"$FXTRACE" check trace.fxt >checked 2>&1 || fail "$1 $2, $3: $(tail -n 3 checked)"
		cmp -s plain traced && return 1
	done
	return 0
}

compare() {
	local suite=$1 test how count=0 parts=0 bad=0

	"${suite}_list" >list
	while read -r test; do
		: >plain
		for how in default every; do
			[ -n "$all" ] || [ "$how" = every ] || continue
			differs "$suite" "$test" "$how" || continue
			bad=$((bad + 1))
			echo "$suite $test differs, with categories: $how"
			diff plain traced | head -n 10
		done
		count=$((count + 1))
		parts=$((parts + $(grep -vc '^status' plain)))
	done <list
	[ "$count" -gt 0 ] || return 0
	tried=$((tried + count))
	echo "$suite: $count tests with $parts parts, $bad differ"
	[ "$bad" -eq 0 ] || failed=1
}

need timeout
python=/usr/bin/python3
[ -x $python ] || python=python3
failed=0
for suite in glib python libuv; do
	compare $suite
done
[ "$failed" -eq 0 ] || fail "some tests end otherwise when they are traced"
[ "$tried" -gt 0 ] || skip "no tests of other programs are installed"
