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

# Facts of the whole, which Perfetto shows with the trace; what `dump' counts.
if command -v protoc >/dev/null; then
	protoc --decode=fx.pf.Trace -I "$FX_SRCDIR/convert/perfetto" perfetto.proto <trace.pftrace >decoded ||
		fail "protoc does not read it"
	# fact KEY: its value.
	fact() {
		awk -v key="\"$1\"" '$1 == "key:" { found = $2 == key } found && $1 ~ /_value:$/ { print $2; exit }' decoded
	}
	expect_equal "\"$("$FXTRACE" --version | sed -n '1s/.* //p')\"" "$(fact fxtrace_version)" "version"
	expect_equal "\"python3\"" "$(fact fxtrace_first_process)" "first process"
	expect_equal 0 "$(fact fxtrace_faults)" "faults"
	span=$(python3 - dump <<'END'
import json, sys
times = [t for r in map(json.loads, open(sys.argv[1])) if r["kind"] in ("event", "large-event") for t in (r["ts"], r.get("end", r["ts"]))]
print(max(times) - min(times))
END
	)
	expect_equal "$span" "$(fact fxtrace_duration_ns)" "duration"
	head -c $(($(stat -c %s trace.fxt) / 2 + 3)) trace.fxt >cut.fxt
	expect_status 1 "$FXTRACE" convert cut.fxt trace.pftrace
	protoc --decode=fx.pf.Trace -I "$FX_SRCDIR/convert/perfetto" perfetto.proto <trace.pftrace >decoded ||
		fail "protoc does not read it"
	expect_equal 1 "$(fact fxtrace_faults)" "faults of a cut archive"
else
	echo "no protoc: the facts of the whole are not read"
fi
