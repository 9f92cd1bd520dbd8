# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# For tests of ClickHouse, behind lib.sh: servers of the test's own, `one' and `two', which know each other as the shards of cluster `both', and `small'.
# shellcheck disable=SC2154 # of lib.sh

need clickhouse-server curl python3
is_emulated && skip 'the server is of another machine'
"$FXTRACE" load --clickhouse http://127.0.0.1:9 2>&1 | grep -q 'built without' && skip 'built without libcurl'

free_port() {
	python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# settings NAME: the folder of a server, which knows the other of the two as well.
settings() {
	mkdir -p "$1/data" "$1/tmp"
	cat >"$1/config.xml" <<-END
		<yandex>
		<logger><level>warning</level><log>$TEST_DIR/$1/log</log><errorlog>$TEST_DIR/$1/errors</errorlog></logger>
		<listen_host>127.0.0.1</listen_host>
		<http_port>$(port "$1" http)</http_port><tcp_port>$(port "$1" tcp)</tcp_port>
		<interserver_http_port>$(port "$1" inter)</interserver_http_port>
		<path>$TEST_DIR/$1/data/</path><tmp_path>$TEST_DIR/$1/tmp/</tmp_path>
		<mark_cache_size>16777216</mark_cache_size><users_config>users.xml</users_config>
		<default_profile>default</default_profile><default_database>default</default_database>
		<remote_servers><both>
		<shard><replica><host>127.0.0.1</host><port>$(port one tcp)</port></replica></shard>
		<shard><replica><host>127.0.0.1</host><port>$(port two tcp)</port></replica></shard>
		</both></remote_servers>
		</yandex>
	END
	cat >"$1/users.xml" <<-END
		<yandex><profiles><default><max_memory_usage>1000000000</max_memory_usage></default></profiles>
		<quotas><default></default></quotas><users>
		<default><password></password><networks><ip>127.0.0.1</ip></networks><profile>default</profile>
		<quota>default</quota></default>
		<guarded><password>secret</password><networks><ip>127.0.0.1</ip></networks><profile>default</profile>
		<quota>default</quota></guarded>
		</users></yandex>
	END
}

declare -A ports
for name in one two small; do
	for kind in http tcp inter; do
		ports[$name-$kind]=$(free_port)
	done
done
port() {
	echo "${ports[$1-$2]}"
}

# ask SERVER STATEMENT
ask() {
	curl -sS "http://127.0.0.1:$(port "$1" http)/" --data-binary "$2"
}
answers() {
	[ "$(ask "$1" 'SELECT 1')" = 1 ]
}

declare -A servers
start() {
	clickhouse-server --config-file="$TEST_DIR/$1/config.xml" >"$1/out" 2>&1 </dev/null &
	servers[$1]=$!
	wait_for 60 answers "$1" || fail "the server does not start: $(tail -n 5 "$1/out" "$1/errors")"
}
kill_server() {
	kill -9 "${servers[$1]}"
	wait "${servers[$1]}" 2>/dev/null
}

# What is asked by a URL.
settings one
settings two
start one
url=http://127.0.0.1:$(port one http)
load() {
	"$FXTRACE" load --clickhouse "$@"
}

# same DATABASE ARCHIVE [OPTION...]: the report of the tables is that of the file, but for what a server does not tell of system calls.
same() {
	local base=$1 archive=$2

	shift 2
	"$FXTRACE" report --functions --syscalls --json --top 0 "$archive" >file.json || fail "no report of $archive"
	"$FXTRACE" report --clickhouse "$url/$base" --json --top 0 "$@" >server.json || fail "no report of $base"
	alike some || fail "the reports of $archive and $base are not the same"
}

# alike [some]: the tables of file.json and server.json have the same rows, and some at all.
alike() {
	python3 - "$@" <<-'END'
		import json, sys
		file, server = (json.load(open(name)) for name in ("file.json", "server.json"))
		for name in ("slowest", "slowest_busy"):
		    if name not in server:
		        file.pop(name, None)
		def rows(table):
		    rows = table["rows"] if isinstance(table, dict) else table
		    return sorted(json.dumps(row, sort_keys=True) for row in rows)
		assert file.keys() == server.keys(), (file.keys(), server.keys())
		assert sys.argv[1:] != ["some"] or any(rows(table) for table in file.values())
		for name in file:
		    left, right = rows(file[name]), rows(server[name])
		    assert left == right, (name, [row for row in left if row not in right][:3],
		                           [row for row in right if row not in left][:3])
	END
}

