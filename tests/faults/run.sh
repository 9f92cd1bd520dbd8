#!/bin/bash
# SPDX-License-Identifier: MIT
# Kills and stops a provider, the manager and a client at every point of base/fault.def. No crash, no
# hang; the archive is sound; what was committed is in it, record for record, and all that the others
# recorded; and the program never notices that its manager is gone.
#
#	tests/faults/run.sh [--long] [POINT...]
#
# --long stops for seconds where `make check' stops for an instant, and comes to each point again later. Under an emulator
# each point has one fault, a kill or a stop.
. "${FX_SRCDIR:=$(cd "$(dirname "$0")/../.." && pwd)}/tests/e2e/lib.sh"
. "$FX_SRCDIR/tests/faults/lib.sh"
. "$FX_SRCDIR/tests/e2e/control.sh"

PAUSES=0.05
LATER=1
if [ "${1-}" = --long ]; then
	shift
	# The longer one: more than a provider waits for the manager's answer.
	PAUSES='1 4'
	LATER='1 2'
fi
WANTED=" $* "

CALLS=1500
! is_emulated || CALLS=600
MANY_CALLS=150000
LOSSLESS='-b 64K --on-full block'

witness_compile
./witness map $CALLS >plain.out
expect_equal 3 $? "status of the witness alone"

# expect_output: what the witness printed is what it prints alone, but for the child that was killed.
expect_output() {
	sed 's/killed 9$/exited 4/' ran.out | cmp -s - plain.out ||
		fail "$FAULT: the program prints something else: $(cat ran.out ran.err)"
}

expect_reached() {
	fault_happened || fail "$FAULT: the point is not reached"
}

# --- A provider, below fxtrace run -----------------------------------------------------------------

# provider_run OPTION...: its status.
provider_run() {
	local status=0

	rm -f map
	patiently "$FXTRACE" run -q -o trace.fxt "$@" -- ./witness map $CALLS >ran.out 2>ran.err || status=$?
	return $status
}

# expect_provider HOW ACTION STATUS
expect_provider() {
	expect_reached
	expect_clean trace.fxt
	expect_witnessed "$1" trace.fxt map
	if [ "$2" = kill ] && [ "$3" -eq 137 ]; then
		cmp -s -n "$(wc -c <ran.out)" ran.out plain.out || fail "$FAULT: output $(cat ran.out)"
	else
		expect_equal 3 "$3" "$FAULT: status of the program ($(cat ran.err))"
		expect_output
	fi
}

fault_of_provider() { # RUN POINT PASSING kill|SECONDS
	local how=whole point=$2 passing=$3 action=$4 status=0

	# shellcheck disable=SC2086 # several options
	set -- "$1" $LOSSLESS
	if [ "$1" = circular ]; then
		how=newest
		set -- "$1" -b 64K -m circular
	fi
	shift
	if [ "$action" = kill ]; then
		fault_set "$point" "$passing" kill
		provider_run "$@" || status=$?
	else
		fault_set "$point" "$passing" stop
		provider_run "$@" &
		resume "$action"
		wait $! || status=$?
	fi
	expect_provider "$how" "$action" "$status"
}

# --- The manager, which fxtrace run is -------------------------------------------------------------

is_over() {
	tail -n 1 ran.out | grep -qx 'done'
}

# is_begun ARCHIVE: it has the eight bytes that an archive begins with.
is_begun() {
	[ "$(stat -c %s "$1" 2>/dev/null || echo 0)" -ge 8 ]
}

manager_dies() { # POINT PASSING
	local status=0

	fault_set "$1" "$2" kill
	# shellcheck disable=SC2086 # several options
	provider_run $LOSSLESS || status=$?
	expect_reached
	expect_equal 137 "$status" "$FAULT: status of a killed manager ($(cat ran.err))"
	soon is_over || fail "$FAULT: the program does not go on: $(cat ran.out)"
	expect_output
	if is_begun trace.fxt; then
		expect_prefix trace.fxt
		expect_witnessed prefix trace.fxt map
	fi
}

manager_stops() { # POINT PASSING SECONDS
	local status=0

	fault_set "$1" "$2" stop
	# shellcheck disable=SC2086
	provider_run $LOSSLESS &
	resume "$3"
	wait $! || status=$?
	expect_equal 3 "$status" "$FAULT: status of the program ($(cat ran.err))"
	expect_reached
	expect_output
	expect_clean trace.fxt
	expect_witnessed "$(how_after_pause "$3")" trace.fxt map
}

# how_after_pause SECONDS: what the archive has after the manager was silent so long. A provider that gets no
# answer in 3 s runs untraced; under an emulator on a busy machine an instant takes as long.
how_after_pause() {
	if [ "$1" = 4 ] || is_emulated; then
		echo each
	else
		echo whole
	fi
}

# --- The daemon and its clients --------------------------------------------------------------------

# The fault is the daemon's, or the client's, alone.
daemon_start() {
	manager_start -b 64K
}

daemon_end() {
	fault_clear
	manager_stop
}

# record_run: its status.
record_run() {
	local status=0

	rm -f map trace.fxt
	# shellcheck disable=SC2086
	patiently "$FXTRACE" record -q -o trace.fxt $LOSSLESS -- ./witness map $CALLS \
		>ran.out 2>ran.err || status=$?
	return $status
}

# A session after the fault is as good as any.
expect_new_session() {
	local status=0

	fault_clear
	FAULT="after $FAULT"
	record_run || status=$?
	expect_equal 3 "$status" "$FAULT: status of a new session ($(cat ran.err))"
	expect_output
	expect_clean trace.fxt
	expect_witnessed whole trace.fxt map
}

# The archive of a session that was cut short, of which there may be none.
expect_cut() {
	is_begun trace.fxt || return 0
	expect_prefix trace.fxt
	[ ! -e map ] || expect_witnessed prefix trace.fxt map
}

daemon_dies() { # POINT PASSING
	local status=0

	fault_set "$1" "$2" kill
	daemon_start
	record_run || status=$?
	expect_reached
	[ ! -e map ] || soon is_over || fail "$FAULT: the program does not go on"
	[ ! -e map ] || expect_output
	# A client whose manager dies says so, but the program's status comes first.
	[ "$status" -ne 0 ] || fail "$FAULT: record succeeds"
	expect_line '^fxtrace record: the manager: it is gone' ran.err
	expect_cut
	wait "$MANAGER"
	daemon_start
	expect_new_session
	daemon_end
}

daemon_stops() { # POINT PASSING SECONDS
	local status=0

	fault_set "$1" "$2" stop
	daemon_start
	record_run &
	resume "$3"
	wait $! || status=$?
	expect_equal 3 "$status" "$FAULT: status of the program ($(cat ran.err))"
	expect_output
	expect_clean trace.fxt
	expect_witnessed "$(how_after_pause "$3")" trace.fxt map
	daemon_end
}

client_dies() { # POINT PASSING
	local status=0

	daemon_start
	fault_set "$1" "$2" kill
	record_run || status=$?
	expect_reached
	expect_equal 137 "$status" "$FAULT: status of a killed client ($(cat ran.err))"
	fault_clear
	soon state_is ready || fail "$FAULT: the session does not end"
	! is_begun trace.fxt || expect_clean trace.fxt
	# Started before the client died, it goes on.
	if [ -e map ]; then
		soon is_over || fail "$FAULT: the program does not go on"
		expect_output
		expect_cut
	fi
	expect_new_session
	daemon_end
}

client_stops() { # POINT PASSING SECONDS
	local status=0

	daemon_start
	fault_set "$1" "$2" stop
	record_run &
	resume "$3"
	wait $! || status=$?
	expect_equal 3 "$status" "$FAULT: status of the program ($(cat ran.err))"
	expect_output
	expect_clean trace.fxt
	expect_witnessed whole trace.fxt map
	daemon_end
}

# snapshot_run: its status, of a program that runs on meanwhile.
snapshot_run() {
	local status=0

	patiently "$FXTRACE" snapshot -o snapshot.fxt >snapshot.out 2>snapshot.err || status=$?
	return $status
}

has_run() {
	[ "$(./witness report map | awk '{ n += $4 } END { print n + 0 }')" -gt $CALLS ]
}

# A session over a program that runs for a second.
circular_start() {
	daemon_start
	rm -f map trace.fxt snapshot.fxt
	expect_ok "$FXTRACE" start -m circular -b 64K -o trace.fxt
	with_provider ./witness map $MANY_CALLS >ran.out 2>ran.err &
	soon has_run || fail "$FAULT: the witness does not run"
}

snapshot_dies() { # POINT PASSING
	local archive

	fault_set "$1" "$2" kill
	circular_start
	snapshot_run && fail "$FAULT: the snapshot succeeds"
	expect_reached
	expect_line '^fxtrace snapshot: the manager: it is gone' snapshot.err
	soon is_over || fail "$FAULT: the program does not go on"
	expect_output
	for archive in trace.fxt snapshot.fxt; do
		is_begun $archive || continue
		expect_prefix $archive
		expect_witnessed part $archive map
	done
	wait "$MANAGER"
}

snapshot_stops() { # POINT PASSING SECONDS
	local status=0

	fault_set "$1" "$2" stop
	circular_start
	snapshot_run &
	resume "$3"
	wait $! || status=$?
	expect_equal 0 "$status" "$FAULT: status of snapshot ($(cat snapshot.err))"
	expect_clean snapshot.fxt
	expect_witnessed part snapshot.fxt map
	soon is_over || fail "$FAULT: the program does not go on"
	expect_output
	expect_ok "$FXTRACE" terminate
	expect_clean trace.fxt
	expect_witnessed newest trace.fxt map
	daemon_end
}

fault_of() { # RUN POINT PASSING kill|SECONDS
	case $1-$4 in
	provider-* | circular-*) fault_of_provider "$@" ;;
	manager-kill) manager_dies "$2" "$3" ;;
	manager-*) manager_stops "$2" "$3" "$4" ;;
	daemon-kill) daemon_dies "$2" "$3" ;;
	daemon-*) daemon_stops "$2" "$3" "$4" ;;
	client-kill) client_dies "$2" "$3" ;;
	client-*) client_stops "$2" "$3" "$4" ;;
	snapshot-kill) snapshot_dies "$2" "$3" ;;
	snapshot-*) snapshot_stops "$2" "$3" "$4" ;;
	*) fail "$2: there is no run '$1'" ;;
	esac
}

# --- All of them -----------------------------------------------------------------------------------

count=0
while read -r point run passing; do
	[ "$WANTED" = '  ' ] || case $WANTED in *" $point "*) ;; *) continue ;; esac
	for times in $LATER; do
		# What happens once or twice in a process does not happen later.
		[ "$times" -eq 1 ] || [ "$passing" -ge 10 ] || continue
		at=$((passing * times))
		case $run in
		arrows) continue ;;  # arrows.sh
		leave) continue ;;   # leave.sh
		counter) continue ;; # clocks.sh
		collect) continue ;; # tests/engine/provider/test_collect.c
		attach) continue ;; # tests/faults/attach.sh
		esac
		# shellcheck disable=SC2086 # several
		in_turn kill $PAUSES
		for action in "${turn[@]}"; do
			fault_of "$run" "$point" "$at" "$action"
		done
		[ "$LATER" = 1 ] || echo "$FAULT: $(wc -l <events) events"
		count=$((count + 1))
	done
done < <(points)
[ "$count" -gt 0 ] || fail "no such point:$WANTED"
echo "$count points"
