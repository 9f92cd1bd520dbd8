#!/bin/bash
# SPDX-License-Identifier: MIT
# Clocks that jump while a program is traced: times in the archive never go back, no call gets longer by
# it but those that were open, and nothing hangs or is lost.
. "${FX_SRCDIR:=$(cd "$(dirname "$0")/../.." && pwd)}/tests/e2e/lib.sh"
. "$FX_SRCDIR/tests/faults/lib.sh"

CALLS=20000
! is_emulated || CALLS=5000
HOUR_MS=3600000
# CLOCK_BOOTTIME began with the machine: it cannot go back beyond that.
BACK_MS=$(awk -v most=$HOUR_MS '{ ms = int($1 * 500); print ms < most ? ms : most }' /proc/uptime)

witness_compile
./witness map $CALLS >plain.out

# The clock is read at times that lie farther and farther apart: a program that is done before goes on for twice as long.
longer() {
	CALLS=$((2 * CALLS))
	[ $CALLS -le 1000000 ] || fail "$FAULT: the point is not reached"
	./witness map $CALLS >plain.out
}

trace() { # COMMAND...
	local status=0

	rm -f map
	patiently "$FXTRACE" run -q -o trace.fxt -b 64K --on-full block -- "$@" ./witness map $CALLS \
		>ran.out 2>ran.err || status=$?
	expect_equal 3 "$status" "$FAULT: status ($(cat ran.err))"
	! grep -q malformed ran.err || fail "$FAULT: $(cat ran.err)"
	expect_same_file plain.out ran.out
	expect_clean trace.fxt
	expect_witnessed whole trace.fxt map
}

# trace until the fault has happened in it
trace_fault() {
	trace
	while ! fault_happened; do
		longer
		trace
	done
}

# has_span LEAST MOST JUMP: seconds from the first call to the last; calls of more than half the JUMP (ms) are those
# that were open when time jumped, one in the other. (A busy machine makes calls long, too, but not by so much.)
has_span() {
	awk -F'\t' -v least="$1" -v most="$2" -v jump="$3" '
		$1 != "complete" { next }
		!from || $8 < from { from = $8 }
		$9 > to { to = $9 }
		($7 == "step" || $7 == "pread") && $9 - $8 > jump * 5e5 { long[$3]++ }
		END {
			span = (to - from) / 1e9
			if (span < least || span > most) print "it lasts " span " s"
			for (t in long)
				if (long[t] > 2) print long[t] " calls of thread " t " are long"
		}' events >verdict
	[ ! -s verdict ]
}

expect_span() { # LEAST MOST JUMP
	has_span "$@" || fail "$FAULT: $(cat verdict)"
}

# --- The clock that times are made with ------------------------------------------------------------

# (Once two readings have told how fast the counter is.) CLOCK_BOOTTIME goes on while the machine sleeps, and a counter may not. It never goes back; but if.
for passing in 4 5; do
	# A manager that gets no processor reads the clock when the program has ended: then once more. A program that is
	# slow to begin has its first call when the clock has been read: then at a later reading.
	for attempt in 1 2 3 4 5 6 7 8; do
		fault_set clock_read $((passing + attempt / 2)) forward=$HOUR_MS
		trace_fault
		"$FXTRACE" info trace.fxt | grep -q "read from the processor's counter" || break
		has_span 3600 3630 $HOUR_MS && grep -q 'clock jumps' events && break
		[ "$attempt" -lt 8 ] || fail "$FAULT: $(cat verdict) $(grep -c 'clock jumps' events) marks"
	done
	for back in 10000 "$BACK_MS"; do
		fault_set clock_read $passing back=$back
		trace_fault
		expect_span 0 30 "$back"
	done
done
fault_clear

# --- Counters that are not sound -------------------------------------------------------------------

# Where the kernel itself does not trust the counter, it is looked at before it is used.
if [ "$(uname -m)" = x86_64 ] && with_clocksource other true; then
	while IFS='|' read -r point passing action verdict; do
		# Among many busy processes the look may not be over in its time, which is a verdict of its own.
		busy=1
		for _ in $(seq 40); do
			fault_set "$point" "$passing" "$action"
			expect_ok with_clocksource other "$FXTRACE" run -q --clock=auto -o trace.fxt -- true
			"$FXTRACE" info trace.fxt >info.out
			grep -q 'too busy to compare' info.out && continue
			fault_happened || fail "$FAULT: the point is not reached: $(grep clock info.out)"
			busy=
			break
		done
		[ -z "$busy" ] || { echo "$FAULT: the processors are too busy"; continue; }
		expect_line "read from CLOCK_BOOTTIME: $verdict \(other\)" info.out
		expect_clean trace.fxt
	done <<'END'
counter_look|2|back=1|it is not the same on all processors
counter_look|2|forward=1|it is not the same on all processors
counter_rate|2|forward=1|its rate changes
counter_rate|3|forward=1|its rate changes
END
	fault_clear
fi

# --- The time of day -------------------------------------------------------------------------------

# For the tracer and the program it jumps by a day, forth and back, whenever somebody asks.
cat >day.c <<'END'
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static time_t jump(void)
{
	static int times;

	return __atomic_fetch_add(&times, 1, __ATOMIC_RELAXED) % 2 ? 86400 : -86400;
}

int clock_gettime(clockid_t clock, struct timespec *ret)
{
	int r = (int)syscall(SYS_clock_gettime, clock, ret);

	if (r == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
		ret->tv_sec += jump();
	return r;
}

int gettimeofday(struct timeval *restrict ret, void *restrict zone)
{
	struct timespec t;

	(void)zone;
	clock_gettime(CLOCK_REALTIME, &t);
	*ret = (struct timeval){t.tv_sec, t.tv_nsec / 1000};
	return 0;
}

time_t time(time_t *ret)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	if (ret)
		*ret = t.tv_sec;
	return t.tv_sec;
}
END
compile day.so -shared -fPIC day.c
FAULT='the time of day jumps'
not_sanitized "the last fault takes a library before the sanitizer's"
LD_PRELOAD=$PWD/day.so
export LD_PRELOAD
trace
unset LD_PRELOAD
expect_span 0 30 86400000

# --- Another namespace's time ----------------------------------------------------------------------

if unshare -T --boottime 100000 --monotonic 5000 true 2>/dev/null; then
	FAULT='a namespace with a time of its own'
	trace unshare -T --boottime 100000 --monotonic 5000
fi
