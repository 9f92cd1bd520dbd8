#!/bin/bash
# SPDX-License-Identifier: MIT
# timeline.sh [FILE]: the bars of whatever reads archives, beside a copy of the same bytes and the bare reader:
# MB of archive per second of processor time, and the largest resident memory. Without FILE, of FX_BENCH_MB (256)
# of calls from four threads. Memory is bounded whatever the size: give it an archive of gigabytes.
set -u

B=${FX_BUILDDIR:?}
DIR=$(mktemp -d) || exit 99
trap 'rm -rf "$DIR"' EXIT
failed=0
file=${1:-$DIR/calls.fxt}

if [ $# -eq 0 ]; then
	"$B/bench/timeline" --make "${FX_BENCH_MB:-256}" "$file" || exit 99
fi
"$B/bench/timeline" "$file" >"$DIR/out" || exit 99

while read -r name speed memory; do
	case $name in
	walk | replay | report | query | perfetto) least=200 ;;
	*) least=0 ;;
	esac
	awk -v name="$name" -v speed="$speed" -v memory="$memory" -v least="$least" 'BEGIN {
		met = speed >= least && memory < 300
		bar = least ? sprintf("bar %d and 300  %s", least, met ? "met" : "NOT MET") : ""
		printf "%-40s %8.0f MB/s %8.0f MB resident  %s\n", "archive: " name, speed, memory, bar
		exit least && !met
	}' || failed=1
done <"$DIR/out"
exit "$failed"
