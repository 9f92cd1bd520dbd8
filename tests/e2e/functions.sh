#!/bin/bash
# SPDX-License-Identifier: MIT
# --filter and --no-trace: what is recorded are the functions that match, call for call, from the first on; open calls too. Held
# against the full archive, filtered afterwards by a script that shares no code with us.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
need python3

cat >prog.cc <<'END'
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include "vendor/inline.h"
namespace ns {
__attribute__((noinline)) int f(int i) { return i * 2; }
__attribute__((noinline)) int f(double d) { return int(d); }
template <class A, class B> struct pair_of {
	__attribute__((noinline)) A first(A a, B) { return a; }
};
}
extern "C" {
__attribute__((noinline)) int alpha(int i) { return i + ns::f(i); }
__attribute__((noinline)) int alpha_two(int i) { return alpha(i) + ns::f(double(i)); }
__attribute__((noinline)) int beta(int i) { return ns::pair_of<int, long>().first(i, 2L) + alpha_two(i); }
__attribute__((noinline)) void ends() { raise(SIGKILL); }
int shared(int);
}
int main(int argc, char **)
{
	int sum = 0;
	for (int i = 0; i < 50; i++)
		sum += beta(i) + shared(i) + from_header(i);
	printf("%d\n", sum);
	fflush(stdout);
	if (argc > 1)
		ends();
	return 0;
}
END
mkdir vendor
cat >vendor/inline.h <<'END'
namespace vendor {
struct thing {
	__attribute__((noinline)) int method(int i) { asm volatile(""); return i; }
};
}
static __attribute__((noinline)) int from_header(int i) { return vendor::thing().method(i) + 1; }
END
cat >shared.c <<'END'
__attribute__((noinline)) int alpha_of_shared(int i) { return i; }
int shared(int i) { return alpha_of_shared(i) + 1; }
END
compile libshared.so -g -O1 -finstrument-functions -shared -fPIC shared.c
$FX_CXX -g -O1 -finstrument-functions -o prog prog.cc -L. -lshared -Wl,-rpath,"$PWD" || fail "cannot compile prog.cc"

cat >functions.py <<'END'
"""SIZES in the environment: what nm says of sizes. functions.py calls ARCHIVE.json: "COUNT NAME" of each function. functions.py sets COUNT: so many random sets of patterns, one a
line, as options. functions.py filtered CALLS OPTION...: what of these calls the options leave."""
import collections, fnmatch, json, os, random, re, shlex, sys

SOURCES = {"alpha_of_shared": "shared.c", "shared": "shared.c", "from_header(int)": "vendor/inline.h",
           "vendor::thing::method(int)": "vendor/inline.h"}
SIZES = {line.split(" ", 3)[3]: int(line.split()[1], 16) for line in os.environ["SIZES"].splitlines()}
HERE = {"alpha_of_shared": "libshared.so", "shared": "libshared.so"}

def calls(path):
    count = collections.Counter()
    for line in open(path):
        record = json.loads(line)
        if record["kind"] == "event" and record["category"] == "function" and record["type"] == "complete":
            count[record["name"]] += 1
    return count

def matches(glob, name):
    if glob.startswith("@"):
        path = os.path.join(os.getcwd(), SOURCES.get(name, "prog.cc"))
        parts = path.split("/")
        ends = ["/".join(parts[i:]) for i in range(len(parts))]
        return any(fnmatch.fnmatchcase(end, glob[1:]) for end in (ends if "/" in glob else ends[-1:]))
    module = re.match(r"([^:]+):(?!:)(.*)", glob)
    if module:
        if not fnmatch.fnmatchcase(HERE.get(name, "prog"), module[1]):
            return False
        glob = module[2]
    depth, bare = 0, name
    if ")" in name:
        at = name.rindex(")")
        while at >= 0:
            depth += (name[at] == ")") - (name[at] == "(")
            if depth == 0:
                bare = name[:at]
                break
            at -= 1
    return fnmatch.fnmatchcase(name, glob) or fnmatch.fnmatchcase(bare, glob)

def wanted(name, options):
    only = [o[2:] for o in options if o.startswith("-F")]
    never = [o[2:] for o in options if o.startswith("-N")]
    least = [int(o[11:]) for o in options if o.startswith("--min-size=")]
    if least and SIZES[name] < least[-1]:
        return False
    return (not only or any(matches(g, name) for g in only)) and not any(matches(g, name) for g in never)

command, *rest = sys.argv[1:]
if command == "calls":
    for name, n in sorted(calls(rest[0]).items()):
        print(n, name)
elif command == "sets":
    random.seed(14)
    globs = ["alpha*", "alpha", "*a", "ns::*", "ns::f", "ns::f(int)", "ns::f(d*", "*pair_of*", "ns::pair_of<int, long>::first",
             "libshared.so:*", "prog:a*", "libsh*:alpha_of_?hared", "prog:ns::*", "main", "beta", "?eta", "*", "none", "ends",
             "int ns*", "*first", "@*/vendor/*", "@inline.h", "@prog.cc", "@*.c", "@shared.?", "@vendor/inline.h", "@*/shared.c", "@v*/*.h", "@*/endor/*", "@none.c"]
    def option():
        if random.random() < 0.1:
            return "--min-size=%d" % random.choice(list(SIZES.values()) + [1, 50, 100])
        return shlex.quote("-" + random.choice("FN") + random.choice(globs))
    for _ in range(int(rest[0])):
        print(" ".join(option() for _ in range(random.randint(1, 4))))
else:
    for line in open(rest[0]):
        if wanted(line.rstrip("\n").split(" ", 1)[1], rest[1:]):
            print(line, end="")
END

SIZES=$(nm -S -C --defined-only prog libshared.so | grep -E '^[0-9a-f]+ [0-9a-f]+ [tTwW] ')
export SIZES

# calls_of ARCHIVE: "COUNT NAME" of each function.
calls_of() {
	"$FXTRACE" dump --json "$1" >calls.json && python3 functions.py calls calls.json
}

# The program that ends in the middle of calls, too: those that are open are filtered as the others.
for arguments in "" "killed"; do
	# shellcheck disable=SC2086 # none, or one
	"$FXTRACE" run -q -o full.fxt -- ./prog $arguments >out
	calls_of full.fxt >full
	[ "$(wc -l <full)" -ge 8 ] || fail "only $(wc -l <full) functions: $(cat full)"
	failed=0 empty=0
	python3 functions.py sets "${FX_SETS:-60}" >sets
	while read -r set; do
		rm -f some.fxt
		eval "\"\$FXTRACE\" run -q $set -o some.fxt -- ./prog $arguments" >out 2>err
		eval "python3 functions.py filtered full $set" >want
		calls_of some.fxt >got
		[ -s want ] || empty=$((empty + 1))
		cmp -s want got || { echo "$set"; diff want got; failed=$((failed + 1)); }
	done <sets
	echo "$(wc -l <sets) sets, $empty of which leave nothing: $failed differ"
	expect_equal 0 "$failed" "sets that differ"
	[ "$empty" -lt "$(wc -l <sets)" ] || fail "all sets leave nothing"
done
expect_clean some.fxt

# The variable has several, one a line; the option stands in its place.
expect_ok env FXTRACE_NO_TRACE=$'ns::*\nmain' "$FXTRACE" run -q -F 'ns::*' -F main -F beta -o some.fxt -- ./prog
calls_of some.fxt >got
expect_equal "50 beta" "$(cat got)" "by variable and option"
expect_ok env FXTRACE_NO_TRACE='beta' "$FXTRACE" run -q -N 'ns::*' -F beta -o some.fxt -- ./prog
calls_of some.fxt >got
expect_equal "50 beta" "$(cat got)" "the option stands in the variable's place"

expect_ok env FXTRACE_FILTER=x FXTRACE_NO_TRACE=$'ns::pair_of*\nns::f(double)' "$FXTRACE" run -q -F 'ns::*' -F beta -o some.fxt -- ./prog
calls_of some.fxt >got
expect_equal "50 beta/50 ns::f(int)" "$(paste -sd/ got)" "the shorter of two variables gives way"

# What was left out is said.
expect_ok "$FXTRACE" run -o some.fxt -F beta -- ./prog
expect_line '^fxtrace: calls of functions are left out by --filter or --no-trace' err
expect_ok "$FXTRACE" run -o some.fxt -F beta -D 2 -- ./prog
expect_line '^fxtrace: [0-9]+ calls of functions left out by --filter or --no-trace' err
expect_ok "$FXTRACE" run -c function -o some.fxt -F none -- ./prog
expect_line 'nothing that it did was recorded: --filter or --no-trace leaves out all calls' err

# By duration, each function its own; what an archive has of that is left of it, too.
cat >naps.c <<'END'
#include <unistd.h>
__attribute__((noinline)) void nap(int ms) { usleep(1000 * ms); }
__attribute__((noinline)) void brief(void) { __asm__ volatile(""); }
__attribute__((noinline)) void both(int ms) { brief(); nap(ms); }
int main(void)
{
	for (int i = 0; i < 8; i++)
		both(i % 2 ? 0 : 60);
	return 0;
}
END
compile naps -O1 -finstrument-functions naps.c
# naps WANT OPTION...: how often what was called.
naps() {
	local want=$1

	shift
	"$FXTRACE" run -q -c function "$@" -o some.fxt -- ./naps
	calls_of some.fxt >got
	expect_equal "$want" "$(paste -sd/ got)" "run $*"
	"$FXTRACE" run -q -c function -o full.fxt -- ./naps
	"$FXTRACE" filter "$@" -o less.fxt full.fxt 2>err
	calls_of less.fxt >got
	expect_equal "$want" "$(paste -sd/ got)" "filter $*"
}
naps '8 both/8 brief/1 main' -t 'n*=1h'
naps '8 brief/1 main/8 nap' -t 'b*=1h' -t brief=0ns
naps '8 brief' -t 1h -t brief=0s
naps '8 both/8 brief/1 main' -t nap=1h -t '*b*=0s'
naps '1 main' -t '*=0s' -t '[!m]*=1h'
naps '8 nap' --when both -F nap -t both=1h
naps '8 brief' --when both -N both -t nap=1h
naps '8 brief/8 nap' --when both -t both=1h
expect_ok env FXTRACE_MIN_DURATION='nap=1h' "$FXTRACE" run -c function -o some.fxt -- ./naps
expect_line '^fxtrace: 8 calls of functions left out by --min-duration' err
expect_ok env FXTRACE_MIN_DURATION='nap=1h' "$FXTRACE" run -c function -t 'b*=1h' -o some.fxt -- ./naps
expect_line '^fxtrace: 16 calls of functions left out by --min-duration' err

# long_ones ARCHIVE: how many calls of nap have taken 50 ms, how many there are, and how many functions' calls beside.
long_ones() {
	"$FXTRACE" dump --json "$1" | python3 -c '
import json, sys
calls = [r for r in map(json.loads, sys.stdin) if r["kind"] == "event" and r["category"] == "function"]
naps = [r for r in calls if r["name"] == "nap"]
print(sum(r["end"] - r["ts"] >= 50000000 for r in naps), len(naps), len(calls) - len(naps))'
}
"$FXTRACE" run -q -c function -o full.fxt -- ./naps
read -r long all others < <(long_ones full.fxt)
[ "$long" -ge 4 ] && [ "$all" = 8 ] || fail "$long of $all naps take 50 ms"
"$FXTRACE" filter -t nap=50ms -o less.fxt full.fxt 2>err
expect_equal "$long $long $others" "$(long_ones less.fxt)" "what is left of an archive"
"$FXTRACE" run -c function -t nap=50ms -o some.fxt -- ./naps 2>err
read -r long all others < <(long_ones some.fxt)
[ "$long" -ge 4 ] && [ "$long" = "$all" ] && [ "$others" = 17 ] || fail "$long, $all, $others"
[ "$all" = 8 ] || expect_line "^fxtrace: $((8 - all)) calls? of functions left out by --min-duration" err

# What has no debug information has no source files.
expect_ok "$FXTRACE" run -o some.fxt -N '@naps.c' -- ./naps
expect_line '^fxtrace: no function that was called tells its source file' err
expect_ok "$FXTRACE" run -o some.fxt -N '@prog.cc' -- ./prog
expect_no_line 'source file' err

# A session of a manager's.
. "$FX_SRCDIR/tests/e2e/control.sh"
export XDG_RUNTIME_DIR=$TEST_DIR
manager_start
expect_ok "$FXTRACE" start -F beta -F 'ns::f(int)' -N main -o session.fxt
provider_start ./prog
wait "$PROVIDER"
expect_ok "$FXTRACE" stop
expect_ok "$FXTRACE" terminate
calls_of session.fxt >got
expect_equal "50 beta/50 ns::f(int)" "$(paste -sd/ got)" "in a session of a manager's"

# A program leaves them out itself, once it knows, and so do its children: no buffer would have the room for all of their calls.
cat >often.c <<'END'
#include <sys/wait.h>
#include <unistd.h>
static volatile long sink;
__attribute__((noinline)) void often(void) { sink++; }
__attribute__((noinline)) void seldom(void) { sink++; }
int main(void)
{
	while (access("go", F_OK)) {
		often();
		usleep(1000);
	}
	for (int i = 0; i < 1000000; i++)
		often();
	seldom();
	if (fork() == 0) {
		for (int i = 0; i < 1000000; i++)
			often();
		seldom();
		_exit(0);
	}
	wait(NULL);
	return 0;
}
END
compile often -O1 -finstrument-functions often.c
for options in "-N often" "-F seldom" "-N often --args seldom"; do
	rm -f go often.fxt
	provider_start ./often
	wait_for 10 providers_are 1 || fail "no provider comes"
	# shellcheck disable=SC2086 # several
	expect_ok "$FXTRACE" start -c function $options -m oneshot --buffer-size 1M -o often.fxt
	touch go
	wait "$PROVIDER"
	expect_ok "$FXTRACE" stop
	expect_ok "$FXTRACE" terminate
	expect_clean often.fxt
	calls_of often.fxt | grep -v ' main$' >got || :
	expect_equal "2 seldom" "$(cat got)" "what is left of a program that calls often, with $options"
done

# What is no pattern.
expect_one_error 2 "$FXTRACE" run -F '' -- ./prog
expect_one_error 2 "$FXTRACE" run -N 'prog:' -- ./prog
expect_one_error 2 "$FXTRACE" run -F "$(printf 'x%.0s' $(seq 2000))" -- ./prog
expect_one_error 2 "$FXTRACE" run -F x --records pairs -- ./prog
expect_one_error 2 "$FXTRACE" run -F x -c syscall -- ./prog
