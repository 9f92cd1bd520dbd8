#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""strace_agree.py STRACE DUMP WRAPPERS SKIP LIBC: one run as strace -f -k saw it, and as the archive has it.

Each system call is one of:
  agreed     it came through a wrapper, whose event of that thread has the name, result and arguments
  through    a wrapped function does several or other system calls, and has an event: by its name
  inside     a function of libc made it that is recorded in another category, or not at all, and why
  early      a wrapped function, before the tracer's constructor: another library's runs first
  vforked    it is a vfork child's, which writes nothing on its parent's memory
  linker     the dynamic linker made it, before or beside the program
  ours       libfxtrace.so made it by itself: registration, a look at a program to be started
  direct     no function of libc made it
and for those through a wrapper
  LOST, if it has no event, or NAME, RESULT, ARGUMENT when the event says something else: these make the
  status 1. So does ESCAPED, a wrapped function that was called past its wrapper.
"""
import collections
import fnmatch
import functools
import json
import re
import subprocess
import sys

CALL = re.compile(r"(\d+) +(\w+)\((.*)\) += (-?\w+|\?)(?: ([A-Z][A-Z0-9]*) .*)?( .*)?")
FRAME = re.compile(r" > (.*?)\((.*)\) \[0x[0-9a-f]+\]$")
# What is shown in other words on purpose: our own decoding says more, or the kernel's call differs.
OTHER_WORDS = {"ret", "errno", "stack", "argv", "cmd", "op", "fds", "timeout", "value", "status", "on", "unfinished",
               "cpus", "stat", "statx", "statfs", "total_read", "total_written", "size", "ready", "data", "control",
               "user_ns", "system_ns", "max_rss_kib", "timeout_ns", "duration_ns", "time_ns", "rest_ns", "left_ns",
               "interval_ns", "old_ns", "value_ns", "set", "old", "mask", "release", "times", "what", "info", "iovcnt",
               "readfds", "writefds", "exceptfds", "limit"}
WHAT_IT_IS = re.compile(r"(.*_)?(file|dir)(_\d)?$")
# Whose result libc makes another of.
OTHER_RESULT = {"sched_getaffinity", "getpriority", "brk", "getcwd", "getpid", "ptrace", "times"}
# Their event is an instant, before libc writes what streams still hold.
ENDS = {"exit", "_exit", "_Exit", "quick_exit"}
SAME = {"IPPROTO_TCP": "SOL_TCP", "IPPROTO_IP": "SOL_IP", "IPPROTO_IPV6": "SOL_IPV6", "IPPROTO_UDP": "SOL_UDP"}
FILE_TYPES = {"S_IFSOCK": 0o140000, "S_IFLNK": 0o120000, "S_IFREG": 0o100000, "S_IFBLK": 0o60000,
              "S_IFDIR": 0o40000, "S_IFCHR": 0o20000, "S_IFIFO": 0o10000}


def number(text):
    """As strace writes it: 5, 0x5, 05."""
    return int(text, 8) if re.fullmatch(r"0[0-7]+", text) else int(text, 0)


class Call:
    def __init__(self, tid, name, text, result, errno, tail):
        self.tid, self.name, self.result, self.errno = tid, name, result, errno
        self.text = text + (tail or "")
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
        last = Call(int(call[1]), *call.groups()[1:]) if call else None
        if last:
            calls.append(last)
    return calls


def read_events(path):
    """By thread, in order of time: calls of the tracer's categories."""
    events = collections.defaultdict(list)
    for line in open(path):
        if '"kind":"event"' not in line:
            continue
        r = json.loads(line)
        if r["type"] in ("complete", "begin") and r["category"] != "function":
            r.setdefault("end", r["ts"])
            r["values"] = {a["name"]: a["value"] for a in r.get("args", []) if "value" in a}
            events[r["tid"]].append(r)
    for thread in events.values():
        thread.sort(key=lambda r: (r["ts"], -r["end"]))
    return events


class Library:
    """The functions that libc exports: other names of each, and how long it is."""

    def __init__(self, path):
        by_address = collections.defaultdict(set)
        self.aliases, self.sizes = {}, {}
        for line in subprocess.run(["nm", "-D", "-S", "--defined-only", path], capture_output=True, text=True,
                                   check=True).stdout.splitlines():
            fields = line.split()
            if len(fields) == 4 and fields[2] in "TWi":
                name = fields[3].split("@")[0]
                by_address[fields[0]].add(name)
                self.sizes[name] = max(int(fields[1], 16), self.sizes.get(name, 0))
        for names in by_address.values():
            for name in names:
                self.aliases[name] = names | self.aliases.get(name, set())

    def function(self, symbol):
        """The name in NAME+OFFSET; None if the function there is one without a name."""
        name, _, offset = symbol.partition("+")
        return name if int(offset or "0", 0) <= self.sizes.get(name, 1 << 62) else None

    def others(self, name):
        return self.aliases.get(name, {name})


def read_reasons(skip, wrappers):
    """Why a function has no event in the trace: [(pattern, reason)]."""
    reasons, reason = [], ""
    for line in open(skip):
        if line.startswith("because "):
            reason = line[8:].strip()
        elif not line.startswith("#"):
            reasons += [(pattern, reason) for pattern in line.split()]
    return reasons + [(f[0], f"category {f[2]}") for f in wrappers]


def is_libc(file):
    return re.search(r"/libc(\.so|-2)", file) is not None


def is_linker(file):
    return re.search(r"/ld-linux|/ld-2", file) is not None


class Agreement:
    def __init__(self, events, wrappers, reasons, library, vforked):
        self.events, self.library, self.reasons, self.vforked = events, library, reasons, vforked
        self.shown = {f[0]: f[1] for f in wrappers if f[2] in ("syscall", "process", "pthread")}
        self.always = {f[0] for f in wrappers if f[2] in ("syscall", "process")}
        self.pids = {r["tid"]: r["pid"] for thread in events.values() for r in thread}
        self.seen = {r["name"] for thread in events.values() for r in thread}
        self.at = collections.Counter()
        self.before_us = set()  # processes that are new programs, and have not registered yet
        self.counts = collections.Counter()
        self.faults = []

    def entry_of(self, call):
        """(who called, the names by which the function of libc may be known; "" for one without a name)."""
        entries, who = [], None
        for file, symbol in call.frames:
            if who == "ours" and "libfxtrace.so" not in file:
                break
            if is_libc(file):
                entries = [self.library.function(symbol)]
            elif is_linker(file):
                return "linker", []
            elif "libfxtrace.so" in file:
                # A function of libc that ends in a jump to another leaves no frame; the wrapper does.
                who = "ours"
                if entries:
                    entries.append(re.sub("^(traced|fx_wrap|fx_call|wrapped|descriptors|forwarded)_", "",
                                          symbol.split("+")[0]))
            else:
                break
        return who or "program", [e for e in entries if e] or (entries and [""])

    def names_of(self, entries, among):
        return {a for entry in entries for a in self.library.others(entry) if a in among}

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
            if number(str(values["ret"])) != number(call.result):
                return "RESULT", f"ret={values['ret']}"
        if call.errno and not call.errno.startswith("ERESTART") and values.get("errno", call.errno) != call.errno:
            return "RESULT", f"errno={values.get('errno')}"
        for name, value in values.items():
            if name not in OTHER_WORDS and not WHAT_IT_IS.match(name) and not said(str(value), call.text):
                return "ARGUMENT", f"{name}={value}"
        return None

    @functools.cache
    def why(self, name):
        for pattern, reason in self.reasons:
            if fnmatch.fnmatchcase(name, pattern):
                return reason
        return "a part of libc that libc alone knows"

    def name(self, entries):
        """One of a function's names, as people know it."""
        if not entries[0]:
            return "a function without a name"
        return min(self.library.others(entries[0]), key=lambda n: (n.startswith("_"), len(n), n))

    def take(self, call):
        who, entries = self.entry_of(call)
        pid = self.pids.get(call.tid, call.tid)
        if who == "ours" and call.name in ("connect", "socket"):
            self.before_us.discard(pid)
        if call.tid in self.vforked:
            self.counts["vforked"] += 1
        elif who == "linker" or (who == "ours" and not entries):
            self.counts[who] += 1
        elif call.name == "rt_sigreturn" or not entries:
            self.counts[f"direct {call.name}"] += 1
        elif who == "ours":
            self.take_ours(call, entries, pid)
        else:
            self.take_unseen(call, entries, pid)
        if call.name == "execve" and call.result == "0":
            self.vforked.discard(call.tid)
            self.before_us.add(pid)

    def take_ours(self, call, entries, pid):
        names = self.names_of(entries, self.shown)
        if names & self.always and pid in self.before_us:
            self.counts[f"early {self.name(entries)}"] += 1
            return
        if not names:
            self.counts[f"inside {self.name(entries)}: {self.why(entries[0])}"] += 1
        elif any(is_principal(call.name, name) for e in entries for name in self.library.others(e)):
            self.take_wrapped(call, entries, {self.shown[n] for n in names})
        elif not names & self.always - ENDS or self.seen & {self.shown[n] for n in names}:
            self.counts[f"through {self.name(entries)}"] += 1
        else:
            self.fault("LOST", call, "through " + " or ".join(entries))

    def take_unseen(self, call, entries, pid):
        names = self.names_of(entries[:1], self.always)
        if names and pid in self.before_us:
            self.counts[f"early {self.name(entries)}"] += 1
        elif names and any(is_principal(call.name, n) for n in names):
            self.fault("ESCAPED", call, "by " + " or ".join(entries))
        else:
            self.counts[f"inside {self.name(entries)}: {self.why(entries[0])}"] += 1

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
    if value in ("None", "") or value in text or SAME.get(value, "\0") in text:
        return True
    if re.fullmatch(r"-?\d+", value):
        n = int(value)
        return any(form in text for form in (hex(n & 0xFFFFFFFFFFFFFFFF), hex(n & 0xFFFFFFFF), oct(n)[2:])) or n == 0
    if re.fullmatch(r"0x[0-9a-f]+", value):
        return "{" in text or '"' in text or "[" in text or "NULL" in text
    mode = re.fullmatch(r"(S_IF\w+)\|(0[0-7]*)", value)
    if mode:
        return f"0{FILE_TYPES[mode[1]] | int(mode[2], 8):o}" in text
    return all(part in text for part in re.split(r"[|: ]+", value.replace("…", "")))


def main():
    strace, dump, wrappers, skip, libc = sys.argv[1:]
    table = [fields for fields in (line.split() for line in open(wrappers)) if len(fields) > 2]
    calls = read_strace(strace)
    agreement = Agreement(read_events(dump), table, read_reasons(skip, table), Library(libc), vforked_in(calls))
    traced = set(agreement.events)
    if calls:
        agreement.before_us.add(calls[0].tid)
    for call in calls:
        if call.tid in traced:
            agreement.take(call)
    for kind, count in sorted(agreement.counts.items()):
        print(f"{count:7} {kind}")
    for fault in agreement.faults[:30]:
        print(fault)
    sys.exit(1 if agreement.faults else 0)


main()
