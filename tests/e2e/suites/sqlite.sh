# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# SQLite's tests of files, locks, transactions, crashes and threads, with its test program built from the source
# package.

sqlite_make() {
	mkdir -p build && cd build && ../configure -q CFLAGS=-O1 && make -s testfixture
}

sqlite_list() {
	source_tree sqlite3 || return
	printf '%s\n' select1 insert update trans savepoint rollback lock lock4 lock5 shared wal2 wal5 walro pager2 \
		journal1 io misc1 thread001 thread002 multiplex superlock shell1 tempdb attach vacuum backup mmap1 \
		exclusive busy fts3aa rtree1 json101 window1 with1 unixexcl |
		while read -r test; do
			[ ! -e "$tree/test/$test.test" ] || echo "$test"
		done
}

sqlite_run() {
	local test=$1 status=0

	shift
	(cd "$tree/build" && within 600 "$@" ./testfixture "../test/$test.test") >log 2>&1 || status=$?
	# Threads that wait print dots before.
	sed -nE 's/^\.*([a-zA-Z0-9_-][a-zA-Z0-9_.-]*)\.\.\.( (Ok|Omitted))?.*/\1 \3/p; s/^! //p' log
	sed -n 's/ out of .*//p' log
	echo "status $status"
}
