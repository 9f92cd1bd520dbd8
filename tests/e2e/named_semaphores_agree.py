# SPDX-License-Identifier: MIT
"""named_semaphores_agree.py DUMP LOG: compares arrows to waits for named semaphores, as `fxtrace dump' prints them, with what
tests/e2e/targets/named-semaphores.c printed: who is known to have posted has, no unit goes to two, and none before it was posted. Prints how
many waits there were, how many have an arrow, and how many arrows are wrong; these on stderr."""

import re
import sys

EVENT = re.compile(r'event type=(\S+) pid=(\d+) tid=(\d+) ts=(\d+)(?: end=(\d+))?(?: id=(\d+))? category="pthread"\S* name="([^"]*)"(.*)')
# The program reads its clock on its own, and the archive's times are counted from another.
SLACK = 2000


def main():
    dump, log = sys.argv[1:]
    waits, begins, ends, wrong = 0, {}, [], 0
    for line in open(dump, encoding="utf-8", errors="replace"):
        found = EVENT.search(line)
        if not found:
            continue
        kind, _, tid, ts, _, ident, name, rest = found.groups()
        if kind == "complete" and name == "sem_timedwait" and "unfinished" not in rest and "ret=" not in rest.replace("ret=0", ""):
            waits += 1
        elif kind == "flow-begin":
            begins[ident] = (int(tid), int(ts), name)
        elif kind == "flow-end" and name == "gets":
            ends.append((ident, int(tid), int(ts)))
    got, posted = {}, {}
    for line in open(log):
        words = line.split()
        if len(words) == 5 and words[0] == "G":
            got.setdefault(int(words[1]), []).append((int(words[2]), int(words[3]), int(words[4])))
        elif len(words) == 3 and words[0] == "P":
            posted.setdefault(int(words[1]), []).append(int(words[2]))
    used = set()
    for ident, tid, ts in ends:
        by, at, name = begins[ident]
        waited = [w for w in got.get(tid, []) if w[0] - SLACK <= ts <= w[1] + SLACK]
        # The newest post that began before the arrow does.
        post = max((p for p in posted.get(by, []) if p <= at + SLACK), default=None)
        if name != "sem_post" or post is None or (by, post) in used or at > ts + SLACK:
            what = "no post of its own"
        elif waited and all(w[2] and w[2] != by for w in waited):
            what = "it is %d that posted" % waited[0][2]
        else:
            what = None
        used.add((by, post))
        if what:
            wrong += 1
            print("wrong: %d got it at %d from %d at %d: %s" % (tid, ts, by, at, what), file=sys.stderr)
    print(waits, len(ends), wrong)


main()
