# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# PostgreSQL's regression tests, by the installed servers and clients: initdb, a server of its own, psql.

postgresql_make() {
	local include

	include=$(pg_config --includedir-server) && cd src/test/regress &&
		cc -w -O1 -shared -fPIC -I"$include" -I. -o regress.so regress.c &&
		chmod -R a+rX .
}

postgresql_list() {
	pg_config --pgxs >/dev/null 2>&1 || { echo "postgresql: no postgresql-server-dev" >&2; return; }
	source_tree postgresql-15 || return
	echo minimal
	echo parallel
}

postgresql_run() {
	local schedule=$1 status=0 user=() inputs=$tree/src/test/regress room

	shift
	[ "$(id -u)" -ne 0 ] || user=(setpriv --reuid=postgres --regid=postgres --init-groups)
	grep -E '^test: (test_setup|boolean char name varchar|int2|select$|create_index$)' "$inputs/parallel_schedule" \
		>minimal_schedule
	cp "$inputs/parallel_schedule" .
	chmod a+rx . && chmod a+r ./*_schedule
	room=$(mktemp -d /tmp/fxtrace-pg.XXXXXX)
	[ "$(id -u)" -ne 0 ] || chown postgres "$room"
	TMPDIR=$room within 1800 "$@" "${user[@]}" "$(dirname "$(pg_config --pgxs)")/../test/regress/pg_regress" \
		--bindir="$(pg_config --bindir)" --dlpath="$inputs" --inputdir="$inputs" --outputdir="$room" \
		--temp-instance="$room/instance" --port=5999 --no-locale --encoding=UTF8 \
		--schedule="${schedule}_schedule" >log 2>&1 || status=$?
	sed -nE 's/^(test)? +([a-z0-9_]+) +\.\.\. +(ok|FAILED).*/\2 \3/p' log
	[ -z "${FX_KEEP-}" ] || cp "$room/regression.diffs" . 2>/dev/null
	rm -rf "$room"
	echo "status $status"
}
