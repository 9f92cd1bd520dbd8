#!/bin/bash
# SPDX-License-Identifier: MIT
# soak.sh [SECONDS]: two processes that call functions flat out under one manager, for SECONDS (60) in each of
# four ways: to /dev/null and to a file, dropping what does not fit and waiting for room. Fails unless
# recorded + lost is what the programs called and what the manager adds: the ends of the three processes, and
# marks where records were lost. While waiting nothing is lost. The manager's own memory stays what it was in the
# first fifth, but for its queue. Prints what it saw.
#
# The file grows by up to a gigabyte a second: where the disk has no room for SECONDS, less is written, and
# the seconds are printed.
set -u

B=${FX_BUILDDIR:?}
SECONDS_EACH=${1:-60}
# KiB by which the manager may grow after the first fifth: blocks that wait for the disk, or for a processor
# that others use, up to FX_QUEUE_LIMIT.
SLACK=$((16384 + 262144))
DIR=$(mktemp -d) || exit 99
trap 'rm -rf "$DIR"' EXIT
failed=0

of() {
	awk "BEGIN { printf \"$1\", $2 }"
}

# The manager's own memory in KiB: the programs' buffers, which it maps, do not count.
resident() {
	sed -n 's/^RssAnon:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/$1/status" 2>/dev/null
}

# sample PID: a line of the file `samples' every so often while PID lives: memory, and processor time in ticks.
sample() {
	local kib
	local -a stat

	: >"$DIR/samples"
	while kib=$(resident "$1") && [ -n "$kib" ] && read -r -a stat <"/proc/$1/stat"; do
		echo "$kib $((stat[13] + stat[14]))" >>"$DIR/samples"
		sleep "$(of %.3f "$SECONDS_EACH / 50")"
	done 2>/dev/null
}

# The largest of the first fifth, and of all the samples.
memory() {
	awk '{ v[NR] = $1 } END {
		for (i = 1; i <= NR; i++) {
			if (i <= NR / 5 + 1 && v[i] > early)
				early = v[i]
			if (v[i] > most)
				most = v[i]
		}
		print early + 0, most + 0
	}' "$DIR/samples"
}

fail() {
	echo "soak: $*" >&2
	failed=1
}

# soak NAME OUTPUT SECONDS drop|block
soak() {
	local name=$1 output=$2 seconds=$3 full=$4
	local manager called recorded lost added marks=0 early most ticks start taken bytes

	start=$EPOCHREALTIME
	# shellcheck disable=SC2016 # for the inner shell
	"$B/fxtrace" run -c function --on-full "$full" -o "$output" -- sh -c \
		'"$0" "$1" & "$0" "$1" & wait' "$B/bench/soak" "$seconds" >"$DIR/called" 2>"$DIR/summary" &
	manager=$!
	sample "$manager"
	wait "$manager" || fail "$name: fxtrace failed: $(cat "$DIR/summary")"
	taken=$(of %.3f "$EPOCHREALTIME - $start")
	[ "$(wc -l <"$DIR/called")" -eq 2 ] || fail "$name: a program did not say what it called"
	called=$(awk '{ sum += $1 } END { printf "%d", sum }' "$DIR/called")
	recorded=$(sed -n 's/.*, \([0-9]*\) events.*/\1/p' "$DIR/summary")
	lost=$(sed -n 's/^fxtrace: \([0-9]*\) records lost.*/\1/p' "$DIR/summary" |
		awk '{ sum += $1 } END { printf "%d", sum }')
	read -r early most <<<"$(memory)"
	ticks=$(tail -n 1 "$DIR/samples" | cut -d' ' -f2)
	bytes=$((recorded * 24))
	printf '%-22s %6.1f s: %d calls, %d recorded (%.0f MB/s), %d lost (%.2f %%); manager %.0f %% of a core, %d KiB at first, %d at most\n' \
		"$name" "$taken" "$called" "$recorded" "$(of %f "$bytes / $taken / 1e6")" "$lost" \
		"$(of %f "100 * $lost / ($called + 0.001)")" "$(of %f "${ticks:-0} / $taken")" "$early" "$most"
	added=$((recorded + lost - called - 3))
	[ "$full" = block ] || marks=$(of %d "100 + 200 * $taken")
	if [ "$added" -lt 0 ] || [ "$added" -gt "$marks" ]; then
		fail "$name: recorded and lost are $added more than what was called, and three ends"
	fi
	[ "$full" = drop ] || [ "$lost" -eq 0 ] || fail "$name: records were lost while programs waited"
	[ "$most" -le $((early + SLACK)) ] || fail "$name: the manager grew by $((most - early)) KiB"
}

# Seconds of one gigabyte that half of the disk's free space has room for, at most SECONDS.
room=$(df -Pk "$DIR" | awk 'NR == 2 { print $4 / 2 / 1e6 }')
to_file=$(awk -v a="$SECONDS_EACH" -v b="$room" 'BEGIN { print a < b ? a : b }')
for full in drop block; do
	soak "/dev/null, $full" /dev/null "$SECONDS_EACH" "$full"
	soak "file, $full" "$DIR/soak.fxt" "$to_file" "$full"
	rm -f "$DIR/soak.fxt"
done
exit "$failed"
