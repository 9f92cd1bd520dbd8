#!/bin/bash
# SPDX-License-Identifier: MIT
# doc/RUST.md is true: its commands print what it shows; and by XRay each call of each function is there, with its end, with -O and without.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
. "$FX_SRCDIR/tests/e2e/document.sh"
[ "$(uname -m)" = x86_64 ] || skip "sleds are known on x86-64"
rustc=$(command -v rustc) || skip "there is no rustc"
export RUSTC_BOOTSTRAP=1
echo 'fn main() {}' >empty.rs
rustc -Z instrument-xray=always empty.rs 2>rustc.err || skip "this rustc makes no sleds: $(head -n 1 rustc.err)"

document_begin "$FX_SRCDIR/doc/RUST.md"
ln -s "$rustc" path/rustc
[ "$files" = 1 ] && [ "$steps" = 6 ] || fail "$files files, $steps commands"
document_run

for way in '' -O; do
	# shellcheck disable=SC2086 # none, or one
	rustc $way -Z instrument-xray=always -o threes work/threes.rs || fail "rustc $way"
	expect_ok ./threes
	mv out plain
	expect_ok "$FXTRACE" run --patch -c function -o threes.fxt -- ./threes
	expect_same_file plain out
	expect_clean threes.fxt
	"$FXTRACE" report --functions --top 0 --json threes.fxt >told || fail "no report"
	tr '{' '\n' <told | sed -nE 's/.*"calls": ([0-9]+).*"name": "threes::([a-z]+)".*/\1 \2/p' | sort >got
	printf '%s\n' '1 main' '100 fails' '104 high' '258 low' >want
	expect_same_file want got
	"$FXTRACE" report --functions threes.fxt >told
	expect_no_line 'have no end' told
done
