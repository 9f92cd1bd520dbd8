#!/bin/bash
# SPDX-License-Identifier: MIT
# A pid that comes again before the manager, busy meanwhile, hears that the process that had it has ended: another process,
# not that one's next program.
. "${FX_SRCDIR:=$(cd "$(dirname "$0")/../.." && pwd)}/tests/e2e/lib.sh"
. "$FX_SRCDIR/tests/faults/lib.sh"

need unshare
user=()
[ "$(id -u)" -eq 0 ] || user=(-r)
unshare "${user[@]}" -p -f --mount-proc true 2>/dev/null || skip "no namespaces can be made here"
target leaf leaf.c

# The shell is not traced: what it starts, registers once each.
cat >again.sh <<'END_OF_SCRIPT'
for i in 1 2 3; do
	echo 900 >/proc/sys/kernel/ns_last_pid
	LD_PRELOAD=$library ./leaf 5
done
END_OF_SCRIPT
cat >inside.sh <<'END_OF_SCRIPT'
echo 300 >/proc/sys/kernel/ns_last_pid || exit 77
"$1" run -q -o again.fxt -- sh -c 'export library=$LD_PRELOAD; unset LD_PRELOAD; exec sh again.sh'
END_OF_SCRIPT

# The first to register is the shell that does so no more, then the three.
fault_set register_answered 3 spin=300
status=0
patiently unshare "${user[@]}" -p -f --mount-proc sh inside.sh "$FXTRACE" >ran.out 2>ran.err || status=$?
[ "$status" -ne 77 ] || skip "the next pid cannot be chosen here"
fault_happened || fail "$FAULT: the point is not reached: $(cat ran.err)"
expect_equal 5 "$status" "status: $(cat ran.err)"
expect_clean again.fxt
list_archive again.fxt
expect_equal 3 "$(grep -c 'leaf$' processes)" "processes called leaf, in: $(cat processes)"
expect_events 3 'name == "main" && process == "leaf" && tid == pid'
