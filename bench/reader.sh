#!/bin/sh
# SPDX-License-Identifier: MIT
# The speed bars of libfxtrace-reader: what it reads a second, on one core, of an archive of 1 GB in constant memory; what it
# adds to the decompression of a compressed one, and what that takes by itself; and events a second in Python.
set -u
: "${FX_BUILDDIR:?}" "${FX_SRCDIR:?}"

dir=$(mktemp -d -p /dev/shm 2>/dev/null || mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
status=0

# bar NAME VALUE UNIT BAR LESS: below BAR if LESS, else above.
bar() {
	awk -v name="$1" -v value="$2" -v unit="$3" -v bar="$4" -v less="${5-}" 'BEGIN {
		met = less ? value <= bar : value >= bar
		printf "%-58s %8.2f %s bar %s  %s\n", name, value, unit, bar, met ? "met" : "NOT MET"
		exit !met
	}' || status=1
}

for shape in "calls" "calls with arguments"; do
	"$FX_BUILDDIR/bench/reader" write "$dir/large.fxt" 1000 ${shape#calls} || exit 99
	"$FX_BUILDDIR/bench/reader" write "$dir/small.fxt" 10 ${shape#calls} || exit 99
	small=$("$FX_BUILDDIR/bench/reader" read "$dir/small.fxt") || exit 99
	for way in read batch; do
		out=$("$FX_BUILDDIR/bench/reader" $way "$dir/large.fxt") || exit 99
		# Word splitting is wanted: four numbers.
		# shellcheck disable=SC2086
		set -- $out
		if [ $way = read ]; then
			bar "reader: one by one, $shape" "$2" MB/s 500
			bar "reader: memory of 1 GB over that of 10 MB, $shape" \
				"$(echo "$4 $small" | awk '{ print $1 / $5 }')" times 1.2 less
		else
			echo "reader: batches, $shape: $2 MB/s, $3 million events/s, $4 KiB"
		fi
	done
	# Compressed: the best of three runs in turn of decompression alone, of what it comes to, read, and of both at once.
	"$FX_BUILDDIR/bench/reader" write "$dir/small.fxt.zst" 10 ${shape#calls} || exit 99
	"$FX_BUILDDIR/bench/reader" write "$dir/plain.fxt" 250 ${shape#calls} || exit 99
	"$FX_BUILDDIR/bench/reader" write "$dir/large.fxt.zst" 250 ${shape#calls} || exit 99
	small=$("$FX_BUILDDIR/bench/reader" read "$dir/small.fxt.zst") || exit 99
	: >"$dir/compressed"
	for _ in 1 2 3; do
		for run in "copied bytes plain.fxt" "inflated bytes large.fxt.zst" "plain read plain.fxt" "both read large.fxt.zst"; do
			# Word splitting is wanted: what it is called, and what is done with which.
			# shellcheck disable=SC2086
			set -- $run
			out=$("$FX_BUILDDIR/bench/reader" "$2" "$dir/$3") && [ -n "$out" ] || exit 99
			echo "$1 $out" >>"$dir/compressed"
		done
	done
	for run in copied inflated plain both; do
		[ "$(grep -c "^$run [^ ]" "$dir/compressed")" -eq 3 ] || exit 99
	done
	awk -v shape="$shape" -v small="$small" -v bytes="$(wc -c <"$dir/plain.fxt")" '
		!($1 in best) || $NF < best[$1] { best[$1] = $NF }
		$1 == "both" { memory = $5 }
		function row(name, what) { printf "reader: %s, %s: %.0f MB/s of records\n", name, shape, bytes / 1e6 / best[what] }
		END {
			row("floor, a copy of the file", "copied")
			row("plain, of 250 MB", "plain")
			row("floor, decompression of .zst alone", "inflated")
			row(".zst", "both")
			split(small, s)
			print "reader: .zst, " shape ": " memory " KiB (of 10 MB: " s[4] ")"
			print best["both"] / (best["inflated"] + best["plain"]) >"'"$dir"'/ratio"
		}' "$dir/compressed"
	bar "reader: .zst over decompression and plain, $shape" "$(cat "$dir/ratio")" times 1.1 less
	"$FX_BUILDDIR/bench/reader" write "$dir/python.fxt" 50 ${shape#calls} || exit 99
	PYTHONPATH=$FX_SRCDIR/python PYTHONDONTWRITEBYTECODE=1 \
		FXTRACE_READER_LIBRARY=$FX_BUILDDIR/.libs/libfxtrace-reader.so.0 \
		python3 - "$dir/python.fxt" >"$dir/python" <<'PYTHON' || exit 99
import sys, time, fxtrace
for use in ("name and duration", "name, duration and arguments"):
    begun, count = time.process_time(), 0
    for event in fxtrace.open(sys.argv[1]):
        count += event.duration == 50 and len(event.name) > 0
        if "arguments" in use:
            event.args
    print(count / (time.process_time() - begun) / 1e6, use)
PYTHON
	while read -r speed use; do
		case $use in
		*arguments) echo "reader: Python, $shape, $use: $speed million events/s" ;;
		*) bar "reader: Python, $shape, $use" "$speed" "M events/s" 0.5 ;;
		esac
	done <"$dir/python"
done
exit $status
