#!/bin/bash
# SPDX-License-Identifier: MIT
# What memory `fxtrace merge' takes by the number of archives and by their size: FX_MERGE_COUNT (1,000) small ones, and FX_MERGE_LARGE (20) of
# FX_MERGE_MB (100) MB, compressed and not; and what as many large ones would take by that. Bar: 1 GB.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
. "$FX_SRCDIR/tests/e2e/many-archives.sh"
need python3
count=${FX_MERGE_COUNT:-1000} large=${FX_MERGE_LARGE:-20} megabytes=${FX_MERGE_MB:-100}

# measured NAME CALLS COUNT EXTENSION: prints a line; KiB in the variable.
measured() {
	local begin=$SECONDS

	printf -v "$1" %s "$(merged_memory "$2" "$3" "$4")"
	printf '%5d archives%s of %9d bytes: %7d KiB resident, %4d s with making them\n' "$3" "$4" \
		"$(stat -c %s "parts/1$4")" "${!1}" $((SECONDS - begin))
	rm -rf parts
}
status=0
for extension in .fxt .fxt.zst; do
	# A call has 24 bytes, less once compressed.
	calls=$((megabytes * 1000000 / 24))
	measured few 1000 "$large" $extension
	measured many 1000 "$count" $extension
	measured heavy $calls "$large" $extension
	each=$(((many - few) / (count - large))) size=$(((heavy - few) / large))
	sum=$((few + (count - large) * each + count * (size > 0 ? size : 0)))
	printf '%s: %d KiB for each archive, %d KiB more for each that is large; %d large ones: %d MB\n' "${extension#.}" $each $size "$count" $((sum / 1024))
	[ $sum -lt 1000000 ] || status=1
done
exit $status
