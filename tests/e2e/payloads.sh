#!/bin/bash
# SPDX-License-Identifier: MIT
# The macros of <fxtrace/event.h> that bring a payload (blobs, logs, objects): byte for byte what the program gave, at every
# size, in C and C++; with other events around them, from threads, handlers and forked children; what is too large is lost as a
# whole and counted; nothing of it without a tracer, without its category, and with NTRACE.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
need python3 nm

include=-I$FX_SRCDIR/include

# What is common to C and C++. The bytes of a payload follow from its size.
cat >payloads.h <<'END'
#include <fxtrace/event.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static unsigned char bytes[300000];
static void fill(void)
{
	for (unsigned i = 0; i < sizeof bytes; i++)
		bytes[i] = (unsigned char)(i * 7 + i / 251);
}
static void handler(int signal)
{
	(void)signal;
	TRACE_BLOB_EVENT("c", "handler", bytes, 5000, "n", TA_INT32(1));
	TRACE_LOG("c", "in the handler");
}
static void *thread(void *unused)
{
	for (int i = 0; i < 50; i++) {
		TRACE_DURATION("c", "work");
		TRACE_BLOB_EVENT("c", "threads", bytes, 3001);
	}
	return unused;
}
END
cat >say.c <<'END'
#include "payloads.h"
int main(void)
{
	static const unsigned sizes[] = {0, 1, 7, 8, 9, 1000, 4095, 4096, 16376, 32768, 65536, 200000, 261000};
	static char text[40001];
	pthread_t threads[4];
	fill();
	for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		TRACE_BLOB_EVENT("c", "event", bytes, sizes[i], "size", TA_UINT32(sizes[i]), "text", TA_STRING("words"));
		TRACE_INSTANT("c", "between", TRACE_SCOPE_THREAD);
		TRACE_BLOB_ATTACHMENT("c", "attachment", bytes, sizes[i]);
		if (sizes[i] < 32000)
			TRACE_BLOB(TRACE_BLOB_TYPE_DATA, "older", bytes, sizes[i]);
	}
	TRACE_BLOB_EVENT("c", "no data", NULL, 100);
	TRACE_BLOB(TRACE_BLOB_TYPE_LAST_BRANCH, "branches", bytes, 12);
	TRACE_BLOB(3, "of the whole trace", bytes, 12);
	TRACE_BLOB(TRACE_BLOB_TYPE_DATA, "fxtrace:clock", bytes, 64);
	TRACE_BLOB_EVENT("other", "unwanted", bytes, 9);
	TRACE_LOG("c", "one line");
	TRACE_LOG("c", "");
	TRACE_LOG("c", NULL);
	TRACE_LOG("other", "unwanted");
	for (int i = 0; i < 40000; i++)
		text[i] = "ab\xc3\xa4"[i % 4];
	TRACE_LOG("c", text);
	TRACE_USERSPACE_OBJECT("c", (void *)4096, "table", "rows", TA_UINT64(7), "name", TA_STRING("t"));
	TRACE_USERSPACE_OBJECT("c", (void *)8192, "other");
	signal(SIGUSR1, handler);
	raise(SIGUSR1);
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, thread, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	if (fork() == 0) {
		TRACE_BLOB_EVENT("c", "child", bytes, 100000);
		_exit(0);
	}
	wait(NULL);
	return 0;
}
END
cat >say.cc <<'END'
#include "payloads.h"
#include <string>
#include <string_view>
template <typename T> static void generic(const T &text)
{
	TRACE_LOG("c", text);
}
int main()
{
	std::string line = "a string";
	fill();
	TRACE_BLOB_EVENT("c", "event", bytes, sizeof bytes / 3, "size", 100000u, "text", line + " of C++");
	TRACE_BLOB_ATTACHMENT("c", "attachment", line.data(), line.size());
	TRACE_BLOB(TRACE_BLOB_TYPE_DATA, "older", bytes, 8);
	generic(line + ", a temporary");
	generic(std::string_view("a view of more", 6));
	generic("chars");
	generic(static_cast<const char *>(nullptr));
	TRACE_USERSPACE_OBJECT("c", &line, "line", "length", line.size());
}
END

# payloads ARCHIVE: of each record that has a payload, its kind, name, size, arguments; with a payload that is not what it should
# be, how far it is. Pieces of a large one are put together.
payloads() {
	"$FXTRACE" dump --json "$1" | python3 -c '
import json, re, sys
pieces = {}
def right(data):
    return all(b == (i * 7 + i // 251) & 255 for i, b in enumerate(data))
for r in map(json.loads, sys.stdin):
    kind, name = r["kind"], r.get("name", "")
    args = " ".join("%s=%s" % (a["name"], a["value"]) for a in r.get("args", []))
    if name.startswith("fxtrace:"): # of the manager
        assert r["size"] != 64 or not right(bytes.fromhex(r["payload"])), "a clock that the program made"
        continue
    if kind in ("large-event", "large-attachment", "blob"):
        data = bytes.fromhex(r["payload"])
        piece = re.fullmatch(r"(.*)#(\d+)/(\d+)", name)
        if piece:
            key = kind, piece[1], r.get("tid")
            before, last, args = pieces.get(key, (b"", 0, args))
            assert int(piece[2]) == last + 1, name
            data = before + data
            pieces[key] = data, last + 1, args
            if int(piece[2]) < int(piece[3]):
                continue
            del pieces[key]
            name = piece[1]
        print(kind, name, len(data), args, "" if right(data) else data[:30])
    elif kind == "log":
        print(kind, len(r["message"].encode()), r["message"][:40])
    elif kind == "userspace-object":
        print(kind, name, r["pointer"], args)
assert not pieces, pieces
' | sed 's/ *$//'
}

sizes='0 1 7 8 9 1000 4095 4096 16376 32768 65536 200000 261000'
for size in $sizes; do
	echo "large-event event $size size=$size text=words"
	echo "large-attachment attachment $size"
	[ "$size" -ge 32000 ] || echo "blob older $size"
done >expected
cat >>expected <<'END'
large-event no data 0
blob branches 12
log 8 one line
log 0
log 32744 abäabäabäabäabäabäabäabäabäabäabäabäabäa
userspace-object table 0x1000 rows=7 name=t
userspace-object other 0x2000
large-event handler 5000 n=1
log 14 in the handler
large-event child 100000
END
for _ in {1..200}; do echo 'large-event threads 3001'; done >>expected
LC_ALL=C sort -o expected expected

ways=0
compilers="gcc clang"
! is_emulated || compilers= # they make programs of this machine
for compiler in "$FX_CC" $compilers; do
	command -v "${compiler%% *}" >/dev/null || continue
	for optimise in -O0 -O2; do
		# shellcheck disable=SC2086 # several words
		$compiler $include -std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror $optimise -o say say.c -pthread || fail "$compiler $optimise: does not compile"
		expect_ok ./say
		expect_ok "$FXTRACE" run -q --on-full block -c c -o trace.fxt -- ./say
		expect_clean trace.fxt
		payloads trace.fxt >shown
		LC_ALL=C sort -o shown shown
		expect_same_file expected shown
		list_archive trace.fxt
		expect_events 13 'name == "between"'
		expect_events 200 'name == "work"'
		ways=$((ways + 1))
	done
done
echo "$ways ways"
expect_ok "$FXTRACE" convert -f perfetto trace.fxt trace.pb
grep -qa 'in the handler' trace.pb || fail "the log is not in Perfetto's trace"
expect_ok "$FXTRACE" convert -f json trace.fxt trace.json

for standard in c++17 c++20; do
	$FX_CXX $include -std=$standard -fno-exceptions -Wall -Wextra -Werror -Wno-unused-function -O1 -o say++ say.cc || fail "$standard: does not compile"
	expect_ok ./say++
	expect_ok "$FXTRACE" run -q -c c -o trace.fxt -- ./say++
	expect_clean trace.fxt
	payloads trace.fxt | sed 's/0x[0-9a-f]*/ADDRESS/' >shown
	cat >expected++ <<'END'
large-event event 100000 size=100000 text=a string of C++
large-attachment attachment 8  b'a string'
blob older 8
log 21 a string, a temporary
log 6 a view
log 5 chars
userspace-object line ADDRESS length=8
END
	expect_same_file expected++ shown
done

# --- What is lost, and what is not there ------------------------------------------------------------------

cat >large.c <<'END'
#include "payloads.h"
int main(void)
{
	fill();
	TRACE_BLOB_EVENT("c", "too large", bytes, 262144);
	TRACE_BLOB(TRACE_BLOB_TYPE_DATA, "too large", bytes, 32768);
	TRACE_BLOB_EVENT("c", "fits", bytes, 100);
	return 0;
}
END
compile large "$include" large.c
expect_ok "$FXTRACE" run -c c -o trace.fxt -- ./large
expect_line '2 records lost as too large for a buffer' err
expect_clean trace.fxt
expect_equal "large-event fits 100" "$(payloads trace.fxt)" "what is beside what is too large"

expect_ok "$FXTRACE" run -q -c other -o trace.fxt -- ./large
expect_equal "" "$(payloads trace.fxt)" "payloads of a category that is not wanted"

$FX_CC $include -DNTRACE -O0 -c -o none.o say.c && $FX_CXX $include -std=c++17 -DNTRACE -O0 -c -o none++.o say.cc ||
	fail "it does not compile with NTRACE"
for object in none.o none++.o; do
	nm "$object" | grep fxtrace && fail "$object has something of the tracer"
done

# Killed: what was written is there, whole.
cat >killed.c <<'END'
#include "payloads.h"
int main(void)
{
	fill();
	for (int i = 0; i < 20; i++)
		TRACE_BLOB_EVENT("c", "before the end", bytes, 100000);
	kill(getpid(), SIGKILL);
	return 0;
}
END
compile killed "$include" killed.c
expect_status 137 "$FXTRACE" run -q --on-full block -c c -o trace.fxt -- ./killed
expect_clean trace.fxt
expect_equal 20 "$(payloads trace.fxt | grep -cx 'large-event before the end 100000')" "blobs before a kill"
