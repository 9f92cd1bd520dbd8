# shellcheck shell=sh
# SPDX-License-Identifier: MIT
# What the lints share. A lint looks at the tree of its first argument, or at the source tree; it
# prints one line a violation, FILE:LINE: text, and fails if there was any. Status 77 skips.

set -u
LC_ALL=C
export LC_ALL
lint_here=$(cd "$(dirname "$0")" && pwd)
lint_tree=${1:-${FX_SRCDIR:-$lint_here/../..}}
cd "$lint_tree" || exit 99

LINT_SKIP=77

# What git would know of; outside a repository (a release) all but what a build leaves.
lint_all_files() {
	if [ -e .git ] && git ls-files -co --exclude-standard >"$lint_tmp/all" 2>/dev/null; then
		# A file that is deleted and not yet committed is listed.
		while IFS= read -r file; do
			[ ! -f "$file" ] || printf '%s\n' "$file"
		done <"$lint_tmp/all"
	else
		find . \( -path './build*' -o -path './_*' -o -path './autom4te.cache' \) -prune -o -type f \
			! -path './m4/l*' ! -path './configure' ! -path './config.h.in' \
			! -path './Makefile.in' ! -path './aclocal.m4' -print | sed 's|^\./||'
	fi
}

# lint_files GLOB...: the project's own files whose names match.
lint_files() {
	lint_all_files | sort | while IFS= read -r file; do
		for glob in "$@"; do
			# Each is a glob, and meant as one.
			# shellcheck disable=SC2254
			case ${file##*/} in
			$glob)
				printf '%s\n' "$file"
				break
				;;
			esac
		done
	done
}

# lint_need COMMAND: skips the lint where the machine does not have it.
lint_need() {
	command -v "$1" >/dev/null 2>&1 || {
		echo "$1 is not installed"
		exit $LINT_SKIP
	}
}

# lint_end FILE: fails with what stands in FILE, if anything does.
lint_end() {
	if [ -s "$1" ]; then
		cat "$1"
		exit 1
	fi
	exit 0
}

lint_tmp=$(mktemp -d) || exit 99
trap 'rm -rf "$lint_tmp"' EXIT
