#!/bin/bash
# SPDX-License-Identifier: MIT
# `fxtrace report': numbers as a script computes them from the archive's records, styles that agree, bad input.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

cat >work.c <<'END'
#include <pthread.h>
#include <unistd.h>
static int leaf(int x) { return x * 3; }
static int again(int n) { return n ? again(n - 1) + leaf(n) : 0; }
static void *work(void *arg)
{
	for (int i = 0; i < 100; i++)
		again(i % 7);
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

# --- Numbers ---------------------------------------------------------------------------------------

expect_ok "$FXTRACE" report --functions --top 0 --json work.fxt
mv out report.json
python3 "$FX_SRCDIR/tests/e2e/report_functions.py" work.json report.json || fail "other numbers"

expect_ok "$FXTRACE" report --functions --sort calls --top 1 work.fxt
expect_line '3 more; --top 0 shows all' out
expect_line ' again$' out
expect_no_line ' leaf$' out

# Each style has the same rows.
expect_ok "$FXTRACE" report --functions --top 0 --csv work.fxt
expect_equal 'self_ns,self_share,total_ns,calls,min_ns,mean_ns,p50_ns,p99_ns,max_ns,name' \
	"$(head -n 1 out | tr -d '\r')" "keys of CSV"
python3 - out report.json <<'END' || fail "CSV and JSON differ"
import csv, json, sys
rows = list(csv.DictReader(open(sys.argv[1], newline="")))
others = json.load(open(sys.argv[2]))["functions"]["rows"]
assert len(rows) == len(others) == 4, (rows, others)
for row, other in zip(rows, others):
    for key, value in other.items():
        assert row[key] == str(value) or abs(float(row[key]) - value) < 1e-6, (key, row, other)
END

# --- What matters most ------------------------------------------------------------------------------

cat >slow.c <<'END'
#include <poll.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
static void *nap(void *arg) { usleep(300000); return arg; }
int main(void)
{
	pthread_t thread;

	poll(0, 0, 300);
	usleep(300000);
	if (fork() == 0)
		return nap(0) != 0;
	wait(0);
	pthread_create(&thread, 0, nap, 0);
	pthread_join(thread, 0);
	return 0;
}
END
compile slow -O0 -pthread slow.c
expect_ok "$FXTRACE" run -q -o slow.fxt -- ./slow
for top in 20 2 0; do
	"$FXTRACE" report --summary --json --top "$top" slow.fxt >"slow.$top.json" || fail "no summary"
done
expect_ok "$FXTRACE" report --summary slow.fxt
expect_line 'more; --top 0 shows all' out
python3 - <<'END' || fail "other findings"
import json
tables = {top: json.load(open(f"slow.{top}.json"))["findings"] for top in (20, 2, 0)}
rows = {top: [r["finding"] for r in table["rows"]] for top, table in tables.items()}
assert len(rows[0]) >= 4 and tables[0]["left_out"] == 0, tables
assert rows[20] == rows[0][:3] and tables[20]["left_out"] == len(rows[0]) - 3, tables
assert rows[2] == rows[0][:2] and tables[2]["left_out"] == len(rows[0]) - 2, tables
END

# --- Processes -------------------------------------------------------------------------------------

cat >tree.sh <<'END'
sleep 0.4 &
sleep 0.1
wait
sh -c 'kill -9 $$'
sh -c 'exit 3'
END
expect_status 3 "$FXTRACE" run -q -o tree.fxt -- sh tree.sh
expect_ok "$FXTRACE" report --processes --top 0 --json tree.fxt
python3 - out <<'END' || fail "another tree"
import json, sys
report = json.load(open(sys.argv[1]))
rows = [(r.get("depth", 0), r["command"], r["end"]) for r in report["processes"]["rows"]]
print(rows)
assert rows[0] == (0, "sh", "status 3") or rows[0][1:] == ("sh tree.sh", "status 3"), rows
children = [r[1:] for r in rows[1:]]
assert all(r[0] == 1 for r in rows[1:]), rows
assert ("sleep 0.4", "status 0") in children and ("sleep 0.1", "status 0") in children, rows
assert [r[1] for r in rows].count("SIGKILL") == 0 and [r[2] for r in rows].count("SIGKILL") == 1, rows
# One sleep was waited for, the other one ran beside it; times of the chain do not overlap and fill the span.
chain = report["chain"]["rows"]
commands = {r["command"] for r in chain}
assert "sleep 0.4" in commands and "sleep 0.1" not in commands, commands
spans = sorted((r["from_ns"], r["from_ns"] + r["time_ns"]) for r in chain)
assert all(a[1] == b[0] for a, b in zip(spans, spans[1:])), spans
first = report["processes"]["rows"][0]
assert sum(r["time_ns"] for r in chain) == first["lifetime_ns"], (chain, first)
assert first["waited_most_for"] in ("a child", "a signal"), first # wait is sigsuspend() in dash
END

# A process is called what it became last, by whichever of its threads.
cat >becomes.c <<'END'
#include <pthread.h>
#include <unistd.h>
static void *becomes(void *unused)
{
	execlp("sh", "sh", "-c", "exec sleep 0", (char *)0);
	return unused;
}
int main(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, becomes, NULL);
	pthread_join(thread, NULL);
	return 1;
}
END
compile becomes -O0 -w becomes.c -pthread
expect_ok "$FXTRACE" run -q -o becomes.fxt -- ./becomes
expect_ok "$FXTRACE" report --processes --csv becomes.fxt
expect_line ',"sleep 0",0' out

# --- Memory ----------------------------------------------------------------------------------------

cat >heap.c <<'END'
#include <pthread.h>
#include <stdlib.h>
static void *volatile kept[40];
static void temporary(void) { free(malloc(100)); }
static void *leak(int size) { return malloc(size); }
static void *frees(void *arg) { free(arg); return 0; }
static void brief(void) { free(malloc(12000)); }
static void grow(void) { kept[30] = realloc(realloc(malloc(10), 20), 3000); }
int main(void)
{
	pthread_t thread;
	void *block;

	for (int i = 0; i < 50; i++)
		temporary();
	for (int i = 0; i < 20; i++)
		kept[i] = leak(1000);
	grow();
	if (posix_memalign(&block, 64, 640))
		return 1;
	pthread_create(&thread, 0, frees, block);
	pthread_join(thread, 0);
	brief();
	return 0;
}
END
compile heap -O0 -g -pthread -finstrument-functions heap.c
expect_ok "$FXTRACE" run -q -o heap.fxt -c '#default,malloc' --on-full block -- ./heap
expect_ok "$FXTRACE" report --memory --top 0 --json heap.fxt
python3 - out <<'END' || fail "another heap"
import json, sys
report = json.load(open(sys.argv[1]))
leaks = {r["site"]: r for r in report["leaks"]["rows"]}
sites = {r["site"]: r for r in report["allocations"]["rows"]}
assert leaks["leak"]["bytes"] == 20000 and leaks["leak"]["blocks"] == 20, leaks
assert leaks["grow"]["bytes"] == 3000 and leaks["grow"]["blocks"] == 1, leaks
assert "temporary" not in leaks, leaks
assert sites["temporary"]["blocks"] == 50 and sites["temporary"]["temporary"] == 50, sites
assert sites["temporary"]["bytes"] == 5000 and sites["temporary"]["mean_bytes"] == 100, sites
assert sites["grow"]["blocks"] == 3 and sites["grow"]["bytes"] == 3030, sites
# What another thread has freed is neither a leak nor temporary.
assert leaks.get("main", {}).get("bytes", 0) < 640, leaks
row = report["memory"]["rows"][0]
assert row["allocations"] >= 75 and row["temporary"] >= 50 and row["peak_bytes"] >= 23000 + 12000, row
END
# Without the calls of malloc, the counter says how much.
expect_ok "$FXTRACE" report --memory --csv tree.fxt
expect_line '^[0-9]' out

# --- Filters ---------------------------------------------------------------------------------------

calls() { # OPTION...: calls of leaf in the report
	"$FXTRACE" report --functions --json --top 0 "$@" work.fxt >calls.json || fail "report $* fails"
	python3 -c 'import json
print(sum(r["calls"] for r in json.load(open("calls.json"))["functions"]["rows"] if r["name"] == "leaf"))'
}

all=$(calls)
expect_equal 890 "$all" "calls of leaf"
expect_equal "$all" "$(calls --process work)" "calls of the process"
expect_equal 0 "$(calls --process other)" "calls of another process"
expect_equal "$all" "$(calls --name 'l*f')" "calls of the name"
expect_equal 0 "$(calls --category 'sys*')" "calls of another category"
expect_equal "$all" "$(calls --to 1000s)" "calls until far behind the end"
expect_equal 0 "$(calls --from 1000s)" "calls from far behind the end"
main=$(python3 -c 'import json
print(next(json.loads(l)["koid"] for l in open("work.json") if "\"type\":\"process\"" in l.replace(" ", "")))')
expect_equal 5 "$(calls --thread "$main")" "calls of the first thread"
half=$(calls --to 1ms)
[ $((half + $(calls --from 1000001ns))) -ge "$all" ] || fail "calls are lost between two parts of the time"

# --- At the end of a run ----------------------------------------------------------------------------

expect_status 3 "$FXTRACE" run --report -q -o ran.fxt.zst -- sh -c 'echo the program; exit 3'
expect_line '^the program' out
expect_line '^What matters most' out
expect_status 3 env FXTRACE_REPORT=1 "$FXTRACE" run -q -o ran.fxt -- sh -c 'exit 3'
expect_line '^Summary' out
expect_one_error 2 "$FXTRACE" run --report -o - -- true
expect_one_error 2 "$FXTRACE" record --report -- true
expect_one_error 2 "$FXTRACE" start --report

# --- Bad input -------------------------------------------------------------------------------------

expect_one_error 1 "$FXTRACE" report no-such-file.fxt
echo "not an archive" >text.fxt
expect_one_error 1 "$FXTRACE" report text.fxt
: >empty.fxt
expect_one_error 1 "$FXTRACE" report empty.fxt
expect_one_error 2 "$FXTRACE" report --sort no_such_key work.fxt
expect_one_error 2 "$FXTRACE" report --top many work.fxt
expect_one_error 2 "$FXTRACE" report --from 5s --to 1s work.fxt
expect_one_error 2 "$FXTRACE" report --color blue work.fxt
expect_one_error 2 "$FXTRACE" report work.fxt work.fxt
expect_one_error 2 "$FXTRACE" report --no-such-section work.fxt

# What is whole of a damaged one.
head -c $(($(stat -c %s work.fxt) * 3 / 4 + 3)) work.fxt >cut.fxt
expect_status 1 "$FXTRACE" report --functions cut.fxt
expect_line ' again$' out
expect_line 'the report is of what is whole' err

# A reader that has seen enough; a terminal of twenty columns; an archive through a pipe.
"$FXTRACE" report --top 0 work.fxt | head -n 1 >head.out
status=${PIPESTATUS[0]}
[ "$status" -eq 0 ] || [ "$status" -eq 141 ] || fail "a closed pipe is an error"
COLUMNS=20 "$FXTRACE" report --functions work.fxt >narrow.out || fail "no report of twenty columns"
# One of eighty does without some columns, and cuts neither what a function is called nor what matters most.
cat >long_names.c <<'END'
#define LONG(n) __attribute__((noinline)) static int a_function_with_a_name_of_some_length_##n(int x) { return x + n; }
LONG(1) LONG(2)
int main(void)
{
	volatile int sum = 0;

	for (int i = 0; i < 200000; i++)
		sum += a_function_with_a_name_of_some_length_1(i) + a_function_with_a_name_of_some_length_2(i);
	return 0;
}
END
compile long_names -O0 -w -finstrument-functions long_names.c
expect_ok "$FXTRACE" run -q --on-full block -o long_names.fxt -- ./long_names
COLUMNS=80 "$FXTRACE" report --summary --functions --processes long_names.fxt >eighty.out || fail "no report of eighty columns"
expect_line '  a_function_with_a_name_of_some_[a-z_12]*(…|[12])$' eighty.out
expect_line '^\(no room for: .*min.*\)$' eighty.out
expect_equal "" "$(grep -E '^ *[0-9.]+ [nmu]?s ' eighty.out | sed 's,…,.,' | awk 'length > 80')" "rows wider than eighty columns"
tr '\n' ' ' <eighty.out | tr -s ' ' >words.out
expect_line 'has [0-9]+ % of the time of (fxtrace report --functions )?all functions, in (1 call|200,000 calls) ' words.out
"$FXTRACE" report --functions --json --top 0 - <work.fxt >pipe.json || fail "no report from a pipe"
expect_same_file report.json pipe.json

# On a terminal: in colour, through a pager.
if command -v script >/dev/null; then
	script -qec "FXTRACE_PAGER='sed s/^/paged:/' TERM=xterm NO_COLOR= '$FXTRACE' report --functions work.fxt" \
		/dev/null </dev/null >paged.out
	expect_line '^paged:.\[1mFunctions' paged.out
fi
