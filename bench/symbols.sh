#!/bin/sh
# SPDX-License-Identifier: MIT
# What names cost: libc, and a shared object of a million C++ functions.
set -eu

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

awk 'BEGIN {
	for (i = 0; i < 1000000; i++) {
		name = sprintf("_ZN7project23function_number_%07dEi", i)
		print ".globl " name "\n.type " name ", %function\n" name ": .zero 8\n.size " name ", 8"
	}
	print ".section .note.GNU-stack,\"\",%progbits"
}' >"$work/million.s"
$FX_CC -shared -nostdlib -o "$work/million.so" "$work/million.s"

# text_of FILE: address and size of its code
text_of() {
	readelf -SW "$1" | sed 's/\[ */[/' | awk '$2 == ".text" { print $4, $6; exit }'
}

libc=$(ldd /bin/sh | awk '$1 ~ /^libc\./ { print $3 }')
# Each gives two arguments.
# shellcheck disable=SC2046
"$FX_BUILDDIR/bench/symbols" "$libc" $(text_of "$libc") \
	"$work/million.so" $(text_of "$work/million.so")
