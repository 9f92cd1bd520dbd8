#!/bin/bash
# SPDX-License-Identifier: MIT
# `fxtrace report --tree' and --function: against a program that knows what it called, and a script that computes them
# from the archive's records.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

cat >work.c <<'END'
#include <pthread.h>
#include <unistd.h>
static int leaf(int x) { return x * 3; }
static int pong(int n);
static int ping(int n) { return n ? pong(n - 1) + leaf(n) : 0; }
static int pong(int n) { return n ? ping(n - 1) : leaf(n); }
static int again(int n) { return n ? again(n - 1) + leaf(n) : 0; }
static int hub(int n) { return again(n) + again(n) + ping(2 * n + 1); }
static void *work(void *arg)
{
	for (int i = 0; i < 70; i++)
		again(i % 7);
	for (int i = 0; i < 10; i++)
		hub(2);
	usleep(1000);
	return arg;
}
int main(void)
{
	pthread_t threads[3];

	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], 0, work, 0);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], 0);
	return again(5) == 0;
}
END
compile work -O0 -g -pthread -finstrument-functions work.c
expect_ok "$FXTRACE" run -q -o work.fxt --on-full block -- ./work
"$FXTRACE" dump --json work.fxt >work.json

# report NAME OPTION...: JSON, into NAME.json
report() {
	local name=$1

	shift
	"$FXTRACE" report --top 0 --json "$@" work.fxt >"$name.json" || fail "report $* fails"
}

# --- Numbers ---------------------------------------------------------------------------------------

compare=$FX_SRCDIR/tests/e2e/report_tree.py
report all --functions --function '*' --tree
python3 "$compare" work.json all.json || fail "other numbers"
threads=$(sed -n 's/.*"tid":\([0-9]*\).*/\1/p' work.json | sort -u)
# One thread has what main() called, the others have work().
count=0
for thread in $threads; do
	report thread --functions --function '*' --tree --thread "$thread"
	grep -q '"name": "hub"' thread.json || continue
	python3 "$compare" work.json thread.json "$thread" || fail "other numbers of thread $thread"
	count=$((count + 1))
done
expect_equal 3 "$count" "threads that called hub()"

# What the program knows of itself: calls, and by whom.
report again --function again
report hub --tree --function hub
python3 - <<'END' || fail "other calls"
import json
again, hub = (json.load(open(name + ".json")) for name in ("again", "hub"))
def by(table, key):
    return {row[key]: row["calls"] for row in again[table]["rows"]}
n = 3 * (10 * 21 + 10 * 4) + 5 # of again() by itself, which calls leaf() as often
assert by("callers", "caller") == {"work": 210, "hub": 60, "main": 1, "again": n}, again
assert by("callees", "callee") == {"again": n, "leaf": n}, again
(row,) = again["functions"]["rows"]
assert row["name"] == "again" and row["calls"] == n + 271, row
# The outermost calls' time is all of its time.
assert sum(r["total_ns"] for r in again["callers"]["rows"] if r["caller"] != "again") == row["total_ns"], again
# The tree of a function begins with it, wherever it was called.
rows = [(r.get("depth", 0), r["name"], r["calls"]) for r in hub["tree"]["rows"]]
assert rows[0] == (0, "hub", 30) and min(r[0] for r in rows[1:]) == 1, rows
assert sorted(rows[1:]) == sorted([(1, "again", 60), (2, "again", 60), (3, "again", 60), (3, "leaf", 60),
                                  (2, "leaf", 60), (1, "ping", 30), (2, "pong", 30), (3, "ping", 30), (4, "pong", 30),
                                  (5, "ping", 30), (6, "pong", 30), (7, "leaf", 30), (2, "leaf", 30), (4, "leaf", 30),
                                  (6, "leaf", 30)]), rows
assert list(hub) == ["tree"], list(hub)
END

# A call of libc has callers, too.
report usleep --function usleep
python3 - <<'END' || fail "other callers of usleep()"
import json
report = json.load(open("usleep.json"))
(row,) = report["callers"]["rows"]
assert (row["caller"], row["calls"]) == ("work", 3) and row["total_ns"] >= 3000000, row
assert report["functions"]["rows"][0]["total_ns"] == row["total_ns"], report
assert not report["callees"]["rows"], report
END

# --- Which rows, in which order --------------------------------------------------------------------

report calls --tree --sort calls
"$FXTRACE" report --tree --top 7 --json work.fxt >seven.json || fail "report --top 7 fails"
"$FXTRACE" report --tree --top 0 --csv work.fxt | tr -d '\r' >all.csv
python3 - <<'END' || fail "other rows"
import csv, json
def siblings(rows):
    """Rows below each path, by the path."""
    found, way = {}, []
    for row in rows:
        depth = row.get("depth", 0)
        found.setdefault(tuple(way[:depth]), []).append(row)
        way[depth:] = [row["name"]]
    return found
everything, calls, seven = (json.load(open(name + ".json"))["tree"] for name in ("all", "calls", "seven"))
for rows, key in (everything["rows"], "total_ns"), (calls["rows"], "calls"):
    for group in siblings(rows).values():
        values = [row[key] for row in group]
        assert values == sorted(values, reverse=True), (key, group)
most = sorted((row["total_ns"] for row in everything["rows"]), reverse=True)[:7]
assert sorted((row["total_ns"] for row in seven["rows"]), reverse=True) == most, seven
assert seven["left_out"] == len(everything["rows"]) - 7, seven
rows = list(csv.DictReader(open("all.csv", newline="")))
assert [(r["name"], int(r["calls"]), int(r["depth"])) for r in rows] == \
    [(r["name"], r["calls"], r.get("depth", 0)) for r in everything["rows"]], rows
END

# --- Few paths -------------------------------------------------------------------------------------

report few --tree --max-paths 5
python3 - <<'END' || fail "other paths"
import json
few, everything = (json.load(open(name + ".json"))["tree"] for name in ("few", "all"))
rest = [row for row in few["rows"] if row["name"] == "[more paths]"]
assert len(few["rows"]) - len(rest) <= 5 and rest, few
assert any(note.startswith(f"{sum(r['calls'] for r in rest):,} calls stand in [more paths]") for note in few["notes"]), few
for key in "calls", "self_ns": # nothing is lost
    assert sum(r[key] for r in few["rows"]) == sum(r[key] for r in everything["rows"]), key
tops = [sum(r["total_ns"] for r in t["rows"] if not r.get("depth")) for t in (few, everything)]
assert tops[0] == tops[1], tops
END

# --- Text ------------------------------------------------------------------------------------------

expect_ok "$FXTRACE" report --tree --top 0 work.fxt
expect_line '%  +[0-9.]+ [a-z]s +210  +again$' out
expect_line '  work$' out
expect_line '  main$' out
expect_ok env COLUMNS=20 "$FXTRACE" report --functions --function again --tree work.fxt
expect_ok "$FXTRACE" report --functions --color always --no-pager --tree work.fxt
expect_line '1mCall tree' out
expect_ok "$FXTRACE" report --function no_such_function --tree --functions work.fxt
expect_line 'no call of this name' out
expect_line 'no such call' out
expect_one_error 2 "$FXTRACE" report --tree --max-paths 0 work.fxt
expect_one_error 2 "$FXTRACE" report --tree --max-paths x work.fxt
expect_one_error 2 "$FXTRACE" report --tree --sort no_such_key work.fxt
expect_one_error 2 "$FXTRACE" report --function
patterns=()
for i in $(seq 65); do patterns+=(--function "f$i"); done
expect_one_error 2 "$FXTRACE" report "${patterns[@]}" work.fxt
