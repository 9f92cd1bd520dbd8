# SPDX-License-Identifier: MIT
"""kernel_calls_agree.py CALLS THREADS: the system calls in calls.json are those that strace has in `straced' and, if there is `perf', perf
trace there: of each thread the same ones, one after another, with the same results. At least so many, of so many threads."""
import collections, json, os, re, sys

ours = {}
for call in json.load(open("calls.json")):
    if call["category"] == "syscall":
        result = call["errno"] or (call["ret"] if call["ret"] is not None else call["pointer"])
        ours.setdefault(call["tid"], []).append([call["name"], result])


def result_of(text):
    """What stands behind a call: its result, or the name of its error; None: it does not return."""
    m = re.search(r" = (0x[0-9a-f]+|-?\d+|\?)(?: (E[A-Z0-9]+))?[^=]*$", text)
    if not m:
        return text  # of a call that is none of the program's
    if m.group(2):
        return m.group(2)
    return None if m.group(1) == "?" else int(m.group(1), 0)


theirs, unfinished = {}, {}
for line in open("straced"):
    tid, text = line.split(None, 1)
    tid = int(tid)
    if tid not in ours or text.startswith(("+++", "---")):
        continue
    m = re.match(r"<\.\.\. ([\w?]+) resumed>", text)
    if m:
        call = unfinished.pop(tid)
        assert call[0] == m.group(1), (call, line)
        call[1] = result_of(text)
        continue
    call = [re.match(r"[\w?]+", text).group(), None]
    theirs.setdefault(tid, []).append(call)
    if "<unfinished ...>" in text:
        unfinished[tid] = call
    else:
        call[1] = result_of(text)

# Before it was the program, its process was one of the tracer's.
first = min(ours)
begin = [i for i, c in enumerate(theirs[first]) if c == ["execve", 0]][-1]
before = collections.Counter(name for name, _ in theirs[first][:begin])
theirs[first] = theirs[first][begin:]


count = 0
for tid in ours:
    mine, other = ours[tid], theirs[tid]
    # Of a thread that is ended by another one strace does not see how its last call ends, and it may be ended before the call begins.
    if other[-1][1] is None and len(mine) < len(other):
        other = other[:-1]
    elif other[-1][1] is None and mine[-1][0] == other[-1][0]:
        mine, other = mine[:-1], other[:-1]
    for i, (a, b) in enumerate(zip(mine, other)):
        assert a == b, (tid, i, mine[max(i - 2, 0) : i + 3], other[max(i - 2, 0) : i + 3])
    assert len(mine) == len(other), (tid, len(mine), len(other), mine[-3:], other[-3:])
    count += len(mine)
assert count >= int(sys.argv[1]), count
assert len(ours) >= int(sys.argv[2]), sorted(ours)

if os.path.exists("perf"):
    shown = collections.defaultdict(collections.Counter)
    for line in open("perf"):
        if line.startswith("LOST "):
            print("perf trace has lost some itself")
            sys.exit(0)
        # "TIME ( TOOK ): COMMAND/TID NAME(...) = RESULT", or what was shown without its end "COMMAND/TID ... [continued]: NAME()) = RESULT".
        m = re.search(r"\): .*?/(\d+) +(?:\.\.\. \[continued\]: )?(\w+)\(.*\) += (\S+)", line)
        if m:
            shown[int(m.group(1))][m.group(2)] += 1
    # It writes them as it reads its rings: a thread that changes its processor has them in another order there, which strace has told already; here each
    # is counted. The calls that do not return it shows as others do not.
    others = ("execve", "exit_group", "exit")
    for tid in ours:
        mine = collections.Counter(name for name, _ in ours[tid] if name not in others)
        other = collections.Counter({name: count for name, count in shown[tid].items() if name not in others})
        # A thread that begins comes out of the call of the one that has made it; the first was one of the tracer's.
        more = before if tid == first else collections.Counter(["fork", "vfork", "clone", "clone3"])
        assert not mine - other, (tid, "not shown by perf trace", mine - other)
        assert not other - mine - more, (tid, "shown by perf trace alone", other - mine - more)
