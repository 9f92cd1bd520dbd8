#!/bin/bash
# SPDX-License-Identifier: MIT
# Every function that the C library exports has a wrapper, or a reason in preload/wrap/skip.tbl why it has none;
# and none has both.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
need nm

# Functions of all versions but those that only libc itself calls.
for library in libc.so.6 libpthread.so.0 librt.so.1 libdl.so.2; do
	file=$(ldd "$LIBFXTRACE" | sed -n "s/.*${library%.*}\.[0-9]* => \([^ ]*\) .*/\1/p")
	[ -z "$file" ] || nm -D --defined-only "$file"
done | awk '$2 ~ /^[TWi]$/ && $3 !~ /@GLIBC_PRIVATE$|_version_placeholder/ { sub(/@.*/, "", $3); print $3 }' | sort -u >exported
[ "$(wc -l <exported)" -gt 1500 ] || fail "cannot read what libc exports"

sed '/^#/d; /^because /d' "$FX_SRCDIR/preload/wrap/skip.tbl" | tr -s ' \t' '\n\n' | sed '/^$/d' >skipped
sed '/^#/d; /^because ..*/d; /^$/d; /^[A-Za-z0-9_* ]*$/d' "$FX_SRCDIR/preload/wrap/skip.tbl" >strange
expect_equal "" "$(cat strange)" "lines of skip.tbl that are neither reason nor names"
grep -v '\*' skipped | sort >skipped-names
expect_equal "" "$(uniq -d skipped-names)" "names that stand twice in skip.tbl"
grep '\*' skipped | sed 's/\*/.*/g' >skipped-patterns

sort "$FX_BUILDDIR/preload/wrappers.list" >wrapped
expect_equal "" "$(comm -12 wrapped skipped-names)" "functions with a wrapper and a reason to have none"

comm -23 exported wrapped | comm -23 - skipped-names | grep -vxEf skipped-patterns >unknown
expect_equal "" "$(cat unknown)" "functions of libc in neither a wrapper table nor skip.tbl"
echo "$(wc -l <exported) functions of libc: $(comm -12 exported wrapped | wc -l) with a wrapper," \
	"$(comm -23 exported wrapped | wc -l) left out for $(grep -c '^because ' "$FX_SRCDIR/preload/wrap/skip.tbl") reasons"
