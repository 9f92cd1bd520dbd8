#!/bin/sh
# SPDX-License-Identifier: MIT
# The tables of tests/cross.sh and tests/old-libc.sh name tests that there are, and leave out none but of those that they mean.
. "$(dirname "$0")/lib.sh"

dir=${FX_BUILDDIR:-build}
make -s -C "$dir" print-tests 2>/dev/null | grep -q 'tests/base/test_clock' || {
	echo "skipped: this build has no unit tests"
	exit "$LINT_SKIP"
}
for script in tests/cross.sh tests/old-libc.sh; do
	unset core skipped
	eval "$(sed -n "/^\(core\|skipped\)='/,/^'/p" "$script")"
	[ -n "${skipped-}" ] || echo "$script: no table"
	# shellcheck source=tests/elsewhere.sh
	(. tests/elsewhere.sh && chosen) 2>&1 >/dev/null | grep 'has no test' | sed "s|^|$script: |"
done >"$lint_tmp/bad"
lint_end "$lint_tmp/bad"
