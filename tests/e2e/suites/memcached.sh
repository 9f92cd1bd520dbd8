# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Memcached's tests, with one built from the source package; root's are run as somebody else by themselves.

memcached_make() {
	./configure -q && make -s
}

memcached_list() {
	source_tree memcached || return
	# Those that measure memory, take minutes, or count what a race leaves; TLS, SASL and the proxy are not built.
	(cd "$tree" && ls t/*.t) | grep -vE 'ssl|sasl|proxy|extstore|slabs|lru|rebal|stress|evictions|whitespace|unixsocket|timeout|chunked|maxconns'
}

memcached_run() {
	local test=$1 status=0

	shift
	(cd "$tree" && within 300 "$@" perl "$test") >log 2>&1 || status=$?
	tap
	echo "status $status"
}
