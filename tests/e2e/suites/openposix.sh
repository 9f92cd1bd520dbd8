# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# The conformance tests of the Open POSIX test suite, of the Linux Test Project's sources.

# shellcheck disable=SC2034 # for suites.sh
openposix_apart=yes

openposix_fetch() {
	fetch_ltp
}

openposix_make() {
	cd testcases/open_posix_testsuite && { [ -e configure ] || autoconf; } && ./configure -q &&
		make -s conformance-all
}

openposix_list() {
	source_tree "the Linux Test Project" || return
	(cd "$tree/testcases/open_posix_testsuite/conformance" && find . -name '*.run-test' |
		sed 's,^\./,,; s/\.run-test$//' | sort)
}

openposix_run() {
	local test=$1 status=0

	shift
	alone 120 "$@" "$tree/testcases/open_posix_testsuite/conformance/$test.run-test" \
		>log 2>&1 || status=$?
	echo "status $status"
}
