# SPDX-License-Identifier: MIT
"""messages_agree.py DUMP LOG HOW: compares the arrows of an archive, as `fxtrace dump' prints it, with what the program
tests/e2e/targets/messages.c printed. Prints how many reads there were, how many have an arrow, and how many arrows are wrong;
the wrong ones on stderr, and with HOW "all" those that are missing as well. And how many polls have an arrow."""

import bisect
import re
import sys

QUEUES = set("mq_send mq_timedsend mq_receive mq_timedreceive msgsnd msgrcv".split())
NAMES = QUEUES | set("read readv recv recvfrom recvmsg recvmmsg write writev send sendto sendmsg sendmmsg poll splice tee sendfile shutdown eventfd_read eventfd_write connect accept".split())
EVENT = re.compile(r'event type=(\S+) pid=(\d+) tid=(\d+) ts=(\d+)(?: end=(\d+))?(?: id=(\d+))? category="([^"]*)"\S* name="([^"]*)"(.*)')


def main():
    dump, log, how = sys.argv[1:]
    calls, begins, ends = {}, {}, []
    for line in open(dump, encoding="utf-8", errors="replace"):
        found = EVENT.search(line)
        if not found:
            continue
        kind, _, tid, ts, end, ident, category, name, rest = found.groups()
        if kind == "complete" and category == "syscall" and name in NAMES:
            # One that did not end, or found nothing, says nothing of what its descriptor is.
            if re.search(r'file":string="(pipe:|fifo:|socket:|anon_inode:.eventfd)', rest) or "unfinished" in rest or name == "poll" or name in QUEUES:
                calls.setdefault(int(tid), []).append((int(ts), int(end), name))
        elif category == "message" and kind == "flow-begin":
            begins[ident] = (int(tid), int(ts))
        elif category == "message" and kind == "flow-end":
            ends.append((ident, int(tid), int(ts)))
    for slices in calls.values():
        slices.sort()

    def number(tid, ts):
        for at, (begin, end, _) in enumerate(calls.get(tid, [])):
            if begin <= ts <= end:
                return at
        sys.exit("the end of an arrow lies in no call: %d at %d" % (tid, ts))

    index = {(tid, begin): at for tid, slices in calls.items() for at, (begin, _, _) in enumerate(slices)}
    poll_calls = {(tid, at) for tid, slices in calls.items() for at, call in enumerate(slices) if call[2] == "poll"}
    index_end = {(tid, max(begin, end - 1)): at for tid, slices in calls.items() for at, (begin, end, _) in enumerate(slices)}
    arrows = {}
    for ident, tid, ts in ends:
        if ident not in begins:
            sys.exit("an arrow has no begin")
        from_tid, from_ts = begins.pop(ident)
        to = (tid, index_end.get((tid, ts), None))
        if to[1] is None:
            to = (tid, number(tid, ts))
        by = (from_tid, index.get((from_tid, from_ts), None))
        if by[1] is None:
            by = (from_tid, number(from_tid, from_ts))
        if to in arrows:
            sys.exit("a read has two arrows")
        arrows[to] = by
    if begins:
        sys.exit("an arrow has no end")

    writes, reads, polls, waits = [], {}, {}, {}
    for line in open(log):
        words = line.split()
        if words[0] in "UW":
            until = None if words[4] == "?" else int(words[4])
            writes.append((int(words[3]), until, (int(words[1]), int(words[2]))))
        elif words[0] == "R" and len(words) == 5:
            reads[(int(words[1]), int(words[2]))] = (int(words[3]), int(words[4]))
        elif words[0] == "M":
            waits[(int(words[1]), int(words[2]))] = (int(words[3]), int(words[4]))
        elif words[0] == "P":
            polls[(int(words[1]), int(words[2]))] = int(words[3])
        elif words[0] == "R":
            reads[(int(words[1]), int(words[2]))] = int(words[3])
    writes.sort(key=lambda w: w[0])

    # By turns: a call that did not return wrote what nobody else did.
    known = [w for w in writes if w[1] is not None]
    known_begins = [w[0] for w in known]
    cut = [w for w in writes if w[1] is None]

    def writer(until):
        at = bisect.bisect_left(known_begins, until) - 1
        if at >= 0 and until <= known[at][1]:
            return known[at][2]
        for begin, _, by in reversed(cut):
            if begin < until:
                return by
        sys.exit("nobody wrote byte %d" % until)

    wrong = missing = 0
    for read, truth in reads.items():
        by = writer(truth) if isinstance(truth, int) else truth
        if read in arrows and arrows[read] != by:
            wrong += 1
            print("wrong: %s has read what %s wrote, not %s" % (read, by, arrows[read]), file=sys.stderr)
        elif read not in arrows:
            missing += 1
            if how == "all":
                print("missing: %s has read what %s wrote" % (read, by), file=sys.stderr)
    # A poll has an arrow only if it waited for those bytes. All at once, it is not known which they were.
    woken = [to for to in arrows if to in polls or (to in poll_calls and not polls)]
    for to in woken:
        if to in polls and writer(polls[to]) != arrows[to]:
            wrong += 1
            print("wrong: %s was woken by %s, not by %s" % (to, writer(polls[to]), arrows[to]), file=sys.stderr)
    for to, truth in waits.items():
        if arrows.get(to) != truth:
            wrong += 1
            print("wrong: %s waited for %s, not %s" % (to, truth, arrows.get(to)), file=sys.stderr)
    extra = [to for to in arrows if to not in reads and to not in woken and to not in waits]
    for to in extra:
        print("wrong: %s has read nothing" % (to,), file=sys.stderr)
    print(len(reads), len(reads) - missing, wrong + len(extra), len(woken))


main()
