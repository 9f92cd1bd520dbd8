#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""why_agree.py JSON LOG [nohooks]: whether `fxtrace why --json --min-share 0' agrees with what the program of
targets/chains.c measured itself: within 3 hundredths of its whole time. Own times must be the whole, exactly."""
import json
import sys

KINDS = {"time": "time to pass", "file": "a file", "processor": "a processor", "cpu": "computing"}


def had(rows, thread, kind, call):
    return sum(row["self_ns"] for row in rows
               if row["thread"] == thread and row["kind"] == kind and (call is None or row["call"] == call))


def main():
    rows = json.load(open(sys.argv[1]))["why"]["rows"]
    logged = [line.split() for line in open(sys.argv[2])]
    total = next(int(ns) for thread, _, ns in logged if thread == "TOTAL")
    whole = rows[0]["total_ns"]
    computing = 0

    assert sum(row["self_ns"] for row in rows) == whole, "own times are not the whole"
    assert abs(rows[0]["range_share"] - 1) < 1e-9
    for row in rows:
        assert row["total_ns"] >= row["self_ns"] >= 0, row
    for thread, kind, ns in logged:
        if thread == "TOTAL":
            continue
        if kind in KINDS:
            got = had(rows, thread, KINDS[kind], None)
        elif sys.argv[3:] == ["nohooks"]:
            computing += int(ns)
            got, ns = had(rows, thread, "computing", ""), computing
            if kind != "small":
                continue
        else:
            got = had(rows, thread, "computing", kind)
        if abs(got - int(ns)) > 0.03 * total:
            sys.exit(f"{thread} {kind}: {got / total:.1%} of the time instead of {int(ns) / total:.1%}")


main()
