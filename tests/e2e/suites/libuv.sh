# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# The tests of a libuv that somebody has built: FX_LIBUV_TESTS names its test/run-tests. Not as root.

libuv_list() {
	[ -n "${FX_LIBUV_TESTS-}" ] && [ "$(id -u)" -ne 0 ] || return
	# The network's own ways.
	"$FX_LIBUV_TESTS" --list | grep -vE 'platform_output|connecting|connect_timeout|getaddrinfo'
}

libuv_run() {
	local test=$1 status=0

	shift
	(cd "${FX_LIBUV_TESTS%/test/*}" && timeout 100 "$@" "$FX_LIBUV_TESTS" "$test") >log 2>&1 || status=$?
	echo "status $status"
}
