#!/bin/sh
# SPDX-License-Identifier: MIT
# The C sources are as clang-format leaves them. Other versions of it would see other faults.
. "$(dirname "$0")/lib.sh"

lint_need clang-format
clang-format --version | grep -q ' version 14\.' || {
	echo "the tree is formatted with clang-format 14; this is $(clang-format --version)"
	exit $LINT_SKIP
}
lint_files '*.c' '*.h' >"$lint_tmp/files"
xargs clang-format --dry-run <"$lint_tmp/files" >"$lint_tmp/bad" 2>&1
lint_end "$lint_tmp/bad"
