#!/bin/bash
# SPDX-License-Identifier: MIT
# The archive of a real program of several processes and threads: each slice, sample and arrow of
# it is in its conversions.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

need python3
python3 -c 'import collections; collections.Counter().total()' 2>/dev/null ||
	skip "python3 is older than 3.10"

cat >program.py <<'END'
import subprocess, threading, time
lock = threading.Lock()
def work():
    for i in range(50):
        with lock:
            time.sleep(0.0001)
threads = [threading.Thread(target=work) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
for i in range(3):
    subprocess.run(["/bin/true"], check=True)
END

expect_ok traced -q -- python3 program.py
expect_ok "$FXTRACE" dump --json trace.fxt
mv out dump
expect_ok "$FXTRACE" convert trace.fxt trace.json
expect_ok "$FXTRACE" convert trace.fxt trace.pftrace
expect_equal "" "$(cat err)" "what convert says"
"$FX_BUILDDIR/tests/convert/show_perfetto" <trace.pftrace >text || fail "trace.pftrace is malformed"
expect_ok python3 "$FX_SRCDIR/tests/convert/compare.py" dump trace.json text
cat out
expect_line '^[0-9]{2,} slices, [0-9]{2,} samples, [0-9]{2,} arrows$' out
