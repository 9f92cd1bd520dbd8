#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""report_objects.py WHAT JSON LOG: whether `fxtrace report --json' of objects agrees with what targets/histories.c says itself."""
import json
import sys


def rows(report, table):
    return report[table]["rows"]


def equal(want, got, what):
    assert want == got, f"{what}:\n{got}\ninstead of\n{want}"


def words(log, first):
    return [line[1:] for line in log if line[0] == first]


def call(row):
    return row["call"].split("(")[0]


def lock(report, log, calls_that_wait_alone):
    uses = words(log, "use")
    waiters = [name for name, what in uses if what == "pthread_mutex_lock"][1:]
    order = [name for name, _ in words(log, "held")]
    held = {name: int(ns) for name, ns in words(log, "held")}
    if calls_that_wait_alone:
        # The first take waits for nobody, and nobody waits for the last release.
        uses = uses[1:-1]
    equal([tuple(use) for use in uses], [(row["thread"], call(row)) for row in rows(report, "history")], "uses")
    equal(len(uses), rows(report, "objects")[0]["uses"], "number of uses")
    equal(len(waiters), rows(report, "objects")[0]["waits"], "number of waits")
    equal(["owner"] * len(waiters),
          [row["holder"].split()[0] for row in rows(report, "history") if row.get("holder")], "who held it")
    ended = {row["thread"]: row["ended_by"].split()[0] for row in rows(report, "history") if row.get("ended_by")}
    equal({name: order[order.index(name) - 1] for name in waiters}, ended, "who ended the wait")
    # Each waited for all those that had it before, as long as they had it and more.
    pairs = {(row["thread"], row["for_thread"]): row for row in rows(report, "waiters")}
    equal({(name, other) for name in waiters for other in order[:order.index(name)]}, set(pairs), "who waited for whom")
    for (name, other), row in pairs.items():
        equal(1, row["waits"], f"waits of {name} for {other}")
        if other != "owner":
            assert row["total_ns"] > held[other] * 0.99, (name, other, row, held[other])
    waited = {row["thread"]: row["waited_ns"] for row in rows(report, "users") if row["waits"]}
    for name in waiters:
        equal(waited[name], sum(row["total_ns"] for key, row in pairs.items() if key[0] == name), f"waited of {name}")
    equal(sum(waited.values()), rows(report, "objects")[0]["waited_ns"], "waited in all")
    equal(max(waited.values()), rows(report, "objects")[0]["longest_ns"], "the longest")


def condition(report, log, calls_that_wait_alone):
    names = [row["name"].split()[:2] for row in rows(report, "objects")]
    equal([["cond", "ready"], ["mutex", "calm"], ["sem", "permits"]], sorted(names), "objects")
    number = {row["name"].split()[0]: row["object"] for row in rows(report, "objects")}
    by_object = {kind: [(row["thread"], call(row)) for row in rows(report, "history") if row["object"] == number[kind]]
                 for kind in number}
    equal([("sleeper", "pthread_cond_wait"), ("waker", "pthread_cond_signal")], by_object["cond"], "the condition's")
    equal([("sleeper", "sem_wait"), ("waker", "sem_post")], by_object["sem"], "the semaphore's")
    if not calls_that_wait_alone:
        equal([("sleeper", "pthread_mutex_lock"), ("sleeper", "pthread_cond_wait"), ("waker", "pthread_mutex_lock"),
               ("waker", "pthread_mutex_unlock"), ("sleeper", "pthread_mutex_unlock")], by_object["mutex"], "the mutex's")
    pairs = {(row["object"], row["thread"], row.get("for_thread")) for row in rows(report, "waiters")}
    assert {(number["cond"], "sleeper", "waker"), (number["sem"], "sleeper", "waker")} <= pairs, pairs


def descriptor(report, log, _):
    lives, uses = [], []
    for line in log:
        if line[0] == "life":
            lives.append((line[1], []))
        elif line[0] == "use":
            lives[-1][1].append((line[1], int(line[2])))
            uses.append((len(lives), line[1], int(line[2])))
    got = [(row["object"], call(row), (row["read_bytes"] or 0) + (row["written_bytes"] or 0))
           for row in rows(report, "history")]
    equal(uses, got, "uses")
    for (path, calls), row in zip(lives, rows(report, "objects"), strict=True):
        equal(path, row["name"].split()[1], "what it was")
        equal(len(calls), row["uses"], "uses")
        equal([1, 1], [row["opens"], row["closes"]], "opens and closes")
        equal(sum(n for name, n in calls if name == "read"), row["read_bytes"], "read")
        equal(sum(n for name, n in calls if name == "write"), row["written_bytes"], "written")


def channel(report, log, _):
    got = [row for row in rows(report, "history") if call(row) in ("read", "write")]
    equal([int(n) for n, in words(log, "got")],
          [row["read_bytes"] or 0 for row in got if row["thread"] == "reader"], "reads")
    equal([int(n) for n, in words(log, "wrote")],
          [row["written_bytes"] or 0 for row in got if row["thread"] == "writer"], "writes")
    total = int(words(log, "pipe")[0][4])
    equal([[total, total]], [[row["read_bytes"], row["written_bytes"]] for row in rows(report, "objects")], "bytes")
    equal({"reader": [total, 0], "writer": [0, total]},
          {row["thread"]: [row["read_bytes"], row["written_bytes"]] for row in rows(report, "users")}, "bytes of each")


def connection(report, log, _):
    want = {side: [int(n) for n in words(log, side)[0]] for side in ("client", "server")}
    got = {side: [0, 0] for side in want}
    for row in rows(report, "users"):
        got[row["thread"]][0] += row["read_bytes"]
        got[row["thread"]][1] += row["written_bytes"]
    equal(want, got, "bytes of each side")
    equal(3, len(rows(report, "objects")), "the socket that listens, and one of each side")
    equal(3, sum(row["opens"] for row in rows(report, "objects")), "opens")
    equal(2, sum(row["closes"] for row in rows(report, "objects")), "closes")


def main():
    what = sys.argv[1].split(":")
    report = json.load(open(sys.argv[2]))
    log = [line.split() for line in open(sys.argv[3])]
    moments = [row["at_ns"] for row in rows(report, "history")]

    equal(sorted(moments), moments, "order of time")
    equal(sum(row["uses"] for row in rows(report, "objects")), len(moments), "uses of all objects")
    equal(len(moments), sum(row["uses"] for row in rows(report, "users")), "uses of all threads")
    globals()[what[0]](report, log, what[1:] == ["default"])


main()
