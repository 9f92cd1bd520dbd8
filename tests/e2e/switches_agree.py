# SPDX-License-Identifier: MIT
"""What targets/switches.c says of a thread, against the slices that the archive has of its time on processors."""
import os


def stolen():
    """ns that the machine below has kept from this one since `stolen' was written: threads' clocks leave that out, switches do not."""
    try:
        before = int(open("stolen").read())
    except FileNotFoundError:
        return 0
    return (int(open("/proc/stat").readline().split()[8]) - before) * 1e9 / os.sysconf("SC_CLK_TCK")


def compare(slices, line):
    """`line': name, tid, how often it gave its processor up and had it taken away, and ns on processors. Its slices, and its name."""
    name, tid, gave_up, taken, cpu = line.split()
    own = [s for s in slices if s["tid"] == int(tid)]
    assert own, "%s is on no processor" % name
    # What comes behind the thread's own count is its end: at most a write() that waits, and the last switch.
    blocked = len([s for s in own if s["end_state"] in "SD"])
    runnable = len([s for s in own if s["end_state"] == "R"])
    assert int(gave_up) <= blocked <= int(gave_up) + 5, (name, gave_up, blocked)
    assert int(taken) <= runnable <= int(taken) + 5, (name, taken, runnable)
    time = sum(s["dur"] for s in own)
    assert -5e6 < time - 0.95 * float(cpu), (name, time, cpu)
    assert time - 1.05 * float(cpu) < 5e6 + stolen(), (name, time, cpu)
    return own, name
