#!/bin/bash
# SPDX-License-Identifier: MIT
# `fxtrace view': what it serves is what `convert' writes, to those alone who may have it, until somebody has it all; and
# browsers take it.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

need python3
unset SSH_CONNECTION

cat >busy.c <<'END'
static volatile int sum;
static void inner(int x) { sum += x; }
int main(void)
{
	for (int i = 0; i < 150000; i++)
		inner(i);
	return 0;
}
END
compile busy -O0 -g -finstrument-functions busy.c
expect_ok "$FXTRACE" run -q -o 'a name & more.fxt.zst' --on-full block -- ./busy
mv 'a name & more.fxt.zst' trace.fxt.zst
expect_ok "$FXTRACE" convert -f perfetto trace.fxt.zst trace.pftrace
expect_ok "$FXTRACE" convert -f html trace.fxt.zst trace.html
ln trace.fxt.zst 'a name & <b>.fxt.zst'

# Whatever ends it, nothing is left where files for a time are.
mkdir temporary
TMPDIR=$TEST_DIR/temporary python3 "$FX_SRCDIR/tests/e2e/view.py" "$FXTRACE" 'a name & <b>.fxt.zst' trace.pftrace \
	trace.html || fail "not served as it should be"
expect_equal '' "$(ls -A temporary)" "what is left in TMPDIR"

# --- One clear line ---

python3 -c '
import socket, time
s = socket.socket()
s.bind(("127.0.0.1", 0))
s.listen()
print(s.getsockname()[1], flush=True)
time.sleep(1000)' >port &
holder=$!
wait_for 30 test -s port || fail "no port"
expect_one_error 1 "$FXTRACE" view --port "$(cat port)" trace.fxt.zst
expect_line "^fxtrace view: 127\.0\.0\.1:$(cat port): Address already in use" err
kill "$holder"
expect_one_error 2 "$FXTRACE" view --port 0 trace.fxt.zst
expect_one_error 2 "$FXTRACE" view --port 65536 trace.fxt.zst
expect_one_error 2 "$FXTRACE" view --port http trace.fxt.zst
expect_one_error 2 "$FXTRACE" view trace.fxt.zst more
expect_one_error 1 "$FXTRACE" view --html missing.fxt
expect_one_error 1 "$FXTRACE" view --html trace.html

# Of a part, what is whole is shown, and what is missing said.
zstd -dcq trace.fxt.zst 2>/dev/null | head -c 500003 >cut.fxt
if [ -s cut.fxt ]; then
	"$FXTRACE" view --html --no-browser cut.fxt >part.link 2>err &
	server=$!
	wait_for 60 test -s part.link || fail "no link to a part"
	python3 -c 'import sys, urllib.request; urllib.request.urlopen(sys.argv[1]).read()' "$(cat part.link)" ||
		fail "a part is not to be had"
	wait "$server"
	expect_equal 1 $? "status where a part is missing"
	expect_line '^fxtrace view: cut\.fxt: offset 0x' err
	expect_equal 1 "$(wc -l <err)" "lines about what is missing"
fi

# --- Browsers ---

command -v chromium >/dev/null || exit 0
browse() {
	chromium --headless --no-sandbox --disable-gpu --user-data-dir="$TEST_DIR/chromium" "$@" 2>/dev/null
}

"$FXTRACE" view --html --no-browser trace.fxt.zst >page.link &
server=$!
wait_for 60 test -s page.link || fail "no link to a page"
browse --dump-dom "$(cat page.link)" >dom.html
expect_line '<td>inner</td>' dom.html
wait "$server" || fail "the page was fetched, and it has failed"
