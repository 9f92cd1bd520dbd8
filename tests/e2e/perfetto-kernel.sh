#!/bin/bash
# SPDX-License-Identifier: MIT
# What Perfetto's trace processor shows of a run with --kernel and --sample, raw and converted, beside what it shows of perf's record of the same
# run: of the program's threads the same rows in `sched' and `thread_state', each with its processor, state and times, and as many in
# `perf_sample', in the same functions. perf's switches and wakeups come to it as the kernel's own text, since of perf.data it imports samples alone.
# FX_TRACE_PROCESSOR names it (see perfetto.sh).
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

[ -n "${FX_TRACE_PROCESSOR-}" ] || skip "FX_TRACE_PROCESSOR names no trace processor of Perfetto's"
need python3 perf "$FX_TRACE_PROCESSOR"
! is_emulated || skip "the emulator knows no performance events"
compile switches -O2 "$FX_SRCDIR/tests/e2e/targets/switches.c" -pthread
perf record -q -a -m 8M -k mono -e sched:sched_switch -e sched:sched_waking -o switches.data -- \
	perf record -q -k mono -c 1001001 -e task-clock -g -o samples.data -- \
	"$FXTRACE" run --kernel --sample 999 -o trace.fxt -- ./switches >out 2>err || skip "perf cannot record here: $(tail -n 1 err)"
! grep -qE 'not recorded|no samples' err || skip "$(grep -E 'not recorded|no samples' err)"
! grep -qE 'lost|may be missing' err || skip "the machine is too busy"
cp out said
expect_ok perf script -i switches.data --show-lost-events
! grep -q 'PERF_RECORD_LOST' out || skip "perf has lost records"
expect_ok perf script -i switches.data --ns -F comm,tid,cpu,time,event,trace
# perf itself misses a switch now and then: then another thread goes than the one that came. Those stretches of time are left out, by processor.
python3 - <<'END' >switches.txt || fail "perf's text is not understood"
import re
last, gaps = {}, open("gaps", "w")
print("# tracer: nop\n#")
for line in open("out", errors="replace"):
    m = re.match(r"\s*(.*?)\s+(-?\d+)\s+\[(\d+)\]\s+(\d+)\.(\d{9}):\s+sched:(\w+): (.*)", line)
    assert m, line
    comm, tid, cpu, seconds, rest, name, values = m.groups()
    # One that has ended has no number; whose switch it is stands in the event.
    if name == "sched_switch":
        comm, tid, comes = re.match(r"prev_comm=(.*) prev_pid=(\d+) .* next_pid=(\d+)", values).groups()
        ns = int(seconds + rest)
        if cpu in last and last[cpu][0] != tid:
            print(last[cpu][1], ns, file=gaps)
        last[cpu] = comes, ns
    print("%s-%s [%s] .... %s.%s: %s: %s" % (comm, max(int(tid), 0), cpu, seconds, rest, name, values))
END
echo "perf has missed $(wc -l <gaps) switches"
expect_ok "$FXTRACE" convert -f perfetto trace.fxt trace.pftrace

# shown NAME TRACE: its rows, to NAME.sched, NAME.states and NAME.samples.
shown() {
	echo "select tid, ts, dur, cpu, end_state from sched join thread using (utid) where tid <> 0 order by ts" >sched.sql
	echo "select tid, ts, dur, cpu, state from thread_state join thread using (utid) where tid <> 0 order by ts" >states.sql
	# (Of perf's, functions have no names without what Perfetto calls symbolization; the file is known.)
	echo "select tid, s.ts, 0, s.cpu, iif(f.name = '', m.name, f.name) from perf_sample s join thread using (utid)
		left join stack_profile_callsite c on s.callsite_id = c.id left join stack_profile_frame f on c.frame_id = f.id
		left join stack_profile_mapping m on f.mapping = m.id order by s.ts" >samples.sql
	for what in sched states samples; do
		"$FX_TRACE_PROCESSOR" -q "$what.sql" "$2" >"$1.$what" 2>loaded || fail "$2 is not loaded: $(tail -n 2 loaded)"
	done
}
shown raw trace.fxt
shown converted trace.pftrace
shown perf switches.txt
mv perf.sched kernel.sched
mv perf.states kernel.states
shown perf samples.data
mv kernel.sched perf.sched
mv kernel.states perf.states
compare() {
	python3 -B "$FX_SRCDIR/tests/e2e/perfetto_kernel.py" "$@" >checked 2>&1
}
compare || fail "$(tail -c 2000 checked)"
cat checked
# With a row less in any of the tables, it says so.
for less in raw.sched raw.states converted.sched converted.states converted.samples; do
	! compare "$less" || fail "a row less in $less is not noticed"
done
