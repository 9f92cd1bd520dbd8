#!/bin/bash
# SPDX-License-Identifier: MIT
# `fxtrace measure': of an archive whose every number is known, and of a program as a script computes it from the
# archive's records; limits and their statuses; bad input.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
need python3

# --- Known numbers ---------------------------------------------------------------------------------

python3 "$FX_SRCDIR/tests/e2e/measure_archive.py" known.fxt || fail "no archive"
cat >known.measure <<'END'
# Every time of this archive is known.
work: duration of "work"
even: duration of "w?rk" where arg.kind = "even" and category = "test"
odd: duration of "work" where arg.kind != "even"
short: duration of "work" where duration <= 10us and tid = 101
some: duration of "work" where (arg.index < 3 or arg.index >= 100) and not tid = 100
index: value arg.index of "work"
none: value arg.kind of "work"
early: count of "*" where at < 1us
latency: time from "send" to "recv" by arg.id
blind: time from "send" to "recv"
period: time from "send" to "send"
within: time from begin of "work" to end of "work" by thread, arg.index
fetch: duration of "fetch"
small: duration of "fetch" where arg.size < 3 and duration > 6 us
done: value arg.done of "fetch"
span: time from begin of "fetch" to end of "fetch" by arg.size
level: value arg.value of "level"
open: duration of "open"
nothing: duration of "no such event"
END
expect_ok "$FXTRACE" measure --json known.measure known.fxt
python3 - out <<'END' || fail "other numbers"
import json, sys
m = {m["name"]: m for m in json.load(open(sys.argv[1]))["measurements"]}
def check(name, **wanted):
    for key, value in wanted.items():
        key = key.replace("p99_9", "p99.9")
        assert m[name][key] == value, (name, key, m[name])
check("work", unit="ns", count=200, sum=10_100_000, min=1000, mean=50_500, p50=50_000, p90=90_000, p95=95_000,
      p99=99_000, p99_9=100_000, max=100_000, notes=[], limits=[])
check("even", count=100, min=2000, max=100_000, sum=5_100_000)
check("odd", count=100, min=1000, max=99_000, sum=5_000_000)
check("short", count=10, max=10_000)
check("some", count=3, sum=103_000)
check("index", unit="", count=200, sum=10_100, p99=99)
check("none", count=0, sum=0, max=None)
assert m["none"]["notes"][1].startswith("200 events do not have"), m["none"]
check("early", count=2)
check("latency", count=9, sum=450_000, min=10_000, p50=50_000, max=90_000)
assert m["latency"]["notes"] == ["1 begins have no end", "1 ends have no begin"], m["latency"]
# Without the id, the tenth is taken for the one nobody sent.
check("blind", count=10, max=20_500_000 - 20_009_000)
check("period", count=9, sum=9000, max=1000)
check("within", count=200, sum=10_100_000, p50=50_000)
check("fetch", count=3, sum=21_000, max=9000)
assert m["fetch"]["notes"][0].startswith("1 events did not finish"), m["fetch"]
check("small", count=1, sum=7000)
check("done", count=3, sum=33)
check("span", count=3, sum=21_000)
check("level", count=3, sum=60, mean=20, deviation=10)
check("open", count=0)
assert any("did not finish" in n for n in m["open"]["notes"]), m["open"]
assert m["nothing"]["notes"] == ["no event matched"] and m["nothing"]["min"] is None, m["nothing"]
END

# The same as CSV; counts have no other statistic.
expect_status 1 "$FXTRACE" measure --csv -e 'work: duration of "work" limit p99 < 1us, count = 200' \
	-e '"a, b": count of "level"' -e 'none: value arg.kind of "work"' known.fxt
python3 - out <<'END' || fail "other CSV: $(cat out)"
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1], newline="")))
assert [r["name"] for r in rows] == ["work", "a, b", "none"], rows
assert rows[0]["unit"] == "ns" and float(rows[0]["p99.9"]) == 100000 and float(rows[0]["sum"]) == 10100000, rows
assert rows[0]["limits"] == "2" and rows[0]["limits_broken"] == "1", rows
assert rows[1]["count"] == "3" and rows[1]["unit"] == rows[1]["max"] == rows[1]["sum"] == "", rows
assert rows[2]["count"] == "0" and rows[2]["max"] == "" and rows[2]["limits"] == "0", rows
END

# --- A program -------------------------------------------------------------------------------------

cat >work.c <<'END'
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>
static int leaf(int x) { return x * 3; }
static int again(int n) { return n ? again(n - 1) + leaf(n) : 0; }
static void *work(void *arg) { for (int i = 0; i < 100; i++) again(i % 7); return arg; }
int main(void)
{
	pthread_t thread;
	int fd = open("data", O_WRONLY | O_CREAT, 0600);

	for (int i = 0; i < 5; i++)
		access("no-such-file", F_OK);
	for (int i = 1; i <= 4; i++)
		if (write(fd, "hello, world", i) != i)
			return 1;
	close(fd);
	pthread_create(&thread, 0, work, 0);
	work(0);
	pthread_join(thread, 0);
	return 0;
}
END
compile work -O0 -g -pthread -finstrument-functions work.c
expect_ok "$FXTRACE" run -q -o work.fxt --on-full block -- ./work
"$FXTRACE" dump --json work.fxt >work.json
cat >work.measure <<'END'
leaf: duration of "leaf"                              limit count = 590
long: duration of "*" where category ~ "function*" and duration > 1us
calls: count of "*" where category ~ "syscall*"
failed: count of "*" where category ~ "syscall*" and has arg.errno
written: value arg.ret of "write" where arg.file ~ "*/data"
	limit sum = 10, max = 4
intervals: time from "again" to "again" by thread
held: time from end of "open" where arg.path ~ "*data" to "close" where arg.file ~ "*/data"
	limit count = 1
END
sed -i 's/^intervals: .*/intervals: time from "again" where process = "work" and tid = MAIN to "again" where tid = MAIN/' work.measure
main=$(python3 -c 'import json
print(next(r["tid"] for r in map(json.loads, open("work.json")) if r["kind"] == "event" and r.get("name") == "main"))')
sed -i "s/MAIN/$main/g" work.measure
expect_ok "$FXTRACE" measure --json work.measure work.fxt
mv out measured.json
python3 "$FX_SRCDIR/tests/e2e/measure_agree.py" work.json measured.json || fail "a script measures otherwise"
expect_ok "$FXTRACE" measure work.measure - <work.fxt
expect_line '^leaf: pass$' out
expect_line '^4 of 4 limits hold$' out

# --- Limits ----------------------------------------------------------------------------------------

holds() { expect_ok "$FXTRACE" measure -e "$1" known.fxt; expect_no_line FAIL out; }
breaks() { expect_status 1 "$FXTRACE" measure -e "$1" known.fxt; expect_line FAIL out; }
holds 'duration of "work" limit p99 < 99.001us, p99 >= 99 us, count = 200, max != 1s'
breaks 'duration of "work" limit p99 < 99us'
breaks 'duration of "work" limit count = 200, mean > 50.5us'
holds 'value arg.value of "level" limit sum <= 60, sum >= 60, deviation = 10'
# Of nothing, only the count is known.
holds 'count of "no such event" limit count = 0'
breaks 'duration of "no such event" limit max < 100s'
breaks 'duration of "no such event" limit sum = 0s'
breaks 'duration of "open" limit max < 100s'
expect_line 'it is nothing$' out
expect_status 1 "$FXTRACE" measure --json -e 'a: count of "level" limit count = 3' -e 'b: count of "level" limit count > 3' known.fxt
python3 - out <<'END' || fail "other limits"
import json, sys
m = json.load(open(sys.argv[1]))
assert m["pass"] is False and m["whole"] is True and m["lost"] == 0, m
assert [x["pass"] for x in m["measurements"]] == [True, False], m
assert m["measurements"][1]["limits"] == [
    {"statistic": "count", "operator": ">", "limit": 3, "value": 3, "pass": False}], m
END

# Filters decide by the begin of events, and cut nothing.
count() { "$FXTRACE" measure --json -e 'x: duration of "work"' "$@" known.fxt |
	python3 -c 'import json, sys; m = json.load(sys.stdin)["measurements"][0]; print(m["count"], m["max"])'; }
expect_equal '100 100000' "$(count --thread 101)" "work of a thread"
expect_equal '2 1000' "$(count --to 1us)" "work until 1 us"
expect_equal '0 None' "$(count --name other)" "work of another name"
expect_equal '200 100000' "$(count --process 100 --category 'te*')" "work of the process"

# --- Bad input -------------------------------------------------------------------------------------

bad() { # PLACE REGEX EXPRESSION
	expect_one_error 2 "$FXTRACE" measure -e "$3" known.fxt
	expect_line "^fxtrace measure: -e:$1: .*$2" err
	expect_equal 0 "$(wc -c <out)" "bytes on stdout of $3"
}
bad 1:10 'not x' 'count of x'
bad 1:32 'time with its unit' 'duration of "work" limit p99 < 20'
printf 'ok: count of "x"\n\nbad: count of "y" wher tid = 1\n' >bad.measure
expect_one_error 2 "$FXTRACE" measure bad.measure known.fxt
expect_line '^fxtrace measure: bad.measure:3:19: expected .where., .limit. or the end of the line, not wher$' err
for text in '' '# nothing' 'count of "x' 'count of "x" where ((((' $'count of \033[2J'; do
	printf %s "$text" >bad.measure
	expect_one_error 2 "$FXTRACE" measure bad.measure known.fxt
	expect_no_line $'\033' err
done
head -c 100000 /dev/urandom >bad.measure
expect_one_error 2 "$FXTRACE" measure bad.measure known.fxt
head -c 2000000 /dev/zero >bad.measure
expect_one_error 2 "$FXTRACE" measure bad.measure known.fxt
expect_one_error 2 "$FXTRACE" measure
expect_one_error 2 "$FXTRACE" measure known.measure known.fxt known.fxt
expect_one_error 2 "$FXTRACE" measure -e 'count of "x"' known.fxt known.fxt
expect_one_error 2 "$FXTRACE" measure . known.fxt
# An archive in the place of what is to be measured.
gzip -kf known.fxt
for archive in known.fxt known.fxt.gz; do
	expect_one_error 2 "$FXTRACE" measure "$archive"
	expect_line "^fxtrace measure: $archive: this is a trace archive; .* SPEC or -e EXPR$" err
done
expect_one_error 2 "$FXTRACE" measure no-such-file known.fxt
expect_one_error 2 "$FXTRACE" measure known.measure no-such-file.fxt
echo "not an archive" >text.fxt
: >empty.fxt
for bad in text.fxt empty.fxt; do
	expect_one_error 2 "$FXTRACE" measure known.measure "$bad"
	expect_line "$bad" err
done
# What is whole of a damaged one is measured, but is no test.
head -c $(($(stat -c %s known.fxt) - 40)) known.fxt >cut.fxt
expect_one_error 2 "$FXTRACE" measure -e 'count of "work" limit count = 200' cut.fxt
expect_line 'cut.fxt: offset .*; measured is what is whole' err
expect_line '^ *count 200$' out

# What was lost is said.
expect_ok "$FXTRACE" run -q -o lossy.fxt -b 256K -m oneshot -- sh -c 'i=0; while [ $i -lt 20000 ]; do [ -e x ]; i=$((i+1)); done'
expect_status 1 "$FXTRACE" measure -e 'count of "records dropped" limit count = 0' lossy.fxt
expect_line '^[1-9][0-9]{0,2}(,[0-9]{3})* records were lost' out
