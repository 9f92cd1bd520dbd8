#!/bin/bash
# SPDX-License-Identifier: MIT
# The rate of `fxtrace load --clickhouse' into two shards, of FX_LOAD_MILLIONS (20) million events in archives of at most ten million each, two
# loaders at a time; beside it that of the server's own client with the same rows, and of the disk with as many bytes. A loader and a
# server are killed in the middle: all is there once, and what the server counts is what the files' reports say. (Debian:
# clickhouse-server, clickhouse-client)
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
. "$FX_SRCDIR/tests/e2e/clickhouse.sh"

need clickhouse-client
millions=${FX_LOAD_MILLIONS:-20}
count=$(((millions + 9) / 10))
[ "$count" -ge 4 ] || count=4
events=$((millions * 1000000 / count / 4 * 4))

cat >many.c <<-'END'
	#include <stdlib.h>
	__attribute__((noinline)) static int inner(int i) { __asm__ volatile(""); return i + 1; }
	__attribute__((noinline)) static int outer(int i) { return inner(i) + inner(i + 1) + inner(i + 2); }
	int main(int argc, char **argv) { int n = 0; for (int i = 0; i < atoi(argv[1]); i++) n += outer(i); return argc > 2 ? n : 0; }
END
compile many -O1 -finstrument-functions many.c
begin=$SECONDS
archives=()
for i in $(seq "$count"); do
	archives+=("many-$i.fxt.zst")
	expect_ok "$FXTRACE" run -q --on-full block -o "many-$i.fxt.zst" -- ./many $((events / 4))
done
printf '%d archives of %d calls, %d bytes, recorded in %d s\n' "$count" "$events" "$(cat many-*.fxt.zst | wc -c)" $((SECONDS - begin))

# timed NAME ROWS BYTES COMMAND...: its rate, with what the command itself took of processor and memory, and what servers took meanwhile.
timed() {
	python3 - "${servers[one]} ${servers[two]-}" "$@" <<-'END' || fail "$1"
		import os, resource, subprocess, sys, time
		pids, name, rows, size = sys.argv[1].split(), sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
		def used():
		    total = 0
		    for pid in pids:
		        fields = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
		        total += int(fields[11]) + int(fields[12])
		    return total / os.sysconf("SC_CLK_TCK")
		begin, before = time.monotonic(), used()
		status = subprocess.run(sys.argv[5:], stdin=subprocess.DEVNULL).returncode
		took = time.monotonic() - begin
		usage = resource.getrusage(resource.RUSAGE_CHILDREN)
		print(f"{name:28} {took:8.1f} s  {rows / took:12,.0f} rows/s  {size / took / 1e6:8.1f} MB/s  processor "
		      f"{usage.ru_utime + usage.ru_stime:6.1f} s  resident {usage.ru_maxrss / 1024:5.0f} MB"
		      f"  servers {used() - before:6.1f} s  load {os.getloadavg()[0]:.0f}", flush=True)
		sys.exit(status)
	END
}

# --- Two shards, and what is killed in the middle ----------------------------------------------------------------------
start two
expect_ok load "http://127.0.0.1:$(port two http)/many" --cluster both
expect_ok load "$url/many" --cluster both
# rows_there [SERVER]: of slices, also of archives that are not there as a whole.
rows_there() {
	ask one 'SELECT count() FROM many.slice'
}
# some_more ROWS: once so many are there.
some_more() {
	[ "$(rows_there)" -ge "$1" ]
}
# broken ARCHIVE: its load, which runs on in the background until some of it is there.
broken() {
	local least=$(($(rows_there) + events / 4))

	"$FXTRACE" load -q --clickhouse "$url/many" --cluster both "$1" 2>err &
	loader=$!
	wait_for 1200 some_more "$least" || fail "$1 does not come: $(cat err)"
	! grep -q . <<<"$(ask one "SELECT file FROM many.archives WHERE file = '$1'")" || echo "$1 was there before anything was killed"
}
broken "${archives[0]}"
kill -9 "$loader"
wait "$loader" 2>/dev/null
broken "${archives[1]}"
kill_server two
kill_server one
wait "$loader" && echo 'the load was over before the servers were killed'
expect_equal 1 "$(wc -l <err)" 'lines of a load without its server'
start one
start two
echo "killed in the middle of two loads: $(rows_there) rows are there"
expect_ok load "$url/many" --cluster both -q "${archives[0]}" "${archives[1]}"

# --- The rate ------------------------------------------------------------------------------------------------------------
ask one 'SELECT * FROM many.slice LIMIT 100000 FORMAT RowBinary' >few.rows
width=$(($(stat -c %s few.rows) / 100000))
rest=("${archives[@]:2}")
half=$((${#rest[@]} / 2))
rows=$((${#rest[@]} * events))
timed 'fxtrace load, two at a time' "$rows" $((rows * width)) sh -c "
	'$FXTRACE' load -q --clickhouse '$url/many' --cluster both ${rest[*]:0:half} & first=\$!
	'$FXTRACE' load -q --clickhouse 'http://127.0.0.1:$(port two http)/many' --cluster both ${rest[*]:half} && wait \$first"
echo "$width bytes a row; on the servers' disks: $(ask one "SELECT round(sum(bytes) / sum(rows), 1) FROM system.parts WHERE active AND database = 'many' AND table = 'slice_local'") and \
$(ask two "SELECT round(sum(bytes) / sum(rows), 1) FROM system.parts WHERE active AND database = 'many' AND table = 'slice_local'")"

# --- All is there once, and counts as the files say ------------------------------------------------------------------
expect_ok load "$url/many" --cluster both "${archives[@]}"
expect_equal "$count" "$(grep -c 'is there already$' err)" 'archives that are there already'
total=0
for archive in "${archives[@]}"; do
	id=$(ask one "SELECT archive FROM many.archives WHERE file = '$archive'")
	said=$(ask one "SELECT slices FROM many.archives WHERE file = '$archive'")
	expect_equal "$said	$said" "$(ask one "SELECT count(), uniqExact(id) FROM many.slice WHERE archive = $id")" "rows of $archive"
	[ "$said" -ge "$events" ] || fail "$said rows of $archive"
	total=$((total + said))
	same many "$archive" --archive "$archive"
done
expect_equal "$total" "$(rows_there)" 'rows of all'
printf '%d rows, each once; %s and %s of them on the shards; reports of %d archives are those of the files\n' "$total" \
	"$(ask one 'SELECT count() FROM many.slice_local')" "$(ask two 'SELECT count() FROM many.slice_local')" "$count"
timed 'report of all, counted there' "$total" 0 sh -c "'$FXTRACE' report --functions --json --top 0 --clickhouse '$url/many' >all.json"
timed 'report of one file' "$events" 0 sh -c "'$FXTRACE' report --functions --json --top 0 '${archives[0]}' >file.json"
# The sums of all are so many times those of one.
python3 - "$count" "$events" <<-'END' || fail 'the report of all is not the sum'
	import json, sys
	count, events = map(int, sys.argv[1:])
	table = json.load(open("all.json"))["functions"]
	calls = {row["name"]: row["calls"] for row in (table["rows"] if isinstance(table, dict) else table)}
	assert calls["outer"] == count * events // 4 and calls["inner"] == count * events * 3 // 4, calls
END

# --- Beside it -----------------------------------------------------------------------------------------------------------
ask one 'CREATE DATABASE own'
ask one 'CREATE TABLE own.slice AS many.slice_local'
id=$(ask one "SELECT archive FROM many.archives WHERE file = '${archives[0]}'")
ask one "SELECT * FROM many.slice WHERE archive = $id FORMAT RowBinary" >many.rows
size=$(stat -c %s many.rows)
timed "the server's own client" "$events" "$size" \
	sh -c "clickhouse-client --port $(port one tcp) --query 'INSERT INTO own.slice FORMAT RowBinary' --max_insert_block_size 250000 <many.rows"
timed 'the disk' "$events" "$size" dd if=many.rows of=copy.rows bs=1M conv=fsync status=none
