#!/bin/bash
# SPDX-License-Identifier: MIT
# Many writers in each mode: no record twice, order within a thread kept, recorded + dropped = produced
# for each thread; circular keeps the newest of a thread without a gap.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

compile sequence -O1 "$FX_SRCDIR/tests/e2e/targets/sequence.c"

# check_writers THREADS CALLS KEPT: what the file events says of each thread. KEPT is all (recorded or
# counted), newest, or lossless.
check_writers() {
	awk -F'\t' -v threads="$1" -v calls="$2" -v kept="$3" '
		function wrong(text) { print text; bad = 1; exit 1 }
		function argument(name, i) {
			for (i = 10; i <= NF; i++)
				if (index($i, name "=") == 1) return substr($i, length(name) + 2)
			wrong("no argument " name ": " $0)
		}
		$7 == "ftruncate" {
			number = argument("length") + 0
			if ($3 in count && number <= last[$3])
				wrong("thread " $3 ": " number " after " last[$3])
			if (!($3 in count))
				first[$3] = number
			last[$3] = number
			count[$3]++
			recorded++
		}
		$1 == "instant" && $7 == "records dropped" {
			lost[$3] += argument("count")
			dropped += argument("count")
		}
		END {
			if (bad) exit 1
			for (tid in count) {
				n++
				if (kept == "newest" && (last[tid] != calls - 1 || count[tid] != calls - first[tid]))
					wrong("thread " tid ": " first[tid] " to " last[tid] ", " count[tid] " of them")
				if (kept != "newest" && count[tid] + lost[tid] != calls)
					wrong("thread " tid ": " count[tid] " + " lost[tid] + 0 " of " calls)
			}
			if (kept != "newest" && recorded + dropped != threads * calls)
				wrong(recorded + 0 " recorded + " dropped + 0 " dropped of " threads * calls)
			if (kept == "lossless" && (n != threads || dropped))
				wrong(n + 0 " of " threads " threads, " dropped + 0 " losses")
			if (!recorded) wrong("nothing is recorded")
		}' events || fail "$what"
}

# writers KEPT OPTION...
writers() {
	local kept=$1 threads calls what

	shift
	for threads in 1 2 8 64; do
		calls=$(($(scaled 64000) / threads))
		what="$* with $threads threads"
		expect_ok "$FXTRACE" run -o trace.fxt -c syscall "$@" -- ./sequence "$threads" "$calls"
		expect_clean trace.fxt
		list_archive trace.fxt
		check_writers "$threads" "$calls" "$kept"
	done
}

oneshot_writers() {
	writers lossless -m oneshot -b 64M
	writers all -m oneshot -b 2M
}

circular_writers() {
	writers newest -m circular -b 2M
}

streaming_writers() {
	writers all -m streaming -b 1M
}

blocking_writers() {
	writers lossless -m streaming --on-full block -b 2M
}

oneshot_writers
circular_writers
streaming_writers
blocking_writers
