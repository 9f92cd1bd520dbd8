#!/bin/bash
# SPDX-License-Identifier: MIT
# What is written as JSON is JSON to Node as well as to Python, and says the same to both: conversions for Chrome's viewer
# and for speedscope, reports, answers to SQL, records; of samples with whatever names, and of a program.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

need node python3
sample=$FX_BUILDDIR/tests/convert/write_sample

cat >again.js <<'END'
// again.js FILE...: each FILE.node is the FILE, read as UTF-8 that is sound and written again; .jsonl is one value a line.
const fs = require("fs");
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
for (const file of process.argv.slice(2)) {
	const text = utf8.decode(fs.readFileSync(file));
	const again = (part) => JSON.stringify(JSON.parse(part));
	fs.writeFileSync(file + ".node", file.endsWith(".jsonl") ?
		text.split("\n").filter((line) => line).map(again).join("\n") : again(text));
}
END
cat >same.py <<'END'
import json, sys
def load(name, lines):
    text = open(name, encoding="utf-8").read()
    return [json.loads(line) for line in text.split("\n") if line] if lines else json.loads(text)
def differs(a, b, where):
    """Where two values differ, None if nowhere; Node has no numbers but doubles."""
    if isinstance(a, (int, float)) and not isinstance(a, bool):
        same = isinstance(b, (int, float)) and not isinstance(b, bool) and float(a) == float(b)
        return None if same else where
    if type(a) is not type(b):
        return where
    if isinstance(a, dict):
        if list(a) != list(b) and sorted(a) != sorted(b):
            return where
        return next((found for k in a if (found := differs(a[k], b[k], f"{where}.{k}"))), None)
    if isinstance(a, list):
        if len(a) != len(b):
            return where
        return next((found for i, v in enumerate(a) if (found := differs(v, b[i], f"{where}[{i}]"))), None)
    return None if a == b else where
for name in sys.argv[1:]:
    lines = name.endswith(".jsonl")
    found = differs(load(name, lines), load(name + ".node", lines), name)
    assert not found, found
END

# expect_json ARCHIVE: in each of the ways.
expect_json() {
	local status=0

	rm -f ./*.json ./*.jsonl ./*.node
	"$FXTRACE" convert -f json "$1" events.json 2>err || status=$?
	"$FXTRACE" convert -f speedscope "$1" scope.json 2>>err || status=$?
	"$FXTRACE" report --json --top 0 --function '*' --tree --summary --waits --syscalls --files --memory "$1" \
		>report.json 2>>err || status=$?
	"$FXTRACE" query --json "$1" 'select * from slice' >slices.json 2>>err || status=$?
	"$FXTRACE" query --json "$1" 'select * from args' >args.json 2>>err || status=$?
	"$FXTRACE" dump --json "$1" >records.jsonl 2>>err || status=$?
	# Of a sample that is damaged on purpose, what is whole is written.
	[ "$status" -le 1 ] || fail "$1: status $status: $(cat err)"
	for file in events.json scope.json report.json slices.json args.json records.jsonl; do
		[ -s $file ] || fail "$1: nothing in $file: $(cat err)"
	done
	node again.js ./*.json ./*.jsonl || fail "$1 is no JSON to node"
	python3 same.py ./*.json ./*.jsonl || fail "$1 is another to node"
}

for name in $("$sample"); do
	"$sample" "$name" >"$name.fxt" || fail "no sample $name"
	expect_json "$name.fxt"
done
hostile=$'no\nsuch\e[31m<b>"\xff\\\x7f,file'
# shellcheck disable=SC2016 # the inner shell's
expect_ok "$FXTRACE" run -q -o trace.fxt -c '#default,malloc,stdio' -- sh -c 'cat "$1" | cat; ls /proc/self/fd' sh "$hostile"
expect_json trace.fxt
grep -q 'no\\nsuch\\u001b' events.json || fail "the name of the file is not in it"
