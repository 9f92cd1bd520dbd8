#!/bin/sh
# SPDX-License-Identifier: MIT
# hard.sh clock|load: runs the suite where things are otherwise than usual, by ./quickstart check.
#
#	clock	with the other clock: the kernel's, if the processor's counter is what is used here; else the counter.
#	load	among so many busy processes that a thread waits for its turn most of the time (LOAD: how many). A third of
#		them are tests, that the suite may end within the hour; it was built before.
set -u
cd "$(dirname "$0")/.." || exit 99

check_clock() {
	FX_CLOCK=boottime
	build-check/fxtrace doctor 2>/dev/null | grep -q 'processor.s counter' || FX_CLOCK=counter
	[ -x build-check/fxtrace ] || FX_CLOCK=boottime
	export FX_CLOCK
	echo "the clock is $FX_CLOCK"
	./quickstart check
}

check_load() {
	load=${LOAD:-60}
	TEST_JOBS=$((load / 3))
	FX_TEST_LIMIT=${FX_TEST_LIMIT:-5400}
	AGAIN_MAX=0
	export TEST_JOBS FX_TEST_LIMIT AGAIN_MAX
	make -s -C build-check check TESTS= >/dev/null 2>&1 || echo "what is not built yet is built under load"
	stress-ng --quiet --cpu $((load - TEST_JOBS)) --cpu-method loop --timeout 0 &
	stress=$!
	trap 'kill "$stress" 2>/dev/null' EXIT
	sleep 1
	kill -0 "$stress" || exit 1
	echo "$load busy processes on $(nproc) processors, $TEST_JOBS of them tests"
	./quickstart check
	status=$?
	echo "the load was $(cut -d ' ' -f 1-3 /proc/loadavg)"
	return $status
}

case ${1-} in
clock) check_clock ;;
load) check_load ;;
*)
	echo "hard.sh: clock or load" >&2
	exit 2
	;;
esac
