#!/bin/bash
# SPDX-License-Identifier: MIT
# What memory `fxtrace merge' takes by the number of archives and by their size: FX_MERGE_COUNT (1,000) small ones, and FX_MERGE_LARGE (20) of
# FX_MERGE_MB (100) MB, compressed and not; and what as many large ones would take by that. Bar: 1 GB. With FX_MERGE_LARGE=1000 they are merged all: for
# that let TMPDIR be on XFS or btrfs, where copies share their blocks.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
. "$FX_SRCDIR/tests/e2e/many-archives.sh"
need python3
count=${FX_MERGE_COUNT:-1000} large=${FX_MERGE_LARGE:-20} megabytes=${FX_MERGE_MB:-100}

# measured CALLS COUNT EXTENSION: prints a line; KiB are in $resident.
measured() {
	local begin=$SECONDS

	resident=$(merged_memory "$1" "$2" "$3")
	printf '%5d archives%s of %9d bytes: %7d KiB resident, %4d s with making them\n' "$2" "$3" \
		"$(stat -c %s "parts/1$3")" "$resident" $((SECONDS - begin))
	rm -rf parts
}
status=0
for extension in .fxt .fxt.zst; do
	# A call has 24 bytes, less once compressed.
	calls=$((megabytes * 1000000 / 24))
	if [ "$large" -ge "$count" ]; then
		measured $calls "$large" $extension
		[ "$resident" -lt 1000000 ] || status=1
		continue
	fi
	measured 1000 "$large" $extension
	few=$resident
	measured 1000 "$count" $extension
	many=$resident
	measured $calls "$large" $extension
	heavy=$resident
	each=$(((many - few) / (count - large))) size=$(((heavy - few) / large))
	sum=$((few + (count - large) * each + count * (size > 0 ? size : 0)))
	printf '%s: %d KiB for each archive, %d KiB more for each that is large; %d large ones: %d MB\n' "${extension#.}" $each $size "$count" $((sum / 1024))
	[ $sum -lt 1000000 ] || status=1
done
exit $status
