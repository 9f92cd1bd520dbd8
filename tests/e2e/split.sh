#!/bin/bash
# SPDX-License-Identifier: MIT
# `fxtrace split': each part is an archive without faults, all parts together are what the archive was, and merged they
# are it again; calls and operations that go on beyond the end of a part; bad input.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

cat >deep.c <<'END'
#include <unistd.h>
static void sleeper(int depth)
{
	if (depth > 0)
		sleeper(depth - 1);
	usleep(3000);
}
int main(void)
{
	for (int i = 0; i < 5; i++)
		sleeper(3);
	return 0;
}
END
compile deep -O0 -finstrument-functions deep.c
cat >work.sh <<'END'
./deep &
cat /dev/null no-such-file
(sleep 0.02; ./deep)
wait
END
"$FXTRACE" run -q -o work.fxt -- sh work.sh 2>/dev/null
"$FXTRACE" run -q --records pairs -o pairs.fxt -- sh work.sh 2>/dev/null

# An operation that ends in another thread's buffer, before its begin; a log; a pair across a cut.
python3 - <<'END'
import struct
def words(*w): return struct.pack("<%dQ" % len(w), *w)
def event(kind, tid, ts, name, *more):
    text = name.encode().ljust(8, b"\0")
    ref = 0x8000 | len(name)
    size = 6 + len(more)
    return words(4 | size << 4 | kind << 16 | ref << 32 | ref << 48, ts, 5, tid) + text * 2 + words(*more)
ms = 10**6
out = words(0x0016547846040010) + words(0 | 2 << 4 | 1 << 16 | 1 << 20 | 2 << 52) + b"me".ljust(8, b"\0")
out += words(1 | 2 << 4, 10**9)
out += event(7, 6, 25 * ms, "work", 77) + event(6, 6, 15 * ms, "work", 77)
out += event(0, 5, 1 * ms, "first") + event(2, 5, 2 * ms, "outer") + event(5, 5, 3 * ms, "work", 77)
out += event(2, 5, 12 * ms, "inner") + event(3, 5, 13 * ms, "inner") + event(3, 5, 29 * ms, "outer")
out += words(9 | 5 << 4 | 5 << 16, 14 * ms, 5, 5) + b"a log".ljust(8, b"\0")
out += event(0, 5, 39 * ms, "last")
open("crossing.fxt", "wb").write(out)

# An arrow whose begin is the first record behind a cut at 4,096 bytes, and its slice the last before it.
out = words(0x0016547846040010) + words(0 | 2 << 4 | 1 << 16 | 1 << 20 | 2 << 52) + b"me".ljust(8, b"\0")
out += words(1 | 2 << 4, 10**9)
out += b"".join(event(0, 5, n + 1, "instant") for n in range(81))
out += b"".join(event(4, 5, 1000 * n, "slice", 1000 * n + 9) for n in (1, 2, 3))
assert len(out) == 4096
out += event(8, 5, 3000, "arrow", 7) + event(4, 5, 4000, "slice", 4009) + event(10, 5, 4000, "arrow", 7)
open("arrow.fxt", "wb").write(out)
END

# dumped NAME...: NAME.json
dumped() {
	local name

	for name in "$@"; do
		"$FXTRACE" dump --json "$name" >"$name.json" || fail "no dump of $name"
	done
}

# split_in MOST ARCHIVE OPTION...: into up to MOST parts, at least two.
split_in() {
	local most=$1 archive=$2 parts

	shift 2
	rm -f part.*
	expect_ok "$FXTRACE" split -o part.fxt "$@" "$archive"
	cp err said
	parts=(part.*.fxt)
	[ "${#parts[@]}" -ge 2 ] && [ "${#parts[@]}" -le "$most" ] || fail "$archive, $*: ${#parts[@]} parts"
	expect_line "in ${#parts[@]} parts" said
	expect_clean "${parts[@]}"
	dumped "$archive" "${parts[@]}"
	python3 "$FX_SRCDIR/tests/e2e/same_events.py" "$archive.json" "${parts[@]/%/.json}" ||
		fail "$archive, $*: the parts have other events"
	# Other machines' archives have no clock records, by which parts would be known.
	[ "$archive" != crossing.fxt ] || return 0
	expect_ok "$FXTRACE" merge -o whole.fxt "${parts[@]}"
	expect_clean whole.fxt
	dumped whole.fxt
	python3 "$FX_SRCDIR/tests/e2e/same_events.py" "$archive.json" whole.fxt.json ||
		fail "$archive, $*: merged, the parts have other events"
}

for archive in work.fxt pairs.fxt; do
	split_in 400 "$archive" --every 5ms
	expect_line 'calls go on beyond the end of their part, and are whole in it' said
	split_in 50 "$archive" --size 8K
	split_in 20 "$archive" --by process
	expect_no_line 'beyond the end' said
done
# More than are written at a time.
split_in 5000 pairs.fxt --every 300us

split_in 4 crossing.fxt --every 10ms
expect_line 'crossing.fxt: 9 events in 4 parts; 2 calls go on' said
expect_equal 3 "$(grep -c '"event"' part.0001.fxt.json)" "events of the first part"
expect_ok "$FXTRACE" check part.0001.fxt
expect_line ' 0 warnings' out

# A flow goes with the slice that was written just before it.
expect_clean arrow.fxt
rm -f part.*
expect_ok "$FXTRACE" split -o part.fxt --size 4096 arrow.fxt
expect_clean part.0001.fxt part.0002.fxt
dumped part.0001.fxt
expect_equal 1 "$(grep -c '"flow-begin"' part.0001.fxt.json)" "arrows that begin in the first part"

# Each part knows its names, modules and clock; a part of a time has what began then.
split_in 400 work.fxt --every 5ms
python3 - part.*.fxt.json <<'END' || fail "the parts are not what they should be"
import json, sys
first = min(r["ts"] for r in map(json.loads, open("work.fxt.json")) if r["kind"] == "event")
for name in sys.argv[1:]:
    records = list(map(json.loads, open(name)))
    events = [r for r in records if r["kind"] == "event"]
    named = {r["koid"] for r in records if r["kind"] == "kernel-object"}
    assert {e["pid"] for e in events} <= named, name
    assert {r["kind"] for r in records} >= {"module", "mmap", "blob"}, name
    slots = {(e["ts"] - first) // 5000000 for e in events}
    assert len(slots) == 1, (name, slots)
END

# By the name of the archive, compressed as it is; a part is named by its process.
gzip -k work.fxt
rm -f part.* work.*.fxt.gz
expect_ok "$FXTRACE" split --by process work.fxt.gz
parts=(work.*.fxt.gz)
for part in "${parts[@]}"; do
	pid=${part#work.}
	dumped "$part"
	expect_equal "${pid%%.*}" "$(sed -n 's/.*"kind":"event".*"pid":\([0-9]*\),"tid".*/\1/p' "$part.json" | sort -u)" "process of $part"
	gzip -t "$part" || fail "$part is not compressed"
done

# --- Bad input -------------------------------------------------------------------------------------

expect_one_error 2 "$FXTRACE" split work.fxt
expect_one_error 1 "$FXTRACE" split --every 1s
expect_line ' fxtrace.fxt: No such file or directory$' err
expect_one_error 2 "$FXTRACE" split --every 1s --size 1M work.fxt
for options in '--every 0s' '--every x' '--size 1' '--size x' '--by thread' '--every 1s -'; do
	# shellcheck disable=SC2086 # words
	expect_one_error 2 "$FXTRACE" split $options work.fxt
done
rm -f part.*
: >empty.fxt
echo "not an archive" >text.fxt
for bad in empty.fxt text.fxt no-such-file.fxt; do
	expect_one_error 1 "$FXTRACE" split --every 1s -o part.fxt "$bad"
	expect_line "$bad: " err
done
"$FX_BUILDDIR/bench/timeline" --make 8 many.fxt || fail "no archive"
expect_one_error 1 "$FXTRACE" split --every 1ns -o part.fxt many.fxt
expect_line 'more than 100000 parts' err
expect_equal '' "$(ls part.* 2>/dev/null)" "parts of nothing"
expect_one_error 1 "$FXTRACE" split --every 1s -o no-such-folder/part.fxt work.fxt
head -c $(($(stat -c %s work.fxt) / 2 + 3)) work.fxt >cut.fxt
expect_status 1 "$FXTRACE" split --every 5ms -o part.fxt cut.fxt
expect_line 'cut.fxt: offset 0x[0-9a-f]*: truncated' err
expect_clean part.*.fxt
