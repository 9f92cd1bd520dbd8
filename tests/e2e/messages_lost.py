# SPDX-License-Identifier: MIT
"""messages_lost.py DUMP: of an archive in which records are missing, and in which one thread wrote and one read, as `fxtrace dump'
prints it: each arrow is of the byte that the totals of both calls say. Prints how many arrows there are."""

import re
import sys

EVENT = re.compile(r'event type=(\S+) pid=\d+ tid=(\d+) ts=(\d+)(?: end=(\d+))?(?: id=(\d+))? category="([^"]*)"\S* name="[^"]*"(.*)')


def main():
    calls, begins, ends = {}, {}, []
    for line in open(sys.argv[1], encoding="utf-8", errors="replace"):
        found = EVENT.search(line)
        if not found:
            continue
        kind, tid, ts, end, ident, category, rest = found.groups()
        total = re.search(r'"total_(?:read|written)":\w+=(\d+)', rest)
        ret = re.search(r'"ret":\w+=(\d+)', rest)
        if kind == "complete" and total and "pipe:[" in rest:
            calls[(tid, int(ts))] = (int(total.group(1)), int(ret.group(1)))
            calls[(tid, -max(int(ts), int(end) - 1))] = (int(total.group(1)), int(ret.group(1)))
        elif category == "message" and kind == "flow-begin":
            begins[ident] = (tid, int(ts))
        elif category == "message" and kind == "flow-end":
            ends.append((ident, tid, -int(ts)))
    drawn = 0
    for ident, tid, ts in ends:
        written, size = calls[begins[ident]]
        read, _ = calls.get((tid, ts), (None, None))
        if read is None:  # a poll
            continue
        drawn += 1
        if not written - size < read <= written:
            sys.exit("an arrow to byte %d comes from %d..%d" % (read, written - size, written))
    print(drawn)


main()
