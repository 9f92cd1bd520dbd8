#!/bin/bash
# SPDX-License-Identifier: MIT
# TRACE_KERNEL_OBJECT and TRACE_KOID: what descriptors lead to, each kind with its type and name, the same koid in every process
# that has the object, in C and C++; from handlers; of descriptors that are not there nothing, and errno stays.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
need python3 nm

include=-I$FX_SRCDIR/include

cat >objects.h <<'END'
#include <fxtrace/event.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>
static int ends[2];
static void handler(int signal)
{
	(void)signal;
	TRACE_KERNEL_OBJECT(ends[1], "where", TA_STRING("handler"));
}
static int fails(void)
{
	perror("objects");
	return 1;
}
END
cat >objects.c <<'END'
#include "objects.h"
int main(void)
{
	int pair[2], memory = memfd_create("pages", 0), file = open("a file", O_RDWR | O_CREAT, 0600);
	int event = eventfd(0, 0), epoll = epoll_create1(0), timer = timerfd_create(CLOCK_MONOTONIC, 0);
	if (pipe(ends) != 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0 || memory < 0 || file < 0 || event < 0 || epoll < 0 || timer < 0)
		return fails();
	errno = 77;
	TRACE_KERNEL_OBJECT(memory, "where", TA_STRING("memory"), "size", TA_UINT64(4096));
	TRACE_KERNEL_OBJECT(file, "where", TA_STRING("file"));
	TRACE_KERNEL_OBJECT(event, "where", TA_STRING("eventfd"));
	TRACE_KERNEL_OBJECT(epoll, "where", TA_STRING("epoll"));
	TRACE_KERNEL_OBJECT(timer, "where", TA_STRING("timer"));
	TRACE_KERNEL_OBJECT(pair[0], "where", TA_STRING("socket"));
	TRACE_KERNEL_OBJECT(ends[0], "where", TA_STRING("reads"));
	TRACE_KERNEL_OBJECT(ends[1], "where", TA_STRING("writes"));
	TRACE_KERNEL_OBJECT(ends[1]);
	TRACE_KERNEL_OBJECT(-1, "where", TA_STRING("nowhere"));
	TRACE_KERNEL_OBJECT(1000, "where", TA_STRING("nowhere"));
	TRACE_INSTANT("c", "refers", TRACE_SCOPE_THREAD, "pipe", TA_KOID(TRACE_KOID(ends[0])));
	TRACE_INSTANT("c", "refers to nothing", TRACE_SCOPE_THREAD, "pipe", TA_KOID(TRACE_KOID(-1)));
	if (errno != 77)
		return fails();
	signal(SIGUSR1, handler);
	raise(SIGUSR1);
	if (fork() == 0) {
		TRACE_KERNEL_OBJECT(ends[0], "where", TA_STRING("child"));
		TRACE_KERNEL_OBJECT(event, "where", TA_STRING("eventfd of the child"));
		_exit(0);
	}
	wait(NULL);
	printf("%d\n", TRACE_KOID(ends[0]) != 0);
	return 0;
}
END
cat >objects.cc <<'END'
#include "objects.h"
#include <string>
int main()
{
	if (pipe(ends) != 0)
		return fails();
	TRACE_KERNEL_OBJECT(ends[0], "where", std::string("a string ") + "of C++", "answer", 42, "none", nullptr);
	TRACE_KERNEL_OBJECT(ends[0]);
}
END

# objects: of each, its arguments, type and name; the koid by a number. The child's last.
objects() {
	"$FXTRACE" dump --json "$1" | python3 -c '
import json, re, sys
koids, lines = {}, []
def number(koid):
    koid = int(koid)
    assert koid & 1 << 62 or koid == 0, koid
    return koids.setdefault(koid, len(koids)) if koid else "none"
def of_child(r):
    return any("child" in str(a["value"]) for a in r.get("args", []))
for r in sorted(map(json.loads, sys.stdin), key=of_child):
    args = " ".join("%s=%s" % (a["name"], a["value"]) for a in r.get("args", []) if a["type"] != "koid")
    if r["kind"] == "kernel-object" and r["type"] not in ("process", "thread"):
        lines.append("%s|%s|%s|%s" % (args, r["type"], re.sub(r"(eventfd\]) \d+-\d+$", r"\1", re.sub(r"\[\d+\]", "[N]", r["name"])), number(r["koid"])))
    elif r["kind"] == "event" and r.get("category") == "c":
        lines.append("%s %s" % (r["name"], number(r["args"][0]["value"])))
print("\n".join(lines))'
}

cat >expected <<END
where=memory size=4096|vmo|/memfd:pages (deleted)|0
where=file|vmo|$PWD/a file|1
where=eventfd|event|anon_inode:[eventfd]|2
where=epoll|port|anon_inode:[eventpoll]|3
where=timer|timer|anon_inode:[timerfd]|4
where=socket|socket|socket:[N] unix stream->socket:[N]|5
where=reads|fifo|pipe:[N]|6
where=writes|fifo|pipe:[N]|6
|fifo|pipe:[N]|6
refers 6
refers to nothing none
where=handler|fifo|pipe:[N]|6
where=child|fifo|pipe:[N]|6
where=eventfd of the child|event|anon_inode:[eventfd]|7
END

compilers="gcc clang"
! is_emulated || compilers= # they make programs of this machine
for compiler in "$FX_CC" $compilers; do
	command -v "${compiler%% *}" >/dev/null || continue
	# shellcheck disable=SC2086 # several words
	$compiler $include -std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror -O1 -o objects objects.c || fail "$compiler: does not compile"
	expect_ok ./objects
	expect_line '^0$' out
	# Who is whose peer is known by the call.
	expect_ok "$FXTRACE" run -q -c c,syscall -o trace.fxt -- ./objects
	expect_line '^1$' out
	expect_clean trace.fxt
	objects trace.fxt >shown
	expect_same_file expected shown
done

for standard in c++17 c++20; do
	# shellcheck disable=SC2086 # several words
	$FX_CXX $include -std=$standard -Wall -Wextra -Werror -Wno-unused-function -O1 -o objects++ objects.cc || fail "$standard: does not compile"
	expect_ok "$FXTRACE" run -q -c c -o trace.fxt -- ./objects++
	expect_clean trace.fxt
	objects trace.fxt >shown
	printf '%s|fifo|pipe:[N]|0\n' 'where=a string of C++ answer=42 none=None' '' >expected++
	expect_same_file expected++ shown
done

# What takes archives apart, puts them together or shows them knows them.
expect_ok "$FXTRACE" run -q -c c,syscall -o trace.fxt -- ./objects
expect_ok "$FXTRACE" filter -c c -o kept.fxt trace.fxt
expect_clean kept.fxt
expect_ok "$FXTRACE" merge -o merged.fxt trace.fxt
expect_clean merged.fxt
objects merged.fxt | grep -c '|fifo|' >count
expect_line '^5$' count
for format in json perfetto; do
	expect_ok "$FXTRACE" convert -f $format trace.fxt "trace.$format"
done

# shellcheck disable=SC2086 # several words
$FX_CC $include -DNTRACE -D_GNU_SOURCE -O0 -c -o none.o objects.c && $FX_CXX $include -std=c++17 -DNTRACE -O0 -c -o none++.o objects.cc ||
	fail "it does not compile with NTRACE"
for object in none.o none++.o; do
	nm "$object" | grep fxtrace && fail "$object has something of the tracer"
done
exit 0
