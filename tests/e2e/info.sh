#!/bin/bash
# SPDX-License-Identifier: MIT
# `fxtrace info': ten lines, and numbers as a script counts them in the archive's records; bad input.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

cat >work.sh <<'END'
(exit 3)
sleep 0.05 &
wait
cat /dev/null
END
expect_ok "$FXTRACE" run -q -o work.fxt -- sh work.sh
expect_ok "$FXTRACE" info work.fxt
expect_equal 10 "$(wc -l <out)" "lines"
expect_line '^archive +work.fxt: .* plain, .* of records$' out
expect_line '^losses +none recorded$' out
expect_line '^damage +none$' out
date=$(sed -n 's/^date  *\(.*\)\.[0-9]* UTC on .*/\1/p' out)
age=$(($(date +%s) - $(date -u -d "$date" +%s)))
[ "$age" -ge 0 ] && [ "$age" -lt 600 ] || fail "the archive is of '$date', $age seconds ago"

# count ARCHIVE: what info says is what stands there.
count() {
	"$FXTRACE" dump --json "$1" >records.json
	expect_ok "$FXTRACE" info --json "$1"
	python3 - out records.json <<'END' || fail "other numbers of $1"
import collections, json, sys
info = json.load(open(sys.argv[1]))
records = [json.loads(line) for line in open(sys.argv[2])]
events = [r for r in records if r["kind"] == "event"]
threads = {(e["pid"], e["tid"]) for e in events}
names = {}
for r in records:
    if r["kind"] != "kernel-object":
        continue
    if r["type"] == "process":
        names[r["koid"]] = r["name"]
    else:
        threads.add((next(a["value"] for a in r["args"] if a["name"] == "process"), r["koid"]))
losses = collections.Counter()
for e in events:
    if e["name"] == "records dropped" and e["type"] == "instant":
        args = {a["name"]: a["value"] for a in e["args"]}
        losses[args["cause"]] += args["count"]
times = [t for e in events for t in (e["ts"], e.get("end", e["ts"]))]
assert info["records"] == len(records)
assert info["records_by_kind"] == collections.Counter(r["kind"] for r in records)
assert info["events"] == len(events)
assert info["events_by_type"] == collections.Counter(e["type"] for e in events)
assert {c["name"]: c["events"] for c in info["categories"]} == collections.Counter(e["category"] for e in events)
assert info["threads"] == len(threads), (info["threads"], threads)
assert {p["pid"]: p["name"] for p in info["processes"]} == names, (info["processes"], names)
assert (info["first_ns"], info["last_ns"]) == (min(times), max(times))
assert {l["name"]: l["records"] for l in info["losses"]} == losses, (info["losses"], losses)
assert info["faults"] == 0
END
}
count work.fxt
expect_equal plain "$(python3 -c 'import json; print(json.load(open("out"))["compression"])')" "compression"

# Compressed, and through a pipe.
mkfifo pipe
gzip -k work.fxt
expect_ok "$FXTRACE" info work.fxt.gz
expect_line ' gzip, ' out
"$FXTRACE" info --json - <work.fxt.gz >seekable.json || fail "no info of standard input"
"$FXTRACE" info work.fxt | tail -n 9 >want
cat work.fxt.gz >pipe &
"$FXTRACE" info - <pipe | tail -n 9 >got
expect_same_file want got

# Losses are told with their causes.
cat >many.c <<'END'
static int leaf(int x) { return x + 1; }
int main(void)
{
	int x = 0;

	for (int i = 0; i < 200000; i++)
		x = leaf(x);
	return x == 0;
}
END
compile many -O0 -finstrument-functions many.c
"$FXTRACE" run -q -m oneshot --buffer-size 128K -o many.fxt -- ./many 2>err || fail "$(cat err)"
count many.fxt
expect_ok "$FXTRACE" info many.fxt
expect_line '^losses +buffer-full [0-9,]+' out

# --- Bad input -------------------------------------------------------------------------------------

expect_one_error 1 "$FXTRACE" info no-such-file.fxt
expect_one_error 1 "$FXTRACE" info .
echo "not an archive" >text.fxt
expect_one_error 1 "$FXTRACE" info text.fxt
: >empty.fxt
expect_one_error 1 "$FXTRACE" info empty.fxt
expect_one_error 2 "$FXTRACE" info work.fxt work.fxt
expect_one_error 2 "$FXTRACE" info --no-such-option work.fxt
head -c $(($(stat -c %s work.fxt) / 2 + 3)) work.fxt >cut.fxt
expect_status 1 "$FXTRACE" info cut.fxt
expect_line '^damage +[0-9]+ faults?.* offset 0x[0-9a-f]+: truncated' out
expect_equal 10 "$(wc -l <out)" "lines of a cut archive"

# Names that a terminal or JSON would obey.
python3 - <<'END'
import struct
def words(*w): return struct.pack("<%dQ" % len(w), *w)
name = b'\x1b[31m"\xff<x>\xc2\x9b'
pad = name + b"\0" * (-len(name) % 8)
size = 2 + len(pad) // 8
out = words(0x0016547846040010)
out += words(7 | size << 4 | 1 << 16 | (0x8000 | len(name)) << 24, 77) + pad
open("odd.fxt", "wb").write(out)
END
expect_ok "$FXTRACE" info odd.fxt
! grep -qP '\x1b|\xc2\x9b' out || fail "a control character reaches the terminal"
expect_line '^span +no events$' out
expect_ok "$FXTRACE" info --json odd.fxt
python3 -c 'import json
assert json.load(open("out"))["processes"][0]["pid"] == 77' || fail "no JSON of odd names"
