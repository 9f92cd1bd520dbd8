#!/bin/bash
# SPDX-License-Identifier: MIT
# Calls are shown with their arguments, results and errors, as a person would write them.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

expect_ok "$FXTRACE" run -q -o trace.fxt -- "$FX_BUILDDIR/tests/preload/targets/errnos"
expect_ok "$FXTRACE" dump trace.fxt
cp out dump

# shown NAME ARGUMENTS: a slice of this name has just these arguments, and what its descriptor is.
shown() {
	grep -F "name=\"$1\"" dump | sed -E 's/, "([a-z]+_)?(file|dir)[_0-9]*":string="[^}]*}/}/' | grep -qF "args={$2}" ||
		fail "no $1 with {$2}; there is:"$'\n'"$(grep -F "name=\"$1\"" dump | head -n 5)"
}

shown open '"path":string="/does/not/exist", "flags":string="O_RDWR|O_CLOEXEC", "ret":int32=-1, "errno":string="ENOENT"'
shown open '"path":pointer=0x8, "flags":string="O_RDONLY", "ret":int32=-1, "errno":string="EFAULT"'
shown open '"path":pointer=0x8, "flags":string="O_RDONLY|O_TMPFILE", "mode":string="0", "ret":int32=-1, "errno":string="EINVAL"'
shown openat '"dirfd":string="AT_FDCWD", "path":pointer=0x8, "flags":string="O_RDONLY", "ret":int32=-1, "errno":string="EFAULT"'
shown creat '"path":string="/", "mode":string="0600", "ret":int32=-1, "errno":string="EISDIR"'
shown read '"fd":int32=3, "count":uint32=1, "ret":int32=0'
shown pread '"fd":int32=3, "count":uint32=1, "offset":int32=-1, "ret":int32=-1, "errno":string="EINVAL"'
shown poll '"fds":string="3:POLLIN", "ready":string="3:POLLIN", "nfds":uint32=1, "timeout_ms":int32=0, "ret":int32=1'
shown clock_nanosleep '"clock":string="CLOCK_MONOTONIC", "flags":string="0", "time_ns":int32=0'
shown socket '"domain":string="-1", "type":string="SOCK_STREAM", "protocol":int32=0, "ret":int32=-1, "errno":string="EAFNOSUPPORT"'
shown connect '"fd":int32=5, "addr":string="/does/not/exist", "ret":int32=-1, "errno":string="ENOENT"'
shown connect '"fd":int32=5, "ret":int32=-1, "errno":string="EFAULT"'
shown send '"fd":int32=5, "len":uint32=1, "flags":string="MSG_NOSIGNAL", "ret":int32=-1, "errno":string="ENOTCONN"'
shown shutdown '"fd":int32=5, "how":string="SHUT_RDWR", "ret":int32=0'
shown posix_spawn '"path":string="/does/not/exist", "argv":string="nothing", "errno":string="ENOENT"'
shown waitpid '"pid":int32=1, "options":string="WNOHANG", "ret":int32=-1, "errno":string="ECHILD"'
shown kill '"pid":int32=2147483647, "sig":string="SIGTERM", "ret":int32=-1, "errno":string="ESRCH"'
expect_line 'name="open".*"path":string="x{255}",.*ENAMETOOLONG' dump
