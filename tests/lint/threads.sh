#!/bin/sh
# SPDX-License-Identifier: MIT
# What each thread of our programs has of its own: the C library takes it from the thread's stack, and where little is left
# starts none.
. "$(dirname "$0")/lib.sh"

most=4096
lint_need readelf
for name in fxtrace fxtrace-kernel .libs/fxtrace .libs/libfxtrace.so; do
	file=${FX_BUILDDIR:?}/$name
	[ -f "$file" ] && [ "$(head -c 4 "$file" | tail -c 3)" = ELF ] || continue
	readelf -lW "$file" | awk -v name="$name" '
		$1 == "TLS" { size = $6 }
		END { print name, size ? size : "0x0" }'
done >"$lint_tmp/sizes"
[ -s "$lint_tmp/sizes" ] || { echo "no program is built"; exit 99; }
while read -r name size; do
	[ $((size)) -le $most ] || echo "$name: each thread takes $((size)) bytes of its stack (__thread); $most are allowed"
done <"$lint_tmp/sizes" >"$lint_tmp/bad"
lint_end "$lint_tmp/bad"
