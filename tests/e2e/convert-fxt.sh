#!/bin/bash
# SPDX-License-Identifier: MIT
# `fxtrace convert -f fxt': a reader that knows the format's first text alone, and takes nothing else, reads what comes
# out, and finds the events that are in the archive; it does not read the archive itself. Bad input.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

strict() {
	python3 "$FX_SRCDIR/tests/e2e/seed_reader.py" "$@"
}

# same_stock ARCHIVE: its events are all in stock.fxt.
same_stock() {
	expect_ok "$FXTRACE" convert -f fxt "$1" stock.fxt
	expect_clean stock.fxt
	strict stock.fxt >stock.events || fail "$1: a strict reader refuses it"
	"$FXTRACE" dump --json "$1" >all.json
	python3 - <<'END' || fail "$1: other events"
import collections, json
kinds = {"null": 0, "int32": 1, "uint32": 2, "int64": 3, "uint64": 4, "double": 5, "string": 6, "pointer": 7,
         "koid": 8, "bool": 2, "blob": 6}
def key(kind, pid, tid, ts, category, name, args):
    return json.dumps([kind, pid, tid, ts, category, name, args])
want, got = collections.Counter(), collections.Counter()
for r in map(json.loads, open("all.json")):
    if r["kind"] == "large-event":
        r["type"] = "instant"
    elif r["kind"] != "event":
        continue
    args = [[a["name"], kinds[a["type"]]] for a in r.get("args", [])]
    want[key(r["type"].replace("-duration", ""), r["pid"], r["tid"], r["ts"], r["category"], r["name"], args)] += 1
for line in open("stock.events"):
    kind, pid, tid, ts, more, category, name, args = json.loads(line)
    got[key(kind.replace("duration-", ""), pid, tid, ts, category, name, [a[:2] for a in args])] += 1
assert want == got and want, (list((want - got))[:2], list((got - want))[:2])
END
}

cat >work.sh <<'END'
cat /dev/null no-such-file &
sleep 0.02
wait
END
"$FXTRACE" run -q -o work.fxt -- sh work.sh 2>/dev/null
! strict work.fxt >/dev/null 2>refused || fail "the archive itself is a stock one"
expect_line 'record type' refused
same_stock work.fxt
"$FXTRACE" run -q --records pairs --stacks syscall -o pairs.fxt -- sh work.sh 2>/dev/null
same_stock pairs.fxt

# Everything that there is in the format.
sample=$FX_BUILDDIR/tests/convert/write_sample
count=0
for name in $("$sample" 2>/dev/null); do
	"$sample" "$name" >sample.fxt || fail "no sample $name"
	"$FXTRACE" check -q sample.fxt >/dev/null 2>&1 || continue
	expect_ok "$FXTRACE" convert -f fxt sample.fxt stock.fxt
	strict stock.fxt >stock.events || fail "$name: a strict reader refuses it"
	count=$((count + 1))
done
[ "$count" -eq 0 ] || echo "$count samples"

# By name, compressed, through pipes.
expect_ok "$FXTRACE" convert -f fxt work.fxt
[ -s work.stock.fxt ] || fail "no work.stock.fxt"
expect_ok "$FXTRACE" convert work.fxt other.stock.fxt.gz
gzip -dc other.stock.fxt.gz | cmp - work.stock.fxt || fail "compressed, it is another"
"$FXTRACE" convert -f fxt - - <work.fxt | cmp - work.stock.fxt || fail "through pipes, it is another"

# --- Bad input -------------------------------------------------------------------------------------

expect_one_error 1 "$FXTRACE" convert -f fxt no-such-file.fxt out.fxt
: >empty.fxt
echo "not an archive" >text.fxt
for bad in empty text; do
	expect_one_error 1 "$FXTRACE" convert -f fxt "$bad.fxt" out.fxt
done
[ ! -e out.fxt ] || fail "an output without an input"
expect_one_error 2 "$FXTRACE" convert -f fxt work.fxt work.fxt
expect_one_error 2 "$FXTRACE" convert -f fxt --weight calls work.fxt out.fxt
head -c $(($(stat -c %s work.fxt) / 2 + 3)) work.fxt >cut.fxt
expect_one_error 1 "$FXTRACE" convert -f fxt cut.fxt rest.fxt
expect_clean rest.fxt
strict rest.fxt >/dev/null || fail "what is left of a cut archive is no stock one"
