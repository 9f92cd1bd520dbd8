#!/bin/bash
# SPDX-License-Identifier: MIT
# What an archive says of the host and of each process: command line, executable, directory, user; and where it is shown.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
need python3

target leaf leaf.c

# --- Of each process -------------------------------------------------------------------------------

# said ARCHIVE: a line for each process, NAME COMMAND EXECUTABLE DIRECTORY USER, with tabs between.
said() {
	"$FXTRACE" dump --json "$1" | python3 -c 'import json, sys
for r in map(json.loads, sys.stdin):
    if r["kind"] == "kernel-object" and r.get("type") == "process":
        args = {a["name"]: a["value"] for a in r.get("args", [])} if isinstance(r.get("args"), list) else r.get("args", {})
        print(r["name"], *(args.get(k, "-") for k in ("command", "executable", "directory", "user")), sep="\t")'
}

place=$(readlink -f "$PWD")
shell=$(readlink -f "$(command -v sh)")
expect_ok "$FXTRACE" run -o trace.fxt -- sh -c './leaf "two words" 3; (:); cd / && exec "$0" 0' "$place/leaf"
said trace.fxt >said
tab=$'\t'
expect_equal "sh -c ./leaf \"two words\" 3; (:); cd / && exec \"\$0\" 0 $place/leaf$tab$shell$tab$place$tab$(id -u)" \
	"$(head -n 1 said | cut -f2-)" "the first process"
grep -qxF "leaf$tab./leaf two words 3$tab$place/leaf$tab$place$tab$(id -u)" said || fail "no child: $(cat said)"
grep -qxF "leaf$tab$place/leaf 0$tab$place/leaf$tab/$tab$(id -u)" said || fail "no program that the first became: $(cat said)"
expect_clean trace.fxt

# A program is named with its arguments, also where nobody has recorded who started it.
expect_ok "$FXTRACE" run -c function -o direct.fxt -- ./leaf 0 six
expect_ok "$FXTRACE" report --processes direct.fxt
expect_line ' \./leaf 0 six$' out
expect_ok "$FXTRACE" report --summary direct.fxt
expect_line '^the first process, [0-9]*: \./leaf 0 six, in '"$place"', as user [0-9]*$' out
expect_ok "$FXTRACE" info direct.fxt
expect_line '; the first is: \./leaf 0 six$' out
expect_ok "$FXTRACE" query --csv direct.fxt 'SELECT cmdline, uid FROM process'
expect_line "^\"./leaf 0 six\",$(id -u)" out

# Whose child it is, and when it lived.
expect_ok "$FXTRACE" query --csv trace.fxt \
	"SELECT c.cmdline, p.cmdline LIKE '%leaf 0', c.end_ts > c.start_ts FROM process c JOIN process p ON p.upid = c.parent_upid
	WHERE c.cmdline LIKE './leaf%'"
expect_line '^"./leaf two words 3",1,1' out
expect_ok "$FXTRACE" query --csv trace.fxt 'SELECT count(*) FROM process WHERE parent_upid IS NULL AND end_ts IS NOT NULL'
expect_line '^1' out

# However many arguments there are, and of whatever bytes.
expect_ok "$FXTRACE" run -c function -o long.fxt -- ./leaf 0 "$(printf 'x%.0s' {1..10000})"
expect_equal 4096 "$(said long.fxt | cut -f2 | tr -d '\n' | wc -c)" "bytes of a long command line"
expect_clean long.fxt
expect_ok "$FXTRACE" run -c function -o bytes.fxt -- ./leaf 0 $'\xff\033[2J'
expect_equal './leaf 0 \xFF'$'\033[2J' "$(said bytes.fxt | cut -f2)" "a command line of any bytes"
expect_ok "$FXTRACE" info bytes.fxt
expect_no_line $'\033' out
expect_ok "$FXTRACE" report --summary bytes.fxt
expect_no_line $'\033' out

# --- Of the host -------------------------------------------------------------------------------------

expect_ok "$FXTRACE" info direct.fxt
expect_line "^date .* UTC on $(uname -n) \\($(uname -s) $(uname -r) $(uname -m)\\)$" out
expect_ok "$FXTRACE" info --json direct.fxt
python3 - out "$(uname -v)" <<'END' || fail "another host: $(cat out)"
import json, sys
by = json.load(open(sys.argv[1]))["recorded_by"]
assert by["build"] == sys.argv[2] and by["fxtrace"] and len(by["uuid"]) == 32 and int(by["uuid"], 16), by
END
uuid=$(python3 -c 'import json; print(json.load(open("out"))["recorded_by"]["uuid"])')
expect_ok "$FXTRACE" info --json trace.fxt
expect_no_line "$uuid" out

# --- As Perfetto's ------------------------------------------------------------------------------------

if command -v protoc >/dev/null; then
	expect_ok "$FXTRACE" convert -f perfetto direct.fxt direct.pftrace
	protoc --decode=fx.pf.Trace -I "$FX_SRCDIR/convert/perfetto" perfetto.proto <direct.pftrace >shown || fail "not decoded"
	expect_line "release: \"$(uname -r)\"" shown
	expect_line "machine_name: \"$(uname -n)\"" shown
	expect_line 'cmdline: "./leaf 0 six"' shown
	expect_line 'process_labels: "command: ./leaf 0 six"' shown
	expect_line "process_labels: \"directory: $place\"" shown
	msb=$(sed -n 's/.*msb: //p' shown)
	expect_equal "${uuid:0:16}" "$(printf '%016x' "$msb")" "the first half of the uuid"
else
	echo "no protoc: what Perfetto gets is not looked at"
fi

# --- In archives of archives ---------------------------------------------------------------------------

# expect_same ARCHIVE: it says the same.
expect_same() {
	said direct.fxt >wanted
	said "$1" | sort -u >found
	expect_same_file wanted found
	expect_ok "$FXTRACE" info "$1"
	expect_line "^date .* on $(uname -n) " out
	expect_clean "$1"
}
expect_ok "$FXTRACE" filter --name main -o filtered.fxt direct.fxt
expect_same filtered.fxt
expect_ok "$FXTRACE" merge -o merged.fxt direct.fxt
expect_same merged.fxt
expect_ok "$FXTRACE" convert -f fxt direct.fxt stock.fxt
expect_same stock.fxt
expect_ok "$FXTRACE" split --by=process direct.fxt
for part in direct.*.fxt; do
	expect_same "$part"
done

# Archives of several hosts: which one, processes say in their names; those of one do not.
expect_ok "$FXTRACE" merge -o merged.fxt direct.fxt trace.fxt
said merged.fxt | cut -f1 >names
expect_no_line '@' names
if unshare -u true 2>/dev/null; then
	# shellcheck disable=SC2016 # another shell's
	expect_ok unshare -u sh -c 'hostname elsewhere && exec "$@"' sh "$FXTRACE" run -c function -o other.fxt -- ./leaf 0
	expect_ok "$FXTRACE" merge -o merged.fxt direct.fxt other.fxt
	said merged.fxt | cut -f1,2 | sort -u >names
	expect_equal "leaf@$(uname -n)$tab./leaf 0 six leaf@elsewhere$tab./leaf 0" \
		"$(grep -v elsewhere names) $(grep elsewhere names)" "names of processes"
	expect_clean merged.fxt
else
	echo "the host cannot have another name here: not tried"
fi
