# SPDX-License-Identifier: MIT
"""locking_agree.py DUMP LOG: compares arrows to waits for a lock that processes share, as `fxtrace dump' prints them, with what
tests/e2e/targets/locking.c printed. Prints how many waits there were, how many have an arrow, and how many arrows are wrong; these
on stderr."""

import bisect
import re
import sys

EVENT = re.compile(r'event type=(\S+) pid=(\d+) tid=(\d+) ts=(\d+)(?: end=(\d+))?(?: id=(\d+))? category="pthread"\S* name="([^"]*)"(.*)')
WAITS = set("pthread_mutex_lock pthread_mutex_timedlock sem_wait".split())
# The program reads its clock on its own, and the archive's times are counted from another.
SLACK = 2000


def outside(turn, ts):
    """How far a time lies from a turn; 0: within."""
    return max(turn[0] - ts, ts - turn[1], 0)


def main():
    dump, log = sys.argv[1:]
    waits, begins, ends = {}, {}, []
    for line in open(dump, encoding="utf-8", errors="replace"):
        found = EVENT.search(line)
        if not found:
            continue
        kind, _, tid, ts, end, ident, name, rest = found.groups()
        if kind == "complete" and name in WAITS and "unfinished" not in rest and "ret=" not in rest.replace("ret=0", ""):
            waits.setdefault(int(tid), []).append((int(ts), int(end)))
        elif kind == "flow-begin":
            begins[ident] = (int(tid), int(ts), name)
        elif kind == "flow-end" and name == "gets":
            ends.append((ident, int(tid), int(ts)))
    # Those of conditions are waking_agree.py's.
    ends = [end for end in ends if not begins[end[0]][2].startswith("pthread_cond")]
    had, is_killed = {}, False
    for line in open(log):
        words = line.split()
        if words[0] == "G" and len(words) == 5:
            had.setdefault(int(words[1]), []).append((int(words[2]), int(words[3]), int(words[4])))
        is_killed |= words[0] == "K"
    wrong = 0
    for ident, tid, ts in ends:
        by, _, name = begins[ident]
        if name == "ends as the owner":
            by = -by
        turns = had.get(tid, [])
        # Turns of a thread do not overlap, and each holds the time at which the thread had the lock; but it may have noted much later that it had.
        near = bisect.bisect_left(turns, (ts, 0, 0))
        at = min(range(max(near - 1, 0), min(near + 1, len(turns))), key=lambda i: outside(turns[i], ts), default=-1)
        if at < 0 or outside(turns[at], ts) > SLACK:
            # Who was killed has not printed all.
            if not is_killed:
                wrong += 1
                print("wrong: thread %d has nothing at %d" % (tid, ts), file=sys.stderr)
        elif turns[at][2] != by and (by > 0 or turns[at][2]):
            wrong += 1
            print("wrong: thread %d got it at %d from %d, not from %d" % (tid, ts, turns[at][2], by), file=sys.stderr)
    print(sum(len(w) for w in waits.values()), len(ends), wrong)


main()
