#!/bin/bash
# SPDX-License-Identifier: MIT
# --clock: what times are read from, and that it is said; and that times over all processors never run backwards, within
# a thread or along an arrow, and are those of CLOCK_BOOTTIME. FX_ROUNDS: how often a token goes round; FX_SECONDS: how long the
# clocks are compared (3; ten minutes are 600).
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
need python3
unset FXTRACE_CLOCK

rounds=${FX_ROUNDS:-1000}
seconds=${FX_SECONDS:-3}
counter="the processor's counter"
target leaf leaf.c
target processors processors.c -pthread

# --- Said ------------------------------------------------------------------------------------------

said() { # ARCHIVE TEXT
	"$FXTRACE" info "$1" >info.out
	expect_line "^clock .* read from $2" info.out
	"$FXTRACE" info --json "$1" >info.json
	python3 -c 'import json, sys; print(json.load(sys.stdin)["recorded_by"]["clock"])' <info.json >clock
	expect_line "^$2" clock
}

expect_ok "$FXTRACE" run -v --clock=counter -o counter.fxt -- ./leaf 0
expect_line "^fxtrace: times are read from $counter: asked for" err
said counter.fxt "$counter: asked for"
expect_ok "$FXTRACE" run -v --clock=boottime -o boottime.fxt -- ./leaf 0
expect_line '^fxtrace: times are read from CLOCK_BOOTTIME: asked for' err
said boottime.fxt 'CLOCK_BOOTTIME: asked for'
FXTRACE_CLOCK=boottime expect_ok "$FXTRACE" run -o variable.fxt -- ./leaf 0
said variable.fxt 'CLOCK_BOOTTIME: asked for'
FXTRACE_CLOCK=boottime expect_ok "$FXTRACE" run --clock auto -o auto.fxt -- ./leaf 0
said auto.fxt "($counter|CLOCK_BOOTTIME): "
private() {
	FXTRACE_CLOCK=boottime FXTRACE_OUTPUT=preloaded.fxt LD_PRELOAD=$LIBFXTRACE ./leaf 0 >/dev/null
	wait_archive preloaded.fxt || fail "the private manager's archive"
	said preloaded.fxt 'CLOCK_BOOTTIME: asked for'
}
is_emulated || private

# --- Decided ---------------------------------------------------------------------------------------

# What was found is kept for this boot; what others may have written, or what is of another boot, is not believed.
if [ "$(uname -m)" = x86_64 ] && (with_clocksource other true >/dev/null); then
	export XDG_RUNTIME_DIR=$TEST_DIR/runtime
	kept=$XDG_RUNTIME_DIR/fxtrace/counter
	mkdir "$XDG_RUNTIME_DIR"
	decided() { # TEXT
		expect_ok with_clocksource other "$FXTRACE" run --clock=auto -o decided.fxt -- ./leaf 0
		said decided.fxt "$1 \(other\)"
	}
	decided '.*'
	expect_no_line 'no thread could be started' clock
	found=$(sed 's/ (other)$//' clock)
	if [ -e "$kept" ]; then
		begin="$(cat /proc/sys/kernel/random/boot_id) $(getconf _NPROCESSORS_ONLN)"
		expect_line "^$begin [A-Z]+\$" "$kept"
		echo "$begin WARPED" >"$kept"
		decided 'CLOCK_BOOTTIME: it is not the same on all processors'
		chmod 666 "$kept"
		decided "($found|.*too busy.*)"
		for wrong in '' WARPED "$begin" "$begin NONSENSE" "$begin WARPEDLY" "0$begin WARPED" "$begin WARPED X" \
			"$(printf '%4096s' x)"; do
			rm "$kept"
			echo "$wrong" >"$kept"
			decided "($found|.*too busy.*)"
		done
	fi
	unset XDG_RUNTIME_DIR
fi

# --- True ------------------------------------------------------------------------------------------

# In order within each thread, arrows forwards.
cat >order.py <<'END'
import json, sys
begins, arrows, calls, last, wrong = {}, 0, 0, {}, 0
for r in map(json.loads, sys.stdin):
    if r["kind"] != "event":
        continue
    if r["type"] == "flow-begin":
        begins[r["id"]] = r["ts"]
    elif r["type"] == "flow-end":
        arrows += 1
        wrong += r["ts"] < begins[r["id"]]
    elif r["type"] == "complete" and r["name"] == "leaf":
        calls += 1
        wrong += r["ts"] <= last.get(r["tid"], 0) or r["end"] < r["ts"]
        last[r["tid"]] = r["end"]
print(calls, arrows, wrong)
END
processors=$(nproc)
for clock in auto boottime; do
	expect_ok "$FXTRACE" run -q --clock=$clock --on-full block -o "$clock.fxt" -- ./processors "$rounds"
	expect_clean $clock.fxt
	"$FXTRACE" dump --json $clock.fxt | python3 order.py >order || fail "$clock: $(cat order)"
	read -r calls arrows wrong <order
	expect_equal $((3 * rounds * processors)) "$calls" "$clock: calls"
	[ "$processors" -lt 2 ] || [ "$arrows" -gt "$rounds" ] || fail "$clock: only $arrows arrows"
	expect_equal 0 "$wrong" "$clock: times that run backwards"
	echo "$clock: $calls calls, $arrows arrows on $processors processors, none backwards"
done

# The program reads the clock before and after a call, which so lies between.
cat >compare.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#define HIDDEN __attribute__((no_instrument_function))
HIDDEN static long long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}
__attribute__((noinline)) static void moment(void)
{
	__asm__ volatile("");
}
HIDDEN int main(int argc, char **argv)
{
	const struct timespec rest = {0, 2000000};
	long long end = now() + (argc > 1 ? atoll(argv[1]) : 3) * 1000000000ll;

	for (;;) {
		long long before = now(), after;

		moment();
		after = now();
		printf("%lld %lld\n", before, after);
		if (after > end)
			return 0;
		nanosleep(&rest, NULL);
	}
}
END
compile compare -O1 -finstrument-functions compare.c
for clock in auto boottime; do
	expect_ok "$FXTRACE" run -q -c function --clock=$clock --on-full block -o compare.fxt -- ./compare "$seconds"
	"$FXTRACE" dump --json compare.fxt | python3 -c 'import json, sys
calls = [(r["ts"], r["end"]) for r in map(json.loads, sys.stdin) if r.get("name") == "moment" and "end" in r]
around = [tuple(map(int, line.split())) for line in open("out")]
assert len(calls) == len(around) > 100, (len(calls), len(around))
off = max(max(before - ts, end - after, 0) for (ts, end), (before, after) in zip(calls, around))
print(len(calls), off)' >compared || fail "$clock: $(cat compared)"
	read -r calls off <compared
	echo "$clock: $calls calls over $seconds s, at most $off ns outside of the readings around them"
	[ "$off" -le 1000 ] || fail "$clock: $off ns"
done
