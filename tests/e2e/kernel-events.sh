#!/bin/bash
# SPDX-License-Identifier: MIT
# The kernel's categories: page faults that waited for a disk and requests to it, as the program itself counts them, with the file;
# segments that were sent again; interrupts; tracepoints by name, with their fields.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

need python3 pgrep
! is_emulated || skip "the emulator knows no performance events"
compile pages -O1 -D_GNU_SOURCE "$FX_SRCDIR/tests/e2e/targets/pages.c"
mkdir here && cd here || exit 99
FXT=$TEST_DIR/trace.fxt
ask() {
	"$FXTRACE" query --json "$FXT" "
		select category, slice.name, ts, tid, $(for key in "$@"; do
		printf '(select string_value from args where args.arg_set_id = slice.arg_set_id and key = %s) as %s_text,' "'$key'" "$key"
		printf '(select int_value from args where args.arg_set_id = slice.arg_set_id and key = %s) as "%s",' "'$key'" "$key"
	done) 0 as zero
		from slice join thread_track on slice.track_id = thread_track.id join thread using (utid) order by ts"
}

# switches PID TID: how often a thread of it has waited.
switches() {
	sed -n 's/^voluntary_ctxt_switches:[^0-9]*//p' "/proc/$1/task/$2/status"
}
has_waited() {
	[ "$(switches "$1" "$2")" -ge "$3" ]
}
# caught_up PROVIDER: until it has read its rings once more, which one thread does, and has found nothing to do again and again, as the other says.
caught_up() {
	local thread

	for thread in "/proc/$1/task/"*; do
		thread=${thread##*/}
		[ "$thread" -eq "$1" ] || wait_for 120 has_waited "$1" "$thread" $(($(switches "$1" "$thread") + 4)) || return 1
	done
	wait_for 120 has_waited "$1" "$1" $(($(switches "$1" "$1") + 20))
}
# run_pages LIST: traces the program, which has its file open until its name is found, for afterwards it cannot be.
run_pages() {
	local manager provider

	rm -f read go
	"$FXTRACE" run -c "$1" -o "$FXT" -- ../pages >out 2>err &
	manager=$!
	wait_for 120 test -e read || fail "nothing is read: $(cat err)"
	provider=$(pgrep -P "$manager" -x fxtrace-kernel) && { caught_up "$provider" || fail "the provider is never idle"; }
	touch go
	wait "$manager" || fail "the program did not end well: $(cat err)"
}

# --- Page faults: anybody may see his own ---------------------------------------------------------

run_pages kernel:fault
cp out said
! grep -q 'are not recorded' err || skip "$(grep 'are not recorded' err)"
expect_no_line 'not recorded|knew' err
expect_clean "$FXT"
on_disk=true
grep -q '^faults 0$' said && on_disk=false # a file system in memory
expect_ok ask file offset
$on_disk && python3 - <<'PY' >checked 2>&1 || ! $on_disk || fail "$(cat checked)"
import json, os
rows = [r for r in json.load(open("out")) if r["category"] == "kernel:fault"]
said = [line.split() for line in open("said")]
path = os.path.realpath("data")
mine = [r["offset"] for r in rows if r["file_text"] == path]
assert len(mine) == int(said[0][1]), (len(mine), said[0])
assert mine == [int(s[1]) for s in said if s[0] == "at"], mine
PY

# --- For root -------------------------------------------------------------------------------------

# Ends of requests may be missing, in a row or all of a run (fxtrace-kernel(1)): some kernels count them, and give no records of them, to perf record
# either. Such a read says that it has none, and if all do in each of five runs, no duration is looked at.
for _ in 1 2 3 4 5; do
	run_pages 'kernel:*,-kernel:net,tracepoint:sched/sched_process_e*,tracepoint:syscalls/sys_enter_pread64'
	cp err told
	$on_disk || break
	expect_ok "$FXTRACE" query --csv "$FXT" "
		select count(*) from args join slice using (arg_set_id) where category = 'kernel:block' and key = 'duration_ns'"
	ended=$(tail -n 1 out | tr -d '\r')
	[ "$ended" -lt 40 ] || break
	! grep -q 'not recorded' told || break
done
expect_clean "$FXT"
! grep -qE 'records? (lost|of --kernel may be missing)' told || skip "the machine is too busy: $(grep -E 'lost|missing' told)"
if grep -q 'not recorded' told; then
	# Each thing that is missing is said once, with what would help.
	expect_line '^fxtrace: kernel:irq, kernel:block(, tracepoints by name)?: not recorded: .*(perf_event_paranoid|CAP_PERFMON|tracefs|no such)' told
	skip "$(grep 'not recorded' told)"
fi
if $on_disk; then
	expect_ok ask file bytes duration_ns unfinished
	python3 - <<'PY' >checked 2>&1 || fail "$(cat checked)"
import json, os
rows = json.load(open("out"))
reads = [r for r in rows if r["category"] == "kernel:block" and r["name"] == "read"]
mine = [r for r in reads if r["file_text"] == os.path.realpath("data")]
# 40 pages by faults, 40 by pread(); what the file system reads for itself is of no file.
assert len(mine) == 80, (len(mine), len(reads))
ended = [r for r in mine if r["duration_ns"] is not None]
assert all(r["bytes"] == 4096 for r in mine), mine[:3]
assert all(0 < r["duration_ns"] < 10**10 for r in ended), ended[:3]
assert len([r for r in mine if r["unfinished"]]) == 80 - len(ended), (len(ended), mine[:3])
writes = [r for r in rows if r["category"] == "kernel:block" and r["name"] == "write"]
if "direct 1\n" in open("said"):
    assert sum(r["bytes"] for r in writes) >= 40 * 65536, sum(r["bytes"] for r in writes)
assert len([r for r in rows if r["category"] == "kernel:fault"]) >= 40
PY
fi
has_points=true
if grep -q 'built without libtraceevent' told; then
	has_points=false
elif [ -d /sys/kernel/tracing/events/syscalls ] || [ ! -d /sys/kernel/tracing/events ]; then
	expect_ok ask filename comm group_dead count pos
	python3 - <<'PY' >checked 2>&1 || fail "$(cat checked)"
import json
rows = json.load(open("out"))
by = lambda group, name: [r for r in rows if (r["category"], r["name"]) == ("tracepoint:" + group, name)]
execs, exits = by("sched", "sched_process_exec"), by("sched", "sched_process_exit")
assert [r["filename_text"] for r in execs] == ["../pages"], execs
assert [r["comm_text"] for r in exits] == ["pages"], exits
calls = by("syscalls", "sys_enter_pread64")
assert [(r["count"], r["pos"]) for r in calls if r["count"] == 4096] == [(4096, i * 65536) for i in range(40)], calls
PY
fi
# What means nothing is said, and the rest recorded.
expect_ok "$FXTRACE" run -c 'tracepoint:no_such/thing,syscall' -o "$FXT" -- cat /dev/null
if $has_points; then
	expect_line '^fxtrace: tracepoint:no_such/thing: this kernel has no such tracepoint' err
	expect_equal 1 "$(grep -c no_such err)" "lines about it"
	expect_ok "$FXTRACE" run -c '#default,tracepoint:*/sys_e*,-tracepoint:syscalls/sys_exit_*' -o "$FXT" -- true
	expect_line 'there are more than can be recorded at once' err
	expect_clean "$FXT"
fi

# --- Interrupts -----------------------------------------------------------------------------------

cat >spin.c <<'PY'
#include <time.h>
int main(void)
{
	while (clock() < CLOCKS_PER_SEC)
		;
	return 0;
}
PY
compile spin -O1 spin.c
expect_ok "$FXTRACE" run -c kernel:irq -o "$FXT" -- ./spin
expect_ok ask duration_ns
python3 - <<'PY' >checked 2>&1 || fail "$(cat checked)"
import json
rows = [r for r in json.load(open("out")) if r["category"] == "kernel:irq"]
assert rows, "a second without an interrupt"
assert all(r["name"].startswith(("irq ", "softirq ")) for r in rows), {r["name"] for r in rows}
assert all(0 < r["duration_ns"] < 10**9 for r in rows), rows
assert not any(r["name"].startswith("softirq ") and r["name"][8:].isdigit() for r in rows), rows
PY

# --- The network ----------------------------------------------------------------------------------

compile again -O1 -D_GNU_SOURCE "$FX_SRCDIR/tests/e2e/targets/sent-again.c"
cat >agree.py <<'PY'
import json
said = dict(line.split() for line in open("said"))
rows = [r for r in json.load(open("out")) if r["category"] == "kernel:net"]
again = [r for r in rows if r["name"] == "sent again" and r["to_text"] == "127.0.0.1:" + said["port"]]
assert len(again) == int(said["again"]), (len(again), said)
assert {r["state_text"] for r in again} == {"SYN_SENT"}, again
dropped = [r for r in rows if r["name"] == "dropped" and r["reason_text"] == "SOCKET_RCVBUFF"]
assert dropped and int(said["dropped"]) > 20, (len(dropped), said, [r["reason_text"] for r in rows])
PY
agrees() {
	expect_ok "$FXTRACE" run -c kernel:net -o "$FXT" -- ./again
	cp out said
	! grep -qE 'records? (lost|of --kernel may be missing)' err || skip "the machine is too busy: $(grep -E 'lost|missing' err)"
	! grep -q '^again 0$' said || skip "nothing is sent again here"
	expect_ok ask reason to state
	python3 agree.py >checked 2>&1
}
# Once, on a very busy machine, fewer drops came than the kernel had counted; why is not known.
agrees || agrees || agrees || fail "$(cat checked)"
