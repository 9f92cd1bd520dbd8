#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""shown.py RAW CONVERTED: what a trace processor has to show of an archive, in the rows of shown.sql, to two files:
of the archive itself, and of what `fxtrace convert' makes of it.

Reads what `fxtrace dump --json` prints. A thread's slices are its complete events, its instants, of no length, and
what was begun, of no length where it was left open. An arrow has the threads at its two ends. Raw, Perfetto skips
records of logs, of losses and of large events, and takes every instant for its thread's; converted, each is an instant
where it belongs."""

import collections
import json
import sys

NUMBERS = ("int32", "uint32", "int64", "uint64", "double")

RAW, CONVERTED = 1, 2
BOTH = RAW | CONVERTED

rows = collections.defaultdict(lambda: [0, 0])
names = {}
providers = {}
ordered = []
opened = collections.defaultdict(list)
active = {}
owners = {}
rates = {}


def count(kind, owner, name="-", total=0, more=1, forms=BOTH):
    row = rows[(kind, owner, name, forms)]
    row[0] += more
    row[1] += total


def in_hex(name):
    return name.encode().hex().upper()


def owner_of(record):
    return f"{record['pid']} {record['tid']}"


def take_event(record):
    """Counts a record whose meaning is its own, and keeps those that have to be put in order."""
    rate = rates.get(record["provider"], 10**9)
    ts = record["ts"] * 10**9 // rate
    kind, owner, name = record["type"], owner_of(record), in_hex(record["name"])
    if kind == "complete":
        count("slices", owner, name, record["end"] * 10**9 // rate - ts)
    elif kind == "instant":
        own = record.get("scope", "thread") == "thread"
        count("slices", owner, name, forms=BOTH if own else RAW)
        if not own:
            count("asyncs", "-", name, forms=CONVERTED)
    elif kind in ("async-begin", "async-instant"):
        count("asyncs", "-", name)
    elif kind == "counter":
        for arg in record.get("args", ()):
            if arg["type"] in NUMBERS:
                count("samples", str(record["pid"]), total=float(arg["value"]))
    elif kind in ("begin", "end") or kind.startswith("flow-"):
        ordered.append((ts, len(ordered), kind, record["pid"], owner, name, record.get("id")))


def take_ordered():
    """Counts what was begun and ended, and arrows, which are the flows of a process, or else of the one that has it."""
    for ts, _, kind, pid, owner, name, flow in sorted(ordered):
        if kind == "begin":
            count("slices", owner, name)
            opened[owner].append((name, ts))
        elif kind == "end":
            if opened[owner]:
                name, begin = opened[owner].pop()
                count("slices", owner, name, ts - begin, more=0)
        elif kind == "flow-begin":
            active[(pid, flow)] = owner
            owners.setdefault(flow, set()).add(pid)
        else:
            key = (pid, flow)
            if key not in active and len(owners.get(flow, ())) == 1:
                key = (*owners[flow], flow)
            if key in active:
                count("arrows", f"{active[key]} {owner}")
                active[key] = owner
                if kind == "flow-end":
                    del active[key]
                    owners.pop(flow, None)


def take(record):
    kind = record["kind"]
    if kind == "initialization":
        rates[record["provider"]] = record["ticks_per_second"]
    elif kind == "provider-info":
        providers[record["id"]] = record["name"]
    elif kind == "provider-event":
        note = f"buffer full: events of {providers[record['id']]} were dropped"
        count("asyncs", "-", in_hex(note), forms=CONVERTED)
    elif kind == "large-event":
        count("slices", owner_of(record), in_hex(record["name"]), forms=CONVERTED)
    elif kind == "log":
        count("slices", owner_of(record), in_hex(record["message"]), forms=CONVERTED)
    elif kind == "kernel-object" and record["type"] == "thread":
        pid = next((arg["value"] for arg in record.get("args", ()) if arg["name"] == "process"), 0)
        names[f"{pid} {record['koid']}"] = record["name"]
    elif kind == "event":
        take_event(record)


def write(path, form):
    """Rows of one form. What is of one form alone may stand beside what is of both."""
    merged = collections.defaultdict(lambda: [0, 0])
    for (kind, owner, name, forms), (number, total) in rows.items():
        if forms & form:
            row = merged[(kind, owner, name)]
            row[0] += number
            row[1] += total
    with open(path, "w", encoding="utf-8") as file:
        for (kind, owner, name), (number, total) in merged.items():
            print(kind, owner, name, number, f"{total:.9g}" if kind == "samples" else total, file=file)


for line in sys.stdin:
    take(json.loads(line))
take_ordered()
for owner, name in names.items():
    count("thread", owner, in_hex(name))
write(sys.argv[1], RAW)
write(sys.argv[2], CONVERTED)
