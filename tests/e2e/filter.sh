#!/bin/bash
# SPDX-License-Identifier: MIT
# `fxtrace filter': the events that a script would keep, in an archive without faults; bad input.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

cat >work.sh <<'END'
sleep 0.1 &
cat /dev/null no-such-file
wait
END
"$FXTRACE" run -q -o work.fxt -- sh work.sh 2>/dev/null
"$FXTRACE" dump --json work.fxt >work.json

# kept CONDITION OPTION...: of $work.fxt, the events e for which the condition in Python holds, and no others; and the arrows of which
# all ends belong to such.
work=work
kept() {
	local condition=$1

	shift
	rm -f some.fxt
	expect_ok "$FXTRACE" filter -o some.fxt "$@" "$work.fxt"
	expect_clean some.fxt
	"$FXTRACE" dump --json some.fxt >some.json
	python3 - "$condition" "$work.json" <<'END' || fail "filter $*: other events"
import json, sys
def load(name):
    records = [json.loads(line) for line in open(name)]
    names = {r["koid"]: r["name"] for r in records if r["kind"] == "kernel-object" and r["type"] == "process"}
    events = [r for r in records if r["kind"] == "event"]
    for e in events:
        del e["offset"]
    return events, names, [r for r in records if r["kind"] == "string"]
events, names, strings = load(sys.argv[2])
first = min(e["ts"] for e in events)
# An end of an arrow stands behind what it belongs to.
holds, last, cut = {}, {}, set()
for i, e in enumerate(events):
    thread = e["pid"], e["tid"]
    if e["type"].startswith("flow"):
        holds[i] = holds[last[thread]]
        if not holds[i]:
            cut.add(e["id"])
    else:
        holds[i] = eval(sys.argv[1], {"e": e, "names": names, "first": first, "events": events})
        last[thread] = i
want = [e for i, e in enumerate(events) if holds[i] and not (e["type"].startswith("flow") and e["id"] in cut)]
got, others, fewer = load("some.json")
arrows = sum(e["type"].startswith("flow") for e in want)
assert sys.argv[1] != "True" or arrows == sum(e["type"].startswith("flow") for e in events) > 0
print(arrows, "ends of arrows")
key = lambda e: json.dumps(e, sort_keys=True)
assert sorted(map(key, got)) == sorted(map(key, want)), (len(got), len(want), len(events))
assert {e["pid"] for e in got} <= others.keys(), others
assert len(fewer) <= len(strings)
assert len(want) > 0
END
}

kept 'True'
kept 'e["category"] == "syscall"' --category syscall
kept 'e["name"] in ("open", "wait3")' --name open --name wait3
kept 'names[e["pid"]] == "cat"' --process cat
kept 'names[e["pid"]] == "cat" and e["category"] == "syscall"' --process cat --category 'sys*'
kept 'e.get("end", e["ts"]) - first >= 2000000' --from 2ms
kept 'e["ts"] - first <= 3000000' --to 3ms
kept 'e["category"] == "process"' --category process
kept 'e["name"].startswith("exec")' --name 'exec*'

# --- As run's options would have it ------------------------------------------------------------------

kept 'e["category"] == "syscall"' -c syscall
kept 'e["category"] in ("syscall", "process")' --categories syscall -c process
kept 'e["category"] != "heap"' -c -heap
kept 'e["category"].startswith("p") or e["category"] == "syscall" and names[e["pid"]] == "cat"' -c 'p*,cat/syscall'
kept 'e["category"] in ("heap", "syscall") and names[e["pid"]] != "cat"' -c 'heap,syscall,-cat/heap,-cat/syscall'
kept 'e["pid"] == next(iter(names))' --no-follow
kept 'e.get("end", e["ts"]) >= max(e.get("end", e["ts"]) for e in events) - 50000000' --last 50ms
kept 'True' --last 1h

# Of calls: what a run with the same option records.
cat >calls.c <<'END'
#include <stdlib.h>
#include <unistd.h>
static int leaf(int x) { return x * 3; }
static int again(int n) { return n ? again(n - 1) + leaf(n) : (int)getppid(); }
static int nap(void) { return usleep(3000); }
int main(void)
{
	for (int i = 0; i < 40; i++)
		again(i % 7);
	return nap();
}
END
compile calls -O0 -finstrument-functions calls.c
for records in complete pairs; do
	expect_ok "$FXTRACE" run -q -o whole.fxt --records "$records" --on-full block -- ./calls
	for options in '-D 1' '-D 3' '--max-depth 4' '-F again' '-F l* --filter main' '-N again' '--no-trace l*' \
		'-D 2 -N main' '-D 2 -c function,-syscall'; do
		rm -f part.fxt
		# shellcheck disable=SC2086 # several words
		expect_ok "$FXTRACE" filter $options -o part.fxt whole.fxt
		expect_clean part.fxt
		"$FXTRACE" replay --no-pager part.fxt | sed 's/.*| *//; s/[<(].*//' | grep -v '^}' | sort | uniq -c >part
		if [ "$records" = complete ]; then
			# shellcheck disable=SC2086 # several words
			expect_ok "$FXTRACE" run -q -o same.fxt --on-full block $options -- ./calls
			"$FXTRACE" replay --no-pager same.fxt | sed 's/.*| *//; s/[<(].*//' | grep -v '^}' | sort | uniq -c >"as $options"
		fi
		[ -s part ] || fail "filter $options leaves nothing"
		expect_same_file "as $options" part
	done
done

# What is compressed, and what of it is damaged.
gzip -k whole.fxt
"$FXTRACE" filter -o whole.fxt.zst whole.fxt 2>err || fail "no archive of zstd"
for options in '-D 2' '-N again' '-c function -F l*'; do
	# shellcheck disable=SC2086 # several words
	expect_ok "$FXTRACE" filter $options -o plain.fxt whole.fxt
	for ending in gz zst; do
		# shellcheck disable=SC2086 # several words
		expect_ok "$FXTRACE" filter $options -o unpacked.fxt "whole.fxt.$ending"
		expect_same_file plain.fxt unpacked.fxt
	done
done
head -c $(($(stat -c %s whole.fxt.gz) / 2)) whole.fxt.gz >cut.fxt.gz
gzip -dc cut.fxt.gz >cut.fxt 2>/dev/null
expect_one_error 1 "$FXTRACE" filter -D 2 -o plain.fxt cut.fxt
expect_one_error 1 "$FXTRACE" filter -D 2 -o unpacked.fxt cut.fxt.gz
expect_same_file plain.fxt unpacked.fxt

# What is short is not the same in each run.
expect_ok "$FXTRACE" run -q -o whole.fxt --on-full block -- ./calls
"$FXTRACE" dump --json whole.fxt >whole.json
work=whole
kept 'e["category"] != "function" or e["end"] - e["ts"] >= 2000000' -t 2ms
kept 'e["category"] != "function" or e["end"] - e["ts"] >= 1000' --min-duration 1us
work=work
expect_one_error 2 "$FXTRACE" filter -D 0 -o out.fxt work.fxt
expect_one_error 2 "$FXTRACE" filter -F 'libc.so*:read' -o out.fxt work.fxt
expect_one_error 2 "$FXTRACE" filter -c 'a,,b' -o out.fxt work.fxt
expect_one_error 2 "$FXTRACE" filter -t 5 -o out.fxt work.fxt

# What is kept loads elsewhere, and is itself filtered; compressed by its name.
expect_ok "$FXTRACE" filter --process cat -o cat.fxt.zst work.fxt
expect_clean cat.fxt.zst
expect_ok "$FXTRACE" convert cat.fxt.zst cat.json
expect_ok "$FXTRACE" filter --name open -o open.fxt cat.fxt.zst
expect_ok "$FXTRACE" replay open.fxt
expect_line 'open\(path="no-such-file".* = -1 ENOENT <' out
expect_ok "$FXTRACE" filter --name no-such-event -o none.fxt work.fxt
expect_clean none.fxt

expect_one_error 1 "$FXTRACE" filter -o out.fxt no-such-file.fxt
echo "not an archive" >text.fxt
expect_one_error 1 "$FXTRACE" filter -o out.fxt text.fxt
[ ! -e out.fxt ] || fail "an output without an input"
expect_one_error 1 "$FXTRACE" filter -o no-such-folder/out.fxt work.fxt
expect_one_error 2 "$FXTRACE" filter work.fxt
expect_one_error 2 "$FXTRACE" filter -o work.fxt work.fxt
expect_one_error 1 "$FXTRACE" filter -o out.fxt
expect_line ' fxtrace.fxt: No such file or directory$' err
expect_one_error 2 "$FXTRACE" filter --from 2s --to 1s -o out.fxt work.fxt
head -c $(($(stat -c %s work.fxt) / 2 + 3)) work.fxt >cut.fxt
expect_one_error 1 "$FXTRACE" filter -o rest.fxt cut.fxt
expect_clean rest.fxt
