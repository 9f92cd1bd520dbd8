#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds the profiles and drawings that `fxtrace convert' makes against what follows from `fxtrace dump --json'.

    pictures.py DUMP WEIGHT FORMAT FILE...

DUMP is the dump of the archive, FILE its conversion to FORMAT by WEIGHT (wall, count, alloc, inuse). Nothing of fxtrace
is used here: nesting, own times and blocks are worked out anew."""

import collections
import gzip
import json
import re
import sys
import xml.etree.ElementTree

UNNAMED = "[unnamed]"


# --- What the archive says -------------------------------------------------------------------------


def argument(record, name, otherwise=None):
    for arg in record.get("args", ()):
        if arg["name"] == name:
            value = arg.get("value")
            if arg["type"] == "pointer":
                return int(value, 16)
            return value
    return otherwise


def read_dump(path):
    names, threads = {}, collections.defaultdict(list)
    pids = {}
    for index, line in enumerate(open(path)):
        record = json.loads(line)
        if record["kind"] == "kernel-object" and record["type"] == "process":
            names[int(record["koid"])] = record["name"]
        if record["kind"] == "event" and record["type"] == "complete":
            record["index"] = index
            threads[(record["pid"], record["tid"])].append(record)
            pids[record["pid"]] = True
    return names, threads


def nested(records):
    """The calls of a thread, outermost first, each with its depth and own time."""
    calls, stack = [], []
    for record in sorted(records, key=lambda r: (r["ts"], -r["end"], -r["index"])):
        while stack and (stack[-1]["end"] <= record["ts"]):
            stack.pop()
        record["above"] = stack[-1] if stack else None
        record["own"] = record["end"] - record["ts"]
        if stack:
            stack[-1]["own"] -= record["own"]
        calls.append(record)
        stack.append(record)
    return calls


def frames_of(record):
    stack = argument(record, "stack")
    return [("function", name) for name in reversed(stack.split("\n")) if name] if stack else []


def path_of(record, root):
    me = (record["category"], record["name"])
    if record["above"]:
        return record["above"]["path"] + (me,)
    return (("", root),) + tuple(frames_of(record)) + (me,)


def size_of(record):
    return int(argument(record, "size", 0)) * int(argument(record, "count", 1))


def heap_steps(record, path):
    aligned = record["name"] == "posix_memalign"
    given = argument(record, "ptr", 0)
    taken = given if aligned else argument(record, "ret", 0) or 0
    if given and not aligned and (taken or size_of(record) == 0):
        yield record["ts"], 0, given, None, 0
    if taken:
        yield record["end"], 1, taken, path, size_of(record)


def measure(dump):
    names, threads = read_dump(dump)
    own = {weight: collections.Counter() for weight in ("wall", "count", "alloc", "inuse")}
    steps = collections.defaultdict(list)
    for (pid, _), records in threads.items():
        root = names.get(pid, f"process {pid}")
        for record in nested(records):
            path = record["path"] = path_of(record, root)
            own["wall"][path] += record["own"]
            own["count"][path] += 1
            if record["category"] == "malloc":
                stack = frames_of(record)
                if stack:
                    path = (("", root), *stack, path[-1])
                steps[pid].extend(heap_steps(record, path))
            if record["name"].startswith("exec") and argument(record, "unfinished"):
                steps[pid].append((record["ts"], 0, None, None, 0))
    for blocks in steps.values():
        live = {}
        for _, taken, address, path, size in sorted(blocks, key=lambda s: s[:2]):
            if address is None:
                live.clear()
            elif taken:
                live[address] = path, size
                own["alloc"][path] += size
            else:
                live.pop(address, None)
        for path, size in live.values():
            own["inuse"][path] += size
    return {weight: {p: v for p, v in counter.items() if v} for weight, counter in own.items()}


# --- What the formats say: each returns what was found and what it must be ---------------------------


def names_of(path, separator=None):
    return tuple((name.replace(separator, ":") if separator else name) or UNNAMED for _, name in path)


def by_names(own, cut=0, separator=None):
    found = collections.Counter()
    for path, value in own.items():
        found[names_of(path, separator)[cut:]] += value
    return found


def collapsed(own, weight, name):
    found = collections.Counter()
    for line in open(name, encoding="utf-8", newline="\n"):
        path, value = line.rstrip("\n").rsplit(" ", 1)
        found[tuple(path.split(";"))] += int(value)
    return found, by_names(own[weight], separator=";")


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        shift += 7
        at += 1
        if data[at - 1] < 128:
            return value, at


def message(data):
    """Fields of a protobuf message: number -> list of values."""
    fields, at = collections.defaultdict(list), 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        else:
            assert key & 7 == 2, key
            size, at = varint(data, at)
            value = data[at : at + size]
            assert len(value) == size
            at += size
        fields[key >> 3].append(value)
    return fields


def numbers(values):
    found = []
    for value in values:
        if isinstance(value, int):
            found.append(value)
            continue
        at = 0
        while at < len(value):
            number, at = varint(value, at)
            found.append(number)
    return found


PPROF = {"wall": "wall", "count": "calls", "alloc": "alloc_space", "inuse": "inuse_space"}


def pprof(own, weight, name):
    profile = message(gzip.open(name).read())
    strings = [value.decode() for value in profile[6]]
    assert strings[0] == ""
    types = [strings[message(value)[1][0]] for value in profile[1]]
    column = types.index(PPROF[weight])
    functions = {}
    for value in profile[5]:
        function = message(value)
        functions[function[1][0]] = strings[function[2][0]]
    locations = {}
    for value in profile[4]:
        location = message(value)
        locations[location[1][0]] = functions[message(location[4][0])[1][0]]
    found = collections.Counter()
    for value in profile[2]:
        sample = message(value)
        values = numbers(sample[2])
        assert len(values) == len(types)
        if values[column]:
            found[tuple(locations[i] for i in reversed(numbers(sample[1])))] += values[column]
    assert strings[profile[14][-1]] in types
    return found, by_names(own[weight])


def speedscope(own, weight, name):
    file = json.load(open(name, encoding="utf-8"))
    assert file["$schema"] == "https://www.speedscope.app/file-format-schema.json"
    frames = [frame["name"] or UNNAMED for frame in file["shared"]["frames"]]
    assert all(isinstance(frame, str) for frame in frames)
    found = collections.Counter()
    for profile in file["profiles"]:
        assert isinstance(profile["name"], str) and profile["startValue"] <= profile["endValue"]
        assert profile["unit"] in ("none", "nanoseconds", "bytes")
        if profile["type"] == "sampled":
            assert len(profile["samples"]) == len(profile["weights"])
            for stack, value in zip(profile["samples"], profile["weights"]):
                found[tuple(frames[i] for i in stack)] += value
            continue
        assert profile["type"] == "evented"
        stack, at = [], profile["startValue"]
        for event in profile["events"]:
            assert at <= event["at"] <= profile["endValue"], (at, event)
            if stack:
                found[tuple(frames[i] for i in stack)] += event["at"] - at
            at = event["at"]
            if event["type"] == "O":
                stack.append(event["frame"])
            else:
                assert event["type"] == "C" and stack.pop() == event["frame"], event
        assert not stack
    timed = any(profile["type"] == "evented" for profile in file["profiles"])
    return found, by_names(own[weight], cut=1 if timed else 0)


def callgrind(own, weight, name):
    """Functions: own cost, and own with that of all calls; and the calls."""
    named, files = {}, {}
    function = file = callee = callee_file = None
    cost, whole, calls = collections.Counter(), collections.Counter(), collections.Counter()
    total = pending = None

    def look(table, text):
        number, rest = re.fullmatch(r"\((\d+)\)(?: (.*))?", text).groups()
        if rest is not None:
            assert number not in table
            table[number] = rest
        return table[number]

    for line in open(name, encoding="utf-8", newline="\n"):
        line = line.rstrip("\n")
        key, _, value = line.partition("=")
        if line.startswith("totals: "):
            total = int(line[8:])
        elif key == "fl":
            file = look(files, value)
        elif key == "cfi":
            callee_file = look(files, value)
        elif key == "fn":
            function = (file, look(named, value))
        elif key == "cfn":
            callee = (callee_file, look(named, value))
        elif key == "calls":
            pending = int(value.split()[0])
            calls[(function, callee)] += pending
        elif re.fullmatch(r"\d+ \d+", line):
            value = int(line.split()[1])
            whole[function] += value
            if pending is None:
                cost[function] += value
            pending = None
    want, want_whole, want_calls = collections.Counter(), collections.Counter(), collections.Counter()
    key_of = lambda frame: (frame[0] or "fxtrace", frame[1] or UNNAMED)
    live = set()
    for path, value in own[weight].items():
        want[key_of(path[-1])] += value
        for frame in set(path):
            want_whole[key_of(frame)] += value
        live.update(path[:end] for end in range(len(path) + 1))
    for path, value in own["count"].items():
        if path in live:
            want_calls[(key_of(path[-2]), key_of(path[-1]))] += value
    found = {"total": total, **{("own", k): v for k, v in cost.items() if v}}
    expected = {"total": sum(own[weight].values()), **{("own", k): v for k, v in want.items() if v}}
    found.update({("whole", k): v for k, v in whole.items() if v})
    expected.update({("whole", k): v for k, v in want_whole.items() if v})
    found.update({("calls", k): v for k, v in calls.items() if v})
    expected.update({("calls", k): v for k, v in want_calls.items() if v})
    return found, expected


def svg(own, weight, name):
    """Each box, as the path of those below it."""
    space = "{http://www.w3.org/2000/svg}"
    document = xml.etree.ElementTree.parse(name).getroot()
    boxes = []
    for group in document.iter(space + "g"):
        label = group.find(space + "title").text.split("\n")
        y = int(group.find(space + "rect").get("y"))
        boxes.append((-y, int(group.get("data-x")), int(group.get("data-w")), label[0]))
    assert not any("on" == key[:2] for node in document.iter() for key in node.keys())
    assert len(list(document.iter(space + "script"))) == 1
    row, found = {}, collections.Counter()
    for y, x, w, label in sorted(boxes):
        above = [path for (x0, w0, path) in row.get(y - 17, ()) if x0 <= x and x + w <= x0 + w0]
        path = above[0] + (label,) if above else ()
        row.setdefault(y, []).append((x, w, path))
        found[path] += w
    expected = collections.Counter()
    for path, value in by_names(own[weight]).items():
        for end in range(len(path) + 1):
            expected[path[:end]] += value
    return found, expected


def main():
    dump, weight, form, name = sys.argv[1:5]
    own = measure(dump)
    found, expected = globals()[form](own, weight, name)
    found = {key: value for key, value in found.items() if value}
    if found != dict(expected):
        for key in list(dict.fromkeys([*found, *expected])):
            if found.get(key) != expected.get(key):
                print(f"{form}: {key}: {found.get(key)} instead of {expected.get(key)}")
        sys.exit(1)
    if not expected:
        sys.exit(f"{form}: nothing to compare")


main()
