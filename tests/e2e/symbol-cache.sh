#!/bin/bash
# SPDX-License-Identifier: MIT
# Symbols that take long to read are kept: the second run has them from the disk, with the same names; what is spoiled, of
# another file, or may not be written counts for nothing, and nobody hears of it.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

export XDG_CACHE_HOME=$PWD/caches
mkdir caches
{
	echo .text
	awk 'BEGIN {
		for (i = 0; i < 70000; i++) {
			name = sprintf("a_function_that_has_a_name_of_some_length_as_they_come_%d", i)
			printf ".globl %s\n.type %s, %%function\n%s: ret\n.size %s, .-%s\n", name, name, name, name, name
		}
	}'
	echo '.section .note.GNU-stack,"",%progbits'
} >many.s
cat >few.c <<'END_OF_C'
__attribute__((noinline)) void few_called(void) { __asm__ volatile(""); }
int main(void)
{
	few_called();
	return 0;
}
END_OF_C
compile many -finstrument-functions -Wl,--build-id few.c many.s

# expect_kept COUNT OPTIONS...: a run has its names, so many files of symbols from the cache.
expect_kept() {
	local want=$1

	shift
	expect_ok traced -v "$@" -- ./many
	cp err said
	expect_line "symbols of 1 file were read, those of $want \\([0-9]+ symbols?\\) from the cache" said
	expect_clean trace.fxt
	list_archive trace.fxt
	expect_events 1 'category == "function" && name == "few_called"'
	expect_equal 0 "$(grep -c 'caches\|\.symbols\|elsewhere' said)" "lines about the cache: $(cat said)"
}
kept() {
	find "$XDG_CACHE_HOME/fxtrace" -type f
}

expect_kept 0
expect_equal 1 "$(kept | wc -l)" "files kept"
expect_kept 1
grep -q '(700[0-9][0-9] symbols) from the cache' said || fail "$(cat said)"
expect_kept 0 --lines
expect_kept 1 --lines
expect_kept 0 --symbol-cache no
expect_kept 0 --symbol-cache "$PWD/elsewhere"
expect_kept 1 --symbol-cache "$PWD/elsewhere"

# --- Spoiled, and another file --------------------------------------------------------------------

rm -r caches/fxtrace
expect_kept 0
printf 'spoiled' | dd of="$(kept)" bs=1 seek=100000 conv=notrunc status=none
expect_kept 0
expect_kept 1
truncate -s 100000 "$(kept)"
expect_kept 0
expect_kept 1
cp many whole
strip many -K few_called -K main
expect_ok traced -v -- ./many
expect_line 'those of 0 \(0 symbols\) from the cache' err
cp whole many

# --- Where nothing can be kept --------------------------------------------------------------------

rm -r caches/fxtrace
: >caches/fxtrace
expect_kept 0
expect_kept 0
unset XDG_CACHE_HOME
HOME=$PWD/none expect_kept 0
[ ! -e none ] || fail "a home was made"
if [ "$(id -u)" -eq 0 ]; then
	mkdir theirs
	chown 12345 theirs
	HOME=$PWD/theirs expect_kept 0
	expect_equal '' "$(ls -A theirs)" "what root wrote into another's home"
fi
