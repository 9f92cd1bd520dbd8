#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Computes from `fxtrace dump --json` what became of each function, and compares it with `fxtrace diff --all --json`.

    diff_agree.py DIFF BEFORE... -- AFTER...
"""

import json
import math
import statistics
import sys

from report_functions import slices, totals

# Student's t for 99 %, two-sided, by degrees of freedom
T = {1: 63.657, 2: 9.925, 3: 5.841, 4: 4.604, 5: 4.032, 6: 3.707, 7: 3.499, 8: 3.355}
THRESHOLD = 0.05


def noise(before, after):
    """Half of the interval in which chance may move the difference of the means; None: it cannot be told."""
    if len(before) < 2 or len(after) < 2:
        return None
    left = statistics.variance(before) / len(before)
    right = statistics.variance(after) / len(after)
    if left + right == 0:
        return 0
    freedom = (left + right) ** 2 / (left**2 / (len(before) - 1) + right**2 / (len(after) - 1))
    return T[math.floor(freedom + 1e-9)] * math.sqrt(left + right)


def verdict(before, after, is_time):
    change = statistics.mean(after) - statistics.mean(before)
    chance = noise(before, after)
    if change == 0:
        return "same"
    if chance is not None and abs(change) <= chance:
        return "noise"
    if is_time and abs(change) < THRESHOLD * max(statistics.mean(after), statistics.mean(before)):
        return "same"
    if is_time:
        return "slower" if change > 0 else "faster"
    return "more" if change > 0 else "less"


def expected(before, after, name):
    """What the row of a function is to say."""
    own = [[run.get(name, [0, 0])[1] for run in side] for side in (before, after)]
    calls = [[run.get(name, [0, 0])[0] for run in side] for side in (before, after)]
    if not any(calls[0]) and all(calls[1]):
        word = "new"
    elif not any(calls[1]) and all(calls[0]):
        word = "gone"
    else:
        word = verdict(*own, True)
        of_calls = verdict(*calls, False)
        if word in ("same", "noise") and of_calls in ("more", "less"):
            word = of_calls
    row = {
        "self_ns_before": statistics.mean(own[0]),
        "self_ns_after": statistics.mean(own[1]),
        "self_ns_change": statistics.mean(own[1]) - statistics.mean(own[0]),
        "calls_before": statistics.mean(calls[0]),
        "calls_after": statistics.mean(calls[1]),
        "verdict": word,
    }
    for side, values in (("before", own[0]), ("after", own[1])):
        if len(values) > 1:
            row[f"self_ns_{side}_deviation"] = statistics.stdev(values)
    return row


def agree(got, want):
    if isinstance(want, str):
        return got == want
    return got is not None and abs(got - want) <= 0.5 + 1e-9 * abs(want)


def main():
    split = sys.argv.index("--")
    before = [totals(slices(path)) for path in sys.argv[2:split]]
    after = [totals(slices(path)) for path in sys.argv[split + 1 :]]
    rows = json.load(open(sys.argv[1], encoding="utf-8"))["functions"]["rows"]
    got = {row["name"]: row for row in rows}
    names = {name for run in before + after for name in run}
    wrong = names ^ got.keys()
    for name in names & got.keys():
        for key, want in expected(before, after, name).items():
            if not agree(got[name].get(key), want):
                print(f"{name}: {key} is {got[name].get(key)} instead of {want}")
                wrong.add(name)
    changes = [abs(row["self_ns_change"]) for row in rows]
    if changes != sorted(changes, reverse=True):
        print("not in order of change:", changes)
        wrong.add("order")
    print(f"{len(names)} functions compared; wrong: {sorted(wrong)}")
    return 1 if wrong or not names else 0


if __name__ == "__main__":
    sys.exit(main())
