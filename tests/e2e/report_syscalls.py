#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Computes system calls, errors and files not found from `fxtrace dump --json`, and compares them with what `fxtrace
report --syscalls --json` says.

    report_syscalls.py DUMP REPORT
"""

import collections
import json
import sys

TABLES = {"syscall": "syscalls", "process": "syscalls", "stdio": "library_calls", "libc": "library_calls",
          "dl": "library_calls"}


def read(path):
    """Complete events of those categories: (table, name, start, end, values, thread)."""
    ticks, found = {}, []
    for line in open(path, encoding="utf-8"):
        record = json.loads(line)
        provider = record.get("provider")
        if record["kind"] == "initialization":
            ticks[provider] = record["ticks_per_second"]
        if record["kind"] != "event" or record["type"] != "complete":
            continue
        table = TABLES.get(record["category"].split(":")[0])
        if not table:
            continue
        scale = 1_000_000_000 / ticks[provider]
        values = {arg["name"]: arg.get("value") for arg in record.get("args", [])}
        name = values["number"] if record["name"] == "syscall" else record["name"]
        found.append((table, name, int(record["ts"] * scale), int(record["end"] * scale), values, record["tid"]))
    return found


def path_of(values):
    for name, folder in ("path", "dir"), ("from", "from_dir"):
        path = values.get(name)
        if path:
            folder = values.get(folder) or ""
            return path if path.startswith("/") or not folder.startswith("/") else f"{folder.rstrip('/')}/{path}"
    return next((v for v in (values.get("arg0"), values.get("arg1")) if isinstance(v, str) and v.startswith("/")), None)


def tables(events):
    by_name = {"syscalls": collections.defaultdict(list), "library_calls": collections.defaultdict(list)}
    failed = {"syscalls": collections.Counter(), "library_calls": collections.Counter()}
    errors, missing = collections.Counter(), collections.Counter()
    for table, name, start, end, values, _ in events:
        by_name[table][name].append(end - start)
        error = values.get("errno")
        if not error:
            continue
        failed[table][name] += 1
        path = path_of(values)
        errors[name, error, path or values.get("file") or None] += 1
        if path and error in ("ENOENT", "ENOTDIR"):
            missing[path, name] += 1
    numbers = {table: {name: (len(times), failed[table][name], sum(times), min(times), sum(times) // len(times),
                              max(times)) for name, times in names.items()} for table, names in by_name.items()}
    return numbers, errors, missing


def main():
    events = read(sys.argv[1])
    report = json.load(open(sys.argv[2], encoding="utf-8"))
    numbers, errors, missing = tables(events)
    wrong = []

    def compare(what, want, got):
        for key in want.keys() | got.keys():
            if want.get(key) != got.get(key):
                wrong.append(f"{what} {key}: {got.get(key)} instead of {want.get(key)}")

    for table, want in numbers.items():
        rows = report.get(table, {"rows": []})["rows"]
        keys = ("calls", "errors", "total_ns", "min_ns", "mean_ns", "max_ns")
        compare(table, want, {r["name"]: tuple(r[k] for k in keys) for r in rows})
        total = sum(r["total_ns"] for r in rows)
        for r in rows:
            times = sorted(e[3] - e[2] for e in events if e[0] == table and e[1] == r["name"])
            for key, share in ("p50_ns", 0.5), ("p99_ns", 0.99):
                # An estimate is never below the value, and at most 1/16 above it.
                below = times[max(0, int(share * len(times)) - 1)]
                if not below <= r[key] <= times[-1]:
                    wrong.append(f"{r['name']}: {key} is {r[key]}")
            if total and abs(r["share"] - r["total_ns"] / total) > 1e-6:
                wrong.append(f"{r['name']}: share {r['share']}")
    compare("error", errors, {(r["call"], r["errno"], r["path"]): r["count"] for r in report["errors"]["rows"]})
    found = collections.Counter()
    for r in report["not_found"]["rows"]:
        found[r["path"], r["call"]] += r["count"]
    compare("not found", missing, found)
    slowest = sorted((e[3] - e[2] for e in events if e[0] == "syscalls"), reverse=True)[:20]
    got = [r["time_ns"] for r in report["slowest"]["rows"]]
    if got != slowest:
        wrong.append(f"slowest: {got} instead of {slowest}")
    for r in report["slowest"]["rows"]:
        if not any(e[3] - e[2] == r["time_ns"] and e[5] == r["tid"] and r["call"].startswith(e[1] + "(")
                   for e in events):
            wrong.append(f"slowest: no such call: {r}")
    for line in wrong[:10]:
        print(line)
    if len(numbers["syscalls"]) < 5 or not errors or not missing:
        print("too little to compare")
        return 1
    print(f"{len(events)} calls, {len(errors)} kinds of errors, {len(missing)} files not found")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
