#!/bin/bash
# SPDX-License-Identifier: MIT
# What reads archives and prints (report, replay, query, info) on archives with nothing in them, with a million threads,
# with names that a terminal would obey; that are cut, damaged or none at all; to readers that go away, and interrupted:
# a right result, or one clear line.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

sample=$FX_BUILDDIR/tests/convert/write_sample
all=(--summary --processes --waits --syscalls --files --memory --functions --tree --function '*')

# show WHAT FILE: what a user may ask of it.
show() {
	case $1 in
	report) "$FXTRACE" report --no-pager --top 0 "${all[@]}" "$2" ;;
	json) "$FXTRACE" report --json --top 0 "${all[@]}" "$2" ;;
	csv) "$FXTRACE" report --csv --top 0 "${all[@]}" "$2" ;;
	replay) "$FXTRACE" replay --no-pager --instants --counters "$2" ;;
	follow) "$FXTRACE" replay --follow --instants --counters "$2" ;;
	query) "$FXTRACE" query --no-pager "$2" 'select name, category from slice union select name, name from thread' ;;
	info) "$FXTRACE" info "$2" ;;
	esac
}

# --- Nothing ---------------------------------------------------------------------------------------

"$sample" nothing >nothing.fxt || fail "no sample"
for what in report json csv replay query info; do
	expect_ok show "$what" nothing.fxt
	said=''
	[ "$what" != replay ] || said='fxtrace replay: nothing.fxt: no call is in it'
	expect_equal "$said" "$(cat err)" "what $what says of an archive without events"
	cp out "nothing.$what"
done
expect_equal '' "$(cat nothing.replay)" "replay of nothing"
expect_line '^Call tree' nothing.report
expect_line '^no call is in the archive' <("$FXTRACE" report --tree nothing.fxt)
expect_line 'no events' nothing.info
python3 - <<'END' || fail "rows of nothing"
import csv, json
tables = json.load(open("nothing.json"))
assert len(tables) > 15 and not any(t["rows"] for n, t in tables.items() if n != "summary"), tables
lines = [row for row in csv.reader(open("nothing.csv", newline="")) if row]
assert len(lines) == len(tables) + 1, lines # keys, and the summary's zeros
assert sum("depth" in line for line in lines) == 2, lines # processes, and the tree
END

# --- Names -----------------------------------------------------------------------------------------

# expect_harmless FILE: UTF-8 without anything that a terminal would obey.
expect_harmless() {
	python3 - "$1" <<'END' || fail "$1 (of $name): $(cat -v "$1" | head -n 20)"
import sys, unicodedata
text = open(sys.argv[1], encoding="utf-8").read()
bad = {c for c in text if unicodedata.category(c) == "Cc" and c != "\n"}
assert not bad, bad
END
}

for name in hostile bad_text names; do
	"$sample" "$name" >hostile.fxt || fail "no sample"
	for what in report json replay follow query info; do
		for columns in 20 200; do
			COLUMNS=$columns show "$what" hostile.fxt >shown 2>err || fail "$what of $name: $(cat err)"
			expect_harmless shown
		done
	done
	show csv hostile.fxt >shown || fail "csv of $name"
	tr -d '\r' <shown >plain
	expect_harmless plain
	python3 -c 'import csv, sys
assert list(csv.reader(open("shown", newline="", encoding="utf-8")))' || fail "CSV of $name"
	show json hostile.fxt | python3 -c 'import json, sys; json.load(sys.stdin)' || fail "JSON of $name"
	for format in json speedscope collapsed callgrind; do
		"$FXTRACE" convert -f "$format" hostile.fxt - >shown 2>err || fail "$format of $name: $(cat err)"
		expect_harmless shown
	done
done

# --- Many threads ----------------------------------------------------------------------------------

python3 "$FX_SRCDIR/tests/e2e/many_threads.py" 1000000 >threads.fxt || fail "no archive"
"$FXTRACE" report --functions --tree --waits --json threads.fxt >threads.json || fail "no report of a million threads"
python3 - <<'END' || fail "another report of a million threads"
import json
report = json.load(open("threads.json"))
rows = {r["name"]: r for r in report["functions"]["rows"]}
assert rows["work"]["calls"] == rows["inner"]["calls"] == 1000000, rows
assert rows["work"]["total_ns"] == 8000000 and rows["work"]["self_ns"] == 5000000, rows
tree = [(r.get("depth", 0), r["name"], r["calls"], r["total_ns"]) for r in report["tree"]["rows"]]
assert tree == [(0, "work", 1000000, 8000000), (1, "inner", 1000000, 3000000)], tree
END
python3 "$FX_SRCDIR/tests/e2e/many_threads.py" 20000 >threads.fxt || fail "no archive"
expect_ok "$FXTRACE" query --no-pager --csv threads.fxt 'select count(distinct utid) as n from thread_track'
expect_line '^20000' out
"$FXTRACE" replay --no-pager threads.fxt >replayed || fail "no replay of many threads"
expect_equal 60000 "$(wc -l <replayed)" "lines of 20000 threads"
expect_ok "$FXTRACE" info threads.fxt
expect_line '20,000 threads' out

# --- Readers that go away, and impatience -----------------------------------------------------------

for what in report replay query csv json; do
	show "$what" threads.fxt 2>closed.err | head -n 1 >closed.out
	status=${PIPESTATUS[0]}
	[ "$status" -eq 0 ] || [ "$status" -eq 141 ] || fail "$what: status $status for a reader that has gone"
	expect_equal '' "$(cat closed.err)" "what $what says to a reader that has gone"
done

# It waits for what comes through a pipe, and dies of the signal; nothing is left behind.
mkdir spilled
mkfifo pipe
for what in report replay query; do
	more=()
	[ "$what" != query ] || more=('select 1')
	# Bash lets what it starts in the background ignore SIGINT.
	TMPDIR=$PWD/spilled python3 -c 'import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])' "$FXTRACE" "$what" - "${more[@]}" <pipe >int.out 2>int.err &
	pid=$!
	exec 7>pipe
	head -c 100000 threads.fxt >&7
	wait_for 60 sh -c "[ \"\$(readlink /proc/$pid/exe)\" = \"\$(readlink -f '$FXTRACE')\" ] || cat /proc/$pid/comm | grep -q fxtrace"
	kill -INT "$pid"
	status=0
	wait "$pid" || status=$?
	exec 7>&-
	expect_equal 130 "$status" "$what: status after Ctrl-C"
	expect_equal '' "$(cat int.err)" "what $what says after Ctrl-C"
done
expect_equal '' "$(ls spilled)" "files that stay"

# --- What is damaged, or no archive -----------------------------------------------------------------

cat >work.c <<'END'
#include <stdlib.h>
#include <unistd.h>
static int again(int n) { return n ? again(n - 1) : getppid(); }
int main(void)
{
	for (int i = 0; i < 20; i++)
		free(malloc(again(i % 5) % 100));
	return 0;
}
END
compile work -O0 -g -w -finstrument-functions work.c
expect_ok "$FXTRACE" run -q -o work.fxt -c '#default,malloc' -- ./work
gzip -c work.fxt >work.fxt.gz
size=$(stat -c %s work.fxt)

# expect_said WHAT FILE: a right result, or status 1 and one line.
expect_said() {
	local status=0

	show "$1" "$2" >out 2>err || status=$?
	[ "$status" -le 1 ] || fail "$1 of $2: status $status: $(cat err)"
	[ "$(wc -l <err)" -le 2 ] || fail "$1 of $2 says: $(cat err)"
	# Of info, the damage is a line of what it prints.
	if [ "$status" -eq 1 ]; then
		grep -qE '^fxtrace|^damage ' err out || fail "$1 of $2 says nothing"
	fi
}

# expect_refused FILE: it is none.
expect_refused() {
	local what

	for what in report json replay query; do
		expect_one_error 1 show "$what" "$1"
		expect_line "$1" err
	done
	expect_status 1 show info "$1"
	cat out err >said
	expect_line '^fxtrace.*: |^damage +[^n]' said
}

for part in 1 2 3 4 5; do
	head -c $((size * part / 6 + part)) work.fxt >"cut.$part.fxt"
	for what in report replay query info; do
		expect_said "$what" "cut.$part.fxt"
	done
done
head -c $(($(stat -c %s work.fxt.gz) / 2)) work.fxt.gz >cut.fxt.gz
for what in report replay query; do
	expect_one_error 1 show "$what" cut.fxt.gz
done
expect_status 1 show info cut.fxt.gz
expect_line '^damage +[^n]' out
python3 - <<'END'
import random
random.seed(11)
data = open("work.fxt", "rb").read()
for n in range(12):
    bad = bytearray(data)
    for _ in range(1 + n):
        bad[random.randrange(16, len(bad))] = random.randrange(256)
    open(f"damaged.{n}.fxt", "wb").write(bad)
END
for file in damaged.*.fxt; do
	for what in report json replay query info; do
		expect_said "$what" "$file"
	done
done
: >empty.fxt
echo 'not an archive' >text.fxt
cp "$(type -P cat)" program.fxt
mkdir folder.fxt
printf '\037\213\010garbage' >garbage.fxt.gz
for file in empty.fxt text.fxt program.fxt folder.fxt garbage.fxt.gz missing.fxt; do
	expect_refused "$file"
done
