#!/bin/bash
# SPDX-License-Identifier: MIT
# `fxtrace why': of programs whose critical path is known by construction, and which say what they measured themselves; of
# threads, slices and ranges; and of archives without arrows, with open calls, with losses, and damaged.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
. "$FX_SRCDIR/tests/e2e/why-agree.sh"

need python3
compile chains -O1 -w -I "$FX_SRCDIR" -D_GNU_SOURCE "$FX_SRCDIR/tests/e2e/targets/chains.c"
target hooked chains.c -I "$FX_SRCDIR"
compile relays -O1 -w -I "$FX_SRCDIR" -D_GNU_SOURCE "$FX_SRCDIR/tests/e2e/targets/relays.c"
target hooked-relays relays.c -I "$FX_SRCDIR"

# value FILE EXPRESSION: of the rows of the tree in a file of JSON.
value() {
	python3 -c 'import json, sys
rows = json.load(open(sys.argv[1]))["why"]["rows"]
print(eval(sys.argv[2]))' "$1" "$2"
}

# --- Known chains, with hooks and without

for name in convoy chain conditions grandchild join timer computing; do
	agrees hooked "$name"
	agrees chains "$name" nohooks
done

for name in relay herd; do
	agrees hooked-relays "$name"
	agrees relays "$name" nohooks
done

# --- A processor that others have, as the kernel provider tells it

if has_kernel; then
	options=(--kernel)
	for name in starve inversion; do
		agrees relays "$name" nohooks
	done
	options=()
	expect_ok "$FXTRACE" why starve.fxt
	expect_line 'a processor +\(neighbour \(tid [0-9]+\) had it\)' out
	expect_line 'for a processor: the thread was ready, and had none' out
	expect_equal 'high pthread_mutex_lock low' "$(python3 -c 'import json
way = []
for row in json.load(open("inversion.json"))["why"]["rows"]:
    way[row.get("depth", 0):] = [row["call"] or row["thread"]]
    if row["kind"] == "a processor" and row["thread"] == "low" and row["self_ns"] > 50000000:
        print(" ".join(way[:3]))
        break')" 'who waited for whom'
	# Without the kernel, it is computing.
	agrees_sum() {
		local name=$1

		for _ in 1 2 3; do
			expect_ok "$FXTRACE" run -q -o "$name.fxt" -- ./relays "$name"
			awk '$2 == "processor" || $2 == "cpu" { who = $1; sum += $3; next } { print }
				END { print who, "cpu", sum }' out >log
			agree "$name" nohooks && return
		done
		fail "$name: $(tail -n 3 said)"
	}
	for name in starve inversion; do
		agrees_sum "$name"
	done
	expect_ok "$FXTRACE" why starve.fxt
	expect_line 'waiting for a processor too, which fxtrace run --kernel records' out
fi

# --- A build: a, b and d one after the other; what runs beside them is not what was waited for

builds() {
	cat >Makefile <<'END2'
all: d e
a: ; @./relays a 150
b: a ; @./relays b 200
c: ; @./relays c 100
d: b c ; @./relays d 120
e: c ; @./relays e 50
.PHONY: all a b c d e
END2
	cat >build.sh <<'END2'
unset MAKEFLAGS # of the make that runs this test
begin=${EPOCHREALTIME/./}
make -s -j4
echo "TOTAL - $(((${EPOCHREALTIME/./} - begin) * 1000))"
END2
	for _ in 1 2 3; do
		expect_ok "$FXTRACE" run -q -o build.fxt -- bash build.sh
		grep -v '^[ce] ' out >log
		agree build nohooks || continue
		[ "$(value build.json 'any(r["thread"] in ("c", "e") for r in rows)')" = False ] && return
		echo 'c or e, which ran beside the chain, is on it' >said
	done
	fail "build: $(tail -n 3 said)"
}
if command -v make >/dev/null; then
	builds
fi

# --- Who waits for whom, level by level

cat >levels.py <<'END2'
import json
import sys

way = []
for row in json.load(open(sys.argv[1]))["why"]["rows"]:
    way[row.get("depth", 0):] = [row["call"] or row["thread"]]
    if row["thread"] == sys.argv[2] and row["call"] == sys.argv[3]:
        print(" ".join(way))
END2
expect_equal 'client pthread_cond_wait worker pthread_mutex_lock keeper nanosleep' \
	"$(python3 levels.py chain.json keeper nanosleep)" 'who waited for whom'
expect_equal 'client pthread_cond_wait worker pthread_mutex_lock keeper fsync' \
	"$(python3 levels.py chain.json keeper fsync)" 'who waited for whom'
expect_equal 'client pthread_cond_wait worker nanosleep' "$(python3 levels.py chain.json worker nanosleep)" \
	'who waited for whom'
expect_equal 'client sem_wait proxy sem_wait server sem_wait worker pthread_mutex_lock keeper fsync' \
	"$(python3 levels.py relay.json keeper fsync)" 'who waited for whom'
expect_equal 'parent waitpid child waitpid grandchild nanosleep' \
	"$(python3 levels.py grandchild.json grandchild nanosleep)" 'who waited for whom'
expect_equal 'mutex store' "$(value chain.json '[r["object"] for r in rows if r["call"] == "pthread_mutex_lock"][0]')" \
	'the lock'
expect_equal worker "$(value chain.json '[r["caller"] for r in rows if r["call"] == "pthread_mutex_lock"][0]')" \
	'the function that waits'

# --- Of what

expect_ok "$FXTRACE" why --json --thread worker chain.fxt
cp out of.json
expect_equal worker "$(value of.json 'rows[0]["thread"]')" 'thread'
# A range that begins before the thread leads to whom made it.
expect_ok "$FXTRACE" why --json --min-share 0 --thread worker --from 0ns chain.fxt
cp out of.json
expect_equal True "$(value of.json '"client" in [r["thread"] for r in rows]')" 'the maker is there'
expect_equal True "$(value of.json 'sum(r["self_ns"] for r in rows) == rows[0]["total_ns"]')" 'own times are the whole'
expect_ok "$FXTRACE" why --json --from 10ms --to 110ms chain.fxt
cp out of.json
expect_equal 100000000 "$(value of.json 'rows[0]["total_ns"]')" 'length of a range'
expect_equal 100000000 "$(value of.json 'sum(r["self_ns"] for r in rows)')" 'own times of a range'
for slice in pthread_cond_wait pthread_cond_wait:longest pthread_cond_wait#1; do
	expect_ok "$FXTRACE" why --json --min-share 0 --slice "$slice" chain.fxt
	cp out of.json
	expect_equal "$(value chain.json 'max(r["longest_ns"] for r in rows if r["call"] == "pthread_cond_wait")')" \
		"$(value of.json 'rows[0]["total_ns"]')" "length of the slice $slice"
	expect_equal pthread_cond_wait "$(value of.json 'rows[1]["call"]')" 'what the slice is'
done
pid=$(value grandchild.json '[r["pid"] for r in rows if r["thread"] == "child"][0]')
expect_ok "$FXTRACE" why --json --process "$pid" grandchild.fxt
cp out of.json
expect_equal child "$(value of.json 'rows[0]["thread"]')" 'the first thread of a process'
for wrong in '--thread nobody' '--process nobody' '--slice nothing' '--slice pthread_cond_wait#2' '--from 1h'; do
	# shellcheck disable=SC2086 # two words
	expect_one_error 1 "$FXTRACE" why $wrong chain.fxt
done

# --- How it is shown

expect_ok "$FXTRACE" why chain.fxt
expect_line '^100\.0 % .* client \(tid [0-9]+\) of chains' out
expect_line 'a lock +pthread_mutex_lock: mutex store, in worker' out
COLUMNS=60 expect_ok "$FXTRACE" why chain.fxt
expect_equal '' "$(sed 's/…/./g' out | awk 'length($0) > 60 && /%/')" 'rows that are wider than the terminal'
expect_ok "$FXTRACE" why --json --depth 2 chain.fxt
cp out of.json
expect_equal 1 "$(value of.json 'max(r.get("depth", 0) for r in rows)')" 'levels'
expect_equal True "$(value of.json 'sum(r["self_ns"] for r in rows) == rows[0]["total_ns"]')" 'own times are the whole'
expect_ok "$FXTRACE" why --collapsed chain.fxt
expect_line ';worker \(tid [0-9]+\);pthread_mutex_lock: mutex store, in worker;keeper .*;nanosleep [0-9]+$' out
expect_equal "$(value chain.json 'rows[0]["total_ns"]')" "$(awk '{ sum += $NF } END { printf "%d\n", sum }' out)" \
	'time of all lines'
expect_ok "$FXTRACE" why --csv chain.fxt
expect_line '^range_share,total_ns,self_ns,' out
expect_ok "$FXTRACE" why - <chain.fxt
expect_line 'keeper' out

# --- What is missing is said

# Without the categories that have arrows, time is the first thread's own.
expect_ok "$FXTRACE" run -q -c syscall -o no-arrows.fxt -- ./chains chain
expect_ok "$FXTRACE" why no-arrows.fxt
expect_line '^ *[0-9.]+ % .* computing +\(no recorded call\)' out
# Arrows that lie before the archive's begin, and descriptors that lead to nobody who is traced.
expect_ok "$FXTRACE" run -q -o peer.fxt -- bash -c 'read -r line < <(sleep 0.2; echo)'
expect_ok "$FXTRACE" why --json peer.fxt
cp out of.json
expect_equal True "$(value of.json 'sum(r["self_ns"] for r in rows) == rows[0]["total_ns"]')" 'own times are the whole'

cat >stuck.c <<'END2'
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER, two = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both;
static void *other(void *unused)
{
	pthread_mutex_lock(&two);
	pthread_barrier_wait(&both);
	pthread_mutex_lock(&one);
	return unused;
}
int main(void)
{
	pthread_t thread;
	pthread_barrier_init(&both, NULL, 2);
	pthread_create(&thread, NULL, other, NULL);
	pthread_mutex_lock(&one);
	pthread_barrier_wait(&both);
	alarm(1);
	pthread_mutex_lock(&two);
	return 0;
}
END2
compile stuck -O1 -w stuck.c
expect_status 142 "$FXTRACE" run -q -o stuck.fxt -- ./stuck
expect_ok "$FXTRACE" why stuck.fxt
expect_line 'a lock +pthread_mutex_lock: mutex two' out
expect_line 'waits in the archive had not ended' out

target producer producer.c
expect_ok "$FXTRACE" run -q -c function -m oneshot -b 4K -o lost.fxt -- ./producer 1 50000
expect_ok "$FXTRACE" why lost.fxt
expect_line '^[1-9][0-9]{0,2}(,[0-9]{3})* records were lost, so waits and calls may be missing here; to keep them: ' out

head -c $(($(stat -c %s chain.fxt) / 2 / 8 * 8 + 4)) chain.fxt >cut.fxt
expect_status 1 "$FXTRACE" why cut.fxt
expect_line 'cut\.fxt: offset .*; the answer is of what is whole' err
expect_line 'the archive is damaged' out
