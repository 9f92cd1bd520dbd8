#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""counts.py: what a trace processor has to show of an archive, in the lines of counts.sql.

Reads what `fxtrace dump --json` prints. A thread's slices are its complete events, its instants, of no length, and
what was begun, of no length where it was left open."""

import collections
import json
import sys

threads = collections.defaultdict(lambda: [0, 0])
asyncs = counters = flows = 0
ordered = []
opened = collections.defaultdict(list)
active = set()
owners = {}
rates = {}

for line in sys.stdin:
    record = json.loads(line)
    kind = record["kind"]
    if kind == "initialization":
        rates[record["provider"]] = record["ticks_per_second"]
    elif kind == "event":
        rate = rates.get(record["provider"], 10**9)
        ts = record["ts"] * 10**9 // rate
        kind, pid, tid = record["type"], record["pid"], record["tid"]
        if kind == "complete":
            slices = threads[(pid, tid)]
            slices[0] += 1
            slices[1] += record["end"] * 10**9 // rate - ts
        elif kind == "instant":
            threads[(pid, tid)][0] += 1
        elif kind in ("async-begin", "async-instant"):
            asyncs += 1
        elif kind == "counter":
            counters += sum(arg["type"] in ("int32", "uint32", "int64", "uint64", "double") for arg in record.get("args", ()))
        elif kind in ("begin", "end") or kind.startswith("flow-"):
            ordered.append((ts, len(ordered), kind, pid, tid, record.get("id")))

# What matters in the order of their times.
ordered.sort()
for ts, _, kind, pid, tid, flow in ordered:
    if kind == "begin":
        threads[(pid, tid)][0] += 1
        opened[(pid, tid)].append(ts)
    elif kind == "end":
        if opened[(pid, tid)]:
            threads[(pid, tid)][1] += ts - opened[(pid, tid)].pop()
    elif kind == "flow-begin":
        active.add((pid, flow))
        owners.setdefault(flow, set()).add(pid)
    else:
        key = (pid, flow)
        if key not in active and len(owners.get(flow, ())) == 1:
            key = (*owners[flow], flow)
        if key in active:
            flows += 1
            if kind == "flow-end":
                active.remove(key)
                owners.pop(flow, None)

for (pid, tid), (count, length) in sorted(threads.items()):
    if count:
        print(f"thread {pid} {tid} {count} {length}")
print(f"asyncs {asyncs}")
print(f"counters {counters}")
print(f"flows {flows}")
