# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# glib's installed tests.

# shellcheck disable=SC2034 # for suites.sh
glib_apart=yes
installed=/usr/share/installed-tests/glib

glib_list() {
	local test

	[ -d $installed ] || { echo "glib: libglib2.0-tests is not installed" >&2; return; }
	for test in cond thread spawn-singlethread; do
		[ -z "$all" ] && [ -e $installed/$test.test ] && echo $test
	done
	[ -n "$all" ] || return
	# What needs a session's bus, measures, or is a test of the compiler.
	for test in "$installed"/*.test; do
		test=${test##*/}
		case ${test%.test} in
		*.py | *gdbus* | *dbus* | *performance* | *slice* | *testfilemonitor* | actions | *portal*) ;;
		*) echo "${test%.test}" ;;
		esac
	done
}

glib_run() {
	local program status=0

	program=$(sed -n 's/^Exec=//p' "$installed/$1.test")
	shift
	# shellcheck disable=SC2086 # a program and its arguments
	within 300 "$@" $program --tap >log 2>&1 || status=$?
	sed -n 's/^\(not ok\|ok\) [0-9]* \([^ ]*\).*/\2 \1/p' log | sed 's/seed:[^ ]*//'
	echo "status $status"
}
