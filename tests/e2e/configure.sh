#!/bin/bash
# SPDX-License-Identifier: MIT
# What configure refuses, each with one line that says why.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

[ -x "$FX_SRCDIR/configure" ] || skip "there is no configure in $FX_SRCDIR"
unset CC CXX CFLAGS CXXFLAGS CPPFLAGS LDFLAGS

# refused WHY OPTION...
refused() {
	local why=$1

	shift
	expect_status 1 "$FX_SRCDIR/configure" --quiet "$@"
	grep -v '^configure: WARNING' err >said
	expect_equal 1 "$(grep -c . said)" "lines of: configure $*"
	expect_line "^configure: error: .*$why" said
	rm -rf ./*
}

for cpu in riscv64 i686 armv7l powerpc64le s390x; do
	refused "not on $cpu" --host=$cpu-linux-gnu
done

if command -v musl-gcc >/dev/null; then
	refused 'GNU C library' CC=musl-gcc
fi
