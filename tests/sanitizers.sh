#!/bin/sh
# SPDX-License-Identifier: MIT
# sanitizers.sh [NAME...]: builds everything with sanitizers, runs the suite in each build, and prints totals.
# NAME is `address,undefined' or `thread'; without, both. Exit status 0: nothing was found.
#
# libfxtrace.so itself is never instrumented: it lives in programs that have no sanitizer's library. What it
# is made of is: the unit tests link the same sources.
#
# ThreadSanitizer runs the unit tests and the whole-program tests of recording and of the manager. The others
# look at what a program itself is like (its threads, memory and speed), which ThreadSanitizer changes.
set -u
cd "$(dirname "$0")/.." || exit 99
status=0

# count NAME LOG: what the test summary says.
count() {
	awk -v name="# $1:" 'index($0, name) == 1 { sum += $3 } END { print sum + 0 }' "$2"
}

# What ThreadSanitizer runs, for make.
# shellcheck disable=SC2016 # make expands it
tsan_tests='$(foreach t,$(check_PROGRAMS),$(if $(findstring /test_,$t),$t))
tests/e2e/run.sh tests/e2e/drops.sh tests/e2e/kill9.sh tests/e2e/processes.sh tests/e2e/client.sh
tests/e2e/control.sh tests/e2e/control-cycles.sh tests/e2e/control-flight.sh tests/e2e/control-session.sh'

# run NAME DIR [VARIABLE=VALUE...]: configures, builds and checks.
run() {
	name=$1 dir=$2
	shift 2
	log=$dir/test-suite.log
	mkdir -p "$dir"
	[ -f "$dir/Makefile" ] ||
		(cd "$dir" && ../configure -q --enable-werror --enable-sanitizer="$name" CFLAGS='-g -O1' \
			CXXFLAGS='-g -O1') >"$dir/configure.log" 2>&1 || {
		tail -n 3 "$dir/configure.log"
		return 1
	}
	{
		make -s -C "$dir" -j"${JOBS:-2}" && make -s -C "$dir" -j"${JOBS:-2}" check TESTS=
	} >"$dir/make.log" 2>&1 || {
		tail -n 20 "$dir/make.log"
		return 1
	}
	rm -f "$log"
	make -s -k -C "$dir" check "$@" >"$dir/check.log" 2>&1
	r=$?
	[ -f "$log" ] || {
		tail -n 20 "$dir/check.log"
		return 1
	}
	grep -E '^(FAIL|XPASS|ERROR): ' "$dir/check.log"
	grep -rhE 'ERROR: (Address|Leak)Sanitizer|WARNING: ThreadSanitizer|runtime error:' "$log" | sort -u
	printf '%s: %s passed, %s failed, %s skipped\n' "$name" "$(count PASS "$log")" \
		"$(($(count FAIL "$log") + $(count ERROR "$log")))" "$(count SKIP "$log")"
	return "$r"
}

[ -x configure ] || ./bootstrap >/dev/null || exit 1
[ $# -gt 0 ] || set -- address,undefined thread
for name in "$@"; do
	case $name in
	address,undefined)
		run "$name" build-asan || status=1
		;;
	thread)
		run "$name" build-tsan TESTS="$(echo "$tsan_tests" | tr '\n' ' ')" || status=1
		;;
	*)
		echo "sanitizers.sh: no such sanitizer: $name (address,undefined or thread)" >&2
		exit 2
		;;
	esac
done
exit $status
