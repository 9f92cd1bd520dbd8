#!/bin/sh
# SPDX-License-Identifier: MIT
# Every file stands in a makefile fragment: what is missing there would be missing in a release.
. "$(dirname "$0")/lib.sh"

lint_files '*.am' | xargs cat | tr -s ' \t\\"' '\n' | sort -u >"$lint_tmp/named"
lint_files '*.c' '*.h' '*.cc' '*.cpp' '*.def' '*.tbl' '*.map' '*.proto' '*.sh' '*.bash' '*.py' '*.awk' '*.md' \
	'*.[1-8]' | comm -23 - "$lint_tmp/named" |
	sed 's/$/: in no Makemodule.am/' >"$lint_tmp/bad"
lint_end "$lint_tmp/bad"
