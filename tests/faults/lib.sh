# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# What the tests of faults share; to be read after tests/e2e/lib.sh. They use the program and the
# library that are built with the points of base/fault.def in them.

# shellcheck disable=SC2034 # for the tests
FXTRACE_PLAIN=$FXTRACE
FXTRACE=$FX_BUILDDIR/tests/faults/fxtrace
LIBFXTRACE=$FX_BUILDDIR/tests/faults/.libs/libfxtrace.so

# Sockets of managers that were killed stay; so here.
export XDG_RUNTIME_DIR=$TEST_DIR

# Nothing of this may take longer, in seconds; an emulator is slow.
PATIENCE=30
! is_emulated || PATIENCE=600

# in_turn WORD...: sets `turn' to all of them; under an emulator, which has not the time for them, to one, each time to the
# next.
turns=0
in_turn() {
	turn=("$@")
	if is_emulated; then
		turn=("${turn[turns % $#]}")
		turns=$((turns + 1))
	fi
}

# points [RUN]: the points of the table, one a line: name, run, passing.
points() {
	sed -nE 's/^FX_FAULT_POINT\(([a-z_]+), ([a-z]+), ([0-9]+), ".*"\)$/\1 \2 \3/p' \
		"$FX_SRCDIR/base/fault.def" | awk -v run="${1-}" 'run == "" || $2 == run'
}

# witness_compile: the program whose records can be counted.
witness_compile() {
	compile witness -O1 -g -w -D_GNU_SOURCE -finstrument-functions "$FX_SRCDIR/tests/faults/witness.c" -lrt
}

# expect_witnessed whole|each|prefix|newest|part ARCHIVE MAP: the archive has just what the witness says. Of each
# of its lines the records stand in the order of their numbers, each once, from the right thread, and
#
#	whole    from 0 to the last one that was completed
#	each     the same, or none
#	prefix   from 0 to any one that was
#	newest   from any one to the last one that was completed, or none
#	part     from any one to any one
#
# One more may be there than the witness has stored. Within a line, time does not go back.
expect_witnessed() {
	./witness report "$3" >lines || fail "no report of $3"
	"$FX_BUILDDIR/tests/e2e/events" "$2" >events || fail "cannot list $2"
	awk -F'\t' -v how="$1" '
		function bad(text) { print text; failed = 1 }
		NR == FNR { split($0, f, " "); pid[f[1]] = f[2]; tid[f[1]] = f[3]; calls[f[1]] = f[4]; pids[f[2]]; lines++; next }
		$1 != "complete" || ($7 != "pread" && $7 != "step") { next }
		/unfinished=true/ { open[$3 " " $7]++; next }
		{
			if ($7 == "step") { steps[$3]++; next }
			for (i = 10; i <= NF && $i !~ /^offset=/; i++);
			# A call that a handler has left by a jump has no arguments.
			if (i > NF) next
			offset = substr($i, 8) + 0
			line = int(offset / 4294967296)
			number = offset % 4294967296
			if (!(line in calls)) bad("line " line " does not exist")
			# A child made by a handler goes on with the call that the handler has interrupted.
			else if ($2 != pid[line] && $2 in pids && !went_on[$2]++) next
			else if ($2 != pid[line] || $3 != tid[line])
				bad("line " line " of " pid[line] "/" tid[line] " is recorded of " $2 "/" $3)
			if (line in next_one ? number != next_one[line] : how != "newest" && how != "part" && number != 0)
				bad("line " line ": " number " instead of " next_one[line] + 0)
			next_one[line] = number + 1
			if ($9 < last[line]) bad("line " line ": time goes back at " $9)
			last[line] = $9
		}
		END {
			for (line = 0; line < lines; line++) {
				none = !(line in next_one)
				got = next_one[line] + 0
				most[tid[line]] += calls[line]
				if (got > calls[line] + 1 || (how == "whole" && got < calls[line]) ||
				    ((how == "newest" || how == "each") && !none && got < calls[line]))
					bad("line " line ": " got " records of " calls[line] " calls")
			}
			for (t in most)
				if (steps[t] > most[t] + 1 || (how == "whole" && steps[t] < most[t]))
					bad("thread " t ": " steps[t] " calls of " most[t])
			for (o in open)
				if (open[o] > 1) bad(o ": " open[o] " open calls")
			exit failed
		}' lines events >verdict || fail "$FAULT: $1 archive of $(wc -l <events) events:"$'\n'"$(head -n 10 verdict; cat lines)"
}

# expect_counted SLACK ARCHIVE MAP: what the archive lacks of what the witness has completed is what it says
# was dropped; or up to SLACK records more were, of other kinds. No record is there twice. With SLACK
# `overwritten' the archive may lack anything.
expect_counted() {
	./witness report "$3" >lines || fail "no report of $3"
	"$FX_BUILDDIR/tests/e2e/events" "$2" >events || fail "cannot list $2"
	awk -F'\t' -v slack="$1" '
		function bad(text) { print text; failed = 1 }
		NR == FNR { split($0, f, " "); calls[f[1]] = f[4]; produced += f[4]; next }
		$7 == "records dropped" && $1 == "instant" {
			for (i = 10; i <= NF; i++)
				if (sub(/^count=/, "", $i)) dropped += $i
		}
		# An end that the writer has made up stands for one that was lost.
		$1 == "end" && $7 == "step" && !/unfinished=true/ { steps++ }
		$1 != "complete" || /unfinished=true/ { next }
		$7 == "step" { steps++ }
		$7 != "pread" { next }
		{
			preads++
			for (i = 10; i <= NF && $i !~ /^offset=/; i++);
			offset = substr($i, 8) + 0
			line = int(offset / 4294967296)
			number = offset % 4294967296
			if (seen[line, number]++) bad("twice: " $0)
			if (number >= calls[line]) bad("never made: " $0)
		}
		END {
			missing = produced - steps + (preads ? produced - preads : 0)
			if (missing < 0) bad(-missing " too many")
			if (slack != "overwritten" && (missing > dropped || dropped > missing + slack))
				bad(missing " missing, " dropped + 0 " dropped, of " produced " calls")
			exit failed
		}' lines events >verdict || fail "$FAULT: $2:"$'\n'"$(head -n 10 verdict; cat lines)"
}

# fault_set POINT PASSING ACTION: for what starts from here on.
fault_set() {
	FAULT="$1@$2:$3"
	rm -f mark
	export FXTRACE_FAULT=$FAULT FXTRACE_FAULT_MARK=$TEST_DIR/mark
}

fault_clear() {
	unset FXTRACE_FAULT FXTRACE_FAULT_MARK
}

fault_happened() {
	[ -s mark ]
}

is_stopped() {
	[ "$(sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | cut -c1)" = T ]
}

# soon COMMAND...: wait_for, for what takes some milliseconds; there are hundreds of them.
soon() {
	local tries=$((PATIENCE * 100))

	while ! "$@" >/dev/null 2>&1; do
		tries=$((tries - 1))
		[ "$tries" -gt 0 ] || return 1
		sleep 0.01
	done
}

# resume SECONDS: waits until the fault has stopped its process, and lets it go on after so long.
resume() {
	soon fault_happened || fail "$FAULT: the point is not reached"
	soon is_stopped "$(cat mark)" || fail "$FAULT: process $(cat mark) does not stop"
	sleep "$1"
	kill -CONT "$(cat mark)"
}

# patiently COMMAND...: its status; or the test fails, with what was going on.
patiently() {
	local status=0

	timeout -k 5 $PATIENCE "$@" || status=$?
	[ "$status" -ne 124 ] || fail "$FAULT: hangs: $*"
	return "$status"
}
