#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Looks at a merged archive, as `fxtrace dump --json` prints it.

    merge_order.py MERGED MESSAGES

No arrow runs backwards; and of the calls that moved the bytes of a connection, none has received what is sent later,
as their arguments tell it without any arrow. MESSAGES: how many calls have received from another process, at least;
each has an arrow.
"""
import collections
import json
import re
import sys

events = [r for r in map(json.loads, open(sys.argv[1])) if r["kind"] == "event"]
want = int(sys.argv[2])

chains = collections.defaultdict(list)
for e in events:
    if e["type"].startswith("flow"):
        chains[e["id"]].append(e)
for number, chain in chains.items():
    begins = [e["ts"] for e in chain if e["type"] == "flow-begin"]
    ends = [e["ts"] for e in chain if e["type"] == "flow-end"]
    assert len(begins) == len(ends) == 1, chain
    assert begins[0] <= ends[0], ("an arrow runs backwards", chain)
arrows = sum(chain[0]["category"] == "message" for chain in chains.values())

sent, received = collections.defaultdict(list), collections.defaultdict(list)
for e in events:
    args = {a["name"]: a["value"] for a in e.get("args", [])}
    stream = re.fullmatch(r"socket:\[\d+\] tcp (\S+)->(\S+)", str(args.get("file")))
    if not stream or args.get("ret", 0) <= 0:
        continue
    if "total_written" in args:
        sent[stream[1], stream[2]].append((args["total_written"], e["ts"]))
    elif "total_read" in args:
        received[stream[2], stream[1]].append((args["total_read"], e["end"]))
count = 0
for stream, calls in received.items():
    for position, when in calls:
        begins = [ts for reached, ts in sorted(sent[stream]) if reached >= position]
        if begins:
            count += 1
            assert begins[0] <= when, ("received before it was sent", stream, position)
assert count >= want, (count, want)
assert arrows == count, (arrows, count)
print(count, "messages in order")
