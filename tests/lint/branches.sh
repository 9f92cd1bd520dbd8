#!/bin/sh
# SPDX-License-Identifier: MIT
# Branches of libfxtrace.so keep within stretches of 32 bytes: some processors decode a stretch anew, each time, where one crosses
# its end or stops there, and a hook has twenty of them.
. "$(dirname "$0")/lib.sh"

lib=${FX_BUILDDIR:?}/.libs/libfxtrace.so

lint_need objdump
[ -f "$lib" ] || { echo "$lib: not built"; exit 99; }
grep -q '^BRANCH_CFLAGS = .*32B' "$FX_BUILDDIR/Makefile" || { echo "the assembler cannot keep them"; exit 77; }
objdump -d --insn-width=16 "$lib" | awk -F '\t' '
	BEGIN { for (i = 0; i < 16; i++) digit[substr("0123456789abcdef", i + 1, 1)] = i }
	function number(hex,	i, n) { for (i = 1; i <= length(hex); i++) n = n * 16 + digit[substr(hex, i, 1)]; return n }
	/^[0-9a-f]+ <.*>:$/ { name = $0; sub(/^[0-9a-f]* /, "", name) }
	# (Of jumps to other functions the assembler cannot say: slow ways.)
	$3 ~ /^j[a-ln-z][a-z]* +[0-9a-f]/ && name ~ /^<(__cyg_profile_func_|pthread_|malloc|free|write|events_)/ {
		gsub(/ /, "", $1)
		sub(/:.*/, "", $1)
		at = number($1)
		bytes = split($2, unused, / +/) - ($2 ~ / $/)
		looked++
		if (int(at / 32) != int((at + bytes) / 32))
			print "libfxtrace.so: " name " " $1 " crosses: " $3
	}
	END { if (looked < 100) print "libfxtrace.so: no branches are seen" }' >"$lint_tmp/crossing"
lint_end "$lint_tmp/crossing"
