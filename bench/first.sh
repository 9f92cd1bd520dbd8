#!/bin/sh
# SPDX-License-Identifier: MIT
# first.sh PROGRAM [ARGUMENT...]: which functions of libfxtrace.so a traced program comes to that preload/first.list does not have, and
# on how many stretches of 64 KiB they and the others lie: each is a page fault. Steps through the program, some 100,000
# instructions a second.
set -eu
[ $# -gt 0 ] || set -- sh -c 'ls -l / >/dev/null; echo x | cat >/dev/null'

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
nm -S "$FX_BUILDDIR/.libs/libfxtrace.so" | awk '$3 ~ /^[tTW]$/ { print $1, $2, $4 }' >"$work/functions"
"$FX_BUILDDIR/fxtrace" run -q -o "$work/first.fxt" -- "$FX_BUILDDIR/bench/first" "$@" >"$work/addresses"
awk -v list="$FX_SRCDIR/preload/first.list" '
function hex(s,   n, i) {
	n = 0
	for (i = 1; i <= length(s); i++)
		n = n * 16 + index("0123456789abcdef", substr(s, i, 1)) - 1
	return n
}
BEGIN {
	while ((getline line <list) > 0)
		listed[line]
}
FNR == NR {
	begin = hex($1)
	for (at = begin - begin % 16; at < begin + hex($2); at += 16)
		function_at[at] = function_at[at] " " begin " " begin + hex($2) " " $3
	next
}
{
	at = hex($1)
	stretches[int(at / 65536)]
	n = split(function_at[at - at % 16], of, " ")
	for (i = 1; i < n; i += 3)
		if (at >= of[i] && at < of[i + 1])
			used[of[i + 2]]
}
END {
	for (name in used) {
		functions++
		short = name
		sub(/\.(part|constprop|isra|lto_priv).*/, "", short)
		if (!(short in listed) && !(short ".cold" in listed))
			print name | "sort"
	}
	close("sort")
	for (stretch in stretches)
		count++
	print functions " functions on " count " stretches"
}' "$work/functions" "$work/addresses"
