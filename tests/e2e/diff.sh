#!/bin/bash
# SPDX-License-Identifier: MIT
# `fxtrace diff': what changed between programs that know what they do otherwise, as a script computes it from the
# archives' records; the noise of several runs; bad input.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
need python3

cat >work.c <<'END'
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static volatile unsigned sum;
static void *volatile kept[100];
static void heavy(int n) { for (int i = 0; i < n; i++) sum = sum * 3 + 1; }
static void steady(void) { sum++; }
static void old_way(void) { sum++; }
static void new_way(void) { sum++; }
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *hold(void *arg) { pthread_mutex_lock(&lock); usleep(1000); pthread_mutex_unlock(&lock); return arg; }
int main(int argc, char **argv)
{
	int changed = argc > 1, fd = open("data", O_RDWR | O_CREAT, 0600), ends[2];
	pthread_t threads[2];

	heavy(changed ? 30000000 : 1000);
	for (int i = 0; i < 50; i++)
		steady();
	changed ? new_way() : old_way();
	for (int i = 0; i < (changed ? 7 : 3); i++)
		access("no-such-file", F_OK);
	if (changed)
		access("another-one", F_OK);
	for (int i = 0; i < (changed ? 4 : 1); i++)
		if (write(fd, "hello", 5) != 5 || pipe(ends) || write(ends[1], "abc", 3) != 3)
			return 1;
	for (int i = 0; i < 10; i++)
		kept[i] = malloc(changed ? 2000 : 1000);
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], 0, hold, 0);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], 0);
	return 0;
}
END
compile work -O0 -g -pthread -finstrument-functions work.c
record() { # ARCHIVE ARGUMENT...
	expect_ok "$FXTRACE" run -q -o "$1" --on-full block -c '#default,malloc' -- ./work "${@:2}"
	"$FXTRACE" dump --json "$1" >"${1%.fxt}.json" || fail "no dump of $1"
}
for i in 1 2 3; do
	record "old$i.fxt"
	record "new$i.fxt" changed
done
agree="$FX_SRCDIR/tests/e2e/diff_agree.py"
export PYTHONDONTWRITEBYTECODE=1

# --- One run of each side --------------------------------------------------------------------------

expect_ok "$FXTRACE" diff --json --all --top 0 old1.fxt new1.fxt
mv out one.json
python3 "$agree" one.json old1.json -- new1.json || fail "other changes"
python3 - one.json <<'END' || fail "other tables"
import json, sys
diff = json.load(open(sys.argv[1]))
def rows(table, name):
    return {tuple(r[key] for key in name): r for r in diff[table]["rows"]}
functions = rows("functions", ["name"])
assert functions["heavy",]["verdict"] == "slower", functions
assert functions["new_way",]["verdict"] == "new" and functions["old_way",]["verdict"] == "gone", functions
assert functions["new_way",]["self_ns_change_share"] is None, functions
calls = rows("syscalls", ["name"])["access",]
assert (calls["calls_before"], calls["calls_after"]) == (3, 8), calls
errors = rows("errors", ["call", "path"])
assert errors["access", "no-such-file"]["count_change"] == 4, errors
assert errors["access", "no-such-file"]["verdict"] == "more", errors
assert errors["access", "another-one"]["verdict"] == "new", errors
data = [r for r in diff["files"]["rows"] if r["name"].endswith("/data")]
assert len(data) == 1 and (data[0]["bytes_before"], data[0]["bytes_after"]) == (5, 20), data
# Pipes have other inodes in each run.
pipes = [r for r in diff["peers"]["rows"] if r["name"].startswith("pipe:[")]
assert [r["name"] for r in pipes] == ["pipe:[*]"] and pipes[0]["bytes_change"] == 9, pipes
assert {r["lock"] for r in diff["locks"]["rows"]} <= {"mutex lock (0x*)"}, diff["locks"]
leak = rows("leaks", ["site"])["main",]
assert leak["bytes_change"] == 10000 and leak["blocks_before"] == leak["blocks_after"], leak
assert leak["verdict"] == "more", leak
runs = diff["runs"]["rows"]
assert [(r["side"], r["file"], r["lost"]) for r in runs] == [("before", "old1.fxt", 0), ("after", "new1.fxt", 0)]
assert any("noise cannot be told" in n for n in diff["runs"]["notes"]), diff["runs"]
assert "slowest" not in diff and "findings" not in diff
END

# Two builds of one program lie in folders of their own.
mkdir before after
cp work before/tool
cp work after/tool
expect_ok "$FXTRACE" run -q -o before.fxt -- before/tool
expect_ok "$FXTRACE" run -q -o after.fxt -- after/tool
expect_ok "$FXTRACE" diff --processes --all --csv before.fxt after.fxt
expect_line '"tool"\s*$' out
expect_no_line '/tool"' out

# An archive has not changed against itself.
expect_ok "$FXTRACE" diff --json --top 0 old1.fxt old1.fxt
python3 - out <<'END' || fail "changes of nothing"
import json, sys
diff = json.load(open(sys.argv[1]))
assert len(diff) > 8, diff.keys()
assert all(not table["rows"] for name, table in diff.items() if name != "runs"), diff
assert any("did not change" in note for note in diff["functions"]["notes"])
END

# --- Several runs ----------------------------------------------------------------------------------

several=(--base old1.fxt --base old2.fxt --base old3.fxt new1.fxt new2.fxt new3.fxt)
expect_ok "$FXTRACE" diff --json --all --top 0 "${several[@]}"
mv out several.json
python3 "$agree" several.json old?.json -- new?.json || fail "other changes of several runs"
python3 - several.json <<'END' || fail "another noise"
import json, sys
diff = json.load(open(sys.argv[1]))
functions = {r["name"]: r for r in diff["functions"]["rows"]}
assert functions["new_way"]["verdict"] == "new" and functions["old_way"]["verdict"] == "gone", functions
access = [r for r in diff["syscalls"]["rows"] if r["name"] == "access"][0]
assert access["verdict"] in ("more", "slower", "faster"), access
END
# The same runs on both sides: all that differs is chance, but for what is always the same.
expect_ok "$FXTRACE" diff --json --all --top 0 --base old1.fxt --base old2.fxt --base old3.fxt old3.fxt old2.fxt old1.fxt
python3 - out <<'END' || fail "changes of the same runs"
import json, sys
for name, table in json.load(open(sys.argv[1])).items():
    if name != "runs":
        assert {r["verdict"] for r in table["rows"]} <= {"same", "noise"}, (name, table)
END
expect_ok "$FXTRACE" diff --functions --top 0 "${several[@]}"
expect_line '^ *change +self +\+- +after +\+- +calls +after +verdict +function' out
expect_no_line ' steady' <(grep -w -e same -e noise out)
expect_line '^means over runs' out

# --- What is compared, and how ---------------------------------------------------------------------

expect_ok "$FXTRACE" diff --functions --csv --by calls --sort name old1.fxt new1.fxt
tr -d '\r' <out | awk '/^$/ { n++; next } n' >table.csv
cat >want.csv <<'END'
calls_change,calls_change_share,calls_before,calls_after,verdict,name
1,,0,1,"new","new_way"
-1,-1,1,0,"gone","old_way"
END
expect_same_file want.csv table.csv
expect_ok "$FXTRACE" diff --functions --top 1 --by calls --all --sort before old1.fxt new1.fxt
expect_line ' steady$' out
expect_line '5 more; --top 0 shows all' out
expect_ok "$FXTRACE" diff --functions --threshold 100 --csv old1.fxt new1.fxt
expect_no_line 'heavy' out
expect_ok "$FXTRACE" diff --functions --name heavy --threshold 0% --csv old1.fxt new1.fxt
expect_equal 1 "$(grep -c heavy out)" "rows of the name"
expect_no_line 'new_way' out

# Of the tree, each way is a row.
expect_ok "$FXTRACE" diff --tree --json --all --top 0 --category function old1.fxt new1.fxt
python3 - out <<'END' || fail "another tree"
import json, sys
tree = {r["name"]: r for r in json.load(open(sys.argv[1]))["tree"]["rows"]}
assert tree.keys() == {"main", "heavy < main", "steady < main", "old_way < main", "new_way < main", "hold"}, tree.keys()
assert tree["steady < main"]["calls_before"] == 50 and tree["new_way < main"]["verdict"] == "new", tree
END

# A lock is the same one wherever it was taken.
cat >taken.c <<'END'
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t accounts = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both;
__attribute__((noinline, noclone)) static void by_hand(void) { pthread_mutex_lock(&accounts); usleep(1); }
__attribute__((noinline, noclone)) static void by_rule(void) { pthread_mutex_lock(&accounts); usleep(1); }
static void *waiter(void *arg)
{
	pthread_barrier_wait(&both);
	pthread_mutex_lock(&accounts);
	pthread_mutex_unlock(&accounts);
	return arg;
}
int main(int argc, char **argv)
{
	pthread_t thread;

	pthread_barrier_init(&both, 0, 2);
	argc > 1 ? by_rule() : by_hand();
	pthread_create(&thread, 0, waiter, 0);
	pthread_barrier_wait(&both);
	sleep(1);
	pthread_mutex_unlock(&accounts);
	pthread_join(thread, 0);
	return 0;
}
END
compile taken -O1 -pthread taken.c
expect_ok "$FXTRACE" run -q -o hand.fxt -- ./taken
expect_ok "$FXTRACE" run -q -o rule.fxt -- ./taken rule
expect_ok "$FXTRACE" report --waits hand.fxt
expect_line ' waiter  +by_hand$' out
expect_ok "$FXTRACE" diff --waits --all --json hand.fxt rule.fxt
python3 - out <<'END' || fail "another lock"
import json, sys
(row,) = json.load(open(sys.argv[1]))["locks"]["rows"]
assert row["lock"] == "mutex accounts (0x*)" and (row["waits_before"], row["waits_after"]) == (1, 1), row
END

# The way to a row may be longer than is shown.
cat >deep.c <<'END'
static int deeper(int n) { return n ? deeper(n - 1) + 1 : 0; }
int main(void) { return deeper(400) != 400; }
END
compile deep -O0 -g -finstrument-functions deep.c
expect_ok "$FXTRACE" run -q -o deep.fxt --on-full block -- ./deep
expect_ok "$FXTRACE" diff --tree --json --top 0 old1.fxt deep.fxt
python3 - out <<'END' || fail "another deep tree"
import json, sys
names = [r["name"] for r in json.load(open(sys.argv[1]))["tree"]["rows"] if r["name"].startswith("deeper")]
assert len(names) == 401 and "deeper < deeper < main" in names, names
assert sum(n.endswith("deeper < ...") for n in names) > 200 and max(map(len, names)) < 1024, names
END

# What only one side has recorded is said.
expect_ok "$FXTRACE" run -q -o plain.fxt --on-full block -- ./work
expect_ok "$FXTRACE" diff --memory plain.fxt old1.fxt
expect_line 'plain.fxt has no such table: there was none of it, or it was not recorded' out

# What was lost is said of each table.
expect_ok "$FXTRACE" run -q -o lossy.fxt -b 256K -m oneshot -- sh -c 'i=0; while [ $i -lt 20000 ]; do [ -e x ]; i=$((i+1)); done'
if "$FXTRACE" report --summary --json lossy.fxt | grep -q '"lost": [1-9]'; then
	expect_ok "$FXTRACE" diff --syscalls --all old1.fxt lossy.fxt
	expect_line '^records were lost \(see the runs above\), so numbers are too low: lossy.fxt' out
	expect_line '^lossy.fxt: .*records were lost' out
else
	fail "nothing was lost"
fi

# --- Bad input -------------------------------------------------------------------------------------

echo "not an archive" >text.fxt
: >empty.fxt
for bad in no-such-file.fxt text.fxt empty.fxt; do
	expect_one_error 1 "$FXTRACE" diff "$bad" old1.fxt
	expect_one_error 1 "$FXTRACE" diff old1.fxt "$bad"
	expect_line "$bad" err
done
expect_one_error 2 "$FXTRACE" diff
expect_one_error 2 "$FXTRACE" diff old1.fxt
expect_one_error 2 "$FXTRACE" diff old1.fxt old2.fxt old3.fxt
expect_one_error 2 "$FXTRACE" diff --base old1.fxt
expect_one_error 2 "$FXTRACE" diff --by no_such_key old1.fxt new1.fxt
expect_one_error 2 "$FXTRACE" diff --by name old1.fxt new1.fxt
expect_one_error 2 "$FXTRACE" diff --sort size old1.fxt new1.fxt
for percent in -1 101 nan 5x ''; do
	expect_one_error 2 "$FXTRACE" diff --threshold "$percent" old1.fxt new1.fxt
done

# What is whole of a damaged one; through a pipe; a terminal of twenty columns; a reader that has seen enough.
head -c $(($(stat -c %s old1.fxt) * 3 / 4 + 3)) old1.fxt >cut.fxt
expect_one_error 1 "$FXTRACE" diff cut.fxt new1.fxt
expect_line 'cut.fxt: offset .*; the comparison is of what is whole' err
expect_line '^cut.fxt: the archive is damaged' out
"$FXTRACE" diff --functions --json --all --top 0 - new1.fxt <old1.fxt >pipe.json || fail "no comparison from a pipe"
sed 's/"-"/"old1.fxt"/; s/"-: /"old1.fxt: /g' pipe.json >named.json
expect_ok "$FXTRACE" diff --functions --json --all --top 0 old1.fxt new1.fxt
expect_same_file out named.json
COLUMNS=20 "$FXTRACE" diff old1.fxt new1.fxt >narrow.out || fail "no comparison of twenty columns"
"$FXTRACE" diff --top 0 --all old1.fxt new1.fxt | head -n 1 >head.out
status=${PIPESTATUS[0]}
[ "$status" -eq 0 ] || [ "$status" -eq 141 ] || fail "a closed pipe is an error"
