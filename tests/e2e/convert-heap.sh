#!/bin/bash
# SPDX-License-Identifier: MIT
# Heap profiles for Perfetto: what each stack has allocated, and what of that was freed, as the program did it; as protoc
# reads it.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

need protoc python3

cat >heap.c <<'END'
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
void *volatile kept;
static void keep(void) { kept = malloc(100); }
static void drop(void) { free(malloc(50)); }
static void grow(void) { kept = realloc(realloc(calloc(3, 100), 700), 900); }
static void *hand(void *arg)
{
	for (int i = 0; i < 7; i++)
		free(((void **)arg)[i]);
	return NULL;
}
static void over(void)
{
	void *blocks[7];
	pthread_t thread;

	for (int i = 0; i < 7; i++)
		blocks[i] = malloc(1000);
	pthread_create(&thread, 0, hand, blocks);
	pthread_join(thread, 0);
}
int main(void)
{
	for (int i = 0; i < 20; i++) {
		keep();
		usleep(1000);
	}
	for (int i = 0; i < 5; i++)
		drop();
	grow();
	over();
	if (fork() == 0)
		keep();
	else
		wait(NULL);
	return 0;
}
END
compile heap -O0 -g -finstrument-functions heap.c

cat >heap.py <<'END'
"""The profiles of a trace as protoc prints it. Each stack: allocations, bytes, frees, bytes at the end."""
import re, sys

packets, stack = [], [{}]
for line in sys.stdin:
    words = line.split()
    if words[-1] == "{":
        inner = {}
        stack[-1].setdefault(words[0], []).append(inner)
        stack.append(inner)
    elif words[0] == "}":
        stack.pop()
    else:
        stack[-1].setdefault(words[0].rstrip(":"), []).append(line.split(":", 1)[1].strip())
names, frames, stacks = {}, {}, {}
profiles, clocks, moments = {}, 0, {}
for packet in stack[0]["packet"]:
    sequence = packet.get("trusted_packet_sequence_id", [None])[0]
    for snapshot in packet.get("clock_snapshot", []):
        clocks += any(c["clock_id"] == ["4"] for c in snapshot["clocks"])
    for data in packet.get("interned_data", []):
        for s in data.get("function_names", []):
            names[sequence, s["iid"][0]] = s["value"][0].strip('"')
        for f in data.get("frames", []):
            frames[sequence, f["iid"][0]] = names[sequence, f["function_name_id"][0]]
        for c in data.get("callstacks", []):
            stacks[sequence, c["iid"][0]] = [frames[sequence, f] for f in c["frame_ids"]]
    for profile in packet.get("profile_packet", []):
        dump, = profile["process_dumps"]
        assert dump["heap_name"] == ['"libc.malloc"'], dump["heap_name"]
        pid, ts = dump["pid"][0], int(dump["timestamp"][0])
        assert int(profile["index"][0]) == len(moments.get(sequence, [])), "an index"
        assert ts > moments.get(sequence, [0])[-1], "a profile that goes back in time"
        moments.setdefault(sequence, []).append(ts)
        for sample in dump["samples"]:
            value = [int(sample[k][0]) for k in ("alloc_count", "self_allocated", "free_count", "self_freed")]
            path = tuple(re.sub(r"\(.*", "", f) for f in stacks[sequence, sample["callstack_id"][0]])
            before = profiles.setdefault(pid, {}).get(path, [0] * 4)
            assert value != before and all(a >= b for a, b in zip(value, before)), (path, before, value)
            profiles[pid][path] = value
assert clocks == 1, clocks
parent, child = sorted(profiles.values(), key=len, reverse=True)
def at(profile, *end):
    found = [v for path, v in profile.items() if path[-len(end):] == end]
    assert len(found) == 1, (end, found, profile)
    return found[0]
assert at(parent, "main", "keep", "malloc") == [20, 2000, 0, 0]
assert at(parent, "main", "drop", "malloc") == [5, 250, 5, 250]
assert at(parent, "main", "grow", "calloc") == [1, 300, 1, 300]
assert at(parent, "main", "grow", "realloc") == [2, 1600, 1, 700]
assert at(parent, "main", "over", "malloc") == [7, 7000, 7, 7000]
assert at(child, "keep", "malloc") == [1, 100, 0, 0]
several = max(len(m) for m in moments.values())
assert several > 2, f"{several} moments"
END

for options in '' --stacks=malloc; do
	expect_ok traced -c '#default,malloc' --on-full block ${options:+"$options"} -- ./heap
	expect_ok "$FXTRACE" convert -f perfetto trace.fxt trace.pftrace
	protoc --decode=fx.pf.Trace -I "$FX_SRCDIR/convert/perfetto" perfetto.proto <trace.pftrace >decoded ||
		fail "protoc does not read it"
	python3 heap.py <decoded || fail "other heaps ($options)"
done

# Without calls of malloc there is none.
expect_ok traced -- ./heap
expect_ok "$FXTRACE" convert -f perfetto trace.fxt trace.pftrace
protoc --decode=fx.pf.Trace -I "$FX_SRCDIR/convert/perfetto" perfetto.proto <trace.pftrace >decoded
expect_no_line 'profile_packet' decoded
