#!/bin/bash
# SPDX-License-Identifier: MIT
# A signal handler at the points that a call passes between its entry and its end, thousands of times in a run: it makes
# calls and returns, or jumps out of what it has interrupted. Each call has one record, whoever closes it; none is taken
# for lost that is there, and no two cross before the writer sees them.
#
#	tests/faults/leave.sh [POINT...]
#
# Under an emulator it does one of the three at each point.
. "${FX_SRCDIR:=$(cd "$(dirname "$0")/../.." && pwd)}/tests/e2e/lib.sh"
. "$FX_SRCDIR/tests/faults/lib.sh"

ROUNDS=1500
WANTED=" $* "
SIGUSR1=$(kill -l USR1)
# Of functions whose arguments are numbers.
arguments='--args descend --args large_of --args sink_deep --args round_of_calls --retval sink_deep'
[ "$(uname -m)" = x86_64 ] || arguments=

compile leaver -O2 -g -w -D_GNU_SOURCE -finstrument-functions "$FX_SRCDIR/tests/faults/leaver.c"

# A call has begun once its frame is open, and the program counts it in its body: of a call that is left between the two
# the program knows nothing. As many as there were jumps, where the point lies in an entry: with pairs, its begin too.
slack_of() { # POINT OPTIONS
	case $1 in
	frame_pushed* | record_published*pairs) echo jumps ;;
	*) echo 0 ;;
	esac
}

# expect_within: no handler has jumped, so what a round calls lies in its call, and nobody has closed that before its end.
expect_within() {
	awk -F'\t' '
		$1 == "complete" && $7 == "round_of_calls" { begins[++rounds] = $8; ends[rounds] = $9 }
		$1 == "complete" && $7 ~ /^(descend|large_of|sink_deep)$/ { inner[++calls] = $8 " " $9 " " $7 }
		END {
			for (i = 1; i <= calls; i++) {
				split(inner[i], call, " ")
				low = 1; high = rounds
				while (low < high) { # the last round that begins before it
					middle = int((low + high + 1) / 2)
					if (begins[middle] <= call[1]) low = middle; else high = middle - 1
				}
				if (begins[low] > call[1] || ends[low] < call[2]) { lost++; shown = call[3] " at " call[1] }
			}
			if (lost || !calls) print lost + 0 " of " calls + 0 " calls lie in no round: " shown
		}' events >verdict
	[ ! -s verdict ] || fail "$FAULT: $(cat verdict)"
}

# expect_all SLACK [arguments]: each call that has begun is there once. With pairs some are marked as unfinished, one of some
# hundred calls of handlers: these record in chunks of their own, and where such a chunk is full within a call, the
# next one, which has its end, is read after the chunk in which the interrupted call goes on and ends. With arguments, each
# function's are those that it has; of a call that was left as it began they may be missing.
expect_all() {
	"$FX_BUILDDIR/tests/e2e/events" trace.fxt >events || fail "cannot list trace.fxt"
	awk -F'\t' -v slack="$1" -v with="${2-}" '
		BEGIN { most["descend"] = 6; most["large_of"] = 4; most["sink_deep"] = 12; most["round_of_calls"] = 1499 }
		function bad(text) { if (shown++ < 10) print text; failed = 1 }
		NR == FNR { split($0, f, " "); begun = f[1]; jumps = f[2]; if (!f[3]) bad("no handler has run"); next }
		$7 == "records dropped" && $1 == "instant" {
			for (i = 10; i <= NF; i++)
				if (sub(/^count=/, "", $i)) dropped += $i
		}
		$6 != "function" { next }
		$1 == "begin" { begins++; next }
		$1 == "end" { ends++; next }
		$1 != "complete" { next }
		{ records++ }
		with && ($7 in most) {
			for (i = 10; i <= NF && $i !~ /^(levels|number)=/; i++);
			value = $i
			sub(/^[a-z]*=/, "", value)
			if (i > NF) without++
			else if (value !~ /^<optimised out>$/ && (value < 0 || value + 0 > most[$7])) bad("not what it was called with: " $0)
			else had++
		}
		seen[$8]++ { bad("twice: " $0) }
		/unfinished=true/ { bad("never closed: " $0) }
		END {
			if (with && (!had || without > jumps))
				bad(had + 0 " calls with arguments, " without + 0 " without, " jumps " jumps")
			if (begins) {
				records = begins
				if (begins != ends) bad(begins " begins, " ends + 0 " ends")
			}
			if (slack == "jumps") slack = jumps
			if (records + dropped < begun || records + dropped > begun + slack)
				bad(records " records and " dropped + 0 " lost of " begun " calls, " jumps " jumps")
			exit failed
		}' ran.out events >verdict ||
		fail "$FAULT: $(wc -l <events) events of $(cat ran.out), $(cat ran.err)"$'\n'"$(cat verdict)"
	expect_no_line 'would have crossed' ran.err
}

leave_at() { # POINT EACH
	local way options with
	in_turn return jump both
	for way in "${turn[@]}"; do
		for options in '' '--records pairs' ${arguments:+"$arguments"}; do
			# Without arguments there is no other way out.
			[ "$1" != exit_apart ] || [ "$options" = "$arguments" ] || continue
			# Begins and ends have no halves.
			[ "$1$options" != 'record_half--records pairs' ] || continue
			with=
			[ -z "$options" ] || [ "$options" != "$arguments" ] || with=arguments
			fault_set "$1" "$2" "every=$SIGUSR1"
			FAULT="$FAULT ($way) $options"
			# shellcheck disable=SC2086 # several options
			patiently "$FXTRACE" run -o trace.fxt -c function -b 64K --on-full block $options -- \
				./leaver $way $ROUNDS >ran.out 2>ran.err ||
				fail "$FAULT: status $? ($(cat ran.err))"
			fault_happened || fail "$FAULT: the point is not reached"
			expect_clean trace.fxt
			expect_all "$(slack_of "$1 $options")" "$with"
			[ "$way$with" != returnarguments ] || expect_within
		done
	done
	count=$((count + 1))
}

count=0
for point in record_claimed record_reserved record_half record_publish record_published frame_reserved frame_pushed \
	frame_pop frame_popped frame_over frame_left exit_apart; do
	[ "$WANTED" = '  ' ] || [ "${WANTED#* "$point" }" != "$WANTED" ] || continue
	# (A handler passes a point eight times.)
	for each in 13 29; do
		leave_at "$point" $each
	done
done
[ "$count" -gt 0 ] || fail "no such point:$WANTED"
echo "$count runs"
