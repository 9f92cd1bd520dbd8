#!/bin/bash
# SPDX-License-Identifier: MIT
# `fxtrace symbolize': a stripped program's functions get their names from a tree, a folder of debug files or a server,
# by build-id; a file of another build-id gives none; nothing is asked without --debuginfod. Bad input.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
need objcopy strip readelf

cat >work.c <<'END'
static int innermost(int x) { return x + 1; }
static int between(int x) { return innermost(x) * 2; }
int main(void) { return between(0) == 2 ? 0 : 1; }
END
compile work -O0 -g -finstrument-functions -Wl,--build-id work.c
mkdir -p "tree$PWD" "wrong$PWD"
cp work "tree$PWD/work"
sed 's/innermost/other_one/g' work.c >other.c
compile other -O0 -g -finstrument-functions -Wl,--build-id other.c
cp other "wrong$PWD/work"
id=$(readelf -n work | sed -n 's/.*Build ID: //p')
mkdir -p "debug/.build-id/${id:0:2}"
objcopy --only-keep-debug work "debug/.build-id/${id:0:2}/${id:2}.debug" || fail "no debug file"
strip work

"$FXTRACE" run -q -o plain.fxt -- ./work
"$FXTRACE" dump --json plain.fxt >plain.json
expect_line '"name":"work\+0x' plain.json
expect_no_line 'innermost' plain.json

# named OPTION...: symbolizes, and the archive is as before but for three names.
named() {
	expect_ok "$FXTRACE" symbolize -o named.fxt "$@" plain.fxt
	expect_line ': [3-9][0-9]* functions got names, 0 did not$' err
	expect_clean named.fxt
	"$FXTRACE" dump --json named.fxt >named.json
	python3 - <<'END' || fail "symbolize $*: other names or events"
import json
def load(name):
    return [r for r in map(json.loads, open(name)) if r["kind"] == "event"]
plain, named = load("plain.json"), load("named.json")
assert len(plain) == len(named)
names = set()
for a, b in zip(plain, named):
    if a["name"].startswith("work+0x"):
        names.add(b["name"])
        b["name"] = a["name"]
    assert {**a, "offset": 0} == {**b, "offset": 0}, (a, b)
assert names == {"main", "between", "innermost"}, names
END
}
named --sysroot tree
named --sysroot wrong --sysroot tree
named --debug-folder debug
mkdir -p with/usr/lib
cp -r debug with/usr/lib/debug
named --sysroot with

# not_named OPTION...
not_named() {
	expect_ok "$FXTRACE" symbolize -o named.fxt "$@" plain.fxt
	expect_line ': 0 functions got names, [3-9][0-9]* did not$' err
	expect_clean named.fxt
}
not_named
not_named --sysroot wrong
not_named --sysroot no-such-tree --debug-folder no-such-folder

# A server is asked only on request.
mkdir bin
cat >bin/debuginfod-find <<END
#!/bin/sh
echo "\$@" >>$PWD/asked
[ "\$1 \$2" = "debuginfo $id" ] && echo $PWD/tree$PWD/work
END
chmod +x bin/debuginfod-find
PATH=$PWD/bin:$PATH
not_named
[ ! -e asked ] || fail "a server was asked without being told to"
named --debuginfod
expect_equal "debuginfo $id" "$(sort -u asked)" "what was asked"

# --- Stacks ---------------------------------------------------------------------------------------

cat >stack.c <<'END'
#include <unistd.h>
__attribute__((noinline)) static long innermost(void) { return write(1, "x\n", 2); }
__attribute__((noinline)) static long between(void) { return innermost() + 1; }
int main(void) { return between() != 3; }
END
compile stack -O0 -g -Wl,--build-id stack.c
cp stack "tree$PWD/stack"
strip stack
expect_ok "$FXTRACE" run -q --stacks=syscall -o stacks.fxt -- ./stack
"$FXTRACE" dump --json stacks.fxt >plain.json
expect_line '"value":"stack\+0x[0-9a-f]*\\u000astack\+0x[0-9a-f]*\\u000astack\+0x' plain.json
expect_ok "$FXTRACE" symbolize -o named.fxt --sysroot tree stacks.fxt
expect_clean named.fxt
"$FXTRACE" dump --json named.fxt >named.json
expect_line '"value":"innermost\\u000abetween\\u000amain\\u000a' named.json

# --- Bad input -------------------------------------------------------------------------------------

expect_one_error 2 "$FXTRACE" symbolize plain.fxt
expect_one_error 1 "$FXTRACE" symbolize -o out.fxt
expect_line ' fxtrace.fxt: No such file or directory$' err
expect_one_error 2 "$FXTRACE" symbolize -o plain.fxt plain.fxt
expect_one_error 1 "$FXTRACE" symbolize -o out.fxt no-such-file.fxt
: >empty.fxt
echo "not an archive" >text.fxt
for bad in empty text; do
	expect_one_error 1 "$FXTRACE" symbolize -o out.fxt "$bad.fxt"
done
[ ! -e out.fxt ] || fail "an output without an input"
head -c $(($(stat -c %s plain.fxt) / 2 + 3)) plain.fxt >cut.fxt
expect_one_error 1 "$FXTRACE" symbolize -o rest.fxt cut.fxt
expect_clean rest.fxt
