#!/bin/sh
# SPDX-License-Identifier: MIT
# Names that come from a sourced file are not followed (SC1090, SC1091, SC2154). A test does not take the place of its
# library's trap, which has its status.
. "$(dirname "$0")/lib.sh"

lint_need shellcheck
{
	lint_files '*.sh' '*.bash'
	printf '%s\n' bootstrap quickstart .ci/run
} | xargs shellcheck --severity=warning --exclude=SC1090,SC1091,SC2154 --format=gcc >"$lint_tmp/bad" 2>&1
lint_files '*.sh' | xargs grep -lE '^\. .*/tests/e2e/lib\.sh"$' | xargs grep -nE '^[^#]*\<trap .*\<EXIT' |
	sed 's/$/: at_end is for that/' >>"$lint_tmp/bad"
lint_end "$lint_tmp/bad"
