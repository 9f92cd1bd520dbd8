# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# The tests of libuv, with their program built from the source package, the library in it; not as root.

# shellcheck disable=SC2034 # for suites.sh
libuv_apart=yes

libuv_make() {
	sh autogen.sh && ./configure -q --disable-shared && make -s test/run-tests && chmod -R a+rX .
}

libuv_list() {
	local user=()

	source_tree libuv1 || return
	[ "$(id -u)" -ne 0 ] || user=(setpriv --reuid=61000 --regid=61000 --clear-groups --)
	# The network's own ways.
	"${user[@]}" "$tree/test/run-tests" --list | sed 's/ .*//' | grep -vE 'platform_output|connecting|connect_timeout|getaddrinfo'
}

libuv_run() {
	local test=$1 status=0

	shift
	# shellcheck disable=SC2016 # the inner shell's
	alone 100 "$@" sh -c 'mkdir test && cp -r "$1/test/fixtures" test/ && "$1/test/run-tests" "$2"' sh "$tree" "$test" \
		>log 2>&1 || status=$?
	sed -nE 's/^(not ok|ok) [0-9]+ - ([a-z0-9_]+).*/\2 \1/p' log
	echo "status $status"
}
