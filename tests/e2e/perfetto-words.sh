#!/bin/bash
# SPDX-License-Identifier: MIT
# What a viewer says of a process, of locks, of calls by their names, of losses and of the whole trace, asked by SQL of
# Perfetto's trace processor, which FX_TRACE_PROCESSOR names: of archives as they are, and of what `fxtrace convert' makes
# of them. (The same in our own words: words.sh, titles.sh, about.sh, drops.sh.)
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
. "$FX_SRCDIR/tests/e2e/control.sh"

[ -n "${FX_TRACE_PROCESSOR-}" ] || skip "FX_TRACE_PROCESSOR names no trace processor of Perfetto's"
need "$FX_TRACE_PROCESSOR"

# ask TRACE QUERY: the rows, without a head and quotes, to the file answer. In the query, arg(SLICE, NAME) is the value of a
# slice's argument as text.
ask() {
	local folder=

	case $1 in
	*.pftrace) folder=debug. ;;
	*.json) folder=args. ;;
	esac
	{
		echo "CREATE PERFETTO FUNCTION arg(id LONG, name STRING) RETURNS STRING AS
			SELECT args.display_value FROM slice JOIN args USING (arg_set_id)
			WHERE slice.id = \$id AND args.key = '$folder' || \$name LIMIT 1;"
		echo "$2;"
	} >asked.sql
	"$FX_TRACE_PROCESSOR" -q asked.sql "$1" >answered 2>ask.err || fail "no answer from $1 to: $2"$'\n'"$(tail -n 5 ask.err)"
	tail -n +2 answered | tr -d '"' >answer
}

# expect_answer TRACE WANTED QUERY
expect_answer() {
	ask "$1" "$3"
	expect_equal "$2" "$(cat answer)" "the answer of $1 to: $3"
}

# --- A process, its words and its end ------------------------------------------------------------------

target words words.c
place=$(readlink -f "$PWD")
expect_status 142 "$FXTRACE" run -q -c '*,malloc' -o words.fxt -- ./words one two
for form in pftrace json; do
	expect_ok "$FXTRACE" convert words.fxt words.$form
done
fd=$("$FXTRACE" dump --json words.fxt | sed -n 's/.*"name":"pipe","args":.*"fds","type":"string","value":"[^0-9]*\([0-9]*\).*/\1/p')

for trace in words.fxt words.pftrace words.json; do
	expect_answer "$trace" 0 "SELECT COUNT(*) FROM stats WHERE severity IN ('error', 'data_loss') AND value > 0"
	expect_answer "$trace" pthread_create,worker \
		"SELECT name, arg(id, 'start_name') FROM slice WHERE arg(id, 'start_name') IS NOT NULL"
	expect_answer "$trace" signal,on_signal \
		"SELECT name, arg(id, 'handler_name') FROM slice WHERE arg(id, 'handler_name') IS NOT NULL"
	expect_answer "$trace" gettid "SELECT name FROM slice WHERE category = 'syscall' AND arg(id, 'number') = 'gettid'"
	expect_answer "$trace" 0 "SELECT COUNT(*) FROM slice WHERE name = 'syscall'"
	expect_answer "$trace" 2 "SELECT COUNT(*) FROM slice WHERE name = 'calls nested too deeply' AND dur = 0"
	expect_answer "$trace" "read,$fd,true" \
		"SELECT name, arg(id, 'fd'), arg(id, 'unfinished') FROM slice WHERE name = 'read' AND category = 'syscall'"
	expect_answer "$trace" 1,SIGALRM "SELECT thread.tid = process.pid, arg(slice.id, 'signal') FROM slice
		JOIN thread_track ON slice.track_id = thread_track.id JOIN thread USING (utid) JOIN process USING (upid)
		WHERE slice.name = 'process exits'"
	expect_answer "$trace" 1 "SELECT (SELECT MIN(counter.ts) FROM counter JOIN process_counter_track AS track
			ON counter.track_id = track.id WHERE track.name GLOB 'heap*') <
		(SELECT MIN(ts) FROM slice WHERE name = 'malloc' AND arg(id, 'size') = '100') AS before"
done

# Perfetto shows a process by its name and its number; the others are columns of it, or its arguments.
expect_answer words.pftrace "words one two,./words one two,$(id -u),1" "SELECT name, cmdline, uid,
	start_ts > 0 AND start_ts <= (SELECT MIN(ts) FROM slice) FROM process WHERE pid > 0"
expect_answer words.json "words one two" "SELECT name FROM process WHERE pid > 0"
ask words.pftrace "SELECT args.string_value FROM process JOIN args USING (arg_set_id)"
for fact in "command: ./words one two" "executable: $place/words" "directory: $place" "user: $(id -u)"; do
	grep -qxF "$fact" answer || fail "not said of the process: $fact"$'\n'"$(cat answer)"
done

# The summary's facts are those of the trace.
ask words.pftrace "SELECT name, IFNULL(str_value, int_value) FROM metadata WHERE name GLOB 'trace_attribute.*'"
expect_ok "$FXTRACE" report --summary --json words.fxt
python3 - answer out "$place" <<'END' || fail "not the summary's facts: $(cat answer)"
import json, sys
shown = dict(line.rstrip("\n").removeprefix("trace_attribute.fxtrace_").split(",", 1) for line in open(sys.argv[1]))
tables = json.load(open(sys.argv[2]))
tables = tables.get("tables", tables)
summary = next(t for t in tables if t.get("name") == "summary") if isinstance(tables, list) else tables["summary"]
row = summary["rows"][0] if isinstance(summary, dict) else summary[0]
for name in ("processes", "threads", "calls", "instants", "counter_values", "lost"):
    assert int(shown[name]) == row[name], (name, shown[name], row[name])
assert shown["first_command"] == "./words one two" and shown["first_directory"] == sys.argv[3], shown
assert shown["first_end"] == "killed by SIGALRM" and int(shown["first_pid"]) > 0, shown
END

# --- Locks ---------------------------------------------------------------------------------------------

target holders holders.c
expect_ok "$FXTRACE" run -q -o holders.fxt -- ./holders
for form in pftrace json; do
	expect_ok "$FXTRACE" convert holders.fxt holders.$form
done
for trace in holders.fxt holders.pftrace holders.json; do
	expect_answer "$trace" "mtx_lock,c11,keeper,take_c11,be_guest
pthread_mutex_lock,mutex,keeper,take_mutex,be_guest
pthread_mutex_lock,tried,keeper,take_tried,be_guest
pthread_rwlock_rdlock,rwlock,keeper,take_rwlock,be_guest" "SELECT name, IFNULL(arg(id, 'mutex_name'), arg(id, 'rwlock_name')) AS lock,
		arg(id, 'holder_name'), arg(id, 'taken_name'), arg(id, 'at_name')
		FROM slice WHERE arg(id, 'holder_name') IS NOT NULL ORDER BY name, lock"
	# An arrow goes from the release, on the holder's thread, to an instant that says who, and after how long.
	expect_answer "$trace" "pthread_mutex_unlock,keeper,woken by keeper,guest,keeper,1
pthread_mutex_unlock,keeper,woken by keeper,guest,keeper,1
pthread_mutex_unlock,keeper,woken by keeper,guest,keeper,1
pthread_rwlock_unlock,keeper,woken by keeper,guest,keeper,1" "
		SELECT a.name, at.name, b.name, bt.name, arg(b.id, 'by_name'), CAST(arg(b.id, 'held_ns') AS INT) > 0
		FROM flow JOIN slice AS a ON a.id = slice_out JOIN slice AS b ON b.id = slice_in
		JOIN thread_track AS ak ON a.track_id = ak.id JOIN thread AS at ON at.utid = ak.utid
		JOIN thread_track AS bk ON b.track_id = bk.id JOIN thread AS bt ON bt.utid = bk.utid
		WHERE b.name = 'woken by keeper' AND a.name GLOB '*unlock' ORDER BY a.name"
done

# --- Losses ----------------------------------------------------------------------------------------------

# One mark for each time that records were lost: how many, for how long, why, and what would keep them.
compile_busy
expect_ok "$FXTRACE" run -q -m oneshot -b 256K -o lost.fxt -- ./busy 3
expect_ok "$FXTRACE" convert lost.fxt lost.pftrace
"$FXTRACE" dump --json lost.fxt | python3 -c 'import json, sys
for r in map(json.loads, sys.stdin):
    if r["kind"] == "event" and r["type"] == "instant" and r["name"] == "records dropped":
        args = {a["name"]: a["value"] for a in r["args"]}
        print(args["count"], args["length_ns"], args["cause"], args["cure"], sep=",")' | sort >wanted
[ -s wanted ] || fail "nothing was lost"
for trace in lost.fxt lost.pftrace; do
	ask "$trace" "SELECT arg(id, 'count'), arg(id, 'length_ns'), arg(id, 'cause'), arg(id, 'cure') FROM slice
		WHERE name = 'records dropped' AND category = 'fxtrace' AND dur = 0"
	sort answer >answers
	expect_same_file wanted answers
done
lost=$(awk -F, '{ n += $1 } END { print n }' wanted)
expect_answer lost.pftrace "$lost" "SELECT int_value FROM metadata WHERE name = 'trace_attribute.fxtrace_lost'"

# --- Servers -----------------------------------------------------------------------------------------------

target titled titled.c
manager_start
expect_ok "$FXTRACE" start -o titled.fxt
provider_start ./titled "served: the first of all of them" ready "served: worker 1"
wait_for 60 providers_are 2 || fail "the worker does not register"
touch ready.go
wait_for 60 test -e ready -a -e ready.worker || fail "no titles"
expect_ok "$FXTRACE" stop
expect_ok "$FXTRACE" terminate
worker=$(pgrep -P "$PROVIDER")
kill "$PROVIDER" "$worker"
manager_stop
expect_ok "$FXTRACE" convert titled.fxt titled.pftrace
expect_answer titled.pftrace "$PROVIDER,served: the first of all of them,1,0
$worker,served: worker 1,1,$PROVIDER" "SELECT p.pid, p.name, p.cmdline GLOB './titled served*', q.pid
	FROM process AS p JOIN process AS q ON p.parent_upid = q.upid WHERE p.pid > 0 ORDER BY p.pid = $worker"
expect_answer titled.pftrace titled "SELECT DISTINCT thread.name FROM thread JOIN process USING (upid) WHERE thread.tid = process.pid AND process.pid > 0"
