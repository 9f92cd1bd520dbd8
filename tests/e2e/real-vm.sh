#!/bin/bash
# SPDX-License-Identifier: MIT
# Unmodified virtual machines: they own SIGSEGV, make code at run time, and bring many threads.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

ran=0
if command -v node >/dev/null 2>&1; then
	ran=1
	cat >work.js <<'END'
const { execFileSync, spawnSync } = require('child_process');
const { Worker, isMainThread, parentPort } = require('worker_threads');
const zlib = require('zlib');
if (isMainThread) {
  console.log(execFileSync('echo', ['from a child']).toString().trim());
  console.log(spawnSync('sh', ['-c', 'exit 3']).status);
  console.log(zlib.gunzipSync(zlib.gzipSync('x'.repeat(100000))).length);
  const w = new Worker(__filename);
  w.on('message', m => { console.log(m); process.exitCode = 4; });
} else {
  let s = 0;
  for (let i = 0; i < 1000000; i++) s += i;
  parentPort.postMessage(s);
}
END
	expect_unharmed 4 node work.js
	expect_same_file plain.err traced.err
	list_archive trace.fxt
	for name in node echo sh; do
		grep -q "	$name\$" processes || fail "no process $name: $(cat processes)"
	done
fi

if command -v java >/dev/null 2>&1 && java -version >java.version 2>&1; then
	ran=1
	cat >Work.java <<'END'
public class Work {
    static int depth(int n) { return n == 0 ? 0 : 1 + depth(n - 1); }
    public static void main(String[] args) throws Exception {
        Thread[] threads = new Thread[4];
        long[] sums = new long[4];
        for (int t = 0; t < 4; t++) {
            final int me = t;
            threads[t] = new Thread(() -> { for (int i = 0; i < 1000000; i++) sums[me] += i; });
            threads[t].start();
        }
        for (Thread t : threads) t.join();
        System.out.println(sums[0] + sums[1] + sums[2] + sums[3]);
        // The machine turns faults into exceptions.
        try { Object o = args.length > 99 ? "" : null; System.out.println(o.hashCode()); }
        catch (NullPointerException e) { System.out.println("null"); }
        try { deep(); } catch (StackOverflowError e) { System.out.println("deep"); }
        Process p = new ProcessBuilder("sh", "-c", "exit 6").start();
        System.out.println(p.waitFor());
        System.exit(9);
    }
    static void deep() { deep(); }
}
END
	if javac Work.java >javac.log 2>&1; then
		expect_unharmed 9 java -Xshare:auto -cp . Work
		expect_same_file plain.err traced.err
		list_archive trace.fxt
		grep -q '	java$' processes || fail "no process java: $(cat processes)"
		expect_events 4+ 'process == "java" && type == "flow-begin"'
	fi
fi

[ "$ran" -eq 1 ] || skip "neither node nor java is installed"
