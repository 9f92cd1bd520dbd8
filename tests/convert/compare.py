#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""compare.py DUMP JSON TEXT: whether two conversions of an archive hold what the archive holds.

DUMP is what `fxtrace dump --json` prints, JSON a conversion to Chrome's format, TEXT a conversion
to Perfetto's format as show_perfetto prints it. Slices are compared one by one, with their times
and threads; arrows must point forward in time."""

import collections
import json
import re
import sys


def fail(text):
    print(text)
    sys.exit(1)


def nanoseconds(text):
    """A time of three decimals in microseconds, exactly."""
    whole, _, rest = text.partition(".")
    return int(whole) * 1000 + int(rest)


def read_dump(path):
    slices, counters = collections.Counter(), collections.Counter()
    for line in open(path, encoding="utf-8"):
        record = json.loads(line)
        if record["kind"] != "event":
            continue
        if record["type"] == "complete":
            slices[(record["pid"], record["tid"], record["ts"], record["end"],
                    record["name"])] += 1
        elif record["type"] == "counter":
            for arg in record["args"]:
                counters[(record["pid"], record["ts"], f"{record['name']} {arg['name']}",
                          float(arg["value"]))] += 1
    return slices, counters


def read_json(path):
    slices, counters = collections.Counter(), collections.Counter()
    chains = collections.defaultdict(list)
    trace = json.load(open(path, encoding="utf-8"), parse_float=str)
    for event in trace["traceEvents"]:
        phase = event["ph"]
        if phase == "M":
            continue
        ts = nanoseconds(event["ts"])
        if phase == "X":
            end = ts + nanoseconds(event["dur"])
            slices[(event["pid"], event["tid"], ts, end, event["name"])] += 1
        elif phase == "C":
            for name, value in event["args"].items():
                counters[(event["pid"], ts, f"{event['name']} {name}", float(value))] += 1
        elif phase in "stf":
            chains[event["id"]].append((ts, phase))
    return slices, counters, chains


def read_text(path):
    slices, counters = collections.Counter(), collections.Counter()
    chains = collections.defaultdict(list)
    stacks = collections.defaultdict(list)
    event = re.compile(r"(\d+)/(\d+) @(\d+) (begin|end|instant)(?: \w*:(.*))?$")
    sample = re.compile(r"'(.*)' @(\d+) counter (.*?)d?$")
    counter = re.compile(r"track '(.*)' '.*' of process (\d+) counter")
    owners = {}
    for line in open(path, encoding="utf-8"):
        line = line.rstrip("\n")
        match = event.match(line)
        if match:
            pid, tid, ts, kind, name = match.groups()
            pid, tid, ts = int(pid), int(tid), int(ts)
            for flow in re.findall(r" flow=(\d+)", line):
                chains[flow].append(ts)
            if kind == "begin":
                stacks[(pid, tid)].append((ts, re.sub(r" .*", "", name)))
            elif kind == "end":
                start, name = stacks[(pid, tid)].pop()
                slices[(pid, tid, start, ts, name)] += 1
            continue
        match = counter.match(line)
        if match:
            owners[match.group(1)] = int(match.group(2))
            continue
        match = sample.match(line)
        if match:
            name, ts, value = match.groups()
            counters[(int(ts), name, float(value))] += 1
    if any(stacks.values()):
        fail(f"slices left open: {[stack for stack in stacks.values() if stack][:3]}")
    return slices, counters, chains


def check_equal(what, want, got):
    if want != got:
        fail(f"{what}: missing {list((want - got).items())[:3]}, "
             f"too many {list((got - want).items())[:3]}")


def main():
    dump_path, json_path, text_path = sys.argv[1:]
    slices, counters = read_dump(dump_path)
    json_slices, json_counters, json_chains = read_json(json_path)
    text_slices, text_counters, text_chains = read_text(text_path)

    check_equal("slices in JSON", slices, json_slices)
    check_equal("slices in Perfetto's format", slices, text_slices)
    check_equal("counters in JSON", counters, json_counters)
    check_equal("counters in Perfetto's format",
                collections.Counter(key[1:] for key in counters.elements()), text_counters)

    for name, chain in json_chains.items():
        first = min(chain)
        if first[1] != "s":
            fail(f"arrow {name} in JSON begins with '{first[1]}'")
    arrows = [chain for chain in text_chains.values() if len(chain) > 1]
    for chain in arrows:
        if len(set(chain)) != len(chain):
            fail(f"an arrow in Perfetto's format whose ends have one time: {chain}")
    if sorted(map(len, text_chains.values())) != sorted(map(len, json_chains.values())):
        fail("the two formats have different arrows")
    print(f"{slices.total()} slices, {counters.total()} samples, {len(arrows)} arrows")


main()
