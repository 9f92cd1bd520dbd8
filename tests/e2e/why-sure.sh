#!/bin/bash
# SPDX-License-Identifier: MIT
# `fxtrace why' says what is missing where an archive does not have all: categories that were off, arrows, losses, the end of one that
# is still written or whose manager was killed; and it needs nothing of the machine that the archive was made on.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

need python3
compile links -O1 -w -I "$FX_SRCDIR" -D_GNU_SOURCE "$FX_SRCDIR/tests/e2e/targets/links.c"

# said FILE [OPTION...]: the answer; own times are the whole, whatever is missing.
said() {
	expect_ok "$FXTRACE" why --json --min-share 0 "${@:2}" "$1"
	python3 -c 'import json
rows = json.load(open("out"))["why"]["rows"]
assert sum(row["self_ns"] for row in rows) == rows[0]["total_ns"]' || fail "$1: own times are not the whole"
	expect_ok "$FXTRACE" why "${@:2}" "$1"
}

# --- All of it

expect_ok "$FXTRACE" run -q -o whole.fxt -- ./links sockets
said whole.fxt
expect_no_line 'lost|damaged|not recorded of|nothing is recorded|still being written|its process' out
cp out whole

# --- Categories that were off

expect_ok "$FXTRACE" run -q -c syscall,message -o calls.fxt -- ./links sockets
said calls.fxt
expect_line 'nothing is recorded of the category process: waits for children are computing here' out
expect_no_line 'of the category syscall' out
expect_ok "$FXTRACE" run -q -c process -o processes.fxt -- ./links sockets
said processes.fxt
expect_line 'nothing is recorded of the category syscall: waits for descriptors, files and time are computing here' out
expect_no_line 'of the category process' out
# Waits without arrows: the share of what is not followed is said.
expect_ok "$FXTRACE" run -q -c syscall,process -o arrowless.fxt -- ./links sockets
said arrowless.fxt
expect_line '^[0-9]+ waits, [0-9.]+ % of the time \([0-9.]+ ms\), are followed no further' out
python3 - "$FXTRACE" <<'END' || fail 'what was not followed is not that'
import json, re, subprocess, sys
text = subprocess.check_output([sys.argv[1], "why", "arrowless.fxt"], text=True)
share = float(re.search(r"waits, ([0-9.]+) % of the time", text).group(1)) / 100
tables = json.loads(subprocess.check_output([sys.argv[1], "why", "--json", "--min-share", "0", "arrowless.fxt"]))
rows = tables["why"]["rows"]
own = sum(r["self_ns"] for r in rows if r["kind"] in ("a peer", "one of several descriptors", "a child"))
# The client's polls are nearly all.
assert share > 0.8 and abs(own / rows[0]["total_ns"] - share) < 0.002, (share, own, rows[0])
END

# --- Losses

expect_ok "$FXTRACE" run -q -m oneshot -b 4K -o lost.fxt -- ./links sockets
said lost.fxt
expect_line '^[1-9][0-9,]* records were lost, so waits and calls may be missing here; to keep them: ' out

# --- One that is still written, and one whose manager was killed

"$FXTRACE" run -q -o growing.fxt -- bash -c 'echo $$ >pid; for i in $(seq 600); do [ -e enough ] && exit; sleep 0.05; done' &
runner=$!
at_end="kill -9 $runner 2>/dev/null; touch $PWD/enough"
grows() {
	[ -s growing.fxt ] && "$FXTRACE" why growing.fxt >out 2>err && grep -q 'time to pass' out
}
wait_for 30 grows || fail "nothing of it is read: $(cat err)"
for _ in 1 2 3 4 5; do
	said growing.fxt
	expect_line 'the archive is still being written: ' out
	expect_no_line 'damaged' out
done
cp growing.fxt copied.fxt
said copied.fxt
expect_line 'the end of its process is not recorded: it may have gone on' out
touch enough
wait $runner
said growing.fxt
expect_no_line 'still being written|the end of its process' out

# --- Of another machine: without the program, and beside another archive

mv links elsewhere
said whole.fxt
expect_same_file whole out
mv elsewhere links
expect_ok "$FXTRACE" run -q -o other.fxt -- ./links again
expect_ok "$FXTRACE" why --json --min-share 0 --thread proxy whole.fxt
cp out alone
expect_ok "$FXTRACE" merge -o both.fxt other.fxt whole.fxt
said both.fxt --thread proxy
expect_ok "$FXTRACE" why --json --min-share 0 --thread proxy both.fxt
cp out merged
python3 - <<'END' || fail 'of two archives, the answer of one is another'
import json

def told(name):
    return [(r["thread"], r["call"], r["kind"], r.get("depth", 0), r["self_ns"], r["count"])
            for r in json.load(open(name))["why"]["rows"]]
alone, merged = told("alone"), told("merged")
assert len(alone) > 5 and alone == merged, (alone, merged)
END
