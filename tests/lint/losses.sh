#!/bin/sh
# SPDX-License-Identifier: MIT
# man/fxtrace.1 lists the causes of loss as manager/settings/losses.def has them; each of the table has a cure, but for
# the last, against which nothing can be done; and a test that makes it happen and sees its words (expect_loss). What a
# fake provider tells in liars.sh did not happen: that is to be seen in a test of the engine too.
. "$(dirname "$0")/lib.sh"

table=manager/settings/losses.def
page=man/fxtrace.1

# WORD<tab>what the summary says
tr '\n' ' ' <$table | sed 's|/[*].*[*]/||; s/LOSS(/\
LOSS(/g' | awk -F'"' '/^LOSS/ {
	cure = $10
	sub(/%s/, "SIZE", cure)
	print $2 "\t" $6 " " $8 (cure == "" ? "" : "; " cure)
	if (cure == "")
		bare++
}
END { if (bare > 1) print "too many without a cure" }' >"$lint_tmp/table"

sed -n '/^\.SH LOSSES/,/^\.SH [^L]/p' $page | sed 's/\\-/-/g; s/\\f[IRB]//g' | awk '
	function flush() { if (word != "") print word "\t" said; word = said = "" }
	/^\.TP/ { flush(); begun = 1; next }
	/^\.(SH|PP)/ { flush(); begun = 0; next }
	begun && sub(/^\.B /, "") { word = $0; next }
	word != "" { said = said (said == "" ? "" : " ") $0 }' >"$lint_tmp/page"

# SYMBOL WORD
sed -n 's/^LOSS(\([A-Z]*\), "\([a-z-]*\)".*/\1 \2/p' $table | while read -r symbol word; do
	tests=$(grep -lE "expect_loss $word " tests/*/*.sh | grep -v '/lib\.sh$')
	[ -n "$tests" ] || echo "$table: no test makes it happen: $word"
	[ "$tests" != tests/e2e/liars.sh ] || grep -qE "(fm_lost\(&m, FX_LOSS_|lost\[FX_CAUSE_)$symbol\b" \
		tests/engine/*/*.c tests/manager/*/*.c || echo "$table: no test of the engine makes it happen: $word"
done >"$lint_tmp/untested"

{
	cat "$lint_tmp/untested"
	[ -s "$lint_tmp/table" ] || echo "$table: has no rows"
	diff "$lint_tmp/table" "$lint_tmp/page" | sed -n "s|^< |$page: does not say: |p; s|^> |$page: says what $table does not: |p"
} >"$lint_tmp/bad"
lint_end "$lint_tmp/bad"
