#!/bin/bash
# SPDX-License-Identifier: MIT
# A process does not ask for its first thread's name, which is that of the file that was executed, or its parent's: it is the kernel's.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
need python3
target named first_named.c
cp named "named with a name that is cut off"
printf '#!%s/named say\n' "$PWD" >script && chmod +x script
./script >plain || skip "the path of this folder is too long for a script's first line"

# names_of ARCHIVE: number and name of each first thread.
names_of() {
	"$FXTRACE" dump --json "$1" | python3 -c 'import json, sys
names = {}
for r in map(json.loads, sys.stdin):
    if r["kind"] == "kernel-object" and r["type"] == "thread":
        if any(a["name"] == "process" and a["value"] == r["koid"] for a in r.get("args", [])):
            names[r["koid"]] = r["name"]
for pid in names: print(pid, names[pid])' | sort
}

# are_named COUNT CATEGORIES COMMAND...: so many processes say what they are called, and so does the archive.
are_named() {
	local count=$1 categories=$2

	shift 2
	"$FXTRACE" run -q -c "$categories" -o names.fxt -- "$@" | sort >wanted
	expect_equal "$count" "$(wc -l <wanted)" "processes of $*"
	names_of names.fxt >names
	expect_same_file wanted names
	expect_clean names.fxt
}

for categories in '#default' process; do
	are_named 1 "$categories" ./named
	are_named 1 "$categories" "./named with a name that is cut off"
	are_named 1 "$categories" ./script
	are_named 1 "$categories" ./named rename
	are_named 4 "$categories" ./named fork
	are_named 1 "$categories" ./named execute
done
grep -q 'named with a na$' <(./"named with a name that is cut off") || fail "names are not cut off"
