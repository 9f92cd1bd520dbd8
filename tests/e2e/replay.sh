#!/bin/bash
# SPDX-License-Identifier: MIT
# `fxtrace replay': order, nesting and times as a script computes them from the archive's records, the order that strace
# saw, filters, an archive that grows, bad input.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

cat >work.c <<'END'
#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
static int leaf(int x) { return x * 3; }
static int again(int n) { return n ? again(n - 1) + leaf(n) : 0; }
static void *work(void *arg)
{
	char path[40];

	for (int i = 0; i < 20; i++) {
		snprintf(path, sizeof(path), "d-%d-%d", *(int *)arg, i);
		mkdir(path, 0700);
		again(i % 7);
		rmdir(path);
	}
	return arg;
}
int main(void)
{
	pthread_t threads[3];
	int numbers[3] = {0, 1, 2};

	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], 0, work, &numbers[i]);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], 0);
	rmdir("no\033[31m\"such\n");
	return again(5) == 0;
}
END
compile work -O0 -g -pthread -finstrument-functions work.c
expect_ok "$FXTRACE" run -q -o work.fxt --on-full block -- ./work
"$FXTRACE" dump --json work.fxt >work.json
expect_ok "$FXTRACE" replay work.fxt
mv out replay.txt
python3 "$FX_SRCDIR/tests/e2e/replay_order.py" work.json replay.txt || fail "another order"
expect_line '\| +leaf\(\) <[0-9.]+ (ns|us|ms)>;$' replay.txt
expect_line '\| +again\(\) \{$' replay.txt
expect_line '\| +\} <.*>; /\* again \*/$' replay.txt
expect_line 'rmdir\(path="no\\x1B\[31m\\"such\\n"\) = -1 ENOENT <' replay.txt
! grep -q $'\033' replay.txt || fail "a control character reaches the terminal"

# Begins and ends as records of their own give the same tree.
expect_ok "$FXTRACE" run -q -o pairs.fxt --records pairs --on-full block -- ./work
expect_ok "$FXTRACE" replay --category function pairs.fxt
expect_equal "$(grep -c 'leaf()' replay.txt)" "$(grep -c 'leaf()' out)" "calls of leaf in pairs"
expect_no_line unfinished out

# Where records are missing is told in their place, whatever is asked for.
cat >much.c <<'END'
static int leaf(int x) { return x * 3; }
int main(void) { for (int i = 0; i < 100000; i++) leaf(i); return 0; }
END
compile much -O0 -finstrument-functions much.c
"$FXTRACE" run -q -m oneshot -b 64K -o much.fxt -- ./much 2>err || fail "much"
for options in '' '--name main' '--category function' '--follow'; do
	# shellcheck disable=SC2086 # none or two words
	expect_ok "$FXTRACE" replay $options much.fxt
	expect_line '\| +\* records dropped\(count=[0-9]+, .*cause="buffer-full", ' out
done
expect_ok "$FXTRACE" replay work.fxt
expect_no_line 'records dropped' out

# Names of C++ have their parameters already.
if command -v "${FX_CXX%% *}" >/dev/null; then
	cat >plus.cc <<'END'
struct Shape { int side; int area() const; int grow(int by); };
__attribute__((noinline)) int Shape::area() const { return side * side; }
__attribute__((noinline)) int Shape::grow(int by) { side += by; return area(); }
int main() { Shape shape = {3}; return shape.grow(1) != 16; }
END
	compile plus -O0 -g -finstrument-functions plus.cc
	expect_ok "$FXTRACE" run -q -o plus.fxt --args 'Shape::grow*' -- ./plus
	expect_ok "$FXTRACE" replay plus.fxt
	expect_line '\| +main\(\) \{$' out
	# Values are known on x86-64 alone.
	by='"<optimised out>"'
	[ "$(uname -m)" != x86_64 ] || by=1
	expect_line "\\| +Shape::grow\\(int\\)\\(.*by=$by\\) \\{\$" out
	expect_line '\| +Shape::area\(\) const <[0-9.]+ (ns|us|ms)>;$' out
	expect_ok "$FXTRACE" replay --follow plus.fxt
	expect_line '\| Shape::area\(\) const <' out
fi

# --- strace ----------------------------------------------------------------------------------------

if command -v strace >/dev/null && strace -f -qq -e trace=none true 2>/dev/null; then
	expect_ok strace -f -qq -e 'trace=/^(mkdir|rmdir)' -o strace.txt "$FXTRACE" run -q -o both.fxt -- ./work
	"$FXTRACE" replay --name '??dir' both.fxt >both.txt || fail "no replay"
	sed -nE 's/^([0-9]+) +(mkdir|rmdir)(at)?\((AT_FDCWD, )?"(d-[^"]*)".*/\1 \2 \5/p' strace.txt |
		sort -s -k1,1n >want
	sed -nE 's/^ *[0-9.]+ .*[^0-9]([0-9]+) +\| +(mkdir|rmdir)\(path="(d-[^"]*)".*/\1 \2 \3/p' both.txt |
		sort -s -k1,1n >got
	expect_equal 120 "$(wc -l <want)" "calls that strace saw"
	expect_same_file want got
fi

# --- Options ---------------------------------------------------------------------------------------

calls() { # OPTION...: lines in which leaf is called
	"$FXTRACE" replay "$@" work.fxt >calls.txt || fail "replay $* fails"
	grep -c ' leaf()' calls.txt
}
all=$(calls)
expect_equal "$(grep -c '"name":"leaf"' work.json)" "$all" "calls of leaf"
expect_equal "$all" "$(calls --process work)" "calls of the process"
expect_equal 0 "$(calls --process other)" "calls of another process"
expect_equal "$all" "$(calls --name 'l*f')" "calls of the name"
expect_no_line again calls.txt
expect_no_line '\{$' calls.txt
expect_equal 0 "$(calls --category 'sys*')" "calls of another category"
expect_equal 0 "$(calls --from 1000s)" "calls from far behind the end"
expect_equal "$all" "$(calls --to 1000s)" "calls until far behind the end"
main=$(python3 -c 'import json
print(next(json.loads(l)["koid"] for l in open("work.json") if "\"type\":\"process\"" in l))')
expect_equal 5 "$(calls --thread "$main")" "calls of the first thread"

"$FXTRACE" replay --delta work.fxt | sed -nE 's/^ *([0-9]+)\.([0-9]{9}) .*/\1\2/p' |
	awk '{ sum += $1 } END { printf "%d\n", sum }' >sum
tail -n 1 replay.txt | sed -E 's/^ *([0-9]+)\.([0-9]{9}) .*/\1\2/; s/^0+//' >last
expect_same_file last sum

expect_no_line '\| +[*#] ' replay.txt
"$FXTRACE" replay --instants --counters work.fxt >points.txt || fail "no instants"
expect_line '\| +\* exits\(|\| +\* process exits\(' points.txt
expect_line '\| +# heap\(bytes=' points.txt
"$FXTRACE" replay --color always work.fxt | head -n 1 >color.txt
expect_line '^ *0\.[0-9]{9} .\[3[1-6]m' color.txt
"$FXTRACE" replay - <work.fxt >piped.txt || fail "no replay of standard input"
expect_same_file replay.txt piped.txt

# --- An archive that grows -------------------------------------------------------------------------

cat >grow.sh <<'END'
mkdir seen
while ! [ -e go ]; do sleep 0.05; done
rmdir seen away
END
for name in grow.fxt grow.fxt.zst; do
	rm -rf go seen
	mkdir away
	"$FXTRACE" run -q -o "$name" -- bash grow.sh &
	run=$!
	for _ in $(seq 600); do
		[ -s "$name" ] && break
		sleep 0.05
	done
	"$FXTRACE" replay --follow --name '??dir' "$name" >follow.txt 2>follow.err &
	follow=$!
	for _ in $(seq 600); do
		grep -q 'mkdir(.*seen' follow.txt && break
		sleep 0.05
	done
	expect_line 'mkdir\(path="seen".* = 0 <' follow.txt
	expect_no_line 'rmdir' follow.txt
	touch go
	wait "$run" || fail "the program fails"
	wait "$follow" || fail "following fails: $(cat follow.err)"
	expect_line 'rmdir\(path="away"\) = 0 <' follow.txt
done
# What is complete is all.
expect_ok "$FXTRACE" replay --follow work.fxt
expect_equal "$all" "$(grep -c 'leaf()' out)" "calls of leaf, followed"

# --- Bad input -------------------------------------------------------------------------------------

expect_one_error 1 "$FXTRACE" replay no-such-file.fxt
echo "not an archive" >text.fxt
expect_one_error 1 "$FXTRACE" replay text.fxt
expect_one_error 1 "$FXTRACE" replay --follow text.fxt
: >empty.fxt
expect_one_error 1 "$FXTRACE" replay empty.fxt
expect_one_error 2 "$FXTRACE" replay work.fxt work.fxt
expect_one_error 2 "$FXTRACE" replay --from 5s --to 1s work.fxt
expect_one_error 2 "$FXTRACE" replay --from soon work.fxt
expect_one_error 2 "$FXTRACE" replay --color blue work.fxt
expect_one_error 2 "$FXTRACE" replay --follow -
expect_one_error 2 "$FXTRACE" replay --follow --from 1s work.fxt
head -c $(($(stat -c %s work.fxt) * 3 / 4 + 3)) work.fxt >cut.fxt
expect_status 1 "$FXTRACE" replay cut.fxt
expect_line 'leaf\(\)' out
expect_line 'truncated.*; the rest is printed' err
"$FXTRACE" replay work.fxt | head -n 1 >head.out
status=${PIPESTATUS[0]}
[ "$status" -eq 0 ] || [ "$status" -eq 141 ] || fail "a closed pipe is an error"
