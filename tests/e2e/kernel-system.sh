#!/bin/bash
# SPDX-License-Identifier: MIT
# --kernel=system: switches of programs that are not traced, as the kernel counts them for these; wakeups by them; moves to another processor;
# and waits that no signal ends.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

need python3
! is_emulated || skip "the emulator knows no performance events"
compile switches -O2 "$FX_SRCDIR/tests/e2e/targets/switches.c" -pthread
compile pages -O1 -D_GNU_SOURCE "$FX_SRCDIR/tests/e2e/targets/pages.c"
cat >moves.c <<'PROGRAM'
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <unistd.h>
/* Moves to and fro between two processors, and says how often. */
int main(void)
{
	int moves = 0, at = sched_getcpu();
	cpu_set_t all, one;

	sched_getaffinity(0, sizeof(all), &all);
	for (int i = 0; i < 20; i++) {
		for (int cpu = 0; cpu < CPU_SETSIZE && moves == i; cpu++) {
			if (cpu == at || !CPU_ISSET(cpu, &all))
				continue;
			CPU_ZERO(&one);
			CPU_SET(cpu, &one);
			sched_setaffinity(0, sizeof(one), &one);
			moves++;
			at = cpu;
		}
	}
	printf("%d %d\n", (int)getpid(), moves);
	return 0;
}
PROGRAM
compile moves moves.c
cat >asleep.c <<'PROGRAM'
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
/* Is woken by whoever writes there. */
int main(void)
{
	FILE *told = fopen("sleeper", "w");
	char byte;
	int fifo;

	fprintf(told, "%d", (int)getpid());
	fclose(told);
	fifo = open("fifo", O_RDONLY);
	printf("%d\n", (int)getpid());
	fflush(stdout);
	while (read(fifo, &byte, 1) == 1)
		;
	return 0;
}
PROGRAM
compile asleep asleep.c

# --- Neighbours -----------------------------------------------------------------------------------

mkfifo fifo
cat >neighbour.py <<'PROGRAM'
import os, subprocess, sys, time
out = open("fifo", "wb", buffering=0)
sleeper = open("sleeper").read()
print(os.getpid())
for _ in range(50):
    time.sleep(0.002)
    # Who still waits for a processor is not woken.
    while open("/proc/%s/stat" % sleeper).read().rsplit(")", 1)[1].split()[0] != "S":
        time.sleep(0.001)
    out.write(b"a")
subprocess.run(["./switches"], stdout=open("said", "w"), check=True)
PROGRAM
python3 neighbour.py >neighbour &
other=$!
expect_ok traced --kernel=system -- ./asleep
wait "$other" || fail "the neighbour failed"
! grep -qE 'not recorded' err || skip "$(grep 'not recorded' err)"
expect_line ': [0-9.]+ [kM]B, 1 process, 1 thread, ' err # the neighbours are none of the program's
sleeper=$(cat out)
expect_clean trace.fxt
expect_ok "$FXTRACE" query --csv trace.fxt "
	select count(*) from thread_state s join thread t using (utid) join thread w on s.waker_utid = w.utid
	where t.tid = $sleeper and w.tid = $(cat neighbour) and s.state in ('R', 'Running')"
woken=$(tail -n 1 out | tr -d '\r')
[ "$woken" -ge 40 ] || fail "the program was woken by its neighbour $woken times of 50"
expect_ok "$FXTRACE" query --json trace.fxt "
	select tid, thread.name, ts, dur, cpu, end_state from sched join thread using (utid) order by ts"
PYTHONPATH=$FX_SRCDIR/tests/e2e python3 -B - <<'END' >checked 2>&1 || fail "$(cat checked)"
import json
from switches_agree import compare
slices = json.load(open("out"))
for line in open("said"):
    own, name = compare(slices, line)
    assert len([s for s in own if s["end_state"] == "X"]) == 1, own[-3:]
END

# --- Moves, and deep waits -------------------------------------------------------------------------

expect_ok traced --kernel=system -- ./moves
read -r pid moves <out
expect_ok "$FXTRACE" query --csv trace.fxt "
	select count(*) from slice join thread_track on slice.track_id = thread_track.id join thread using (utid)
	where category = 'sched' and slice.name = 'migrated' and tid = $pid"
count=$(tail -n 1 out | tr -d '\r')
[ "$count" -ge "$moves" ] || fail "$count moves of $moves"
[ "$(nproc)" -eq 1 ] || [ "$moves" -eq 20 ] || fail "it moved $moves times"

touch go
expect_ok traced --kernel -- ./pages
grep -q '^faults 0$' out && exit 0 # a file system in memory
waits=$(sed -n 's/^waits //p' out) # a disk may be so quick that a read does not wait
expect_ok "$FXTRACE" query --csv trace.fxt "select count(*) from sched where end_state = 'D'"
deep=$(tail -n 1 out | tr -d '\r')
[ "$deep" -ge "$waits" ] || fail "$deep waits for the disk of $waits"
