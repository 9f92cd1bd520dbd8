# SPDX-License-Identifier: MIT
"""What provider_load.py left in an archive: fxtrace dump --json FILE | provider_expect.py CASE.

Exits with a message if it is not what it should be.
"""
import collections
import json
import struct
import sys


class Archive:
    """The numbers of the program's events by thread and name, and the manager's count of losses."""

    def __init__(self, lines):
        self.numbers = collections.defaultdict(list)
        self.names, self.providers, self.dropped = {}, [], 0
        for record in map(json.loads, lines):
            if record["kind"] == "provider-info":
                self.providers.append(record["name"])
            elif record["kind"] == "kernel-object" and record["type"] == "thread":
                self.names[record["koid"]] = record["name"]
            elif record["kind"] == "event":
                self.event(record)

    def event(self, record):
        args = {arg["name"]: arg["value"] for arg in record.get("args", [])}
        if record["category"] == "fxtrace":
            if record["type"] == "counter":
                self.dropped = max(self.dropped, args["count"])
            return
        if record["category"] == "process":  # its end, which the manager tells
            return
        expect(record["category"] == ("other" if record["name"] == "tock" else "demo"),
               "%s in category %s" % (record["name"], record["category"]))
        number = args["done"] if record["type"] == "counter" else args["number"]
        name = record["name"]
        if name == "round":
            expect(record["type"] == "complete" and record["end"] > record["ts"], "a bad duration")
            values = {"number": number, "half": number / 2, "even": number % 2 == 0,
                      "text": str(number)}
            expect(args == values, "arguments %s" % args)
        elif name.startswith("name "):
            expect(args["text"] == name == "name %d" % number, "%s has %s" % (name, args))
            name = "name"
        else:
            expect(record["type"] == ("counter" if name == "rounds" else "instant"), record["type"])
        self.numbers[record["tid"], name].append(number)

    def count(self):
        return sum(map(len, self.numbers.values()))


def expect(true, message):
    if not true:
        sys.exit("FAILED: " + message)


def expect_equal(want, got, what):
    expect(want == got, "%s: %s instead of %s" % (what, got, want))


def whole(a, threads, rounds):
    """Every event of every thread, in order."""
    expect_equal(3 * threads, len(a.numbers), "rows of events")
    for row in a.numbers.values():
        expect_equal(list(range(rounds)), row, "numbers")
    expect_equal(0, a.dropped, "records dropped")
    names = {a.names[tid] for tid, _ in a.numbers}
    expect_equal({"worker %d" % i for i in range(threads)}, names, "threads")


def counted(a, threads, rounds):
    """What is not there was counted."""
    expect_equal(3 * threads * rounds, a.count() + a.dropped, "recorded and dropped")
    expect(a.count() > 0, "nothing was recorded")
    for row in a.numbers.values():
        expect(row == sorted(set(row)), "out of order: %s" % row)


def lossy(a, threads, rounds):
    counted(a, threads, rounds)
    expect(a.dropped > 0, "nothing was dropped: the test shows nothing")


def newest(a, _, rounds):
    """The end of each thread's events without a gap, and not all of them."""
    expect_equal(0, a.dropped, "records dropped")
    expect(a.count() > 0, "nothing was recorded")
    for row in a.numbers.values():
        expect(0 < row[0] and row == list(range(row[0], rounds)), "not the newest: %s" % row)


def stopped(a):
    """All that was written before the stop, and nothing of what came after. The stop may have come
    between the last look at the state and the event."""
    with open("done") as f:
        done = int(f.read())
    (row,) = a.numbers.values()
    expect(row in (list(range(done)), list(range(done - 1))), "%s of %d" % (row, done))


def names(a, count):
    expect_equal([list(range(count))], list(a.numbers.values()), "numbers")


def killed(a, threads):
    """What each thread said was written is there; at most one event more, that it had no time to
    speak of. A circular buffer has lost the oldest."""
    expect_equal(threads, len(a.numbers), "threads")
    for (tid, _), row in a.numbers.items():
        with open("done." + a.names[tid].split()[1], "rb") as f:
            (done,) = struct.unpack("=Q", f.read())
        expect(row == list(range(row[0], row[-1] + 1)), "a gap: %s" % row)
        expect(row[-1] + 1 in (done, done + 1), "%d of %d are there" % (row[-1] + 1, done))


def killed_whole(a, threads):
    killed(a, threads)
    for row in a.numbers.values():
        expect_equal(0, row[0], "the first event")


def forked(a, rounds):
    expect_equal([list(range(rounds))], list(a.numbers.values()), "numbers")


def twice(a, rounds):
    expect_equal(["first", "second"], a.providers, "providers")
    expect_equal([list(range(rounds))] * 2, list(a.numbers.values()), "numbers")


def runs_of(row):
    """The first numbers of its parts without a gap."""
    return [n for n, before in zip(row, [None] + row) if n - 1 != before]


def runs(a, count):
    """The one row of numbers has so many parts."""
    (row,) = a.numbers.values()
    expect_equal(count, len(runs_of(row)), "parts of %s" % row)


def whole_run(a):
    runs(a, 1)
    expect_equal(0, a.dropped, "records dropped")


def added(a):
    """Two starts; the second with one more category, and maybe between an event of the one and that of the other."""
    ticks, tocks = (a.numbers[min(a.numbers)[0], name] for name in ("tick", "tock"))
    expect_equal(2, len(a.numbers), "rows of events")
    expect_equal(2, len(runs_of(ticks)), "starts")
    expect_equal(1, len(runs_of(tocks)), "starts of the other category")
    expect(tocks[0] >= runs_of(ticks)[1] - 1, "the other category was recorded in the first start")


def nothing(a):
    expect_equal(0, a.count(), "events")
    expect_equal(["load"], a.providers, "providers")


globals()[sys.argv[1]](Archive(sys.stdin), *map(int, sys.argv[2:]))
