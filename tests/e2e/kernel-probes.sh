#!/bin/bash
# SPDX-License-Identifier: MIT
# -c sdt:PROVIDER:NAME: each pass of a program by a static probe is an event, with the arguments that the program itself prints: in
# children, threads and libraries, by name and by pattern, of python3's and libstdc++'s own probes too; its semaphores are counted up
# meanwhile, and nothing is left in the kernel. Who may not, or asks for what is not there, hears it in one line.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

need python3
! is_emulated || skip "the emulator knows no performance events"
echo '#include <sys/sdt.h>' | $FX_CC -E - >/dev/null 2>&1 || skip "there is no <sys/sdt.h> (systemtap-sdt-dev)"

cat >library.c <<'END'
#include <sys/sdt.h>
void inside(int n)
{
	DTRACE_PROBE1(library, inside, n);
}
END
cat >probed.c <<'END'
#define _SDT_HAS_SEMAPHORES 1
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#define SEMAPHORE(name) __extension__ unsigned short name __attribute__((unused, section(".probes")))
SEMAPHORE(mine_types_semaphore);
SEMAPHORE(mine_step_semaphore);
#include <sys/sdt.h>
void inside(int n);
/* What it does is only written down where it is looked at, and its values cannot be known by the compiler. */
volatile int zero;
static void types(int i)
{
	const char *text = i % 2 ? "odd, with \xc3\xa4" : "even";
	uint8_t small = (uint8_t)(250 + i);
	int16_t negative = (int16_t)-i;
	int64_t large = -(1LL << 40) * i;
	uint64_t unsigned_ = (1ULL << 63) + (unsigned)i;

	if (mine_types_semaphore)
		printf("types %d %u %d %lld %llu %s\n", (int)getpid(), small, negative, (long long)large,
		       (unsigned long long)unsigned_, text);
	fflush(stdout);
	STAP_PROBE7(mine, types, small, negative, large, unsigned_, text, 12345, (char *)0);
}
static void *run(void *n)
{
	for (int i = zero; i < *(int *)n; i++)
		STAP_PROBE2(mine, step, i, *(int *)n);
	return NULL;
}
int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 100;
	pthread_t threads[3];

	for (int i = 0; i < 10; i++)
		types(i);
	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, run, &n);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < 4; i++) {
		if (fork() == 0) {
			run(&n);
			types(i);
			inside(i);
			_exit(0);
		}
	}
	while (wait(NULL) > 0)
		;
	printf("semaphores %d %d\n", mine_types_semaphore, mine_step_semaphore);
	return 0;
}
END
compile liblibrary.so -O2 -shared -fPIC library.c
compile probed -O2 probed.c -L. -llibrary '-Wl,-rpath,$ORIGIN'

# --- By whom it is not permitted, and what is not there ---------------------------------------------

expect_ok ./probed
expect_equal 'semaphores 0 0' "$(cat out)" "nobody looks"
expect_ok "$FXTRACE" list-probes --csv ./probed
for probe in mine:types mine:step library:inside; do
	grep -qE "^\"?sdt:$probe\"?," out || fail "list-probes: no $probe: $(cat out)"
done
grep -E '^"?sdt:mine:types' out | grep -q yes || fail "list-probes: no semaphore: $(cat out)"

expect_ok traced -c 'sdt:mine:*,sdt:library:inside' -- "$TEST_DIR/probed"
if grep -q 'probes (sdt:) are not recorded' err; then
	expect_equal 1 "$(grep -c 'probes (sdt:) are not recorded' err)" "lines that say so"
	expect_line '^semaphores 0 0$' out
	skip "$(grep 'are not recorded' err)"
fi

# --- Each pass, with what the program says of it ----------------------------------------------------

cp out said
expect_line '^semaphores 1 1$' said
expect_clean trace.fxt
list_archive trace.fxt
expect_events 14 'type == "instant" && category == "sdt:mine:types" && name == "types"'
expect_events 700 'category == "sdt:mine:step" && name == "step" && has("arg1=100")'
for i in 0 50 99; do
	expect_events 7 "category == \"sdt:mine:step\" && has(\"arg0=$i\")"
done
expect_events 4 'category == "sdt:library:inside"'
expect_events 14 'category == "sdt:mine:types" && has("arg5=12345")'
cat >agree.py <<'END'
import fxtrace, sys

said = sorted(tuple(line.split(None, 6)[1:]) for line in open("said") if line.startswith("types"))
found = []
threads = set()
for e in fxtrace.open("trace.fxt"):
    if e.category == "sdt:mine:step":
        threads.add((e.pid, e.tid))
    if e.category != "sdt:mine:types":
        continue
    a = e.args
    found.append((str(e.pid), str(a["arg0"]), str(a["arg1"]), str(a["arg2"]), str(a["arg3"]), a["arg4_text"]))
assert sorted(found) == [(p, a, b, c, d, t.rstrip("\n")) for p, a, b, c, d, t in said], (sorted(found), said)
assert len(threads) == 7, threads
END
PYTHONPATH=$FX_SRCDIR/python FXTRACE_READER_LIBRARY=$FX_BUILDDIR/.libs/libfxtrace-reader.so python3 agree.py >checked 2>&1 ||
	fail "$(tail -c 3000 checked)"

# Only those that were asked for, of a program that others start; those beside them are not touched.
expect_ok traced -c 'sdt:*,-sdt:mine:types' -- sh -c './probed 10 & ./probed 10 & wait; env ./probed 1'
expect_line '^semaphores 0 1$' out
list_archive trace.fxt
expect_events 147 'category == "sdt:mine:step"'
expect_events 0 'category == "sdt:mine:types"'
expect_events 12 'category == "sdt:library:inside"'

expect_ok traced -c 'sdt:mine:step,sdt:mine:none' -- ./probed 1
expect_line '^fxtrace: sdt:mine:none: neither \./probed nor its libraries have such a probe' err
expect_ok traced -c 'sdt:no:such' -- true
expect_line '^fxtrace: sdt:no:such: neither true nor its libraries' err

# --- Wherever compilers keep values -----------------------------------------------------------------

cat >kept.c <<'END'
#include <stdint.h>
#include <stdio.h>
#include <sys/sdt.h>
volatile int32_t counted = -7;
uint64_t empty; /* in .bss */
struct { char name[12]; uint8_t small[4]; int16_t half; } kept = {"kept", {1, 2, 203, 4}, -300};
__thread volatile int own;
int main(int argc, char **argv)
{
	for (int i = 0; i < 5; i++) {
		volatile int64_t local = -5000000000 * i;
		double real = 0.5 * argc * i;
		float narrow = (float)(1.25 * argc * i);

		counted -= i;
		empty += (1ULL << 63) + (unsigned)i;
		kept.small[2]++;
		kept.half--;
		own++;
		STAP_PROBE8(mine, kept, counted, empty, kept.small[2], kept.half, local, real, narrow, kept.name);
		STAP_PROBE1(mine, own, own);
		printf("%d %llu %d %d %lld %g %g %s\n", counted, (unsigned long long)empty, kept.small[2], kept.half, (long long)local, real, narrow,
		       kept.name);
	}
	return argv[0] == NULL;
}
END
cat >kept.py <<'END'
import fxtrace

said = [line.split() for line in open("said")]
found = []
for e in fxtrace.open("trace.fxt"):
    if e.category == "sdt:mine:kept":
        a = e.args
        found.append(["%d" % a["arg%d" % i] for i in range(5)] + ["%g" % a["arg5"], "%g" % a["arg6"], a["arg7_text"]])
assert found == said, (found, said)
END
for compiler in gcc clang; do
	command -v $compiler >/dev/null || continue
	for options in "-O0" "-O1" "-O2" "-O3" "-O2 -fno-pie -no-pie" "-O2 -s"; do
		# shellcheck disable=SC2086 # several words
		$compiler $options -o kept kept.c >compile.log 2>&1 || fail "$compiler $options: $(cat compile.log)"
		expect_ok "$FXTRACE" list-probes --csv ./kept
		# What a file has no names of any more cannot be found by name.
		if grep 'mine:kept' out | grep -q -- '-('; then
			[ "$options" = "-O2 -s" ] && grep 'mine:kept' out | grep -q -- '-(unknown symbol)' || fail "$compiler $options: $(cat out)"
			continue
		fi
		expect_ok traced -c 'sdt:mine:kept' -- ./kept
		cp out said
		PYTHONPATH=$FX_SRCDIR/python FXTRACE_READER_LIBRARY=$FX_BUILDDIR/.libs/libfxtrace-reader.so python3 kept.py >checked 2>&1 ||
			fail "$compiler $options: $(tail -c 2000 checked)"
	done
done

# --- With all else of a trace -----------------------------------------------------------------------

expect_ok traced --kernel -c '#default,sdt:mine:step' -- ./probed 50
list_archive trace.fxt
expect_events 350 'category == "sdt:mine:step"'
expect_events 3 'name == "pthread_create"'
expect_clean trace.fxt

# --- Probes that others have written ----------------------------------------------------------------

cat >throws.cc <<'END'
int main()
{
	int caught = 0;
	for (int i = 0; i < 20; i++)
		try {
			throw i;
		} catch (int n) {
			caught += n;
		}
	return caught != 190;
}
END
compile throws -O1 throws.cc
if "$FXTRACE" list-probes --names ./throws >names 2>/dev/null && grep -q 'libstdcxx:throw' names; then
	expect_ok traced -c 'sdt:libstdcxx:throw,sdt:libstdcxx:catch' -- ./throws
	list_archive trace.fxt
	expect_events 20 'category == "sdt:libstdcxx:throw"'
	expect_events 20 'category == "sdt:libstdcxx:catch"'
fi
cat >collects.py <<'END'
import gc
log = []
gc.callbacks.append(lambda phase, info: log.append("%s %d" % (phase, info["generation"] if phase == "start" else info["collected"])))
for i in range(1, 8):
    for part in [[] for _ in range(i)]:
        part.append(part)
    del part
    gc.collect(i % 3)
gc.callbacks.clear()
print("\n".join(log))
END
python=/usr/bin/python3
if "$FXTRACE" list-probes --names "$python" >names 2>/dev/null && grep -q 'python:gc__start' names; then
	expect_ok traced -c 'sdt:python:gc__*' -- "$python" collects.py
	cp out said
	"$FXTRACE" dump trace.fxt | sed -n 's/.*category="sdt:python:gc__start".*"arg0":int32=\([0-9]*\).*/start \1/p
		s/.*category="sdt:python:gc__done".*"arg0":int64=\([0-9]*\).*/stop \1/p' >found
	[ "$(wc -l <said)" -ge 12 ] || fail "python said little: $(cat said)"
	# Before and after it has no callback.
	"$python" - <<'END' || fail "other collections than python's: $(cat said found)"
said, found = open("said").read().split("\n")[:-1], open("found").read().split("\n")
raise SystemExit(not any(found[i:i + len(said)] == said for i in range(len(found))))
END
fi

# --- Nothing is left --------------------------------------------------------------------------------

# left: what of a session is defined in the kernel. A provider that is killed leaves it to the next one.
left() {
	unshare -m sh -c 'mount --make-rprivate / && { [ -e /sys/kernel/tracing/uprobe_events ] ||
		mount -t tracefs tracefs /sys/kernel/tracing; } && cat /sys/kernel/tracing/uprobe_events' |
		grep -c "$TEST_DIR"
}
is_clean() {
	[ "$(left)" -eq 0 ]
}
wait_for 60 is_clean || fail "something is still defined in the kernel"
cat >sleeps.c <<'END'
#include <sys/sdt.h>
#include <unistd.h>
int main(void)
{
	DTRACE_PROBE(mine, sleeps);
	pause();
	return 0;
}
END
compile sleeps -O1 sleeps.c
"$FXTRACE" run -o trace.fxt -c 'sdt:mine:sleeps' -- "$TEST_DIR/sleeps" 2>/dev/null &
runner=$!
is_defined() {
	[ "$(left)" -eq 1 ] && pgrep -P "$runner" -x sleeps >/dev/null
}
wait_for 60 is_defined || fail "the probe is not set"
kill -9 "$(pgrep -P "$runner" fxtrace-kernel)"
kill "$(pgrep -P "$runner" -x sleeps)"
wait "$runner"
expect_clean trace.fxt
[ "$(left)" -eq 1 ] || fail "it was taken away by whom?"
expect_ok traced -c 'sdt:mine:step' -- ./probed 1
wait_for 60 is_clean || fail "what was left is still there"
