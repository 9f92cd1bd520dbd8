# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Git's shorter tests, with a git built from the source package.

# shellcheck disable=SC2034 # for suites.sh
git_apart=yes

git_make() {
	make -s NO_CURL=1 NO_TCLTK=1 NO_GETTEXT=1 NO_PERL= CFLAGS=-O1 all
}

git_list() {
	source_tree git || return
	# Short ones of every area; no servers, other systems' repositories or keys.
	(cd "$tree/t" && for test in t[0-7]*.sh; do
		parts=$(grep -c '^test_expect_success' "$test")
		[ "$parts" -lt 3 ] || [ "$parts" -gt 8 ] || grep -qE 'perl|PERL|httpd|git-daemon|GPG|sleep|submodule' "$test" ||
			echo "$test"
	done)
}

git_run() {
	local test=$1 status=0

	shift
	(cd "$tree/t" && within 600 "$@" sh "$test" --root="$PWD/trash.$$") >log 2>&1 || status=$?
	rm -rf "$tree/t/trash.$$"
	tap
	echo "status $status"
}
