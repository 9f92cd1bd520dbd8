# SPDX-License-Identifier: MIT
"""referee.py LOG DUMP [exact]: holds the arrows of a trace (fxtrace dump --json) against what referee says; exact: both
read the same clock."""
import bisect
import collections
import json
import sys

# What each wait is ended by.
RELEASES = {}
for names, releases in (
    ("pthread_mutex_lock pthread_mutex_timedlock pthread_mutex_clocklock", "pthread_mutex_unlock owner"),
    ("mtx_lock mtx_timedlock", "pthread_mutex_unlock"),
    ("pthread_spin_lock", "pthread_spin_unlock"),
    ("pthread_rwlock_rdlock pthread_rwlock_timedrdlock pthread_rwlock_clockrdlock", "pthread_rwlock_unlock"),
    ("pthread_rwlock_wrlock pthread_rwlock_timedwrlock pthread_rwlock_clockwrlock", "pthread_rwlock_unlock"),
    ("sem_wait sem_timedwait sem_clockwait", "sem_post"),
    ("pthread_cond_wait pthread_cond_timedwait pthread_cond_clockwait",
     "pthread_cond_signal pthread_cond_broadcast"),
    ("cnd_wait cnd_timedwait", "cnd_signal cnd_broadcast"),
    ("pthread_barrier_wait", "pthread_barrier_wait"),
    ("pthread_once call_once", "pthread_once"),
    ("pthread_join pthread_timedjoin_np pthread_clockjoin_np pthread_tryjoin_np thrd_join", "joined"),
):
    for name in names.split():
        RELEASES[name] = {"ends as the owner" if r == "owner" else r for r in releases.split()}

# One alone has it at a time.
ALONE = {n for n in RELEASES if n.startswith(("pthread_mutex", "mtx", "pthread_spin")) or n.endswith("wrlock")}

# These always wait, as far as the trace is concerned: each has a slice.
ALWAYS = {n for n in RELEASES if "cond" in n or "cnd" in n or "join" in n or "barrier" in n}

ANYBODY, FAILED = -1, -2

# Of those at a barrier the C library says which came last; the trace counts them a moment before, so that of two who
# come at once it may name the other. That has to be rare: this share of the waits at barriers.
SWAPPED_MAX = 0.05

# Of releases that go on at the same time, several signals say, one takes the place of another: who was let go by one that
# was stopped in its middle, while others came and were over, has no arrow. That has to be as rare as such a stop.
MISSING = "no arrow"
MISSING_MAX = 0.001

# ns; the program reads CLOCK_BOOTTIME. If the trace does too, the two differ by a step. Else it has a counter, which it
# converts by what it saw of the two so far; they agree better as a session gets older, and once in some hundred thousand
# waits differ by more: then a wait stands beside its call, and there may be another lock's. No arrow is tolerated that is
# wrong.
EXACT = sys.argv[3:] == ["exact"]
SLACK = 50 if EXACT else 1000
OTHER = "of "
OTHER_MAX = 0 if EXACT else 0.0001

SWAPPED = "arrow from another at the barrier"


def read_log(path):
    """What threads got, by thread, in order of time; when who gave what, by (object, thread)."""
    got = collections.defaultdict(list)
    gave = collections.defaultdict(list)
    for line in open(path):
        word = line.split()
        if word[0] == "got":
            name, tid = word[1], int(word[3])
            got[tid].append((int(word[4]), int(word[5]), name, int(word[2], 16), int(word[6])))
        else:
            gave[int(word[1], 16), int(word[2])].append((int(word[3]), int(word[4])))
    for row in list(got.values()) + list(gave.values()):
        row.sort()
    return got, gave


def read_dump(path):
    waits, begins, ends = [], {}, {}
    for line in open(path):
        record = json.loads(line)
        kind = record.get("type")
        if kind == "flow-begin":
            assert record["id"] not in begins, "a flow begins twice"
            begins[record["id"]] = record
        elif kind == "flow-end":
            assert record["id"] not in ends, "a flow ends twice"
            ends[record["id"]] = record
        elif kind == "complete" and record["name"] in RELEASES:
            waits.append(record)
    assert set(begins) == set(ends), "flows with one end"
    return waits, begins, ends


def thing_of(wait):
    return int(next(a["value"] for a in wait["args"] if isinstance(a["value"], str)), 16)


def gave_between(gave, thing, tid, since, until):
    """A release of `thing` by `tid` that was under way some time between the two."""
    row = gave[thing, tid]
    at = bisect.bisect_left(row, (since, 0))
    return any(row[i][1] >= since and row[i][0] <= until for i in (at - 1, at) if 0 <= i < len(row))


def all_used(every, drawn, thing, since, until):
    """Each signal that was under way between the two has let another go, or there was none."""
    return all(any(before - SLACK <= ts <= after + SLACK for ts in drawn[tid])
               for before, after, tid in every[thing] if before <= until and after >= since)


def gave_later(every, gave, thing, source, wait):
    """Somebody else who had it after the last release of `source`, and released it before the wait was over."""
    last = [r for r in gave[thing, source] if r[0] <= wait["end"] + SLACK]
    row = every[thing]
    at = bisect.bisect_right(row, (last[-1][1] + SLACK,))
    while at < len(row) and row[at][0] < wait["end"]:
        _, after, tid = row[at]
        if after < wait["end"] - SLACK and tid not in (source, wait["tid"]):
            return tid
        at += 1
    return None


def at_the_barrier(got, thing, tid, moment):
    """Whether `tid` was in a call of this barrier's at that moment."""
    rows = got[tid]
    at = bisect.bisect_right(rows, (moment + SLACK, 1 << 63)) - 1
    return any(rows[i][1] >= moment - SLACK and rows[i][2:4] == ("pthread_barrier_wait", thing)
               for i in (at, at - 1) if i >= 0)


def fits(wait, row, arrow, gave, every, drawn):
    """What is wrong with the wait if it is this row of the log; None if nothing is."""
    tid, name = wait["tid"], wait["name"]
    thing = thing_of(wait)
    start, end, logged_name, logged_thing, who = row
    if logged_name != name or start > wait["ts"] + SLACK or wait["end"] > end + SLACK:
        return "no such wait"
    if logged_thing != thing:
        return f"{OTHER}{thing:x} and not {logged_thing:x}"
    if who == FAILED:
        return arrow and f"arrow from {arrow['tid']} to what was not had"
    if who == tid:
        return arrow and f"arrow from {arrow['tid']} to the one who came last"
    if arrow is None and who == ANYBODY and name.startswith("sem_") and \
            gave_between(gave, thing, tid, start - SLACK, wait["end"] + SLACK):
        return None  # its own handler has posted
    if arrow is None and ("cond" in name or "cnd" in name) and \
            all_used(every, drawn, thing, start - SLACK, wait["end"] + SLACK):
        return None  # a waiter whose time was up has passed on what he had got; or two signals overlap
    if arrow is None:
        return f"{MISSING} (from {who})"
    if arrow["name"] not in RELEASES[name]:
        return f"released by {arrow['name']}"
    if "barrier" in name and arrow["tid"] != who:
        return SWAPPED
    if who > 0 and arrow["tid"] != who:
        return f"released by {who}, arrow from {arrow['tid']}"
    if not gave_between(gave, thing, arrow["tid"], start - SLACK, wait["end"] + SLACK):
        return f"{arrow['tid']} released nothing then"
    later = name in ALONE and gave_later(every, gave, thing, arrow["tid"], wait)
    return f"{later} released it later than {arrow['tid']}" if later else None


def judge(wait, rows, arrow, gave, every, drawn):
    """The rows nearest to the wait: the times of the two differ by a little, in which there may be several calls, so one of
    them has to fit."""
    at = bisect.bisect_right(rows, (wait["ts"], 1 << 63)) - 1
    wrong = "no such wait"
    for i in (at, at - 1, at + 1, at - 2, at + 2, at - 3, at + 3):
        if 0 <= i < len(rows):
            verdict = fits(wait, rows[i], arrow, gave, every, drawn)
            if verdict is None:
                return None
            if verdict != "no such wait" and not (verdict.startswith(OTHER) and wrong != "no such wait"):
                wrong = verdict
    return wrong


def main():
    got, gave = read_log(sys.argv[1])
    waits, begins, ends = read_dump(sys.argv[2])
    arrows = {(end["tid"], end["ts"]): begins[number] for number, end in ends.items()}
    every = collections.defaultdict(list)
    for (thing, tid), rows in gave.items():
        every[thing] += [(before, after, tid) for before, after in rows]
    for rows in every.values():
        rows.sort()
    drawn = collections.defaultdict(list)
    for begin in begins.values():
        if begin["name"].endswith("_signal"):
            drawn[begin["tid"]].append(begin["ts"])
    counts = collections.Counter()
    bad = []
    swapped = 0
    missing = []
    other = []
    for wait in waits:
        tid, name = wait["tid"], wait["name"]
        counts[name] += 1
        arrow = next((arrows[tid, t] for t in (wait["end"] - 1, wait["end"] - 2, wait["end"])
                      if (tid, t) in arrows), None)
        wrong = judge(wait, got[tid], arrow, gave, every, drawn)
        if wrong == SWAPPED and at_the_barrier(got, thing_of(wait), arrow["tid"], arrow["ts"]):
            swapped += 1
        elif wrong:
            (missing if wrong.startswith(MISSING) else other if wrong.startswith(OTHER) else bad).append(
                f"{name} of {tid} at {wait['ts']}, {wait['end'] - wait['ts']} ns: {wrong}")
    if len(missing) > MISSING_MAX * len(waits):
        bad += missing
    if len(other) > OTHER_MAX * len(waits):
        bad += other
    for name in ALWAYS:
        logged = sum(row[2] == name for rows in got.values() for row in rows)
        if logged != counts[name]:
            bad.append(f"{counts[name]} slices of {logged} calls of {name}")
    if swapped > SWAPPED_MAX * counts["pthread_barrier_wait"]:
        bad.append(f"{swapped} of {counts['pthread_barrier_wait']} waits at barriers: {SWAPPED}")
    for line in bad[:20]:
        print(line)
    print(len(waits), "waits,", len(bad), "wrong,", len(missing), "without an arrow,", swapped, "by another at a barrier:", ", ".join(f"{k} {v}" for k, v in sorted(counts.items())))
    sys.exit(bool(bad) or not waits)


main()
