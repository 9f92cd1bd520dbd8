#!/bin/bash
# SPDX-License-Identifier: MIT
# Mistakes in a wrapper table are found, with the line that they are in.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

AWK=${AWK:-awk}
tables=$FX_SRCDIR/preload/wrap/tables
generate() {
	"$AWK" -v out="$1" -f "$tables/parse.awk" -f "$tables/c.awk" -f "$tables/emit-unit.awk" -f "$tables/emit-strings.awk" \
		-f "$tables/emit-real.awk" -f "$tables/emit-lists.awk" -f "$tables/emit-badcalls.awk" -f "$tables/main.awk" table
}

# reject TEXT MESSAGE: a table with this third line is refused.
reject() {
	printf 'unit u\ncategory c C\n%s\n' "$1" >table
	generate unit-u.inc >out 2>err && fail "accepted: $1"
	expect_line "^table:3: .*$2" err
}

reject 'int f(int a:int)' 'no . | . and result'
reject 'int f(int a) | sys' 'has no kind'
reject 'int f(int a:int) | wrong' 'unknown result'
reject 'int f(int a:int) | sys sometimes' 'unknown option'
reject 'int (int a:int) | sys' 'cannot read'
reject 'int f(int a:int | sys' 'cannot read'
reject 'string x "one"
string x "two"' 'no .* prototype|cannot read|two texts'

printf 'int f(int a:int) | sys\n' >table
generate unit-u.inc >out 2>err && fail "accepted a function before its unit"
expect_line 'before .unit' err
printf 'unit u\ncategory c C\nint f(int a:int) | sys\nint f(int a:int) | sys\n' >table
generate unit-u.inc >out 2>err && fail "accepted a function twice"
expect_line '^table:4: f stands here twice' err
printf 'unit u\ncategory c C\nint f(int a:int, const char *b:-, ... long c:size(a)) | sys as=g\n' >table
generate unit-u.inc >out 2>err || fail "refused a good table: $(cat err)"
expect_line '^int fx_wrap_f\(int a, const char \*b, \.\.\.\)$' out
expect_line 'c = va_arg\(ap, long\)' out
expect_line 'FX_CALL_HEADER\(c, g\)' out
expect_no_line 'FX_STR_b' out
