#!/bin/bash
# SPDX-License-Identifier: MIT
# A child records as itself, by whichever of libc's ways it was made; also where the kernel does not wipe memory in
# children, though it says so, as emulators do.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

target forks forks.c -lutil
compile nosys -O1 -w -D_GNU_SOURCE "$FX_SRCDIR/tests/e2e/targets/nosys.c"
wrappers=('')
! ./nosys deaf true || wrappers+=('./nosys deaf')

for wrapper in "${wrappers[@]}"; do
	for options in '' '--on-full block -b 64K'; do
		# shellcheck disable=SC2086 # a command, several options
		expect_status 0 "$FXTRACE" run -q $options -o trace.fxt -- $wrapper ./forks each
		expect_clean trace.fxt
		list_archive trace.fxt
		expect_events 1000 'name == "in_child"'
		expect_events 0 'name == "records dropped"'
		expect_events 4 'name == "in_handler"'
		expect_events 4 'name == "in_parent"'
		expect_equal '5 4 1 0' "$(awk -F'\t' '
			$7 ~ /^in_/ && !seen[$7, $2]++ { n[$7]++ }
			END {
				for (key in seen) {
					split(key, of, SUBSEP)
					if (of[1] != "in_parent") both += (("in_parent", of[2]) in seen)
				}
				print n["in_child"], n["in_handler"], n["in_parent"], both + 0
			}' events)" "processes of children, of handlers, of parents; parents among the others"
	done
done
