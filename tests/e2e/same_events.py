#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Whether archives have the same events, arrows included, in whatever order.

    same_events.py WANT GOT...

All are as `fxtrace dump --json` prints them. Several GOT have them together, each event once.
"""
import collections
import json
import sys


def load(name):
    events = []
    for record in map(json.loads, open(name)):
        del record["offset"]
        if record["kind"] in ("event", "log", "large-event"):
            events.append(json.dumps(record, sort_keys=True))
    return collections.Counter(events)


want = load(sys.argv[1])
got = sum(map(load, sys.argv[2:]), collections.Counter())
for what, events in ("missing", want - got), ("too many", got - want):
    for event in list(events)[:3]:
        print(what + ":", event)
assert want == got and want, (sum(want.values()), sum(got.values()))
