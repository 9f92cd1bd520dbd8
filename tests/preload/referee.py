# SPDX-License-Identifier: MIT
"""referee.py LOG DUMP: holds the arrows of a trace (fxtrace dump --json) against what referee says."""
import bisect
import collections
import json
import sys

RELEASES = {
    "pthread_mutex_lock": {"pthread_mutex_unlock"},
    "mtx_lock": {"pthread_mutex_unlock"},
    "pthread_spin_lock": {"pthread_spin_unlock"},
    "pthread_rwlock_rdlock": {"pthread_rwlock_unlock"},
    "pthread_rwlock_wrlock": {"pthread_rwlock_unlock"},
    "sem_wait": {"sem_post"},
    "pthread_cond_wait": {"pthread_cond_signal"},
    "pthread_barrier_wait": {"pthread_barrier_wait"},
    "pthread_join": {"joined"},
}

# One alone has it at a time.
ALONE = {"pthread_mutex_lock", "mtx_lock", "pthread_spin_lock", "pthread_rwlock_wrlock"}

# ns; the program reads CLOCK_BOOTTIME and the trace a counter, which it converts by what it saw of the two so
# far. The two agree better as a session gets older. No arrow is tolerated that is wrong by more than that.
SLACK = 1000


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


def gave_between(gave, thing, tid, since, until):
    """A release of `thing` by `tid` that was under way some time between the two."""
    row = gave[thing, tid]
    at = bisect.bisect_left(row, (since, 0))
    return any(row[i][1] >= since and row[i][0] <= until for i in (at - 1, at) if 0 <= i < len(row))


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


def fits(wait, row, arrow, gave, every):
    """What is wrong with the wait if it is this row of the log; None if nothing is."""
    tid, name = wait["tid"], wait["name"]
    args = {a["name"]: a["value"] for a in wait["args"]}
    thing = int(next(v for v in args.values() if isinstance(v, str)), 16)
    start, end, logged_name, logged_thing, who = row
    if logged_name != name or start > wait["ts"] + SLACK or wait["end"] > end + SLACK:
        return "no such wait"
    if logged_thing != thing:
        return f"of {thing:x} and not {logged_thing:x}"
    if who == tid:
        return arrow and f"arrow from {arrow['tid']} to the one who came last"
    if arrow is None:
        return f"no arrow (from {who})"
    if arrow["name"] not in RELEASES[name]:
        return f"released by {arrow['name']}"
    if who > 0 and arrow["tid"] != who:
        return f"released by {who}, arrow from {arrow['tid']}"
    if not gave_between(gave, thing, arrow["tid"], start - SLACK, wait["end"] + SLACK):
        return f"{arrow['tid']} released nothing then"
    later = name in ALONE and gave_later(every, gave, thing, arrow["tid"], wait)
    return f"{later} released it later than {arrow['tid']}" if later else None


def judge(wait, rows, arrow, gave, every):
    """The rows nearest to the wait: the times of the two differ by a little, so one of them has to fit."""
    at = bisect.bisect_right(rows, (wait["ts"], 1 << 63)) - 1
    wrong = "no such wait"
    for i in (at, at - 1, at + 1):
        if 0 <= i < len(rows):
            verdict = fits(wait, rows[i], arrow, gave, every)
            if verdict is None:
                return None
            if verdict != "no such wait":
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
    counts = collections.Counter()
    bad = []
    for wait in waits:
        tid, name = wait["tid"], wait["name"]
        counts[name] += 1
        arrow = next((arrows[tid, t] for t in (wait["end"] - 1, wait["end"] - 2, wait["end"])
                      if (tid, t) in arrows), None)
        wrong = judge(wait, got[tid], arrow, gave, every)
        if wrong:
            bad.append(f"{name} of {tid} at {wait['ts']}, {wait['end'] - wait['ts']} ns: {wrong}")
    for line in bad[:20]:
        print(line)
    print(len(waits), "waits,", len(bad), "wrong:", ", ".join(f"{k} {v}" for k, v in sorted(counts.items())))
    sys.exit(bool(bad) or not waits)


main()
