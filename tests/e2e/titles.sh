#!/bin/bash
# SPDX-License-Identifier: MIT
# What a process writes over its arguments, as servers do, is its title: in the archive, and in the names that viewers have
# of processes, beside their numbers; without one, the command line is.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
. "$FX_SRCDIR/tests/e2e/control.sh"
need python3

target titled titled.c
target leaf leaf.c

# told ARCHIVE KEY: what the newest record of each process tells of it, a line each: NAME VALUE.
told() {
	"$FXTRACE" dump --json "$1" | python3 -c 'import json, sys
facts = {}
for r in map(json.loads, sys.stdin):
    if r["kind"] == "kernel-object" and r["type"] == "process":
        facts[r["koid"]] = {a["name"]: a["value"] for a in r.get("args", [])}
for pid in facts: print(pid, facts[pid].get(sys.argv[1], "-"))' "$2"
}

manager_start
expect_ok "$FXTRACE" start -o trace.fxt
provider_start ./titled "served: the first of all of them" ready "served: worker 1"
wait_for 60 providers_are 2 || fail "the worker does not register"
touch ready.go
wait_for 60 test -e ready -a -e ready.worker || fail "no titles"
expect_ok "$FXTRACE" stop
expect_ok "$FXTRACE" terminate
worker=$(pgrep -P "$PROVIDER")
kill "$PROVIDER" "$worker"
manager_stop
expect_clean trace.fxt

told trace.fxt title | sort >titles
printf '%s\n' "$PROVIDER served: the first of all of them" "$worker served: worker 1" | sort >wanted
expect_same_file wanted titles
told trace.fxt command >commands
expect_equal 2 "$(grep -c ' \./titled served: the first of all of them ready served: worker 1$' commands)" "command lines"

# One that does nothing more is looked at, too, and less and less often.
for wait in 1 4 16 64; do
	rm -f quiet quiet.*
	"$FXTRACE" run -q -o quiet.fxt -- ./titled "served: in quiet" quiet "served: quiet worker" quiet &
	run=$!
	touch quiet.go
	wait_for 60 test -e quiet -a -e quiet.worker || fail "no titles"
	sleep $wait
	program=$(pgrep -P "$run" -x titled)
	kill "$(pgrep -P "$program")" "$program"
	wait "$run"
	told quiet.fxt title >titles
	! grep -q ' served: in quiet$' titles || break
done
expect_line ' served: in quiet$' titles

# One that is set as the last thing before the end is told by the process itself, whatever is recorded.
target late_title late_title.c
for way in return exit _exit quick_exit fork; do
	for categories in '#default' function; do
		expect_ok "$FXTRACE" run -q -c "$categories" -o late.fxt -- ./late_title $way 'served: at the last'
		expect_clean late.fxt
		expect_ok "$FXTRACE" convert late.fxt late.json
		expect_line '"process_name",.*"name":"served: at the last"' late.json
	done
done

# Where they stood nothing may be left.
expect_ok ./late_title unmap 'served: nowhere'
for categories in '#default' function; do
	expect_ok "$FXTRACE" run -q -c "$categories" -o unmapped.fxt -- ./late_title unmap 'served: nowhere'
	expect_clean unmapped.fxt
done

# A child that has ended before anybody could ask is what its parent is.
for ((i = 0; i < 10; i++)); do
	expect_ok "$FXTRACE" run -q -o late.fxt -- ./late_title fork 'served: at the last'
	told late.fxt command >commands
	expect_equal 2 "$(grep -c '[0-9] [^-]' commands)" "command lines: $(cat commands)"
	told late.fxt directory >folders
	expect_equal 2 "$(grep -c "$(readlink -f "$PWD")\$" folders)" "folders: $(cat folders)"
done

# What has none keeps its command line, also where it is another program's title that went before.
expect_ok "$FXTRACE" run -q -o plain.fxt -- ./leaf 0 six
told plain.fxt title >titles
expect_line ' -$' titles

# --- What viewers show -----------------------------------------------------------------------------

expect_ok "$FXTRACE" report --processes trace.fxt
expect_line "[0-9]  *$worker  *served: worker 1\$" out
expect_line "[0-9]  *$PROVIDER  *served: the first of all of them\$" out
expect_ok "$FXTRACE" convert trace.fxt trace.json
expect_line '"process_name","pid":'"$PROVIDER"',.*"name":"served: the first of all of them"' trace.json
expect_line '"process_name","pid":'"$worker"',.*"name":"served: worker 1"' trace.json
expect_ok "$FXTRACE" convert trace.fxt trace.html
expect_line "\"served: worker 1 $worker\"" trace.html
expect_ok "$FXTRACE" convert -f svg --timeline trace.fxt trace.svg
expect_line "<text class=\"b\" [^>]*>served: worker 1 $worker</text>" trace.svg
expect_line "<text class=\"b\" [^>]*>served: the first of all of them $PROVIDER</text>" trace.svg
expect_ok "$FXTRACE" convert plain.fxt plain.json
expect_line '"process_name",.*"name":"leaf 0 six"' plain.json
expect_ok "$FXTRACE" convert trace.fxt trace.pftrace
if command -v protoc >/dev/null; then
	protoc --decode=fx.pf.Trace -I "$FX_SRCDIR/convert/perfetto" perfetto.proto <trace.pftrace >shown || fail "not decoded"
	expect_line 'process_name: "served: worker 1"' shown
	expect_line 'comm: "served: worker 1"' shown
	expect_line 'process_labels: "title: served: worker 1"' shown
	expect_line "uid: $(id -u)" shown
	expect_equal 2 "$(grep -c 'start_timestamp_ns: [1-9]' shown)" "processes that began"
fi

# A name is one line.
expect_ok "$FXTRACE" run -q -c function -o lines.fxt -- ./leaf 0 $'one\ntwo'
expect_ok "$FXTRACE" convert lines.fxt lines.json
expect_line '"process_name",.*"name":"leaf 0 one two"' lines.json

# A long command line is cut, between two characters.
expect_ok "$FXTRACE" run -q -c function -o long.fxt -- ./leaf 0 "$(printf '\303\244%.0s' {1..100})"
expect_ok "$FXTRACE" convert long.fxt long.json
python3 - long.json <<'END' || fail "not cut"
import json, sys
name = next(e["args"]["name"] for e in json.load(open(sys.argv[1]))["traceEvents"] if e["name"] == "process_name")
assert name.startswith("leaf 0 ää") and name.endswith("ä...") and 120 < len(name.encode()) < 128, name
END
expect_ok "$FXTRACE" convert -f svg --timeline long.fxt long.svg
expect_line '<text class="b" [^>]*>leaf 0 ää*\.\.\. [0-9]+</text>' long.svg

# When a process began is a time, which a merged archive may have moved.
expect_ok "$FXTRACE" merge --offset plain.fxt=5s -o merged.fxt trace.fxt plain.fxt
was=$(told plain.fxt started)
became=$(told merged.fxt started | grep "^${was% *} ")
expect_equal 5000000000 "$((${became#* } - ${was#* }))" "ns by which the beginning was moved"
