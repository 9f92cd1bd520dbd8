#!/bin/sh
# SPDX-License-Identifier: MIT
# ctuuninitvar does not know that a system call fills memory.
. "$(dirname "$0")/lib.sh"

lint_need cppcheck
lint_files '*.c' | grep -vE '^(tests|examples|bench)/' >"$lint_tmp/files"
cppcheck --quiet --std=c11 --enable=warning --inline-suppr --library=posix \
	--suppress='*:*.pb-c.*' --suppress=ctuuninitvar \
	--suppress=missingIncludeSystem --suppress=missingInclude -D_GNU_SOURCE -D__x86_64__ -D__linux__ \
	--include="$lint_here/cppcheck.h" \
	-DPACKAGE_STRING='""' -DPACKAGE_VERSION='""' -I. -Iinclude \
	--template='{file}:{line}: {severity}: {message} [{id}]' \
	--file-list="$lint_tmp/files" >"$lint_tmp/bad" 2>&1
lint_end "$lint_tmp/bad"
