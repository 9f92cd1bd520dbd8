# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# What the tests of documents share, with tests/e2e/lib.sh: a page whose programs are made from it, whose commands run, and
# print what it shows (tests/document.sh).
. "$FX_SRCDIR/tests/document.sh"

# document_begin FILE: sets headlines, files and steps; what follows finds fxtrace and cc.
document_begin() {
	# Of a `make' around this test, the one in it knows nothing.
	unset MAKEFLAGS MFLAGS MAKELEVEL
	mkdir path
	ln -s "$FXTRACE" path/fxtrace
	ln -s "$FXTRACE" path/fxtrace-run
	ln -s "$(command -v "${FX_CC%% *}")" path/cc
	[ "$FX_CC" = "${FX_CC%% *}" ] || {
		rm path/cc
		printf '#!/bin/sh\nexec %s "$@"\n' "$FX_CC" >path/cc && chmod +x path/cc
	}
	# Nothing that stands before the system's own programs, such as scripts that choose one.
	PATH=$PWD/path:/usr/bin:/bin
	document_steps "$1" >counts
	# shellcheck disable=SC2034 # for the tests
	read -r headlines files steps <counts
}

document_run() {
	local i

	for ((i = 1; i <= steps; i++)); do
		(cd work && bash "../step.$i") >printed 2>err || fail "status $? of $(cat "step.$i"): $(cat printed err)"
		expect_equal 0 "$(wc -c <err)" "bytes on stderr of $(cat "step.$i")"
		document_matches "shown.$i" printed ||
			fail "$(cat "step.$i") prints:"$'\n'"$(cat printed)"$'\n'"instead of:"$'\n'"$(cat "shown.$i")"
	done
	# The test can fail: a line that is not there is missed.
	echo "no such line" >>"shown.$steps"
	! document_matches "shown.$steps" printed || fail "a line that is not printed is not missed"
}
