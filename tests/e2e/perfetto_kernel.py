# SPDX-License-Identifier: MIT
"""Rows of Perfetto's tables of a run of targets/switches.c: ours in each form, against those of perf's record. With a table's name (FORM.TABLE) one row of
that is left out, of samples a fifth."""
import csv
import sys
import time

# The kernel reads the clock twice at a switch, for perf's record and for ours, and between the two the machine below may take the processor away: so
# some are close, half of them no farther than what perf's own work takes in between, and none is as far off as a wait that it could be taken for.
CLOSE, NEAR, FAR = 2000, 10000, 1000000
# Of samples each of both has a timer of its own, and where the processor is taken away at a tick the one or the other misses that.
SAMPLES, SHARE = 0.10, 0.10


def rows(name):
    with open(name) as file:
        ret = [(int(r[0]), int(r[1]), int(r[2]), r[3], r[4]) for r in list(csv.reader(file))[1:]]
    if name in sys.argv[1:]:
        own = [r for r in ret if r[0] == tids["starves"] and not is_missed(r[1]) and not is_missed(r[1] + r[2])]
        for row in own[10:10 + len(own) // 5] if name.endswith("samples") else own[10:11]:
            ret.remove(row)
    return ret


def is_missed(ns):
    """A time of ours at which perf has missed a switch."""
    return any(begin - FAR / 10 <= ns <= end + FAR / 10 for begin, end in gaps)


def slept():
    """perf's times are of CLOCK_MONOTONIC, ours of CLOCK_BOOTTIME."""
    apart = time.clock_gettime_ns(time.CLOCK_BOOTTIME) - time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    return apart if apart > 10**6 else 0


def state_of(word, cpu, form):
    """Whoever lost the processor is ready, however the kernel words it; an end is one whether anybody waits for it or not. The format itself, which
    the trace processor reads raw, has no wait that no signal ends, and one that is woken is so in another word."""
    word = {"R+": "R", "Z": "X"}.get(word, word)
    if form == "raw":
        word = {"D": "S", "W": "R"}.get(word, word)
    return word, cpu


def pair(mine, theirs, what):
    """Each of ours has one of theirs that is the same, and each of theirs one of ours; the nearest find one another first. How far apart they are."""
    near = sorted((abs(t[0] - m[0]), i, j) for i, m in enumerate(mine) for j, t in enumerate(theirs)
                  if m[1] == t[1] and abs(t[0] - m[0]) <= FAR)
    own, other, apart = set(range(len(mine))), set(range(len(theirs))), []
    for far, i, j in near:
        if i in own and j in other:
            own.remove(i)
            other.remove(j)
            apart.append(far)
    own = {i for i in own if not is_missed(mine[i][0])}
    other = {j for j in other if not is_missed(theirs[j][0])}
    assert not own and not other, (what, "ours alone", [mine[i] for i in sorted(own)[:5]], "perf's alone", [theirs[j] for j in sorted(other)[:5]])
    return apart


def compare(mine, theirs, tid, what, form):
    own = [r for r in mine if r[0] == tid]
    other = [r for r in theirs if r[0] == tid]
    assert own and other, (what, tid, len(own), len(other))
    # The thread's events end with it; on its last way out it may still lose the processor, which those of all threads alone tell.
    last = max(r[1] for r in own if what == "sched" or r[4] == "Running")
    own = [r for r in own if r[1] <= last]
    # Of perf's, what begins later than ours and is not it.
    behind = [r for r in other if r[1] + slept() > last - FAR]
    if behind:
        end = min(behind, key=lambda r: abs(r[1] + slept() - last))[1]
        other = [r for r in other if r[1] <= end]
    if what == "sched":
        assert own[-1][4] == "X", own[-1]
    # Only who runs is on a processor.
    def begins(of, off):
        return [(r[1] + off, ("", r[3]) if what == "sched" else state_of(r[4], r[3] if r[4] == "Running" else "", form)) for r in of]

    def ends(of, off):
        return [(r[1] + r[2] + off, state_of(r[4], r[3] if what == "sched" else "", form)) for r in of[:-1]]

    apart = pair(begins(own, 0), begins(other, slept()), (form, what, "begins", tid))
    # What has no end has it where perf has missed a switch.
    other = [r for r in other[:-1] if r[2] >= 0] + other[-1:]
    return apart + pair(ends(own, 0), ends(other, slept()), (form, what, "ends", tid))


def shares(samples, tid):
    own = [r[4] for r in samples if r[0] == tid]
    return len(own), sum(name.startswith("compute") or name.endswith("/switches") for name in own) / max(len(own), 1)


def main():
    assert len(tids) == 3, tids
    for form in ("raw", "converted"):
        apart = []
        for what in ("sched", "states"):
            mine, theirs = rows(form + "." + what), rows("perf." + what)
            for tid in tids.values():
                apart += compare(mine, theirs, tid, what, form)
        apart.sort()
        assert apart[len(apart) // 20] <= CLOSE and apart[len(apart) // 2] <= NEAR, apart
        print("%s: %d begins and ends, half of them %d ns apart at most, the farthest %d" % (form, len(apart), apart[len(apart) // 2], apart[-1]))
    mine, theirs = rows("converted.samples"), rows("perf.samples")
    for name, tid in tids.items():
        (count, share), (count_perf, share_perf) = shares(mine, tid), shares(theirs, tid)
        assert abs(count - count_perf) <= max(3, SAMPLES * count_perf), (name, count, count_perf)
        assert count < 20 or abs(share - share_perf) <= SHARE, (name, share, share_perf)
        print("samples of %s: %d and perf's %d, computing %.2f and %.2f" % (name, count, count_perf, share, share_perf))


tids = {line.split()[0]: int(line.split()[1]) for line in open("said")}
gaps = [[int(ns) + slept() for ns in line.split()] for line in open("gaps")]
main()
