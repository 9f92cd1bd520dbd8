#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares an archive's arrows of messages with what the ranks of mpi_talk have said.

    mpi_arrows.py LOGS DUMP.json...

DUMP: `fxtrace dump --json'; several if ranks have archives of their own. Each thread's arrows begin in the order in which it
has said that it sends, and end in the order in which it has said that it got something.
"""
import collections
import glob
import json
import sys

begins, ends = collections.defaultdict(list), collections.defaultdict(list)
for name in sys.argv[2:]:
    for line in open(name):
        r = json.loads(line)
        if r["kind"] != "event" or r["category"] != "mpi":
            continue
        if r["type"] == "flow-begin":
            begins[r["pid"] % 10**7, r["tid"] % 10**7].append((r["ts"], r["id"]))
        elif r["type"] == "flow-end":
            ends[r["pid"] % 10**7, r["tid"] % 10**7].append((r["ts"], r["id"]))

sent, got, count = {}, {}, 0
for name in glob.glob(sys.argv[1] + "/log.*"):
    said = {"S": collections.defaultdict(list), "R": collections.defaultdict(list)}
    with open(name) as lines:
        pid = int(next(lines).split()[1])
        for line in lines:
            what, tid, number = line.split()
            said[what][int(tid)].append(int(number))
    for what, found, where in ("S", begins, sent), ("R", ends, got):
        for tid, numbers in said[what].items():
            here = sorted(found.pop((pid, tid), []))
            assert len(here) == len(numbers), (name, what, tid, len(here), "instead of", len(numbers))
            for (ts, ident), number in zip(here, numbers):
                assert number not in where, (name, number)
                where[number] = (ts, ident)
assert not begins and not ends, ("arrows of nobody", dict(begins), dict(ends))
assert sent.keys() == got.keys(), "the program itself has lost something"
wrong = [n for n in sent if sent[n][1] != got[n][1]]
idents = {ident for _, ident in sent.values()}
assert len(idents) == len(sent), (len(idents), len(sent))
assert not wrong, "%d of %d arrows are wrong" % (len(wrong), len(sent))
back = [n for n in sent if sent[n][0] > got[n][0]]
assert not back, "%d of %d arrows run backwards" % (len(back), len(sent))
assert sent, "nothing was sent"
print(len(sent), "messages, as many arrows, 0 wrong, 0 backwards")
