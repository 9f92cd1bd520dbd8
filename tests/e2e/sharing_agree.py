# SPDX-License-Identifier: MIT
"""sharing_agree.py DUMP LOG: compares arrows to waits for a barrier or a read-write lock that processes share, as `fxtrace dump' prints
them, with what tests/e2e/targets/sharing.c printed. Prints how many waits there were that somebody ended, how many have an arrow, and how
many arrows are wrong; these on stderr."""

import bisect
import re
import sys

EVENT = re.compile(r'event type=(\S+) pid=(\d+) tid=(\d+) ts=(\d+)(?: end=(\d+))?(?: id=(\d+))? category="pthread"\S* name="([^"]*)"(.*)')
# The program reads its clock on its own, and the archive's times are counted from another.
SLACK = 2000


def outside(turn, ts):
    """How far a time lies from a turn; 0: within."""
    return max(turn[0] - ts, ts - turn[1], 0)


def turn_at(turns, ts):
    near = bisect.bisect_left(turns, (ts,))
    at = min(range(max(near - 1, 0), min(near + 1, len(turns))), key=lambda i: outside(turns[i], ts), default=-1)
    return turns[at] if at >= 0 and outside(turns[at], ts) <= SLACK else None


def last_releases(releases, had):
    """Who may have released the lock last before the stamp."""
    before = [r for r in releases if r[0] < had]
    newest = max((r[0] for r in before), default=0)
    return {tid for _, after, tid in before if after > newest}


def main():
    dump, log = sys.argv[1:]
    waits, begins, ends = 0, {}, []
    for line in open(dump, encoding="utf-8", errors="replace"):
        found = EVENT.search(line)
        if not found:
            continue
        kind, _, tid, ts, _, ident, name, rest = found.groups()
        if kind == "complete" and re.match(r"pthread_rwlock_.*(rd|wr)lock$", name) and "unfinished" not in rest:
            waits += 1
        elif kind == "flow-begin":
            begins[ident] = int(tid)
        elif kind == "flow-end" and name == "gets":
            ends.append((ident, int(tid), int(ts)))
    turns, releases, last, is_killed = {}, [], {}, False
    for line in open(log):
        words = line.split()
        if words[0] in "BRW" and len(words) == 6:
            tid, begin, end, what, more = map(int, words[1:])
            turns.setdefault(tid, []).append((begin, end, words[0], what, more))
            waits += words[0] == "B" and not more
            if words[0] == "B" and more:
                last.setdefault(what, []).append((begin, end, tid))
        elif words[0] == "U" and len(words) == 6:
            releases.append((int(words[2]), int(words[3]), int(words[1])))
        is_killed |= words[0] == "K"
    wrong = 0
    for ident, tid, ts in ends:
        turn = turn_at(turns.get(tid, []), ts)
        if not turn:
            right = None
        elif turn[2] == "B":
            # Whoever filled the round did so while all others of it were in the call.
            right = {by for begin, end, by in last.get(turn[3], []) if end + SLACK > turn[0] and begin < turn[1] + SLACK} or None
        elif turn[2] == "R":
            right = {turn[3]}
        else:
            right = None if is_killed else last_releases(releases, turn[4])
        # Who was killed has not printed all.
        if right is None and is_killed:
            continue
        if not right or begins[ident] not in right:
            wrong += 1
            print("wrong: thread %d got it at %d from %d, not from %s" % (tid, ts, begins[ident], right), file=sys.stderr)
    print(waits, len(ends), wrong)


main()
