#!/bin/sh
# SPDX-License-Identifier: MIT
# hard.sh clock|load: runs the suite where things are otherwise than usual, by ./quickstart check.
#
#	clock	as if the kernel's clock source were the other one: the processor's counter where it is not, and none where it
#		is. The kernel's file is covered in a mount namespace; that needs root.
#	load	among so many busy processes that a thread waits for its turn most of the time (LOAD: how many). A third of
#		them are tests, that the suite may end within the hour; it was built before.
set -u
cd "$(dirname "$0")/.." || exit 99

clocksource=/sys/devices/system/clocksource/clocksource0/current_clocksource

check_clock() {
	other=tsc
	[ "$(cat "$clocksource")" != tsc ] || other=hpet
	told=$(mktemp) || exit 99
	trap 'rm -f "$told"' EXIT
	echo "$other" >"$told"
	echo "the clock source is said to be $other"
	# shellcheck disable=SC2016 # another shell's
	unshare -m sh -c 'mount --bind "$0" "$1" && exec ./quickstart check' "$told" "$clocksource"
}

check_load() {
	load=${LOAD:-60}
	TEST_JOBS=$((load / 3))
	export TEST_JOBS
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
