#!/bin/bash
# SPDX-License-Identifier: MIT
# What reading a trace costs beside other tools: one program of instrumented calls, recorded by each, and the processor
# time that its own commands take for each call of what they read. Tools that are not installed (packages.txt, use
# `peers') are named; FX_TRACE_PROCESSOR names Perfetto's, which is asked of the converted archive.
set -u

B=${FX_BUILDDIR:?}
DIR=$(mktemp -d) || exit 99
trap 'rm -rf "$DIR"' EXIT
missing=

# need TOOL COMMAND: whether it is installed; else it is named below the table.
need() {
	command -v "$2" >/dev/null && return
	missing="$missing $1"
	return 1
}

# seconds COMMAND...: processor time, its own and its children's.
seconds() {
	local TIMEFORMAT='%U %S'

	{ time "$@" >"$DIR/out" 2>"$DIR/err"; } 2>"$DIR/time" || return
	awk '{ print $1 + $2 }' "$DIR/time"
}

# show CALLS NAME COMMAND...
show() {
	local calls=$1 name=$2 taken

	shift 2
	taken=$(seconds "$@") || {
		echo "readers: $name failed: $(tail -n 1 "$DIR/err")" >&2
		return
	}
	awk -v name="$name" -v calls="$calls" -v taken="$taken" 'BEGIN {
		printf "%-44s %10d calls %8.0f ns each\n", "readers: " name, calls, taken / calls * 1e9
	}'
}

"$B/fxtrace" run -q --on-full block -o "$DIR/trace.fxt" -- "$B/bench/pair" 1 >/dev/null || exit 99
# asked QUERY
asked() {
	"$B/fxtrace" query --csv "$DIR/trace.fxt" "$1" | tail -n 1 | tr -d '\r'
}
calls=$(asked 'SELECT count(*) FROM slice')
[ "${calls:-0}" -gt 0 ] || exit 99
show "$calls" "fxtrace report --functions" "$B/fxtrace" report --functions "$DIR/trace.fxt"
show "$calls" "fxtrace replay" "$B/fxtrace" replay "$DIR/trace.fxt"
show "$calls" "fxtrace query, all slices" "$B/fxtrace" query "$DIR/trace.fxt" \
	'SELECT count(*), sum(dur) FROM slice'
show "$calls" "fxtrace convert -f perfetto" "$B/fxtrace" convert -f perfetto "$DIR/trace.fxt" "$DIR/trace.pb"

if need uftrace uftrace &&
	uftrace record --force --no-event -d "$DIR/uftrace" "$B/bench/pair" 1 >/dev/null 2>"$DIR/err"; then
	recorded=$(uftrace report --no-pager -d "$DIR/uftrace" -f call 2>/dev/null |
		awk '$1 ~ /^[0-9]+$/ { calls += $1 } END { print calls + 0 }')
	[ "$recorded" -gt 0 ] || recorded=$calls
	show "$recorded" "uftrace report" uftrace report --no-pager -d "$DIR/uftrace"
	show "$recorded" "uftrace replay" uftrace replay --no-pager -d "$DIR/uftrace"
fi
if [ -n "${FX_TRACE_PROCESSOR-}" ]; then
	echo 'SELECT count(*), sum(dur) FROM slice;' >"$DIR/all.sql"
	show "$calls" "trace_processor, all slices" "$FX_TRACE_PROCESSOR" -q "$DIR/all.sql" "$DIR/trace.pb"
else
	missing="$missing trace_processor"
fi
if need strace strace; then
	# A summary is all that strace makes of calls: its cost is that of the run.
	strace -f -o "$DIR/text" "$B/bench/ops" write 20000 >/dev/null 2>&1
	lines=$(wc -l <"$DIR/text")
	show "$lines" "awk, a count of strace's text by name" awk -F'[ (]+' '{ n[$2]++ } END { for (i in n) print n[i], i }' "$DIR/text"
fi
[ -z "$missing" ] || echo "readers: not measured, since not installed:$missing"
