#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Computes calls, own and total time of functions from `fxtrace dump --json`, and compares them with what
`fxtrace report --functions --json` says.

    report_functions.py DUMP REPORT
"""

import collections
import json
import sys


def slices(path):
    """The complete events of each thread."""
    threads = collections.defaultdict(list)
    ticks = {}
    for line in open(path, encoding="utf-8", errors="replace"):
        record = json.loads(line)
        provider = record.get("provider")
        if record["kind"] == "initialization":
            ticks[provider] = record["ticks_per_second"]
        if record["kind"] != "event" or record["type"] != "complete":
            continue
        scale = 1_000_000_000 / ticks[provider]
        threads[record["pid"], record["tid"]].append(
            (
                int(record["ts"] * scale),
                int(record["end"] * scale),
                record["category"],
                record["name"],
            )
        )
    return threads


def totals(threads):
    """name: [calls, own ns, total ns]"""
    found = collections.defaultdict(lambda: [0, 0, 0])
    for calls in threads.values():
        # Records stand in the order of their ends: of two that are equal, the later one is the outer one.
        order = sorted(range(len(calls)), key=lambda i: (calls[i][0], -calls[i][1], -i))
        stack = []
        open_names = collections.Counter()

        def close():
            start, end, category, name, inside = stack.pop()
            if stack:
                stack[-1][4] += end - start
            if category.split(":")[0] != "function":
                return
            open_names[name] -= 1
            entry = found[name]
            entry[0] += 1
            entry[1] += end - start - inside
            if open_names[name] == 0:
                entry[2] += end - start

        for i in order:
            start, end, category, name = calls[i]
            while stack and (stack[-1][1] < end or stack[-1][1] <= start):
                close()
            stack.append([start, end, category, name, 0])
            if category.split(":")[0] == "function":
                open_names[name] += 1
        while stack:
            close()
    return found


def main():
    expected = totals(slices(sys.argv[1]))
    rows = json.load(open(sys.argv[2], encoding="utf-8"))["functions"]["rows"]
    got = {row["name"]: [row["calls"], row["self_ns"], row["total_ns"]] for row in rows}
    wrong = [name for name in expected.keys() | got.keys() if expected.get(name) != got.get(name)]
    for name in sorted(wrong)[:10]:
        print(f"{name}: {got.get(name)} instead of {expected.get(name)}")
    if not expected:
        print("no function at all")
    print(f"{len(expected)} functions compared")
    return 1 if wrong or not expected else 0


if __name__ == "__main__":
    sys.exit(main())
