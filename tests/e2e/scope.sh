#!/bin/bash
# SPDX-License-Identifier: MIT
# --when, --filter GLOB+depth=N, and --max-depth with them: which calls are recorded by what they lie in. Held against the full archive,
# filtered afterwards by a script that shares no code with us: threads, exceptions, longjmp, handlers, children, calls that are
# open at the end.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
need python3

# Each thread walks a tree of calls of its own, the same in each run.
cat >prog.cc <<'END'
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#define NO_INLINE __attribute__((noinline))
#define QUIET __attribute__((no_instrument_function, noinline))
static thread_local unsigned long seed;
static thread_local unsigned left;
static thread_local jmp_buf *place;
static thread_local int catching, handling;
QUIET static unsigned next(unsigned n)
{
	seed = seed * 6364136223846793005ul + 1442695040888963407ul;
	return (seed >> 33) % n;
}
static void step(int d);
extern "C" {
NO_INLINE void alpha(int d) { step(d); }
NO_INLINE void beta(int d) { step(d); }
NO_INLINE void gamma_leaf(int) { asm volatile(""); }
NO_INLINE void in_handler(int d) { step(d); }
NO_INLINE void handler(int)
{
	handling++;
	in_handler(2);
	handling--;
}
NO_INLINE void after_jump() { asm volatile(""); }
NO_INLINE void after_throw() { asm volatile(""); }
NO_INLINE void setter(int d)
{
	jmp_buf here, *before = place;
	if (setjmp(here) == 0) {
		place = &here;
		step(d);
	} else {
		after_jump();
	}
	place = before;
}
NO_INLINE void catcher(int d)
{
	catching++;
	try {
		step(d);
	} catch (int) {
		after_throw();
	}
	catching--;
}
}
namespace ns {
NO_INLINE void inner(int d) { step(d); }
NO_INLINE void outer(int d) { inner(d); step(d); }
}
NO_INLINE static void step(int d)
{
	static void (*const some[])(int) = {alpha, beta, gamma_leaf, setter, catcher, ns::inner, ns::outer};
	if (left == 0)
		return;
	left--;
	for (unsigned i = next(4); d > 0 && i; i--)
		some[next(7)](d - 1);
	switch (handling ? 3 : next(40)) {
	case 0:
		if (place && !catching)
			longjmp(*place, 1);
		break;
	case 1:
		if (catching && !place)
			throw 1;
		break;
	case 2:
		raise(SIGUSR1);
		break;
	}
}
QUIET static void tree(unsigned long with, unsigned calls)
{
	seed = with;
	for (left = calls; left;)
		step(9);
}
static unsigned calls;
NO_INLINE static void work(unsigned long with) { tree(with, calls); }
QUIET static void *thread(void *with)
{
	char name[16];
	snprintf(name, sizeof(name), "t%lu", (unsigned long)with);
	prctl(PR_SET_NAME, name);
	work((unsigned long)with);
	return NULL;
}
NO_INLINE static void child(int ends)
{
	prctl(PR_SET_NAME, "child");
	tree(77, calls);
	if (ends)
		raise(SIGKILL);
}
extern "C" NO_INLINE void forks(int ends)
{
	pid_t pid;
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		child(ends);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}
extern "C" NO_INLINE void ends(int d)
{
	if (d)
		ends(d - 1);
	else
		raise(SIGKILL);
}
int main(int argc, char **argv)
{
	pthread_t threads[3];
	bool killed = argc > 2 && strcmp(argv[2], "killed") == 0;
	calls = atoi(argv[1]);
	signal(SIGUSR1, handler);
	for (unsigned long i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, thread, (void *)(i + 1));
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	forks(killed);
	tree(5, calls);
	if (killed)
		ends(4);
	return 0;
}
END
$FX_CXX -O1 -finstrument-functions -pthread -o prog prog.cc || fail "cannot compile prog.cc"

cat >scope.py <<'END'
"""scope.py sequence ARCHIVE.json: the calls of each thread, in the order in which they begin. scope.py wanted ARCHIVE.json
OPTION...: those of them that the options leave. scope.py sets COUNT: so many random sets of options, one a line."""
import fnmatch, json, random, re, shlex, sys

ALL = 10 ** 9

def load(path):
    """Of each thread, by its name: [start, end, name] by start, the outer one first."""
    names, threads = {}, {}
    for line in open(path):
        r = json.loads(line)
        if r["kind"] == "kernel-object" and r["type"] == "thread":
            names[r["koid"]] = r["name"]
        if r["kind"] == "event" and r["category"] == "function":
            assert r["type"] == "complete", r
            threads.setdefault(r["tid"], []).append((r["ts"], -r["end"], r["name"]))
    assert len({names[t] for t in threads}) == len(threads), names
    return {names[t]: sorted(calls) for t, calls in threads.items()}

def bare(name):
    return name[:name.rindex("(")] if name.endswith(")") else name

def meant(glob, name):
    return fnmatch.fnmatchcase(name, glob) or fnmatch.fnmatchcase(bare(name), glob)

def split(glob):
    m = re.fullmatch(r"(.*)\+depth=(\d+)", glob)
    return (m[1], int(m[2])) if m else (glob, None)

def tree(calls):
    """(name, children) of what lies in no other."""
    roots, stack = [], []
    for start, end, name in calls:
        while stack and stack[-1][0] < -end:
            stack.pop()
        node = (name, [])
        (stack[-1][1] if stack else roots).append(node)
        stack.append((-end, node[1]))
    return roots

class Options:
    def __init__(self, words):
        self.filters, self.depths, self.never, self.whens, self.max = [], [], [], [], None
        for w in words:
            if w.startswith("-F"):
                glob, n = split(w[2:])
                (self.filters if n is None else self.depths).append((glob, n))
            elif w.startswith("-N"):
                self.never.append(w[2:])
            elif w.startswith("--when="):
                self.whens.append(split(w[7:]))
            elif w.startswith("-D"):
                self.max = int(w[2:])
            else:
                assert False, w

def walk(nodes, o, inside, kept, out):
    """inside, kept: so many levels more."""
    for name, children in nodes:
        i, k = inside, kept
        for glob, n in o.whens:
            if meant(glob, name):
                i = n or o.max or ALL
        for glob, n in o.depths:
            if meant(glob, name):
                k = n
        never = any(meant(g, name) for g in o.never)
        by_name = not (o.filters or o.depths) or any(meant(g, name) for g, _ in o.filters)
        is_chosen = not never and (by_name or k > 0)
        if is_chosen and i > 0:
            out.append(name)
        walk(children, o, i - 1 if is_chosen and i else i, k - 1 if not never and k else k, out)

def show(sequences):
    for thread, calls in sorted(sequences.items()):
        for name in calls:
            print(thread, name)

sys.setrecursionlimit(10000)
command, *rest = sys.argv[1:]
if command == "sequence":
    show({t: [name for _, _, name in calls] for t, calls in load(rest[0]).items()})
elif command == "wanted":
    o, result = Options(rest[1:]), {}
    for t, calls in load(rest[0]).items():
        out = []
        walk(tree(calls), o, 0 if o.whens else ALL, 0, out)
        if out:
            result[t] = out
    show(result)
else:
    random.seed(int(rest[1]))
    globs = ["alpha", "beta", "ns::*", "ns::inner(int)", "gamma*", "setter", "catcher", "*er", "in_handler", "work*", "after*", "step",
             "child*", "forks", "main", "ends", "none", "?*a"]
    def level():
        return random.choice(["", "", "+depth=%d" % random.randint(1, 4)])
    for _ in range(int(rest[0])):
        words = []
        for _ in range(random.randint(1, 3)):
            kind = random.choice(["-F", "-N", "--when=", "--when=", "-F+"])
            glob = random.choice(globs)
            if kind == "--when=":
                words.append(kind + glob + level())
            elif kind == "-F+":
                words.append("-F%s+depth=%d" % (glob, random.randint(1, 4)))
            else:
                words.append(kind + glob)
        if any(w.startswith("--when") for w in words) and random.random() < 0.3:
            words.append("-D%d" % random.randint(1, 5))
        if any(w.startswith("--when") or "+depth" in w for w in words):
            print(" ".join(shlex.quote(w) for w in words))
END

# sequence_of ARCHIVE: its calls, a line each.
sequence_of() {
	"$FXTRACE" dump --json "$1" >dumped.json && python3 scope.py sequence dumped.json
}

# compare SETS SEED RUN-OPTIONS... -- ARGUMENTS...: what runs of prog record with random sets of options.
compare() {
	local count=$1 seed=$2 set failed=0 empty=0
	local options=()

	shift 2
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	"$FXTRACE" run -q -c function "${options[@]}" -o full.fxt -- ./prog "$@" >out
	"$FXTRACE" dump --json full.fxt >full.json
	python3 scope.py sets "$count" "$seed" >sets
	while read -r set; do
		rm -f some.fxt
		eval "\"\$FXTRACE\" run -q -c function \"\${options[@]}\" $set -o some.fxt -- ./prog \"\$@\"" >out 2>err
		eval "python3 scope.py wanted full.json $set" >want
		sequence_of some.fxt >got
		expect_clean some.fxt
		[ -s want ] || empty=$((empty + 1))
		cmp -s want got || {
			echo "run $* $set: $(wc -l <want) $(wc -l <got)"
			diff want got | head -5
			failed=$((failed + 1))
		}
		# The same of the archive that has all.
		eval "\"\$FXTRACE\" filter $set -o less.fxt full.fxt"
		sequence_of less.fxt >got
		expect_clean less.fxt
		cmp -s want got || {
			echo "filter $* $set: $(wc -l <want) $(wc -l <got)"
			diff want got | head -5
			failed=$((failed + 1))
		}
	done <sets
	echo "$* ${options[*]}: $(wc -l <sets) sets, $empty of which leave nothing, of $(grep -c '"category":"function"' full.json) calls: $failed differ"
	expect_equal 0 "$failed" "sets that differ"
	[ "$empty" -lt "$(wc -l <sets)" ] || fail "all sets leave nothing"
}

compare "${FX_SETS:-20}" 1 -- 300
compare "${FX_SETS:-20}" 2 -- 300 killed
compare "${FX_SETS:-8}" 3 -m circular -- 300 killed
compare "${FX_SETS:-8}" 4 -m oneshot -- 300
# Who is to tell of arguments waits until it knows which functions these are: it leaves out what it may from the first call on.
compare "${FX_SETS:-20}" 6 --args no_such -- 300 killed
# More than a buffer holds: what calls lie in is open while they are saved.
compare "${FX_SETS:-8}" 5 -b 64K --on-full block -- 20000 killed

# nesting ARCHIVE: its calls and their depths, in no order.
nesting() {
	"$FX_BUILDDIR/tests/e2e/calltree" archive "$1" | cut -d' ' -f2- | sort
}

# The program leaves calls out itself, once it knows which. Functions that it was in by then make calls that it does not record: what
# these call lies in what it lay in before.
expect_ok "$FXTRACE" run -q -c function -b 64M --on-full block -o full.fxt -- ./prog 20000
for set in "-F gamma* -F setter" "-N *step* -N alpha -N ns::*"; do
	# shellcheck disable=SC2086 # several
	(
		set -f
		expect_ok "$FXTRACE" filter $set -o less.fxt full.fxt
		expect_ok "$FXTRACE" run -q -c function -b 64M --on-full block $set -o some.fxt -- ./prog 20000
	) || exit 1
	nesting less.fxt >want
	nesting some.fxt >got
	[ "$(wc -l <want)" -gt 10000 ] || fail "$(wc -l <want) calls of $set"
	cmp -s want got || fail "$set: nested otherwise: $(diff want got | grep -c '^[<>]') of $(wc -l <want) calls"
done

# In a session of a manager's, of a program that comes while it goes on.
. "$FX_SRCDIR/tests/e2e/control.sh"
manager_start
expect_ok "$FXTRACE" start -c function --when setter -b 64M --on-full block -o some.fxt
with_provider ./prog 20000 >out
expect_ok "$FXTRACE" stop
expect_ok "$FXTRACE" terminate
expect_clean some.fxt
expect_ok "$FXTRACE" filter --when setter -o less.fxt full.fxt
nesting less.fxt >want
nesting some.fxt >got
[ "$(wc -l <want)" -gt 10000 ] || fail "$(wc -l <want) calls inside of setter"
cmp -s want got || fail "in a session: nested otherwise: $(diff want got | grep -c '^[<>]') of $(wc -l <want) calls"
manager_stop
