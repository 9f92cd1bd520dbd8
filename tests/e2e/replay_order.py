# SPDX-License-Identifier: MIT
"""replay_order.py DUMP REPLAY: whether the text of `fxtrace replay' has the calls of a dump (JSON) in their order, with
their nesting, durations and threads. Computed without fxtrace's own code."""
import json
import re
import sys

calls = []
first = None
for number, line in enumerate(open(sys.argv[1])):
    record = json.loads(line)
    if record["kind"] != "event":
        continue
    first = record["ts"] if first is None else min(first, record["ts"])
    if record["type"] == "complete":
        calls.append((record["tid"], record["ts"], record["end"], number, record["name"]))

# A thread's calls: the longer first where they begin together; depth is that of the calls still open.
want = {}
for tid in {c[0] for c in calls}:
    stack = []
    for _, ts, end, number, name in sorted((c for c in calls if c[0] == tid), key=lambda c: (c[1], -c[2])):
        while stack and stack[-1] <= ts:
            stack.pop()
        want.setdefault(tid, []).append((ts - first, len(stack), name))
        stack.append(end)

got = {}
times = []
opened = {}
pattern = re.compile(r"^ *(\d+)\.(\d{9}) (?:.* )?(\d+) +\| ( *)(.*)$")
for line in open(sys.argv[2]):
    match = pattern.match(line)
    assert match, line
    ns = int(match[1]) * 10**9 + int(match[2])
    tid, depth, text = int(match[3]), len(match[4]) // 2, match[5]
    times.append(ns)
    stack = opened.setdefault(tid, [])
    if text.startswith("}"):
        name = re.search(r"/\* (.*) \*/$", text)[1]
        assert stack.pop() == (name, depth), line
        continue
    name = text.split("(")[0]
    assert depth == len(stack), line
    got.setdefault(tid, []).append((ns, depth, name))
    if text.endswith("{"):
        stack.append((name, depth))
    else:
        assert re.search(r"<[0-9.]+ (ns|us|ms|s|min)>;$", text), line

assert times == sorted(times), "lines are not in order of time"
assert not any(opened.values()), opened
assert len(want) >= 1 and got.keys() == want.keys(), (got.keys(), want.keys())
for tid, rows in want.items():
    for one, other in zip(rows, got[tid]):
        assert one == other, (tid, one, other)
    assert len(rows) == len(got[tid]), (tid, len(rows), len(got[tid]))
print(sum(len(rows) for rows in want.values()), "calls")
