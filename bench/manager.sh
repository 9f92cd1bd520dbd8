#!/bin/sh
# SPDX-License-Identifier: MIT
# The speed bar of the manager: what it writes a second, on one core.
set -eu

limit=500 # MB/s of calls
out=$("${FX_BUILDDIR:?}/bench/manager_throughput")
echo "$out"
echo "$out" | awk -v limit="$limit" '/calls of 24 bytes/ {
	met = $(NF - 1) >= limit
	printf "%-58s %8.0f MB/s bar %d  %s\n", "manager: check, convert, save", $(NF - 1), limit,
		met ? "met" : "NOT MET"
	exit !met
}'
