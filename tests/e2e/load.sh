#!/bin/bash
# SPDX-License-Identifier: MIT
# `fxtrace load --clickhouse' and `report --clickhouse': each archive is in the tables once and as a whole, whatever was killed on
# the way and however often it is loaded; numbers are those of the file; what is wrong is a line, and the rest goes on.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

. "$FX_SRCDIR/tests/e2e/clickhouse.sh"

# once DATABASE [SERVER]: every row of every table is there once.
once() {
	local table id

	for table in slice args counter thread process track flow stats; do
		case $table in
		args) id=(arg_set_id id) ;;
		stats) id=(name idx) ;;
		*) id=(id id) ;;
		esac
		expect_equal '' "$(ask "${2-one}" "SELECT archive, ${id[0]}, ${id[1]}, count() AS n FROM $1.$table
			GROUP BY archive, ${id[0]}, ${id[1]} HAVING n > 1 LIMIT 3")" "rows that are twice in $table"
	done
}

# --- What is loaded ----------------------------------------------------------------------------------
target weighs weighs.c
expect_ok traced -c '#default,malloc' -- sh -c './weighs; cat /nonexistent; cat /etc/hostname; exit 0'
mv trace.fxt app.fxt
expect_ok load "$url/first" app.fxt
expect_line '^fxtrace load: app.fxt: [0-9]+ rows, [0-9]+ of them sent' err
once first
same first app.fxt
expect_ok load "$url/first" app.fxt
expect_equal 'fxtrace load: app.fxt: is there already' "$(cat err)" 'the second time'
once first

# The tables have what a query of the file has.
while read -r name columns; do
	"$FXTRACE" query --csv app.fxt "SELECT $columns FROM $name ORDER BY $columns" | tr -d '"\r' | tail -n +2 | sort >file.rows
	ask one "SELECT $columns FROM first.$name FORMAT CSV" | tr -d '"\r' | sort >server.rows
	expect_same_file file.rows server.rows
	[ -s file.rows ] || fail "no rows of $name"
done <<-END
	slice id,ts,dur,depth,track_id,name,category
	args arg_set_id,key,value_type
	counter ts,track_id
	thread utid,tid,name,upid
	process upid,pid,name
	flow slice_out,slice_in,trace_id
	thread_track id,utid,name
	trace_bounds start_ts,end_ts
END
for name in parent_id arg_set_id; do
	"$FXTRACE" query --csv app.fxt "SELECT id, coalesce($name, 0) FROM slice" | tr -d '"\r' | tail -n +2 | sort >file.rows
	ask one "SELECT id, ifNull($name, 0) FROM first.slice FORMAT CSV" | sort >server.rows
	expect_same_file file.rows server.rows
done

# A job of several, and only some of them asked for.
for rank in 3 4; do
	SLURM_JOB_ID=77 SLURM_PROCID=$rank "$FXTRACE" run -q -o "rank-$rank.fxt" -- sh -c 'ls /; cat /nonexistent' >out 2>err
done
expect_ok load "$url/first" -q rank-3.fxt rank-4.fxt
expect_equal '77 3,77 4' "$(ask one 'SELECT job, rank FROM first.archives WHERE job != '"''"' ORDER BY rank' | tr '\t\n' ' ,' |
	sed 's/,$//')" 'the job and the ranks'
same first rank-4.fxt --job 77 --rank 4
same first app.fxt --archive app.fxt
same first app.fxt --archive "$(ask one "SELECT uuid FROM first.archives WHERE file = 'app.fxt'")" --host "$(uname -n)"
expect_one_error 1 "$FXTRACE" report --clickhouse "$url/first" --job "7'7"
expect_ok load "$url/claims" -q --job other --rank 9 --host there rank-3.fxt
expect_equal "other	9	there" "$(ask one 'SELECT job, rank, host FROM claims.slice LIMIT 1')" 'what was said of it'

# --- What is wrong -----------------------------------------------------------------------------------
# Not where a record ends.
head -c $(($(wc -c <app.fxt) / 16 * 8 + 4)) app.fxt >cut.fxt
echo nothing >text
expect_status 1 load "$url/bad" text nofile cut.fxt app.fxt
expect_line '^fxtrace load: text: .*not a trace' err
expect_line '^fxtrace load: nofile: No such file' err
expect_line '^fxtrace load: cut.fxt: .*; what is whole was loaded' err
expect_line '^fxtrace load: app.fxt: [0-9]+ rows' err
same bad app.fxt --archive app.fxt
expect_one_error 1 load "http://127.0.0.1:$(free_port)/x" app.fxt
expect_line 'the ClickHouse server: ' err
expect_one_error 1 load "http://guarded:wrong@${url#http://}/first" app.fxt
expect_line 'it says: .*(password|Authentication)' err
! grep -q wrong err || fail "the password is shown: $(cat err)"
CLICKHOUSE_USER=guarded CLICKHOUSE_PASSWORD=secret expect_ok load "$url/first" app.fxt
ask one 'CREATE DATABASE other' && ask one 'CREATE TABLE other.slice (a UInt8) ENGINE = Memory'
expect_one_error 1 load "$url/other" app.fxt
expect_line 'table slice of database other has other columns' err
expect_one_error 1 "$FXTRACE" report --clickhouse "$url/nowhere"
# A server that refuses the rows: its words are said.
ask one 'CREATE DATABASE full'
load "$url/full" -q
ask one 'DROP TABLE full.args' && ask one 'CREATE VIEW full.args AS SELECT * FROM full.slice'
expect_status 1 load "$url/full" app.fxt
expect_equal '' "$(grep -v '^fxtrace load: ' err)" 'lines that are not ours'

# --- kill -9 of the loader and of the server ---------------------------------------------------------
cat >many.c <<-'END'
	#include <stdlib.h>
	__attribute__((noinline)) static int inner(int i) { __asm__ volatile(""); return i + 1; }
	__attribute__((noinline)) static int outer(int i) { return inner(i) + inner(i + 1); }
	int main(void) { int n = 0; for (int i = 0; i < 40000; i++) n += outer(i); return n == 7; }
END
compile many -O1 -finstrument-functions many.c
expect_ok traced -- ./many
# Many batches, of few rows each.
export FXTRACE_LOAD_ROWS=5000
mv trace.fxt many.fxt
for delay in 0.1 0.2 0.3 0.5; do
	"$FXTRACE" load --clickhouse "$url/killed" -q many.fxt 2>err &
	loader=$!
	sleep "$delay"
	kill -9 "$loader" 2>/dev/null
	wait "$loader" 2>/dev/null
done
expect_ok load "$url/killed" many.fxt
once killed
same killed many.fxt
for delay in 0.2 0.4; do
	"$FXTRACE" load --clickhouse "$url/shot" -q many.fxt 2>err &
	loader=$!
	sleep "$delay"
	kill_server one
	wait "$loader" || expect_equal 1 "$(wc -l <err)" 'lines of a load without its server'
	start one
done
expect_ok load "$url/shot" many.fxt
once shot
same shot many.fxt

# A server that is full, on a disk of its own: a line says so; with more room the rest follows.
settings small
if mount -t tmpfs -o size=3m none small/data 2>/dev/null; then
	# shellcheck disable=SC2016,SC2034 # lib.sh has it, and expands it
	at_end='kill -9 "${servers[small]}" 2>/dev/null; umount -l small/data'
	start small
	full=http://127.0.0.1:$(port small http)/full
	expect_one_error 1 load "$full" many.fxt
	expect_line 'No space left' err
	expect_equal 0 "$(ask small 'SELECT count() FROM full.archives')" 'archives that are there in part, and count'
	mount -o remount,size=200m small/data
	expect_ok load "$full" many.fxt
	read -r rows sent < <(sed -nE 's/.*: ([0-9]+) rows, ([0-9]+) of them sent.*/\1 \2/p' err)
	[ "$sent" -lt "$rows" ] || fail "what was there is sent again: $(cat err)"
	once full small
	url=${full%/full} same full many.fxt
else
	echo 'left out: no disk of a few MB can be mounted here'
fi

# A batch that is there in part, or twice, is put right before the archive counts.
load "$url/part" -q many.fxt
ask one 'ALTER TABLE part.archives DELETE WHERE 1' && ask one 'ALTER TABLE part.slice DELETE WHERE batch = 1 AND id % 2 = 0'
ask one 'INSERT INTO part.thread SELECT * FROM part.thread'
mutated() {
	[ "$(ask one 'SELECT count() FROM system.mutations WHERE is_done = 0')" = 0 ]
}
wait_for 60 mutated || fail 'the server does not take rows away'
expect_one_error 1 "$FXTRACE" report --clickhouse "$url/part"
expect_ok load "$url/part" many.fxt
once part
same part many.fxt

# --- Two shards --------------------------------------------------------------------------------------
start two
expect_ok load "http://127.0.0.1:$(port two http)/shards" --cluster both
# Which shard an archive is on, chance says; not all of so many are on one.
for i in $(seq 14); do
	"$FXTRACE" run -q -o "small-$i.fxt" -- true
done
expect_ok load "$url/shards" --cluster both app.fxt rank-3.fxt rank-4.fxt small-*.fxt
expect_ok load "$url/shards" --cluster both app.fxt rank-3.fxt rank-4.fxt small-*.fxt
expect_equal 17 "$(grep -c 'is there already$' err)" 'archives that are there already'
once shards
same shards rank-3.fxt --rank 3
same shards app.fxt --archive app.fxt
total=$(ask one 'SELECT count() FROM shards.slice')
parts="$(ask one 'SELECT count() FROM shards.slice_local') $(ask two 'SELECT count() FROM shards.slice_local')"
expect_equal "$total" $((${parts% *} + ${parts#* })) "rows of both shards ($parts)"
[ "${parts% *}" -gt 0 ] && [ "${parts#* }" -gt 0 ] || fail "one shard has no rows: $parts"
expect_equal 2 "$(ask two "SELECT count() FROM shards.archives WHERE job = '77'")" 'archives of the job, as the other shard knows them'

# --- Clocks --------------------------------------------------------------------------------------------
# Of a host whose clock is 100 s ahead and drifts: times that are aligned there are those of one archive that `fxtrace merge' makes.
python3 "$FX_SRCDIR/tests/e2e/fxt_edit.py" rank-4.fxt far.fxt --later 100 --drift 50 --machine 9 --session 9 || fail 'no host that is far'
expect_ok "$FXTRACE" merge -o merged.fxt rank-3.fxt far.fxt
"$FXTRACE" query --csv merged.fxt 'SELECT ts, name FROM slice' | tr -d '"\r' | tail -n +2 >merged.rows
timelines() {
	ask one 'SELECT DISTINCT timeline FROM shards.clock'
}
expect_ok load "$url/shards" --cluster both --align rank-3.fxt far.fxt
expect_line '^fxtrace load: timeline [0-9]+ of 2 archives$' err
timeline=$(timelines)
for times in 1 2; do
	ask one "SELECT aligned + toInt64(round((ts - clock_ts) * slope)) AS at, name FROM shards.slice GLOBAL ANY INNER JOIN (
		SELECT archive, ts AS clock_ts, aligned, slope FROM shards.clock WHERE timeline = $timeline) USING (archive) WHERE at > 0 ORDER BY at FORMAT CSV" |
		tr -d '"\r' >server.rows
	python3 - <<-'END' || fail 'other times than in one archive'
		rows = [sorted((int(line.split(",", 1)[0]), line.split(",", 1)[1]) for line in open(name)) for name in ("merged.rows", "server.rows")]
		assert len(rows[0]) == len(rows[1]) > 50, tuple(map(len, rows))
		first = rows[0][0][0]
		for one, other in zip(*(sorted(r, key=lambda row: (row[1], row[0])) for r in rows)):
		    assert one[1] == other[1] and abs(one[0] - other[0]) <= 2, (one, other)
		assert rows[0][-1][0] - first < 60 * 10**9, "they are 100 s apart"
	END
	expect_equal 2 "$(ask two 'SELECT count() FROM shards.clock')" 'clocks, as the other shard knows them'
	# Once more, with one row gone, as if it had been cut off.
	[ "$times" = 1 ] || break
	for server in one two; do
		ask $server 'ALTER TABLE shards.clock_local DELETE WHERE slope != 1'
	done
	mutated() {
		[ "$(ask one 'SELECT count() FROM system.mutations WHERE is_done = 0')$(ask two 'SELECT count() FROM system.mutations WHERE is_done = 0')" = 00 ]
	}
	wait_for 60 mutated || fail 'the servers do not take rows away'
	expect_equal 1 "$(ask one 'SELECT count() FROM shards.clock')" 'clocks that are left'
	expect_ok load "$url/shards" --cluster both --align rank-3.fxt far.fxt
	expect_ok load "$url/shards" --cluster both --align rank-3.fxt far.fxt
	expect_equal "$timeline" "$(timelines)" 'the timeline, each time'
done
# Whose clock nothing tells of is a line, and the others are there.
python3 "$FX_SRCDIR/tests/e2e/fxt_edit.py" rank-4.fxt dateless.fxt --no-clocks || fail 'no archive without dates'
expect_status 1 load "$url/clocks" --align rank-3.fxt dateless.fxt far.fxt
expect_line '^fxtrace load: dateless.fxt: nothing tells how its clock lies to that of rank-3.fxt$' err
expect_equal 2 "$(ask one 'SELECT count() FROM clocks.clock')" 'clocks of those that are told of'
