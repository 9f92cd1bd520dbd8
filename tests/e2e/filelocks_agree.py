#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""filelocks_agree.py DUMP KIND: compares the arrows of an archive (`fxtrace dump --json') with what the threads of targets/filelocks.c have
written into log.PID.TID. Prints how many waits should have an arrow, how many have one, and how many are wrong."""
import collections
import glob
import json
import os
import sys

holds = []
for name in glob.glob("log.*"):
    _, pid, tid = name.split(".")
    who = (int(pid), int(tid))
    hold = None
    for line in open(name):
        words = line.split()
        begin, end, first, count = map(int, words[1:5])
        if words[0] in ("free", "closes"):
            hold["free"] = (begin, end)
            hold["closes"] = words[0] == "closes"
            continue
        hold = {"who": who, "shared": words[0] == "reads", "slots": (first, first + count), "has": (begin, end), "free": None, "closes": False,
                "from": [tuple(map(int, w.split("/"))) for w in words[5:]]}
        holds.append(hold)
holds.sort(key=lambda h: h["has"][1])

begins, ends = {}, collections.defaultdict(list)
for line in open(sys.argv[1]):
    r = json.loads(line)
    if r["kind"] != "event" or r.get("category") != "syscall":
        continue
    if r["type"] == "flow-begin":
        begins[r["id"]] = (r["pid"], r["tid"], r["ts"], r["name"])
    elif r["type"] == "flow-end" and r["name"] == "gets":
        ends[r["pid"], r["tid"]].append((r["ts"], r["id"]))
KIND = sys.argv[2]


def owner(hold):
    return hold["who"][0] if KIND == "process" else hold["who"]


def meets(a, b):
    return not (a["shared"] and b["shared"]) and a["slots"][0] < b["slots"][1] and b["slots"][0] < a["slots"][1]


threads = collections.Counter(pid for pid, _ in {h["who"] for h in holds})


def is_silent(hold):
    """Closed where another thread may keep it open: nobody says when it goes."""
    return hold["closes"] and (threads[hold["who"][0]] > 1 or "CLOSES_SAY_NOTHING" in os.environ)


def gone(hold):
    """When it was gone for sure: another has got what could not be had beside it; None: nobody has."""
    return next((h["has"][1] for h in holds
                 if h["has"][1] > hold["free"][0] and owner(h) != owner(hold) and meets(h, hold)), None)


SILENT = [(h, gone(h)) for h in holds if is_silent(h)]


def is_known(hold):
    """Whether all is known of what was in the way: of what went silently, it is that another had it before this one was asked for."""
    return not any(h["has"][1] < hold["has"][1] and owner(h) != owner(hold) and meets(h, hold) and
                   not (end and end < hold["has"][0]) for h, end in SILENT)


def in_the_way(hold):
    """Others' that were given back, before this one was got: which is known of those that were got before."""
    found = []
    for other in holds:
        if other["has"][1] >= hold["has"][1]:
            break
        if owner(other) == owner(hold) or (other["shared"] and hold["shared"]):
            continue
        if other["slots"][0] < hold["slots"][1] and hold["slots"][0] < other["slots"][1] and other["free"] and \
                hold["has"][0] - 10**9 < other["free"][1] and other["free"][0] < hold["has"][1]:
            found.append(other)
    return found


promised = have = wrong = deaths = 0
for hold in holds:
    arrows = [a for a in ends[hold["who"]] if hold["has"][0] < a[0] <= hold["has"][1]]
    way = in_the_way(hold)
    last = max(way, key=lambda h: h["free"][0], default=None)
    sure = last and all(h is last or h["free"][1] < last["free"][0] for h in way) and last["free"][0] > hold["has"][0] + 300000
    sure = sure and is_known(hold)
    promised += bool(sure)
    if not arrows:
        if sure:
            print("missing:", hold, "from", last, file=sys.stderr)
        continue
    assert len(arrows) == 1, arrows
    have += bool(sure)
    pid, tid, ts, name = begins[arrows[0][1]]
    if name == "ends with its locks":
        deaths += 1
        # Who ended so has never said that it gave it back.
        good = any(f[0] == pid for f in hold["from"]) or any(
            h["who"][0] == pid and not h["free"] and h["shared"] and h["slots"][0] < hold["slots"][1] and
            hold["slots"][0] < h["slots"][1] for h in holds)
    else:
        named = [h for h in way if not is_silent(h) and h["who"] == (pid, tid) and h["free"][0] <= ts <= h["free"][1]]
        # One that was killed may have given it back, and not come to say so.
        named = named or [h for h in holds if h["who"] == (pid, tid) and not h["free"] and h["has"][1] < ts < hold["has"][1] and
                          h["slots"][0] < hold["slots"][1] and hold["slots"][0] < h["slots"][1]]
        good = bool(named) and not any(named[0]["free"] and h["free"][0] > named[0]["free"][1] for h in way)
        good &= bool(named) and (named[0]["shared"] or hold["shared"] or (pid, tid) in hold["from"])
    if not good:
        wrong += 1
        print("wrong:", hold, "from", begins[arrows[0][1]], file=sys.stderr)
print(promised, have, wrong, deaths)
