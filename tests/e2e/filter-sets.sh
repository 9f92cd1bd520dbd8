#!/bin/bash
# SPDX-License-Identifier: MIT
# Random sets of filters (--filter by names, files of sources and modules, --no-trace, --when, +depth, --max-depth, --min-size) upon
# real programs: a run with them has exactly those calls, nested so, that a script with rules of its own leaves of a run without; and so has
# what `fxtrace filter' makes of the archive of all, where names suffice. Here a few; `make check-filters' has 200 of four programs.
# FX_SETS: how many of each; FX_SEED; FX_PROGRAMS and FX_WAYS (tests/e2e/programs.sh), divided by commas.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
. "$FX_SRCDIR/tests/e2e/source.sh"
. "$FX_SRCDIR/tests/e2e/programs.sh"
need apt-get dpkg-source nm setarch python3

CALLTREE=$FX_BUILDDIR/tests/e2e/calltree
IFS=, read -ra programs <<<"${FX_PROGRAMS-lua}"
IFS=, read -ra ways <<<"${FX_WAYS-gcc -O1}"
debian_source lua5.4 >/dev/null || skip "no sources can be had"

# The independent rules, upon the file full.
rules() {
	python3 "$FX_SRCDIR/tests/e2e/filter_sets.py" "$1" full symbols "${command[0]##*/}" "${@:2}"
}

# tree ARCHIVE: its calls.
tree() {
	expect_clean "$1"
	"$CALLTREE" archive "$1"
}

# differ WHAT: of the files want and got.
differ() {
	cmp -s want got || {
		echo "$1 $line: $(wc -l <want) and $(wc -l <got) calls"
		diff want got | head -n 5
		differing=$((differing + 1))
	}
}

# expect_run SETTING...: a run with them.
expect_run() {
	rm -f some.fxt
	setarch -R "$FXTRACE" run -q -c function --on-full block "$@" -o some.fxt -- "${command[@]}" >some.out 2>some.err </dev/null ||
		fail "run $*: $(cat some.err)"
	expect_same_file full.out some.out
	tree some.fxt >got
	differ run
}

# words_of LINE: as the shell reads it, into the array words.
words_of() {
	eval "words=($1)"
}

# try_program PROGRAM WAY
try_program() {
	local line differing=0 empty=0 words

	"program_$1" "$2"
	setarch -R "$FXTRACE" run -q -c function --on-full block -o full.fxt -- "${command[@]}" >full.out 2>full.err </dev/null ||
		fail "$1 $2: $(cat full.err)"
	tree full.fxt >full
	[ "$(wc -l <full)" -gt 10000 ] || fail "$1 $2: few calls"
	nm -C -S -l --defined-only "${command[0]}" >symbols
	rules sets "$((sets - sets / 2))" "$seed" >sets && rules sets "$((sets / 2))" "$((seed + 1))" names >named || fail "no sets"
	while read -r line; do
		words_of "$line"
		rules wanted "${words[@]}" >want || fail "no answer to $line"
		[ -s want ] || empty=$((empty + 1))
		expect_run "${words[@]}"
	done <sets
	while read -r line; do
		words_of "$line"
		rules wanted "${words[@]}" >want || fail "no answer to $line"
		[ -s want ] || empty=$((empty + 1))
		rm -f less.fxt
		expect_ok "$FXTRACE" filter "${words[@]}" -o less.fxt full.fxt
		tree less.fxt >got
		differ filter
		expect_run "${words[@]}"
	done <named
	echo "$1, $2: $sets sets, $empty of which leave nothing, of $(wc -l <full) calls: $differing differ"
	different=$((different + differing))
	[ "$empty" -lt "$sets" ] || fail "all sets leave nothing"
}

# shellcheck disable=SC2034 # for programs.sh
few=yes
sets=${FX_SETS:-6} seed=${FX_SEED:-1} different=0
for program in "${programs[@]}"; do
	for way in "${ways[@]}"; do
		try_program "$program" "$way"
		seed=$((seed + 2))
	done
done
expect_equal 0 "$different" "sets that differ"
