#!/bin/bash
# SPDX-License-Identifier: MIT
# --lines: a stack has the source line of each call, and the functions that were inlined there; so has the place where a lock
# was taken. (tests/symbols/lines.sh holds the lines themselves against addr2line.)
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
. "$FX_SRCDIR/tests/e2e/control.sh"
need python3

cat >calls.c <<'END'
#include <fcntl.h>
#include <unistd.h>
#define INLINE static inline __attribute__((always_inline))
#define APART __attribute__((noinline, noclone))
static int null;
static volatile int after;
INLINE void put(char c)
{
	after += (int)write(null, &c, 1);
}
INLINE void both(void)
{
	put('a');
	put('b');
}
APART static void work(void)
{
	both();
	after++;
}
int main(void)
{
	null = open("/dev/null", O_WRONLY);
	work();
	put('c');
	return after < 0;
}
END
compile calls -O2 -g calls.c

# stacks ARCHIVE: those of the writes, a line each, as far as the program's own functions go.
stacks() {
	"$FXTRACE" dump --json "$1" | python3 -c 'import json, sys
for r in map(json.loads, sys.stdin):
    if r.get("name") == "write":
        stack = next(a["value"] for a in r["args"] if a["name"] == "stack").split("\n")
        print(" < ".join(l for l in stack if "libc" not in l and "_start" not in l))'
}

expect_ok "$FXTRACE" run -q --stacks syscall --lines -o trace.fxt -- ./calls
expect_clean trace.fxt
stacks trace.fxt >with
cat >expected <<'END'
put (calls.c:9, inlined) < both (calls.c:13, inlined) < work (calls.c:18) < main (calls.c:24)
put (calls.c:9, inlined) < both (calls.c:14, inlined) < work (calls.c:18) < main (calls.c:24)
put (calls.c:9, inlined) < main (calls.c:25)
END
expect_same_file expected with

# Viewers that know of lines are told them.
expect_ok "$FXTRACE" convert -f speedscope trace.fxt frames.json
expect_equal "both calls.c 13,both calls.c 14,main calls.c 23,main calls.c 24,main calls.c 25,put calls.c 9,work calls.c 18" "$(python3 -c 'import json
frames = json.load(open("frames.json"))["shared"]["frames"]
print(",".join(sorted("{name} {file} {line}".format(**f) for f in frames if f.get("file") == "calls.c")))')" "frames of speedscope"
if command -v protoc >/dev/null; then
	expect_ok "$FXTRACE" convert -f pprof trace.fxt profile.pb
	protoc --decode fx.profile.Profile -I "$FX_SRCDIR/convert/pictures" profile.proto < <(gunzip <profile.pb) >decoded || fail "no profile"
	expect_equal '13 14 18 23 24 25 9' "$(sed -n 's/^    line: //p' decoded | LC_ALL=C sort -u | grep -xE '9|1[348]|2[345]' | xargs)" \
		"lines of pprof"
	for text in put both work main calls.c; do
		expect_line "^string_table: \"$text\"\$" decoded
	done
fi

# Not asked for, there are none; by its variable, also of a program that starts a manager itself.
expect_ok "$FXTRACE" run -q --stacks syscall -o trace.fxt -- ./calls
stacks trace.fxt >without
printf 'work < main\nwork < main\nmain\n' >expected.without
expect_same_file expected.without without
if ! is_emulated; then
	FXTRACE_LINES=1 FXTRACE_STACKS=syscall FXTRACE_OUTPUT=own.fxt LD_PRELOAD=$LIBFXTRACE ./calls || fail "status $?"
	wait_archive own.fxt || fail "the archive of its own manager"
	stacks own.fxt >own
	expect_same_file expected own
fi

# A manager's sessions have what it was started with.
manager_start --lines
expect_ok "$FXTRACE" start --stacks syscall -o session.fxt
with_provider ./calls || fail "status $?"
expect_ok "$FXTRACE" stop
manager_stop
stacks session.fxt >session
expect_same_file expected session

# Where there is no debug information, a function is as without.
strip -o stripped calls
expect_ok "$FXTRACE" run -q --stacks syscall --lines -o trace.fxt -- ./stripped
stacks trace.fxt >none
expect_no_line 'calls\.c|inlined' none

# Where the lock that is waited for was taken.
cat >holds.c <<'END'
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int taken;
static void *hold(void *unused)
{
	pthread_mutex_lock(&lock);
	taken = 1;
	usleep(200000);
	pthread_mutex_unlock(&lock);
	return unused;
}
int main(void)
{
	pthread_t thread;
	pthread_create(&thread, NULL, hold, NULL);
	while (!taken)
		usleep(1000);
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
	return pthread_join(thread, NULL);
}
END
compile holds -O1 -g -pthread holds.c
expect_ok "$FXTRACE" run -q --lines -o trace.fxt -- ./holds
expect_ok "$FXTRACE" dump trace.fxt
expect_line 'name="pthread_mutex_lock".*taken.*hold \(holds\.c:8\)' out
