#!/bin/bash
# SPDX-License-Identifier: MIT
# The Python package: the same events as `fxtrace dump' shows, whatever an archive is read from; names, arguments, modules;
# archives that grow; what is malformed; and the frame of pandas.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

not_sanitized "the library is loaded into a python that has no sanitizer's"
need python3
export PYTHONPATH=$FX_SRCDIR/python PYTHONDONTWRITEBYTECODE=1
export FXTRACE_READER_LIBRARY=$FX_BUILDDIR/.libs/libfxtrace-reader.so.0

cat >said.c <<'END'
#define _GNU_SOURCE
#include <fxtrace/event.h>
#include <pthread.h>
static void *work(void *unused)
{
	pthread_setname_np(pthread_self(), "worker");
	for (int i = 0; i < 100; i++) {
		TRACE_DURATION("said", "work", "i", TA_INT32(-i), "text", TA_STRING("t\303\266xt"), "real", TA_DOUBLE(0.5),
			       "yes", TA_BOOL(1), "null", TA_NULL(), "large", TA_UINT64(~0ull), "at", TA_POINTER(4096));
		TRACE_COUNTER("said", "count", 3, "value", TA_INT64(-1 - i));
	}
	TRACE_BLOB_EVENT("said", "zeros", "a\0b", 3, "behind", TA_STRING("them"));
	TRACE_INSTANT("said", "global", TRACE_SCOPE_GLOBAL);
	TRACE_ASYNC_BEGIN("said", "async", 77);
	TRACE_ASYNC_END("said", "async", 77);
	return unused;
}
int main(void)
{
	pthread_t thread;
	pthread_create(&thread, 0, work, 0);
	pthread_join(thread, 0);
	return 0;
}
END
compile said -pthread -Wall -I "$FX_SRCDIR/include" said.c
for name in trace.fxt trace.fxt.gz trace.fxt.zst; do
	expect_ok "$FXTRACE" run -q -o $name -- ./said
done

cat >check.py <<'END'
import collections, errno, io, json, pathlib, subprocess, sys, threading
import fxtrace

PATH = sys.argv[1]


def same(a, b, what):
    if a != b:
        sys.exit(f"{PATH}: {what}: {a!r} instead of {b!r}")


def dumped():
    out = subprocess.run([sys.argv[2], "dump", "--json", PATH], stdout=subprocess.PIPE, check=True).stdout
    return [json.loads(line) for line in out.splitlines()]


def shown(event):
    return event.offset, event.type, event.time, event.pid, event.tid, event.category, event.name


dump = dumped()
events = list(fxtrace.open(PATH))
want = [r for r in dump if r["kind"] == "event"]
same(len(events), len(want), "events")
for event, w in zip(events, want):
    same(shown(event), (w["offset"], w["type"], w["ts"], w["pid"], w["tid"], w["category"], w["name"]), "an event")
records = list(fxtrace.open(PATH).records())
same(collections.Counter(r.kind for r in records), collections.Counter(r["kind"] for r in dump), "kinds")
same([r.offset for r in records], [r["offset"] for r in dump], "offsets")
some = [r.kind for r in fxtrace.open(PATH).records(["string", "thread"])]
same(collections.Counter(some), collections.Counter(r.kind for r in records if r.kind in ("string", "thread")), "some kinds")

# What the program said
work = [e for e in events if e.category == "said" and e.name == "work"]
same(len(work), 100, "durations")
for i, event in enumerate(work):
    same(event.args, {"i": -i, "text": "t\xf6xt", "real": 0.5, "yes": True, "null": None, "large": 2**64 - 1, "at": 4096},
         "arguments")
    same(event.duration, event.end - event.time, "a duration")
    same((event.thread_name, event.process_name.split("/")[-1]), ("worker", "said"), "names")
same([e.args["value"] for e in events if e.name == "count"], [-1 - i for i in range(100)], "counters")
same([e.scope for e in events if e.name == "global"], ["global"], "a scope")
same([(e.type, e.id, e.duration) for e in events if e.name == "async"], [("async-begin", 77, None), ("async-end", 77, None)],
     "async events")
# A text with zeros is one all the same, and so are those behind it.
same([(r.name, r.payload, r.args) for r in records if r.kind == "large-event"], [("zeros", b"a\0b", {"behind": "them"})], "a payload with zeros")
if "work" not in repr(work[0]) or "text" not in repr(work[0]):
    sys.exit(f"no sense in {work[0]!r}")

# Whatever it comes from
data = open(PATH, "rb").read()
offsets = [e.offset for e in events]
for source in (data, bytearray(data), io.BytesIO(data), open(PATH, "rb"), pathlib.Path(PATH)):
    same([e.offset for e in fxtrace.open(source)], offsets, f"offsets from {type(source)}")


# As it grows: each is seen once, in its order.
class Growing:
    end = at = 0

    def read(self, size):
        part = data[self.at : min(self.end, self.at + size)]
        self.at += len(part)
        return part


growing, seen = Growing(), []
archive = fxtrace.open(growing, growing=True)
while growing.end < len(data):
    growing.end += max(len(data) // 50, 1)
    seen += [e.offset for e in archive]
same(seen, offsets, "offsets as it grows")
same(archive.fault_count, 0, "faults")
archive.set_growing(False)
same(list(archive), [], "what comes behind")

# Modules, and what outlives the archive
with fxtrace.open(PATH) as archive:
    places = {}
    for record in archive.records(["mmap", "module"]):
        if record.kind == "mmap":
            places[record.args["start"]] = (record.pid, record.args["vaddr"])
    same(len(places) > 0, True, "mappings")
    for start, (pid, vaddr) in places.items():
        name, address, build_id = archive.find_mapping(pid, start)
        same(address, vaddr, name)
    same(any("said" in archive.find_mapping(pid, start)[0] for start, (pid, _) in places.items()), True, "modules")
    same(archive.find_mapping(1, 1), None, "nothing")
    same(archive.progress, (len(data), len(data)), "progress")
try:
    list(archive)
    sys.exit("a closed archive is read")
except ValueError:
    pass
same(events[0].name, want[0]["name"], "an event of a closed archive")

# What is wrong
faults = []
end = len(data) * 2 // 3
if PATH.endswith(".fxt"):
    end = next(offset for offset in offsets if offset > end) + 5 # within a record
cut = list(fxtrace.open(data[:end], on_fault=faults.append))
same([e.offset for e in cut], offsets[: len(cut)], "events of a cut archive")
if len(cut) == len(events) or len(faults) != 1 or str(faults[0].offset) not in str(faults[0]):
    sys.exit(f"{len(cut)} events, {[str(f) for f in faults]}")
for source, number in ((b"no archive at all", errno.EBADMSG), ("/nonexistent", errno.ENOENT), (b"", errno.EBADMSG)):
    try:
        list(fxtrace.open(source))
        sys.exit(f"{source} is read")
    except OSError as error:
        same(error.errno, number, str(error))


class Broken:
    def read(self, size):
        raise KeyError("odd")


for source, options in ((Broken(), {}), (data[:end], {"on_fault": lambda fault: {}["odd"]})):
    try:
        list(fxtrace.open(source, **options))
        sys.exit("an exception is lost")
    except KeyError as error:
        same(str(error), "'odd'", "an exception")
limited = fxtrace.open(PATH)
limited.set_memory_limit(100)
same(any(e.name == "(unknown)" for e in limited), True, "the memory limit")

# Several at once
counts = []
threads = [threading.Thread(target=lambda: counts.append(sum(1 for _ in fxtrace.open(PATH)))) for _ in range(4)]
for t in threads:
    t.start()
for t in threads:
    t.join()
same(counts, [len(events)] * 4, "events in threads")
END
for name in trace.fxt trace.fxt.gz trace.fxt.zst; do
	expect_ok python3 check.py $name "$FXTRACE"
done

# A frame, where pandas is installed.
cat >frame.py <<'END'
import sys
try:
    import pandas
except ImportError:
    print("pandas is not installed")
    sys.exit()
import fxtrace

frame = fxtrace.frame("trace.fxt", args=["i", "text"])
said = frame[frame["category"] == "said"]
events = [e for e in fxtrace.open("trace.fxt")]
assert len(frame) == len(events)
assert list(frame["time"]) == [e.time for e in events]
assert list(frame["name"]) == [e.name for e in events]
assert list(frame["type"]) == [e.type for e in events]
assert list(frame["thread_name"]) == [e.thread_name for e in events]
assert [None if pandas.isna(d) else d for d in frame["duration"]] == [e.duration for e in events]
work = said[said["name"] == "work"]
assert list(work["i"]) == [-i for i in range(100)] and set(work["text"]) == {"t\xf6xt"}
assert said.groupby("name", observed=True)["duration"].count()["work"] == 100
assert len(fxtrace.open(b"\x10\0\x04\x46\x78\x54\x16\0").frame()) == 0
END
expect_ok python3 frame.py

# Without its library it says so.
FXTRACE_READER_LIBRARY=/nonexistent LD_LIBRARY_PATH=/nonexistent expect_status 1 python3 -c 'import fxtrace'
expect_line 'LibraryError.*libfxtrace-reader' err
