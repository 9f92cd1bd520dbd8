# SPDX-License-Identifier: MIT
"""waking_agree.py DUMP LOG: compares arrows to waits for a condition that processes share, as `fxtrace dump' prints them, with what
tests/e2e/targets/waking.c printed. Prints how many waits were woken while they waited, how many have an arrow, and how many arrows are wrong; these on stderr."""

import bisect
import re
import sys

EVENT = re.compile(r'event type=(\S+) pid=(\d+) tid=(\d+) ts=(\d+)(?: end=(\d+))?(?: id=(\d+))? category="pthread"\S* name="([^"]*)"(.*)')
# The program reads its clock on its own, and the archive's times are counted from another.
SLACK = 2000


def at(spans, ts):
    """The span that a time lies in."""
    near = bisect.bisect_left(spans, (ts,))
    for i in range(max(near - 1, 0), min(near + 1, len(spans))):
        if spans[i][0] - SLACK <= ts <= spans[i][1] + SLACK:
            return spans[i]
    return None


dump, log = sys.argv[1:]
begins, ends = {}, []
for line in open(dump, encoding="utf-8", errors="replace"):
    found = EVENT.search(line)
    if found and found[1] == "flow-begin" and found[7].startswith("pthread_cond"):
        begins[found[6]] = (int(found[3]), int(found[4]), found[7])
    elif found and found[1] == "flow-end" and found[7] == "gets":
        ends.append((found[6], int(found[3]), int(found[4])))
signals, waits, number, is_killed = {}, {}, {}, False
for line in open(log):
    words = line.split()
    if words[0] == "S" and len(words) == 7:
        tid, begin, end, n, to_all, waiting = map(int, words[1:])
        signals.setdefault(tid, []).append((begin, end, n, to_all, waiting))
        number[n] = (begin, end, n, to_all, waiting)
    elif words[0] == "W" and len(words) == 7:
        tid, begin, end, first, last, _ = map(int, words[1:])
        waits.setdefault(tid, []).append((begin, end, first, last))
    is_killed |= words[0] == "K"

wrong, found, used = 0, 0, {}
for ident, tid, ts in ends:
    if ident not in begins:
        continue
    by, when, name = begins[ident]
    found += 1
    wait, signal = at(waits.get(tid, []), ts), at(signals.get(by, []), when)
    if is_killed and not (wait and signal):
        continue
    why = ""
    if not wait or not signal:
        why = "nothing is known of it: %s %s" % (wait, signal)
    elif ("broadcast" in name) != bool(signal[3]):
        why = "it is of the other kind"
    elif not signal[3] and used.setdefault(signal[2], (tid, ts)) != (tid, ts):
        why = "signal %d has woken another" % signal[2]
    elif signal[2] > wait[3] or signal[0] > wait[1] + SLACK or signal[1] + SLACK < wait[0]:
        why = "signal %d was not meanwhile" % signal[2]
    else:
        # What must have woken this one, if it was there still.
        sure = [n for n in range(wait[2] + 1, wait[3] + 1) if n in number and (number[n][3] or number[n][4] == 1)]
        # (One that is made while nobody has the mutex may be done much later than it is numbered.)
        if sure and signal[2] > sure[0] and signal[0] > number[sure[0]][1]:
            why = "it was woken by %d at the latest, not by %d" % (sure[0], signal[2])
        elif signal[2] <= wait[2] and signal[1] + SLACK < wait[0]:
            why = "signal %d was over" % signal[2]
    if why:
        wrong += 1
        print("wrong: wait %s of %d, by %d: %s" % (wait, tid, by, why), file=sys.stderr)
# (glibc lets one go now and then though nobody has woken it.)
print(sum(1 for w in waits.values() for wait in w if wait[3] > wait[2]), found, wrong)
