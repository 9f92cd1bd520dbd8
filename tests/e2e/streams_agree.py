# SPDX-License-Identifier: MIT
"""streams_agree.py DUMP LOG: compares the arrows of an archive, as `fxtrace dump' prints it, with what the program
tests/e2e/targets/streams.c printed. Prints how often something was read, how many of these have an arrow, and how many
arrows are wrong; the wrong and the missing ones on stderr."""

import re
import sys

EVENT = re.compile(r'event type=flow-(begin|end) pid=\d+ tid=(\d+) ts=(\d+) id=(\d+) category="message"')


def main():
    dump, log = sys.argv[1:]
    begins, arrows = {}, []
    for line in open(dump, encoding="utf-8", errors="replace"):
        found = EVENT.search(line)
        if not found:
            continue
        kind, tid, ts, ident = found[1], int(found[2]), int(found[3]), found[4]
        if kind == "begin":
            begins[ident] = (tid, ts)
        else:
            arrows.append((begins.pop(ident), (tid, ts)))
    writes, reads, child = [], [], None
    for line in open(log):
        what, *numbers = line.split()
        if what == "C":
            child = int(numbers[0])
        elif what in "WR":
            (writes if what == "W" else reads).append(tuple(map(int, numbers)))

    def within(calls, tid, ts):
        return [c for c in calls if c[0] == tid and c[1] <= ts <= c[2]]

    found, wrong = set(), 0
    for by, to in arrows:
        read = within(reads, *to)
        write = within(writes, *by)
        good = len(read) == 1
        if good and by[0] == child:
            good = read[0] == reads[-1]
        elif good:
            # Of several turns that may be meant by a writer that ends, its last.
            good = bool(write) and (write[-1][3], write[-1][4]) == read[0][3:]
        if not good:
            wrong += 1
            print("wrong: from %s %s to %s %s" % (by, write, to, read), file=sys.stderr)
        elif read:
            found.add(read[0])
    for read in reads:
        if read not in found:
            print("missing: %s" % (read,), file=sys.stderr)
    print(len(reads), len(found), wrong)


main()
