#!/bin/bash
# SPDX-License-Identifier: MIT
# `fxtrace report --memory' says what valgrind and heaptrack say of the same program: allocations, what was not freed
# and by whom, what was in use at most, what was temporary. What is not installed is left out.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

not_sanitized "a sanitizer has a heap of its own"

# A program that knows what it does.
cat >heap.c <<'END'
#include <stdlib.h>
#include <string.h>
#define KEEP __attribute__((noinline, noclone))
static void *volatile kept[64];
KEEP void temporary(void) { kept[63] = malloc(100); free(kept[63]); }
KEEP void leak(int i) { kept[i] = malloc(1000); }
KEEP void grow(void) { kept[60] = realloc(realloc(malloc(10), 20), 3000); }
KEEP void peak(void)
{
	void *blocks[32];

	for (int i = 0; i < 32; i++)
		blocks[i] = calloc(4, 25000);
	for (int i = 0; i < 32; i++)
		free(blocks[i]);
}
KEEP void align(void)
{
	void *block;

	if (posix_memalign(&block, 64, 640))
		abort();
	kept[61] = aligned_alloc(256, 512);
	free(block);
}
KEEP void copy(void) { kept[62] = strdup("a text"); free(kept[62]); }
int main(void)
{
	for (int i = 0; i < 50; i++)
		temporary();
	for (int i = 0; i < 20; i++)
		leak(i);
	grow();
	peak();
	align();
	copy();
	memset((void *)kept, 0, sizeof(kept));
	return 0;
}
END
compile heap -O0 -g heap.c

# And a real one.
query='create table t(a, b); with recursive c(n) as (select 1 union all select n + 1 from c where n < 3000) insert into t
	select n, n * 7 % 1000 from c; create index i on t(b); select count(*), sum(a) from t where b < 500;'
programs=heap
if command -v sqlite3 >/dev/null; then
	programs="heap sqlite3"
fi

run_program() { # NAME BEFORE...: the program, behind the words BEFORE
	local name=$1

	shift
	case $name in
	heap) "$@" ./heap ;;
	sqlite3) "$@" sqlite3 :memory: "$query" ;;
	esac >program.out || fail "$name fails below $*"
}

for name in $programs; do
	run_program "$name" "$FXTRACE" run -q -o "$name.fxt" -c '#default,malloc' --stacks malloc --on-full block --
	expect_ok "$FXTRACE" report --memory --top 0 --json "$name.fxt"
	mv out "$name.json"
	# With little memory, changes wait for their order in a file.
	expect_ok env FXTRACE_CONVERT_MEMORY=1 "$FXTRACE" report --memory --top 0 --json "$name.fxt"
	expect_same_file "$name.json" out
	# A picture has the same bytes in use.
	expect_ok "$FXTRACE" convert -f collapsed --weight inuse "$name.fxt" -
	expect_equal "$(python3 -c 'import json, sys
print(sum(r["bytes"] for r in json.load(open(sys.argv[1]))["leaks"]["rows"]))' "$name.json")" \
		"$(awk '{ sum += $NF } END { print sum + 0 }' out)" "bytes in use in a picture of $name"
done
python3 - <<'END' || fail "not what the program did"
import json
report = json.load(open("heap.json"))
(row,) = report["memory"]["rows"]
want = {"allocations": 50 + 20 + 3 + 32 + 2 + 1, "allocated_bytes": 5000 + 20000 + 3030 + 3200000 + 1152 + 7,
        "peak_bytes": 20000 + 3000 + 3200000, "live_bytes": 23512, "live_blocks": 22, "temporary": 50 + 2 + 1 + 1}
assert {key: row[key] for key in want} == want, (row, want)
END

# --- valgrind --------------------------------------------------------------------------------------

# Whose blocks were not freed, by the function of the program that is nearest; the whole of a real one.
if command -v valgrind >/dev/null && valgrind -q true 2>/dev/null; then
	for name in $programs; do
		run_program "$name" valgrind --run-libc-freeres=no --leak-check=full --show-leak-kinds=all \
			--num-callers=40 --log-file="$name.memcheck"
		run_program "$name" valgrind --tool=dhat --dhat-out-file=/dev/null --log-file="$name.dhat"
		python3 - "$name" <<'END' || fail "$name: not what valgrind says"
import collections, json, re, sys
name = sys.argv[1]
report = json.load(open(f"{name}.json"))
(row,) = report["memory"]["rows"]
def numbers(path, pattern):
    found = re.search(pattern, open(path).read())
    return [int(n.replace(",", "")) for n in found.groups()]
theirs = numbers(f"{name}.memcheck", r"total heap usage: ([\d,]+) allocs, [\d,]+ frees, ([\d,]+) bytes")
theirs += numbers(f"{name}.memcheck", r"in use at exit: ([\d,]+) bytes in ([\d,]+) blocks")
ours = [row[key] for key in ("allocations", "allocated_bytes", "live_bytes", "live_blocks")]
leaks = report["leaks"]["rows"]
assert [sum(r[key] for r in leaks) for key in ("bytes", "blocks")] == ours[2:], leaks
# What it runs as the program ends is no part of the program.
most = numbers(f"{name}.dhat", r"At t-gmax: ([\d,]+) bytes")
print(f"{name}: valgrind {theirs + most}, report {ours + [row['peak_bytes']]}")
assert theirs == ours and most == [row["peak_bytes"]]
if name == "heap":
    sites = collections.Counter()
    for record in re.split(r"\n==\d+== \n", open(f"{name}.memcheck").read()):
        lost = re.search(r"([\d,]+) bytes in [\d,]+ blocks are", record)
        if lost:
            sites[re.search(r": (\w+) \(heap\.c", record).group(1)] += int(lost.group(1).replace(",", ""))
    assert {r["site"].split(" ")[0]: r["bytes"] for r in leaks} == sites, (leaks, sites)
END
	done
else
	echo "without valgrind"
fi

# --- heaptrack -------------------------------------------------------------------------------------

# It lists each stack with what it cost. What it brings itself (a C++ library) has a stack outside of the program.
if command -v heaptrack >/dev/null && command -v heaptrack_print >/dev/null; then
	run_program heap heaptrack -o tracked >heaptrack.log 2>&1
	for cost in allocations temporary leaked peak; do
		heaptrack_print -f tracked.* -F "$cost" --flamegraph-cost-type "$cost" >>heaptrack.log 2>&1 ||
			fail "heaptrack_print: $(tail -n 5 heaptrack.log)"
	done
	python3 - <<'END' || fail "not what heaptrack says"
import collections, json, re
def of(cost):
    found = collections.Counter()
    for line in open(cost):
        stack, number = line.rstrip("\n").rsplit(" ", 1)
        functions = re.findall(r"(\w+) \(heap\.c\)", stack)
        if functions and int(number):
            found[functions[-1]] += int(number)
    return found
report = json.load(open("heap.json"))
def site(row):
    return next(f for f in row["site"].split(" < ") if f not in ("strdup", "__strdup", "__GI___strdup"))
def ours(table, key):
    return {site(r): r[key] for r in report[table]["rows"] if r[key]}
for cost, table, key in (("allocations", "allocations", "blocks"), ("temporary", "allocations", "temporary"),
                         ("leaked", "leaks", "bytes")):
    theirs = of(cost)
    print(f"{cost}: {dict(theirs)}")
    assert theirs == ours(table, key), (theirs, ours(table, key))
assert sum(of("peak").values()) == report["memory"]["rows"][0]["peak_bytes"], of("peak")
END
else
	echo "without heaptrack"
fi
