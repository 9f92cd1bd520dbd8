#!/bin/bash
# SPDX-License-Identifier: MIT
# An unmodified python: threads, locks, subprocesses, forked workers.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

need python3
# The interpreter itself, whatever stands in front of it.
python=$(python3 -c 'import os, sys; print(os.path.realpath(sys.executable))')

cat >threads.py <<'END'
import os, queue, threading

tasks, results = queue.Queue(), queue.Queue()

def work():
    while True:
        n = tasks.get()
        if n is None:
            return
        results.put(sum(range(n)))

threads = [threading.Thread(target=work) for _ in range(4)]
for t in threads:
    t.start()
for n in range(200):
    tasks.put(n)
for _ in threads:
    tasks.put(None)
for t in threads:
    t.join()
print(sum(results.get() for _ in range(200)))
with open("written", "w") as f:
    f.write("x" * 1000)
print(len(open("written").read()))
END
expect_unharmed 0 "$python" threads.py
expect_same_file plain.err traced.err
list_archive trace.fxt
expect_equal 1 "$(wc -l <processes)" "processes"
expect_equal "${python##*/}" "$(cut -f2 processes)" "name of the process"
expect_events 4+ 'type == "flow-begin"'
# Each thread begins where the flow of its creation ends.
awk -F'\t' '$1 == "flow-begin" { begun[$9] = $3 }
	$1 == "flow-end" { ended[$9] = $3 }
	END { for (id in ended) if (id in begun && begun[id] != ended[id]) print ended[id] }' events |
	sort -u >started
[ "$(wc -l <started)" -ge 4 ] || fail "$(wc -l <started) threads with a flow to their start, not 4"
expect_events 1+ 'category == "syscall" && name == "open" && has("path=written")'
expect_events 1+ 'category == "syscall" && name == "read" && has("ret=1000")'
expect_events 1+ 'category == "syscall" && name == "write" && has("ret=1000") && has("count=1000")'
expect_events 1+ 'type == "counter" && category == "heap"'

cat >processes.py <<'END'
import multiprocessing, os, subprocess, sys

print(subprocess.run(["cat"], input=b"through a pipe\n", capture_output=True).stdout)
print(subprocess.run(["sh", "-c", "exit 7"]).returncode)
print(subprocess.run(["sh", "-c", "kill -TERM $$"]).returncode)
# Without LD_PRELOAD in the environment.
print(subprocess.run(["tr", "a", "b"], env={"PATH": os.environ["PATH"]}, input=b"a",
                     capture_output=True).stdout)

def square(x):
    return x * x

if __name__ == "__main__":
    with multiprocessing.get_context("fork").Pool(2) as pool:
        print(pool.map(square, range(10)))
    pid = os.fork()
    if pid == 0:
        os._exit(3)
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
    sys.exit(5)
END
expect_unharmed 5 "$python" processes.py
expect_same_file plain.err traced.err
list_archive trace.fxt
for name in cat sh tr "${python##*/}"; do
	grep -qP "^\d+\t\Q$name\E$" processes || fail "no process $name: $(cat processes)"
done
# The first, two workers, the fork.
[ "$(grep -cP "\t\Q${python##*/}\E$" processes)" -ge 4 ] || fail "forked children: $(cat processes)"
expect_events 1+ 'process == "cat" && name == "read" && has("fd=0") && has("ret=15")'
expect_events 1+ 'process == "tr" && name == "read" && has("fd=0")'
