#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""strace_agree.py STRACE DUMP WRAPPERS LIBC: one run as strace -f -k saw it, and as the archive has it.

Each system call is one of:
  agreed     it came through a wrapper, whose event of that thread has the name, result and arguments
  linker     the dynamic linker made it, before or beside the program
  ours       libfxtrace.so made it by itself: registration, a look at a program to be started
  inside     a function of libc that is not wrapped made it, by its name: skip.tbl says why
  direct     no function of libc made it
and for those through a wrapper that has no event
  LOST, or NAME, RESULT, ARGUMENT when the event says something else: these make the status 1.
"""
import collections
import json
import re
import subprocess
import sys

CALL = re.compile(r"(\d+) +(\w+)\((.*)\) += (-?\w+|\?)(?: ([A-Z][A-Z0-9]*) .*)?")
FRAME = re.compile(r" > (.*?)\((.*)\) \[0x[0-9a-f]+\]$")
# What is shown in other words on purpose: our own decoding says more, or the kernel's call differs.
OTHER_WORDS = {"ret", "errno", "stack", "argv", "cmd", "op", "fds", "timeout", "value", "status", "on", "unfinished", "cpus", "stat", "file", "in_file", "out_file",
               "total_read", "total_written"}
# Whose result libc makes another of.
OTHER_RESULT = {"sched_getaffinity", "getpriority", "brk", "getcwd", "getpid", "ptrace", "times"}


class Call:
    def __init__(self, tid, name, text, result, errno):
        self.tid, self.name, self.text, self.result, self.errno = tid, name, text, result, errno
        self.frames = []


def read_strace(path):
    """The finished calls, with their frames."""
    calls, pending, last = [], {}, None
    for line in open(path, errors="replace"):
        line = line.rstrip("\n")
        frame = FRAME.match(line)
        if frame:
            if last:
                last.frames.append(frame.groups())
            continue
        cut = re.match(r"(\d+) +(.*) <unfinished \.\.\.>$", line)
        if cut:
            pending[cut[1]] = cut[2]
            last = None
            continue
        rest = re.match(r"(\d+) +<\.\.\. \w+ resumed>(.*)", line)
        if rest:
            line = f"{rest[1]} {pending.pop(rest[1], '')}{rest[2]}"
        call = CALL.match(line)
        last = Call(int(call[1]), call[2], call[3], call[4], call[5]) if call else None
        if last:
            calls.append(last)
    return calls


def read_events(path):
    """By thread, in order of time: calls of the tracer's categories."""
    events = collections.defaultdict(list)
    for line in open(path):
        r = json.loads(line)
        if r["kind"] == "event" and r["type"] in ("complete", "begin") and r["category"] != "function":
            r.setdefault("end", r["ts"])
            r["values"] = {a["name"]: a["value"] for a in r.get("args", []) if "value" in a}
            events[r["tid"]].append(r)
    for thread in events.values():
        thread.sort(key=lambda r: (r["ts"], -r["end"]))
    return events


def aliases_of(libc):
    """From a name of libc to all that stand at its address."""
    by_address, of = collections.defaultdict(set), {}
    for line in subprocess.run(["nm", "-D", "--defined-only", libc], capture_output=True, text=True,
                               check=True).stdout.splitlines():
        fields = line.split()
        if len(fields) == 3 and fields[1] in "TWi":
            by_address[fields[0]].add(fields[2].split("@")[0])
    for names in by_address.values():
        for name in names:
            of[name] = names | of.get(name, set())
    return of


def is_libc(file):
    return re.search(r"/libc(\.so|-2)", file) is not None


def is_linker(file):
    return re.search(r"/ld-linux|/ld-2", file) is not None


def entry_of(call):
    """(who called, the names by which the function of libc may be known)."""
    entries = []
    for file, symbol in call.frames:
        name = symbol.split("+")[0]
        if is_libc(file):
            entries = [name]
        elif is_linker(file):
            return "linker", entries
        elif "libfxtrace.so" in file:
            # A function of libc that ends in a jump to another leaves no frame; the wrapper does.
            return "ours", entries and entries + [re.sub("^(traced|fx_wrap|fx_call|wrapped)_", "", name)]
        else:
            return "program", entries
    return "program", entries


class Agreement:
    def __init__(self, events, shown, aliases, vforked):
        self.events, self.shown, self.aliases = events, shown, aliases
        self.at = collections.Counter()
        self.vforked = vforked
        self.counts = collections.Counter()
        self.faults = []

    def wrapped_names(self, entries):
        aliases = set().union(*(self.aliases.get(entry, {entry}) for entry in entries))
        return {self.shown[a] for a in aliases if a in self.shown}

    def fault(self, kind, call, what):
        self.counts[kind] += 1
        self.faults.append(f"{kind} {call.tid} {call.name}({call.text[:150]}) = {call.result}: {what}")

    def find(self, call, names):
        """The thread's next event that says the same; else what is wrong with the first that could."""
        thread, wrong = self.events[call.tid], None
        for i in range(self.at[call.tid], len(thread)):
            if thread[i]["name"] in names:
                fault = self.compare(call, thread[i])
                if not fault:
                    return i, None
                wrong = wrong or fault
        return None, wrong

    def compare(self, call, event):
        values = event["values"]
        if call.result not in ("?", "-1") and "ret" in values and call.name not in OTHER_RESULT:
            ret = values["ret"]
            ret = int(ret, 0) if isinstance(ret, str) else ret
            if ret != int(call.result, 0):
                return "RESULT", f"ret={values['ret']}"
        if call.errno and not call.errno.startswith("ERESTART") and values.get("errno", call.errno) != call.errno:
            return "RESULT", f"errno={values.get('errno')}"
        for name, value in values.items():
            if name in OTHER_WORDS:
                continue
            if not said(str(value), call.text):
                return "ARGUMENT", f"{name}={value}"
        return None

    def take(self, call):
        who, entries = entry_of(call)
        names = self.wrapped_names(entries)
        if call.tid in self.vforked:
            self.counts["agreed by the parent's vfork"] += 1  # its child writes nothing
        elif call.name == "rt_sigreturn" or not entries:
            self.counts[f"direct {call.name}" if who == "program" else who] += 1
        elif who != "ours" or not names:
            self.counts[f"inside {entries[0]}"] += 1
        elif any(is_principal(call.name, name) for e in entries for name in self.aliases.get(e, {e})):
            self.take_wrapped(call, entries, names)
        else:
            self.counts[f"agreed inside {entries[0]}"] += 1
        if call.name == "execve" and call.result == "0":
            self.vforked.discard(call.tid)

    def take_wrapped(self, call, entries, names):
        i, wrong = self.find(call, names)
        if i is not None:
            self.at[call.tid] = i + 1
            self.counts["agreed"] += 1
        elif wrong:
            self.fault(wrong[0], call, wrong[1])
        else:
            self.fault("LOST", call, "through " + " or ".join(entries))


def vforked_in(calls):
    """Children that run in their parents' memory until they call exec; the parents' calls end later."""
    return {int(c.result) for c in calls if c.result.isdigit() and (c.name == "vfork" or "CLONE_VFORK" in c.text)}


def is_principal(call, function):
    """Whether this is the one system call that the function is there for."""
    function = function.lstrip("_").replace("libc_", "").removesuffix("64").removesuffix("_2").removesuffix("_chk")
    call = call.removeprefix("new").removesuffix("64")
    return function in (call, call.removesuffix("at"), call.removesuffix("4")) or call in (function + "2", function + "4")


def said(value, text):
    """Whether strace's line has the value, in its own notation."""
    if value in ("None", "") or value in text:
        return True
    if re.fullmatch(r"-?\d+", value):
        number = int(value)
        return any(n in text for n in (hex(number & 0xFFFFFFFFFFFFFFFF), hex(number & 0xFFFFFFFF), oct(number)[2:]))\
            or number == 0
    if re.fullmatch(r"0x[0-9a-f]+", value):
        return "{" in text or '"' in text or "[" in text or "NULL" in text or value in text
    return all(part in text for part in re.split(r"[|: ]+", value.replace("…", "")))


def main():
    strace, dump, wrappers, libc = sys.argv[1:]
    fields = [line.split() for line in open(wrappers)]
    shown = {f[0]: f[1] for f in fields if len(f) > 2 and f[2] in ("syscall", "process", "pthread")}
    calls = read_strace(strace)
    agreement = Agreement(read_events(dump), shown, aliases_of(libc), vforked_in(calls))
    pids = set(agreement.events)
    for call in calls:
        if call.tid in pids:
            agreement.take(call)
    for kind, count in sorted(agreement.counts.items()):
        print(f"{count:7} {kind}")
    for fault in agreement.faults[:30]:
        print(fault)
    sys.exit(1 if agreement.faults else 0)


main()
