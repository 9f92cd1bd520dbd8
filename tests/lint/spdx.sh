#!/bin/sh
# SPDX-License-Identifier: MIT
# Every source begins with its licence, in the first two lines.
. "$(dirname "$0")/lib.sh"

lint_files '*.c' '*.h' '*.cc' '*.cpp' '*.def' '*.tbl' '*.map' '*.proto' '*.am' '*.ac' '*.m4' '*.sh' '*.bash' '*.zsh' '*.fish' \
	'*.py' '*.awk' 'bootstrap' 'quickstart' '*.[1-8]' |
	while IFS= read -r file; do
		head -n 2 "$file" | grep -q 'SPDX-License-Identifier: MIT' ||
			echo "$file:1: no SPDX-License-Identifier: MIT"
	done >"$lint_tmp/bad"
lint_end "$lint_tmp/bad"
