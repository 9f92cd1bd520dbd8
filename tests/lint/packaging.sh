#!/bin/sh
# SPDX-License-Identifier: MIT
# What packages say agrees with the tree: the release and its date, what a build needs, what the reader library exports.
. "$(dirname "$0")/lib.sh"

version=$(sed -n 's/^AC_INIT(\[fxtrace\], \[\(.*\)\])$/\1/p' configure.ac)
date=$(sed -n 's/^## .*, \(.*\)$/\1/p' NEWS.md | head -n 1)

# differs FILE WANT GOT WHAT
differs() {
	[ "$2" = "$3" ] || echo "$1: $4: $3 instead of $2"
}

{
	differs NEWS.md "$version" "$(sed -n 's/^## \(.*\), .*$/\1/p' NEWS.md | head -n 1)" "the newest release"
	differs debian/changelog "$version" "$(sed -n '1s/^fxtrace (\(.*\)-[^-]*) .*/\1/p' debian/changelog)" "the release"
	differs packaging/fxtrace.spec "$version" "$(sed -n 's/^Version: *//p' packaging/fxtrace.spec)" "the release"
	for page in man/*.[1-8] "${FX_BUILDDIR:?}"/man/*.3; do
		differs "$page" "$date fxtrace $version" \
			"$(sed -n 's/^\.TH [^ ]* [1-8] \([^ ]*\) "\(.*\)" ".*"$/\1 \2/p' "$page")" "date and release"
	done

	# Debian's builders have a compiler, make and the autotools without being asked.
	sed -n 's/^build //p' packages.txt | grep -vxE 'autoconf|automake|g\+\+|gcc|libc6-dev|libtool|make' >"$lint_tmp/needed"
	sed -n '/^Build-Depends:/,/^[A-Z].*: [^ ]/s/^ \([^ ,]*\).*/\1/p' debian/control | grep -vx debhelper-compat |
		LC_ALL=C sort >"$lint_tmp/asked"
	diff "$lint_tmp/needed" "$lint_tmp/asked" | sed -n 's/^</packages.txt alone:/p; s/^>/debian\/control alone:/p'

	for library in provider reader; do
		lib=${FX_BUILDDIR:?}/.libs/libfxtrace-$library.so
		list=debian/libfxtrace-${library}0.symbols
		command -v nm >/dev/null && [ -f "$lib" ] || continue
		nm -D --defined-only "$lib" | awk '{ print $3 }' | sed 's/@.*//' | sort -u >"$lint_tmp/exported"
		sed -n 's/^ \([^@]*\)@.*/\1/p' "$list" | sort -u |
			diff "$lint_tmp/exported" - |
			sed -n "s|^<|$list: does not list|p
				s|^>|$list: lists what is not exported:|p"
	done
} >"$lint_tmp/bad"
lint_end "$lint_tmp/bad"
