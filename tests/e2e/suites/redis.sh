# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Redis's tests, by the installed server.

redis_make() {
	local program

	for program in server cli benchmark check-aof check-rdb; do
		ln -sf "$(command -v redis-$program)" src/redis-$program || return
	done
}

redis_list() {
	command -v tclsh redis-server >/dev/null || { echo "redis: no tclsh or no redis-server" >&2; return; }
	source_tree redis || return
	printf '%s\n' unit/type/{string,incr,list,hash,set,stream} unit/{auth,quit,protocol,keyspace,scan,multi,pubsub} \
		unit/{expire,dump,aofrw,acl,introspection,networking,shutdown} \
		integration/{aof,rdb,redis-cli,redis-benchmark,shutdown,convert-ziplist-hash-on-load}
}

redis_run() {
	local test=$1 status=0

	shift
	(cd "$tree" && within 900 "$@" ./runtest --clients 1 --single "$test" --tags '-slow -needs:debug') >log 2>&1 ||
		status=$?
	sed -nE 's/\x1b\[[0-9;]*m//g; s/^\[(ok|err|ignore|skip|exception)\]: (.*)/\2 \1/p' log | sed 's/ ([0-9]* ms)//'
	echo "status $status"
}
