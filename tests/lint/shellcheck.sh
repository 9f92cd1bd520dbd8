#!/bin/sh
# SPDX-License-Identifier: MIT
# Names that come from a sourced file are not followed (SC1090, SC1091, SC2154).
. "$(dirname "$0")/lib.sh"

lint_need shellcheck
{
	lint_files '*.sh' '*.bash'
	printf '%s\n' bootstrap quickstart .ci/run
} | xargs shellcheck --severity=warning --exclude=SC1090,SC1091,SC2154 --format=gcc >"$lint_tmp/bad" 2>&1
lint_end "$lint_tmp/bad"
