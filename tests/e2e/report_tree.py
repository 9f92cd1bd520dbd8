#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Computes the tree of calls, and who calls whom, from `fxtrace dump --json`, and compares them with what `fxtrace
report --functions --function '*' --tree --json --top 0` says.

    report_tree.py DUMP REPORT [TID]        TID: of a report of this thread alone
"""

import collections
import json
import sys

from report_functions import slices


class Calls:
    """Calls, time of the outermost ones, own time."""

    def __init__(self):
        self.calls = self.total = self.own = self.open = 0

    def numbers(self):
        return self.calls, self.total, self.own


def compute(threads):
    """paths {(name, ...): Calls} and edges {(caller, callee): Calls}"""
    paths, edges = collections.defaultdict(Calls), collections.defaultdict(Calls)
    for calls in threads.values():
        # Records stand in the order of their ends: of two that are equal, the later one is the outer one.
        order = sorted(range(len(calls)), key=lambda i: (calls[i][0], -calls[i][1], -i))
        stack = []

        def close():
            start, end, path, edge, inside = stack.pop()
            if stack:
                stack[-1][4] += end - start
            for entry in path, edge:
                entry.calls += 1
                entry.own += end - start - inside
                entry.open -= 1
                if entry.open == 0:
                    entry.total += end - start
            way.pop()

        way = []
        for i in order:
            start, end, _, name = calls[i]
            while stack and (stack[-1][1] < end or stack[-1][1] <= start):
                close()
            edge = edges[way[-1] if way else "(none)", name]
            way.append(name)
            path = paths[tuple(way)]
            path.open += 1
            edge.open += 1
            stack.append([start, end, path, edge, 0])
        while stack:
            close()
    return paths, edges


def of_tree(rows):
    found, way = {}, []
    for row in rows:
        depth = row.get("depth", 0)
        assert depth <= len(way), row
        way[depth:] = [row["name"]]
        assert tuple(way) not in found, way
        found[tuple(way)] = (row["calls"], row["total_ns"], row["self_ns"])
    return found


def of_edges(rows, caller, callee):
    return {(r[caller], r[callee]): (r["calls"], r["total_ns"], r["self_ns"]) for r in rows}


def main():
    threads = slices(sys.argv[1])
    if len(sys.argv) > 3:
        threads = {key: calls for key, calls in threads.items() if key[1] == int(sys.argv[3])}
    paths, edges = compute(threads)
    report = json.load(open(sys.argv[2], encoding="utf-8"))
    want = {"tree": paths, "callers": edges,
            "callees": {key: calls for key, calls in edges.items() if key[0] != "(none)"}}
    got = {"tree": of_tree(report["tree"]["rows"]),
           "callers": of_edges(report["callers"]["rows"], "caller", "function"),
           "callees": of_edges(report["callees"]["rows"], "function", "callee")}
    wrong = 0
    for table, entries in want.items():
        entries = {key: calls.numbers() for key, calls in entries.items()}
        for key in sorted(entries.keys() | got[table].keys()):
            if entries.get(key) != got[table].get(key):
                wrong += 1
                print(f"{table}: {key}: {got[table].get(key)} instead of {entries.get(key)}")
        if len(report[table]["rows"]) != len(entries):
            wrong += 1
            print(f"{table}: {len(report[table]['rows'])} rows instead of {len(entries)}")
    # What is open is its own time and that of what it calls, once: the shares are of that.
    whole = sum(calls.total for path, calls in paths.items() if len(path) == 1)
    for row in report["tree"]["rows"]:
        if abs(row["total_share"] - row["total_ns"] / whole) > 1e-9:
            wrong += 1
            print(f"share: {row}")
    functions = {row["name"]: row for row in report["functions"]["rows"]}
    for row in report["callers"]["rows"] + report["callees"]["rows"]:
        total = functions[row["function"]]["total_ns"]
        if total and abs(row["function_share"] - row["total_ns"] / total) > 1e-9:
            wrong += 1
            print(f"share: {row}")
    for name, row in functions.items():
        of_it = [calls for key, calls in edges.items() if key[1] == name]
        if (row["calls"], row["self_ns"]) != (sum(c.calls for c in of_it), sum(c.own for c in of_it)):
            wrong += 1
            print(f"{name}: its callers do not add up to {row}")
    print(f"{len(paths)} paths and {len(edges)} pairs compared")
    return 1 if wrong or len(paths) < 20 else 0


if __name__ == "__main__":
    sys.exit(main())
