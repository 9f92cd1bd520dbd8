#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""shown.py FOLDER: what a trace processor has to show of an archive, in the rows of shown.sql, sorted, to the folder's
files raw.said, pftrace.said and json.said: of the archive itself, and of what `fxtrace convert' makes of it.

Reads what `fxtrace dump --json` prints. A thread's slices are its complete events, its instants, of no length, and
what was begun, of no length where it was left open; JSON has no such slices, there it lasts until the last time of
all. An arrow has the threads at its two ends. Of arguments the values come together in a sum, of texts the lengths.
Raw, Perfetto skips records of logs, of losses and of large events, and takes every instant for its thread's;
converted, each is an instant where it belongs. In protobuf, the first thread of a process whose command line is known
has the process's title where it has no name of its own."""

import collections
import json
import sys

NUMBERS = ("int32", "uint32", "int64", "uint64", "double")
MASK = 1048575  # so much of a number goes into the sum

FORMS = ("raw", "pftrace", "json")
CONVERTED = ("pftrace", "json")

# Keys of arguments, where the form has a folder for them; in protobuf they have no dots and brackets.
KEYS = {
    "raw": lambda name: name,
    "pftrace": lambda name: "debug." + name.translate(str.maketrans(".[]", "___")),
    "json": lambda name: "args." + name,
}
# Names of counters by the event's name, the counter's id and the argument's name.
COUNTERS = {
    "raw": lambda name, ident, arg: f"{name}:{arg}:{ident}",
    "pftrace": lambda name, ident, arg: f"{name} {arg} #{ident}" if ident else f"{name} {arg}",
    "json": lambda name, ident, arg: f"{name} id: {ident:#x} {arg}" if ident else f"{name} {arg}",
}

TITLE_MAX = 127  # bytes

rows = {form: collections.defaultdict(lambda: [0, 0]) for form in FORMS}
names = {}
providers = {}
processes = {}  # of providers: the first that they tell of
abouts = collections.defaultdict(dict)
losses = []
ordered = []
opened = collections.defaultdict(list)
active = {}
owners = {}
rates = {}
last_time = 0


def count(kind, owner, name="-", total=0, more=1, forms=FORMS):
    for form in forms:
        row = rows[form][(kind, owner, name)]
        row[0] += more
        row[1] += total


def in_hex(name):
    return name.encode().hex().upper()


def owner_of(record):
    return f"{record['pid']} {record['tid']}"


def in_json(kind, value):
    """What becomes of a value of this type in JSON, where not all are numbers."""
    if kind == "pointer":
        return value
    if kind == "koid" or (kind == "uint64" and value >= 1 << 63):
        return str(value)
    return value


def share(value):
    """What a value adds to the sum of its argument's."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, float):
        return int(value) & MASK if abs(value) < 1e15 else 0
    return int(value) & MASK


def take_remark(name, value):
    """What a conversion adds to an event's arguments."""
    for form in CONVERTED:
        count("args", "-", in_hex(KEYS[form](name)), share(value), forms=(form,))


def take_args(record, forms=FORMS):
    """An argument without a name has one in JSON alone."""
    for arg in record.get("args", ()):
        kind, value = arg["type"], arg.get("value")
        having = [form for form in forms if arg["name"] or form == "json"]
        if kind == "null":
            for form in {"raw", "pftrace"} & set(having):
                count("args", "-", in_hex(KEYS[form](arg["name"])), 4, forms=(form,))
            continue
        if kind == "blob":
            size = len(value) // 2
            for form in having:
                shown = "unknown" if form == "raw" else f"{size} bytes"
                count("args", "-", in_hex(KEYS[form](arg["name"])), len(shown), forms=(form,))
            continue
        number = int(value, 16) if kind == "pointer" else value
        for form in having:
            shown = in_json(kind, value) if form == "json" else number
            count("args", "-", in_hex(KEYS[form](arg["name"])), share(shown), forms=(form,))


def take_category(record, forms=FORMS):
    """Converted, an event without a category has none."""
    having = [form for form in forms if record["category"] or form == "raw"]
    count("categories", "-", in_hex(record["category"]), forms=having)


def take_event(record):
    """Counts a record whose meaning is its own, and keeps those that have to be put in order."""
    global last_time
    rate = rates.get(record["provider"], 10**9)
    ts = record["ts"] * 10**9 // rate
    last_time = max(last_time, ts, record.get("end", 0) * 10**9 // rate)
    kind, owner, name = record["type"], owner_of(record), in_hex(record["name"])
    if kind in ("complete", "instant", "begin", "async-begin", "async-instant"):
        take_category(record)
        take_args(record)
    elif kind in ("end", "async-end"):
        take_args(record)
    if kind == "complete":
        count("slices", owner, name, record["end"] * 10**9 // rate - ts)
    elif kind == "instant":
        scope = record.get("scope", "thread")
        count("slices", owner, name, forms=FORMS if scope == "thread" else ("raw",))
        if scope != "thread":
            count("asyncs", "-", name, forms=CONVERTED)
            count("scoped", f"process {record['pid']}" if scope == "process" else "trace", name, forms=CONVERTED)
    elif kind in ("async-begin", "async-instant"):
        count("asyncs", "-", name)
    elif kind == "counter":
        for arg in record.get("args", ()):
            if arg["type"] in NUMBERS:
                for form in FORMS:
                    track = COUNTERS[form](record["name"], record["counter_id"], arg["name"])
                    count("samples", str(record["pid"]), in_hex(track), float(arg["value"]), forms=(form,))
    elif kind in ("begin", "end") or kind.startswith("flow-"):
        ordered.append((ts, len(ordered), kind, record["pid"], owner, name, record.get("id")))


def take_ordered():
    """Counts what was begun and ended or not, and arrows, which are the flows of a process, or else of the one that has it."""
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
    for owner, slices in opened.items():
        for name, begin in slices:
            count("slices", owner, name, last_time - begin, more=0, forms=("json",))
            take_remark("fxtrace", "did not finish")


def take_losses():
    """Each is an instant of its provider's process, or of the whole trace where it has none. JSON has a category for it."""
    for provider in losses:
        note = in_hex(f"buffer full: events of {providers[provider]} were dropped")
        count("asyncs", "-", note, forms=CONVERTED)
        count("categories", "-", in_hex("fxtrace"), forms=("json",))
        owner = f"process {processes[provider]}" if provider in processes else "trace"
        count("scoped", owner, note, forms=("json",))


def take_about(record):
    """What a record of a process says of it beside its name. A new program has no title yet."""
    about = abouts[record["koid"]]
    if not record["name"]:
        return
    about["name"] = record["name"]
    said = {arg["name"]: arg["value"] for arg in record.get("args", ()) if arg["type"] == "string" and arg["value"]}
    if "command" in said:
        about.pop("title", None)
    about.update({key: said[key] for key in ("title", "command") if key in said})


def title_of(about):
    """As ARCHITECTURE says of a viewer's names: the title, or the command line without the program's folder."""
    first, _, rest = about["command"].partition(" ")
    title = about.get("title") or (first.rstrip("/").rsplit("/", 1)[-1] + (" " + rest if rest else ""))
    if len(title.encode()) > TITLE_MAX:
        title = title.encode()[:TITLE_MAX - 3].decode(errors="ignore") + "..."
    if about["name"].rpartition("@")[2] and "@" in about["name"]:
        title += " @" + about["name"].rpartition("@")[2]
    return "".join(" " if c < " " or c == "\x7f" else c for c in title)


def take_titles():
    for pid, about in abouts.items():
        if "command" in about and f"{pid} {pid}" not in names:
            count("thread", f"{pid} {pid}", in_hex(title_of(about)), forms=("pftrace",))


def take(record):
    kind = record["kind"]
    if kind == "initialization":
        rates[record["provider"]] = record["ticks_per_second"]
    elif kind == "provider-info":
        providers[record["id"]] = record["name"]
    elif kind == "provider-event":
        losses.append(record["id"])
    elif kind == "large-event":
        count("slices", owner_of(record), in_hex(record["name"]), forms=CONVERTED)
        take_category(record, CONVERTED)
        take_args(record, CONVERTED)
        take_remark("blob_bytes", record["size"])
    elif kind == "log":
        count("slices", owner_of(record), in_hex(record["message"]), forms=CONVERTED)
        count("categories", "-", in_hex("log"), forms=("json",))
        count("args", "-", in_hex("track_event.log_message.message"), len(record["message"]), forms=("pftrace",))
    elif kind == "kernel-object" and record["type"] == "thread":
        pid = next((arg["value"] for arg in record.get("args", ()) if arg["name"] == "process"), 0)
        names[f"{pid} {record['koid']}"] = record["name"]
    elif kind == "kernel-object" and record["type"] == "process":
        processes.setdefault(record["provider"], record["koid"])
        take_about(record)
    elif kind == "event":
        processes.setdefault(record["provider"], record["pid"])
        take_event(record)


def write(path, form):
    with open(path, "wb") as file:
        lines = []
        for (kind, owner, name), (number, total) in rows[form].items():
            lines.append(f"{kind} {owner} {name} {number} {total:.9g}" if kind == "samples" else
                         f"{kind} {owner} {name} {number} {total}")
        for line in sorted(line.encode() for line in lines):
            file.write(line + b"\n")


for line in sys.stdin:
    take(json.loads(line))
take_ordered()
take_losses()
take_titles()
for owner, name in names.items():
    count("thread", owner, in_hex(name))
for form in FORMS:
    write(f"{sys.argv[1]}/{form}.said", form)
