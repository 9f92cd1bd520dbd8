#!/bin/bash
# SPDX-License-Identifier: MIT
# What a process starts under a seccomp filter runs as it would without the tracer: traced where the filter bears that, and
# else without the library, and told.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

compile filtered -w -D_GNU_SOURCE "$FX_SRCDIR/tests/e2e/targets/filtered.c"
./filtered execve mild /bin/true || skip "no filter can be set here"

# --- One that bears it -----------------------------------------------------------------------------

expect_traced() {
	expect_unharmed 5 ./filtered "$1" "$2" /bin/sh -c '(exit 3); echo $?; /bin/echo more; exit 5'
	expect_same_file plain.err traced.err
	list_archive trace.fxt
	expect_events 0 'name == "not traced"'
	grep -q '	echo$' processes || fail "under $2, by $1: $(cat processes)"
}

# glibc has execveat() since 2.34.
execveat=$(! glibc_since 34 || echo execveat)
for how in execve execvp fexecve $execveat vfork; do
	expect_traced $how mild
done
expect_traced execve errors
expect_traced vfork errors
# The child is made under it, and is in the archive itself.
expect_traced fork mild
expect_events 1 'name == "execve" && /path=.bin.sh/'

# --- One that a child on its parent's memory sets for itself alone ---------------------------------

for how in within beside; do
	for filter in errors alone; do
		expect_unharmed 6 ./filtered $how $filter /bin/sh -c '/bin/echo more; exit 6'
		expect_same_file plain.err traced.err
		expect_status 6 "$FXTRACE" run -o trace.fxt -- ./filtered $how $filter /bin/sh -c '/bin/echo more; exit 6'
		expect_no_line 'forked under|not traced: .*(sh|echo)' err
		list_archive trace.fxt
		# What the other child is, and what that starts.
		grep -q '	echo$' processes || fail "after a child under $filter, $how: $(cat processes err)"
		expect_events 1+ 'name == "fork"'
	done
done

# --- One that does not -----------------------------------------------------------------------------

# The C library starts the shell by itself.
expect_unharmed 6 ./filtered system alone '/bin/echo more; exit 6'
expect_same_file plain.err traced.err
expect_unharmed 6 ./filtered execve alone /bin/sh -c '/bin/echo more; env | grep -c PRELOAD; exit 6'
expect_same_file plain.err traced.err

# It would bear the answers, but could not be traced: that is why, not that it had no time.
for how in execve execvp fexecve $execveat vfork; do
	expect_unharmed 5 ./filtered $how mute /bin/sh -c '/bin/echo more; exit 5'
	expect_same_file plain.err traced.err
	expect_status 5 "$FXTRACE" run -o trace.fxt -- ./filtered $how mute /bin/sh -c '/bin/echo more; exit 5'
	expect_line 'not traced: .*(sh|a file by its descriptor).*seccomp filter' err
	expect_no_line 'ended before tracing' err
done

$FX_CC -static -w -D_GNU_SOURCE -o alone "$FX_SRCDIR/tests/e2e/targets/alone.c" 2>/dev/null ||
	skip "the rest needs a C library to be linked statically"
for how in execve execvp fexecve $execveat vfork; do
	./filtered "$how" strict ./alone >out
	[ $? -eq 5 ] || skip "libc needs other system calls than those that the strict filter allows"
	expect_unharmed 5 ./filtered "$how" strict ./alone
	expect_same_file plain.err traced.err
	list_archive trace.fxt
	expect_events 1 'name == "not traced" && /seccomp filter/'
	expect_status 5 "$FXTRACE" run -o trace.fxt -- ./filtered "$how" strict ./alone
	expect_line 'not traced.*seccomp filter' err
done
