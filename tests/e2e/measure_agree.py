#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Computes from `fxtrace dump --json` what the measurements of tests/e2e/measure.sh say, and compares.

    measure_agree.py DUMP MEASURED
"""

import json
import math
import statistics
import sys


def events(path):
    scale = {}
    for line in open(path, encoding="utf-8", errors="replace"):
        record = json.loads(line)
        if record["kind"] == "initialization":
            scale[record.get("provider")] = 1_000_000_000 / record["ticks_per_second"]
        if record["kind"] != "event" or record["type"] not in ("complete", "instant"):
            continue
        factor = scale[record.get("provider")]
        record["ts"] = int(record["ts"] * factor)
        record["dur"] = int(record["end"] * factor) - record["ts"] if "end" in record else None
        record["arg"] = {a["name"]: a.get("value") for a in record.get("args", [])}
        yield record


def percentile(values, percent):
    return sorted(values)[max(0, math.ceil(len(values) * percent / 100 - 1e-9) - 1)]


def expect(name, got, values, problems):
    want = {"count": len(values), "sum": sum(values)}
    if values:
        want.update(min=min(values), max=max(values), mean=statistics.mean(values))
        want.update({f"p{p}": percentile(values, p) for p in (50, 90, 95, 99, 99.9)})
    for key, value in want.items():
        if key in got and not math.isclose(got[key], value, rel_tol=1e-9):
            problems.append(f"{name}: {key} is {got[key]} instead of {value}")


def main():
    everything = list(events(sys.argv[1]))
    got = {m["name"]: m for m in json.load(open(sys.argv[2], encoding="utf-8"))["measurements"]}
    slices = [e for e in everything if e["type"] == "complete"]
    functions = [e for e in slices if e["category"].split(":")[0] == "function"]
    calls = [e for e in slices if e["category"].split(":")[0] == "syscall"]
    problems = []

    def check(name, values):
        expect(name, got[name], values, problems)
        print(name, len(values))

    check("leaf", [e["dur"] for e in functions if e["name"] == "leaf"])
    check("long", [e["dur"] for e in functions if e["dur"] > 1000])
    check("calls", [1] * len(calls))
    check("failed", [1] * sum("errno" in e["arg"] for e in calls))
    check("written", [e["arg"]["ret"] for e in calls if e["name"] == "write" and e["arg"].get("file", "").endswith("/data")])
    begins = sorted(e["ts"] for e in functions if e["name"] == "again" and e["tid"] == e["pid"])
    check("intervals", [b - a for a, b in zip(begins, begins[1:])])
    opened = min(e["ts"] + e["dur"] for e in calls if e["name"] == "open" and "data" in e["arg"].get("path", ""))
    closed = min(e["ts"] for e in calls if e["name"] == "close" and "data" in e["arg"].get("file", ""))
    check("held", [closed - opened])
    for problem in problems:
        print(problem)
    return 1 if problems or not functions or not calls else 0


if __name__ == "__main__":
    sys.exit(main())
