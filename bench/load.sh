#!/bin/bash
# SPDX-License-Identifier: MIT
# The rate of `fxtrace load --clickhouse', beside that of the server's own client with the same rows and of the disk with as many bytes, and
# what a report costs there: of FX_LOAD_MILLIONS (20) million events (Debian: clickhouse-server, clickhouse-client).
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
. "$FX_SRCDIR/tests/e2e/clickhouse.sh"

need clickhouse-client
millions=${FX_LOAD_MILLIONS:-20}

cat >many.c <<-'END'
	#include <stdlib.h>
	__attribute__((noinline)) static int inner(int i) { __asm__ volatile(""); return i + 1; }
	__attribute__((noinline)) static int outer(int i) { return inner(i) + inner(i + 1) + inner(i + 2); }
	int main(int argc, char **argv) { int n = 0; for (int i = 0; i < atoi(argv[1]); i++) n += outer(i); return argc > 2 ? n : 0; }
END
compile many -O1 -finstrument-functions many.c
expect_ok "$FXTRACE" run -q --on-full block -o many.fxt -- ./many $((millions * 250000))

# timed NAME ROWS BYTES COMMAND...: its rate, with what the command itself took of processor and memory.
timed() {
	python3 -c 'import resource, subprocess, sys, time
name, rows, size = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
begin = time.monotonic()
status = subprocess.run(sys.argv[4:]).returncode
took = time.monotonic() - begin
usage = resource.getrusage(resource.RUSAGE_CHILDREN)
print(f"{name:28} {took:8.1f} s  {rows / took:12,.0f} rows/s  {size / took / 1e6:8.1f} MB/s  processor "
      f"{usage.ru_utime + usage.ru_stime:6.1f} s  resident {usage.ru_maxrss / 1024:5.0f} MB", flush=True)
sys.exit(status)' "$@" || fail "$1"
}

# Sizes first, by a load that is not timed: of a tenth.
expect_ok "$FXTRACE" run -q --on-full block -o few.fxt -- ./many $((millions * 25000))
expect_ok load "$url/few" -q few.fxt
ask one 'SELECT * FROM few.slice FORMAT RowBinary' >few.rows
few=$(ask one 'SELECT count() FROM few.slice')
width=$(($(stat -c %s few.rows) / few))
rows=$((millions * 1000000))
echo "$rows rows of $width bytes; $(stat -c %s many.fxt) bytes of archive"
timed 'fxtrace load' "$rows" $((rows * width)) "$FXTRACE" load -q --clickhouse "$url/many" many.fxt
loaded=$(ask one 'SELECT count() FROM many.slice')
[ "$loaded" -ge "$rows" ] || fail "$loaded rows of $rows"
echo "on the server's disk: $(ask one "SELECT round(sum(bytes) / sum(rows), 1) FROM system.parts WHERE active AND database = 'many' AND table = 'slice'") bytes a row"
ask one 'CREATE DATABASE own'
ask one 'CREATE TABLE own.slice AS many.slice'
ask one 'SELECT * FROM many.slice FORMAT RowBinary' >many.rows
timed "the server's own client" "$loaded" "$(stat -c %s many.rows)" \
	sh -c "clickhouse-client --port $(port one tcp) --query 'INSERT INTO own.slice FORMAT RowBinary' --max_insert_block_size 250000 <many.rows"
timed 'the disk' "$loaded" "$(stat -c %s many.rows)" dd if=many.rows of=copy.rows bs=1M conv=fsync status=none
timed 'report, counted there' "$loaded" 0 sh -c "'$FXTRACE' report --functions --json --top 0 --clickhouse '$url/many' >server.json"
timed 'report of the file' "$loaded" 0 sh -c "'$FXTRACE' report --functions --json --top 0 many.fxt >file.json"
alike || fail 'the reports are not the same'
rm -f many.rows copy.rows
timed 'report, fetched' "$loaded" 0 sh -c "'$FXTRACE' report --summary --json --top 0 --clickhouse '$url/many' >server.json"
"$FXTRACE" report --summary --json --top 0 many.fxt >file.json
alike || fail 'the summaries are not the same'
