#!/bin/bash
# SPDX-License-Identifier: MIT
# `fxtrace query' and `convert -f sqlite': what SQL says of an archive is what follows from the dump, what the report
# says, and what sqlite says itself; statements can do nothing but read; whatever names an archive has, they are values.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

need python3 sqlite3
sample=$FX_BUILDDIR/tests/convert/write_sample
counts=$FX_SRCDIR/tests/convert/counts
tables="$FX_SRCDIR/tests/e2e/query_tables.py"
joins="$FX_SRCDIR/tests/e2e/query_joins.py"

# same ARCHIVE: a database holds what queries are answered from, in every table and view.
same() {
	rm -f same.sqlite
	"$FXTRACE" convert -f sqlite "$1" same.sqlite 2>same.err
	[ -s same.sqlite ] || fail "no database of $1: $(cat same.err)"
	expect_equal ok "$(sqlite3 same.sqlite 'PRAGMA integrity_check')" "sqlite's word on $1"
	python3 "$tables" same.sqlite "$FXTRACE" "$1" || fail "a table of $1 is another one"
}

# found ARCHIVE: what a query looks for is found as in the database that same() left, also where it has to make few rows
# at a time, and most of them again and again.
found() {
	FXTRACE_CONVERT_MEMORY=300000 python3 "$tables" same.sqlite "$FXTRACE" "$1" || fail "a table of $1 is another one"
	FXTRACE_CONVERT_MEMORY=300000 python3 "$joins" same.sqlite "$FXTRACE" "$1" || fail "rows of $1 are not found"
}

# --- Numbers ---------------------------------------------------------------------------------------
target weighs weighs.c
expect_ok traced -c '#default,malloc' -- ./weighs
mv trace.fxt app.fxt
"$FXTRACE" dump --json app.fxt >app.json || fail 'no dump'
python3 "$counts.py" <app.json | sort >said

expect_ok "$FXTRACE" query --csv -- app.fxt "$(cat "$counts.sql")"
expect_equal 0 "$(wc -c <err)" "bytes on stderr: $(cat err)"
lines() {
	tail -n +2 | tr -d '"\r' | tr ',' ' ' | sed 's/ *$//' | sort
}
lines <out >asked
expect_same_file said asked
expect_ok "$FXTRACE" convert app.fxt app.sqlite
sqlite3 -csv -header app.sqlite <"$counts.sql" | lines >asked
expect_same_file said asked
[ "$(sed -n 's/^flows //p' said)" -ge 4 ] || fail "few arrows: $(cat said)"

"$FXTRACE" query --json app.fxt 'SELECT name, count(*) AS calls, sum(dur) AS ns, max(depth) AS depth FROM slice
	GROUP BY name' >functions.json || fail 'no query of functions'
"$FXTRACE" query --json app.fxt 'SELECT s.name, a.key, a.display_value AS value FROM slice s
	JOIN args a USING (arg_set_id)' >args.json || fail 'no query of arguments'
"$FXTRACE" report --functions --top 0 --json app.fxt >report.json || fail 'no report'
python3 - <<'END' || fail 'numbers do not agree'
import collections, json
calls, lengths, args, rates = collections.Counter(), collections.Counter(), collections.Counter(), {}
for line in open("app.json"):
    record = json.loads(line)
    if record["kind"] == "initialization":
        rates[record["provider"]] = record["ticks_per_second"]
    if record["kind"] != "event" or record["type"] not in ("complete", "instant"):
        continue
    assert rates[record["provider"]] == 10**9
    calls[record["name"]] += 1
    lengths[record["name"]] += record.get("end", record["ts"]) - record["ts"]
    for arg in record.get("args", ()):
        args[record["name"], arg["name"]] += 1
asked = {row["name"]: row for row in json.load(open("functions.json"))}
assert set(calls) == set(asked), set(calls) ^ set(asked)
for name in calls:
    assert (calls[name], lengths[name]) == (asked[name]["calls"], asked[name]["ns"]), (name, asked[name])
assert asked["main"]["depth"] == 0 and asked["descend"]["depth"] > 1, asked
found = collections.Counter((row["name"], row["key"]) for row in json.load(open("args.json")))
assert found == args, (found - args, args - found)
reported = json.load(open("report.json"))["functions"]["rows"]
assert len(reported) > 3
for row in reported:
    assert asked[row["name"]]["calls"] == row["calls"], row
END
expect_ok "$FXTRACE" query --csv app.fxt "SELECT extract_arg(arg_set_id, 'debug.size') = a.int_value AS same, count(*) > 9
	FROM slice s JOIN args a USING (arg_set_id) WHERE a.key = 'size' GROUP BY 1"
expect_equal 1,1 "$(tail -n 1 out | tr -d '\r')" 'arguments that extract_arg() finds'

# A query reads from a pipe, too, what is compressed.
gzip -c app.fxt | "$FXTRACE" query - 'SELECT count(*) FROM slice' >piped || fail 'no answer from a pipe'
"$FXTRACE" query app.fxt 'SELECT count(*) FROM slice' >whole || fail 'no answer'
expect_same_file whole piped

# --- Tables ----------------------------------------------------------------------------------------
same app.fxt
found app.fxt
for name in arguments asyncs bad_text buffer_full counters flow_processes hostile nesting nothing scheduling scopes truncated; do
	"$sample" "$name" >"$name.fxt" || fail "no sample $name"
	same "$name.fxt"
	[[ $name != asyncs && $name != flow_processes ]] || found "$name.fxt"
done
python3 "$FX_SRCDIR/tests/e2e/many_flows.py" mess 300 >flows.fxt || fail "no flows"
same flows.fxt
found flows.fxt
ask() { # ARCHIVE SQL: the rows, without the head
	"$FXTRACE" query --csv "$1.fxt" "$2" 2>ask.err | tail -n +2 | tr -d '\r'
}
expect_equal '1,"outer",,0 2,"middle",1,1 3,"leaf",2,2 4,"leaf",2,2 5,"tick",1,1 6,"next",,0' \
	"$(ask nesting 'SELECT id, name, parent_id, depth FROM slice' | xargs -d '\n')" 'the nesting of slices'
expect_equal '10,0,"S" 10,1,"X" 10,1,"S"' "$(ask scheduling 'SELECT dur, cpu, end_state FROM sched ORDER BY ts' |
	xargs -d '\n')" 'what ran'
expect_equal '"Running" "R" "S"' "$(ask scheduling 'SELECT state FROM thread_state WHERE utid = 2 ORDER BY ts' |
	sort -u | sort -t '"' -k 2 | xargs -d '\n' | sed 's/"R" "Running" "S"/"Running" "R" "S"/')" 'states of a thread'
expect_equal '"request",30,"request",40,"lookup",10,"progress",0,"request",-1' \
	"$(ask asyncs 'SELECT name, dur FROM slice ORDER BY ts' | paste -sd,)" 'operations'
expect_equal '"heap bytes","bytes","heap blocks",,"load wait_ns #3","ns"' \
	"$(ask counters 'SELECT name, unit FROM counter_track' | paste -sd,)" 'counters'
expect_line 'buffer full' <(ask buffer_full "SELECT description FROM stats WHERE severity = 'data_loss' AND value > 0")
expect_line 'buffer full' ask.err
[ "$(ask truncated "SELECT value FROM stats WHERE severity = 'error'")" -ge 1 ] || fail 'a fault that is not counted'

# --- Names are values ------------------------------------------------------------------------------
names="SELECT name FROM slice WHERE name > '' ORDER BY id"
"$FXTRACE" query --json hostile.fxt "$names" >names.json || fail 'no names'
"$FXTRACE" query --csv hostile.fxt "$names" >names.csv || fail 'no names'
"$FXTRACE" query hostile.fxt "$names" >names.txt || fail 'no names'
"$FXTRACE" convert -f sqlite hostile.fxt hostile.sqlite 2>err || fail "no database: $(cat err)"
python3 - <<'END' || fail 'names did not come through'
import csv, json, re, sqlite3
names = [row["name"] for row in json.load(open("names.json"))]
for part in ("<script>alert(1)</script>", "'", '"', "\n", "\x1b"):
    assert any(part in name for name in names), part
assert [row[0] for row in csv.reader(open("names.csv", newline=""))][1:] == names
db = sqlite3.connect("hostile.sqlite")
assert [row[0] for row in db.execute("SELECT name FROM slice WHERE name > '' ORDER BY id")] == names
lines = open("names.txt", encoding="utf-8", newline="\n").read().split("\n")
assert len(lines) == len(names) + 2, (len(lines), len(names))
assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f]", "\n".join(lines))
END
expect_ok "$FXTRACE" query --json app.fxt "SELECT 1 AS a, 2 AS a, x'00ff' AS \"q\"\"uote\", 1e999, NULL, 'tab	é' AS \"n
l\""
python3 - <<'END' || fail "not JSON: $(cat out)"
import json
assert json.load(open("out")) == [{"a": 1, "a:1": 2, 'q"uote': "00ff", "1e999": None, "NULL": None, "n\nl": "tab\té"}]
END

# --- Reading is all that is allowed ----------------------------------------------------------------
: >untouched
refuse() { # WHY STATEMENT...
	local why=$1 statement

	shift
	for statement; do
		expect_one_error 2 "$FXTRACE" query app.fxt "$statement"
		expect_line "$why" err
		expect_equal 0 "$(wc -c <out)" "bytes said to $statement"
	done
}
list() {
	find . -mindepth 1 ! -name out ! -name err ! -name before ! -name after | sort
}
list >before
refuse 'only statements that read' "ATTACH 'other.db' AS other" "ATTACH 'untouched' AS other" 'DETACH main' \
	"INSERT INTO slice(ts) VALUES (1)" 'DELETE FROM slice' 'UPDATE slice SET ts = 0' 'DROP TABLE slice' \
	'CREATE TABLE other(a)' 'CREATE TEMP TABLE other AS SELECT 1' "VACUUM INTO 'other.db'" 'VACUUM' 'BEGIN' \
	'PRAGMA journal_mode = WAL' "PRAGMA temp_store_directory = '.'" 'PRAGMA writable_schema = 1' 'REINDEX' 'ANALYZE' \
	"SELECT load_extension('./other.so')" "CREATE VIRTUAL TABLE other USING fts5(a)" \
	"WITH a AS (SELECT 1) INSERT INTO slice(ts) SELECT * FROM a" 'DELETE FROM slice RETURNING *' \
	"CREATE TRIGGER t AFTER INSERT ON thread BEGIN SELECT 1; END"
refuse 'cannot create triggers' "CREATE TRIGGER t AFTER INSERT ON slice BEGIN SELECT 1; END"
refuse 'more than one statement' 'SELECT 1; SELECT 2' "SELECT 1; ATTACH 'other.db' AS other" 'SELECT 1; nonsense'
refuse 'no statement' '' '  ' '/* nothing */' ';'
refuse 'character 8: no such column: nope' 'SELECT nope FROM slice'
refuse 'character 13: unrecognized token' "SELECT 'é', 'open"
refuse 'no such table: nowhere' 'SELECT * FROM nowhere'
refuse 'incomplete input' 'SELECT'
refuse 'syntax error' 'SELEC 1' $'SELECT 1\n\n FROM FROM'
refuse 'parameters' 'SELECT ?' 'SELECT :name'
refuse 'integer overflow' 'SELECT sum(9223372036854775807) FROM (SELECT 1 UNION ALL SELECT 2)'
list >after
expect_same_file before after
expect_equal 0 "$(wc -c <untouched)" 'bytes of a file that was to be attached'
expect_ok "$FXTRACE" query app.fxt 'SELECT 1; -- and no more'
expect_ok "$FXTRACE" query app.fxt "SELECT name FROM sqlite_master WHERE type = 'table'"
expect_ok "$FXTRACE" query app.fxt 'PRAGMA table_info(slice)'
expect_ok "$FXTRACE" query app.fxt 'EXPLAIN QUERY PLAN SELECT * FROM slice WHERE parent_id = 3'

# --- Bad input ---------------------------------------------------------------------------------------
expect_one_error 2 "$FXTRACE" query
expect_one_error 2 "$FXTRACE" query app.fxt
expect_one_error 2 "$FXTRACE" query app.fxt 'SELECT 1' more
expect_one_error 2 "$FXTRACE" query --xml app.fxt 'SELECT 1'
expect_one_error 1 "$FXTRACE" query no-such-file.fxt 'SELECT 1'
: >empty.fxt
expect_one_error 1 "$FXTRACE" query empty.fxt 'SELECT 1'
echo 'not an archive' >text.fxt
expect_one_error 1 "$FXTRACE" query text.fxt 'SELECT 1'
expect_one_error 1 "$FXTRACE" convert -f sqlite text.fxt text.sqlite
[ ! -e text.sqlite ] || fail 'a database of nothing'
head -c $(($(stat -c %s app.fxt) * 3 / 4 + 3)) app.fxt >cut.fxt
expect_status 1 "$FXTRACE" query cut.fxt 'SELECT count(*) > 0 FROM slice'
expect_line '^ *1$' out
expect_line 'the answer is of what is whole' err
TMPDIR=/proc/nowhere expect_ok "$FXTRACE" convert -f sqlite app.fxt other.sqlite
"$FXTRACE" convert -f sqlite app.fxt - >piped.sqlite || fail 'no database on standard output'
expect_equal ok "$(sqlite3 piped.sqlite 'PRAGMA integrity_check')" 'a database that came through a pipe'
expect_ok "$FXTRACE" convert app.fxt app.db.gz
gzip -t app.db.gz || fail 'not compressed'

# Tables of which nothing is asked but that USING has a row of them.
"$FXTRACE" query --csv app.fxt 'SELECT count(*) FROM slice' >all.out
for joined in 'thread USING (utid)' 'thread USING (utid) JOIN process USING (upid)' '"Thread" USING (utid)'; do
	"$FXTRACE" query --csv app.fxt "SELECT count(*) FROM (SELECT slice.ts FROM slice
		JOIN thread_track ON slice.track_id = thread_track.id JOIN $joined)" >joined.out
	expect_same_file all.out joined.out
done

# A reader that has seen enough.
for style in '' --json --csv; do
	"$FXTRACE" query ${style:+"$style"} app.fxt 'SELECT a.*, b.* FROM slice a, slice b' 2>pipe.err | head -n 1 >head.out
	status=${PIPESTATUS[0]}
	[ "$status" -eq 0 ] || [ "$status" -eq 141 ] || fail "a closed pipe is an error: $status"
	expect_equal 0 "$(wc -c <pipe.err)" "bytes about a closed pipe: $(cat pipe.err)"
done

# --- The queries of the manual -------------------------------------------------------------------------
# Each is run as it stands there. What need not have rows has none here, but is right.
python3 - "$FX_SRCDIR/man/fxtrace-query.1" >examples <<'END'
import re, sys
for block in re.findall(r"^\.EX\n(.*?)^\.EE$", open(sys.argv[1]).read(), re.S | re.M):
    text = block.replace(r"\-", "-").replace(r"\(aq", "'").replace(r"\(dq", '"').replace(r"\e", "\\")
    if text.startswith("fxtrace query"):
        print(text.replace("\n", " "))
END
[ "$(wc -l <examples)" -ge 10 ] || fail "few examples in the manual: $(wc -l <examples)"
fxtrace() {
	"$FXTRACE" "$@"
}
while IFS= read -r example; do
	eval "$example" >out 2>err </dev/null || fail "$example: $(cat err)"
	expect_equal 0 "$(wc -c <err)" "bytes on stderr of $example: $(cat err)"
	[ "$(wc -l <out)" -ge 2 ] || grep -q 'FROM stats' <<<"$example" || fail "no rows: $example"
done <examples
