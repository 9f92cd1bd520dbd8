#!/bin/bash
# SPDX-License-Identifier: MIT
# One program that is traced by macros, hooks, the plugin and wrappers together, on four threads, in coroutines and in signal handlers that
# come at any moment: each call is recorded exactly so often, and lies on its thread in what has called it; after kill -9 every call that
# had been completed is there.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
need python3

PLUGIN=$FX_BUILDDIR/compiler-plugin/.libs/fxtrace.so
[ -e "$PLUGIN" ] || skip "the plugin was not built"
! $FX_CXX --version | grep -q clang || skip "the plugin is GCC's"

# By the plugin.
cat >plugged.c <<'END'
#include <fxtrace/event.h>
#include <stdlib.h>
#include <unistd.h>
enum { IN_HANDLER = 2 };
int plugged(int n);
int plugged(int n)
{
	/* A handler may have interrupted malloc() itself. */
	void *volatile memory = n == IN_HANDLER ? NULL : malloc(100);
	TRACE_DURATION("m", "inside", "n", TA_INT32(n));
	free(memory);
	return n + (getppid() == 0);
}
END

# By hooks.
cat >together.cc <<'END'
#include <coroutine>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <fxtrace/event.h>
#include <pthread.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#define HIDDEN __attribute__((no_instrument_function))
#define APART __attribute__((noinline))
static const unsigned threads = 4;
struct share {
	uint64_t pid, sent;
	struct {
		uint64_t tid, rounds, signals;
	} thread[threads];
};
static struct share *share;
static bool ends;
static thread_local unsigned self;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int null;
extern "C" int plugged(int n);

struct task {
	struct promise_type {
		HIDDEN task get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
		HIDDEN std::suspend_always initial_suspend() { return {}; }
		HIDDEN std::suspend_always final_suspend() noexcept { return {}; }
		HIDDEN void return_void() {}
		HIDDEN void unhandled_exception() { std::abort(); }
	};
	std::coroutine_handle<promise_type> handle;
};
/* What it does goes on while it does not: an async event, by its number. */
static task works(unsigned number)
{
	for (;;) {
		uint64_t id = number;
		TRACE_ASYNC_BEGIN("m", "suspended", id);
		{
			TRACE_DURATION("m", "step one");
			plugged(1);
		}
		{
			/* The caller's goes on meanwhile: this ends there. */
			TRACE_DURATION("m", "across");
			co_await std::suspend_always{};
		}
		{
			TRACE_DURATION("m", "step two");
			TRACE_DURATION("m", "nested");
			getppid();
		}
		TRACE_ASYNC_END("m", "suspended", id);
		co_await std::suspend_always{};
	}
}

extern "C" APART void on_signal(int)
{
	TRACE_DURATION("m", "handled");
	plugged(2);
	share->thread[self].signals++;
}

extern "C" APART void round_of(unsigned number, task &t)
{
	TRACE_DURATION("m", "round", "number", number);
	plugged(3);
	t.handle.resume();
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
	if (write(null, "x", 1) != 1)
		std::abort();
	t.handle.resume();
}

HIDDEN static void *thread_main(void *number)
{
	sigset_t usr1;

	self = (unsigned)(uintptr_t)number;
	share->thread[self].tid = (uint64_t)gettid();
	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	pthread_sigmask(SIG_UNBLOCK, &usr1, nullptr);
	task t = works(self);
	for (uint64_t n = 1; !__atomic_load_n(&ends, __ATOMIC_ACQUIRE); n++) {
		round_of(self, t);
		__atomic_store_n(&share->thread[self].rounds, n, __ATOMIC_RELEASE);
	}
	t.handle.destroy();
	return nullptr;
}

/* together FILE SIGNALS: sends so many to each thread, and ends; 0: never. */
HIDDEN int main(int, char **argv)
{
	int fd = open(argv[1], O_RDWR | O_CREAT, 0600);
	long signals = std::atol(argv[2]);
	pthread_t ids[threads];

	null = open("/dev/null", O_WRONLY);
	if (null < 0 || ftruncate(fd, sizeof(*share)) < 0)
		return 2;
	share = static_cast<struct share *>(mmap(nullptr, sizeof(*share), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
	struct sigaction action = {};
	action.sa_handler = on_signal;
	action.sa_flags = SA_RESTART;
	sigaction(SIGUSR1, &action, nullptr);
	/* Until the threads know who they are. */
	sigaddset(&action.sa_mask, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &action.sa_mask, nullptr);
	for (uintptr_t i = 0; i < threads; i++)
		pthread_create(&ids[i], nullptr, thread_main, reinterpret_cast<void *>(i));
	share->pid = (uint64_t)getpid();
	struct timespec rest = {0, 100000};
	for (unsigned i = 0; i < threads; i++)
		while (!__atomic_load_n(&share->thread[i].rounds, __ATOMIC_ACQUIRE))
			nanosleep(&rest, nullptr);
	for (long n = 0; !signals || n < signals; n++) {
		for (unsigned i = 0; i < threads; i++)
			pthread_kill(ids[i], SIGUSR1);
		nanosleep(&rest, nullptr);
		share->sent++;
	}
	__atomic_store_n(&ends, true, __ATOMIC_RELEASE);
	for (unsigned i = 0; i < threads; i++)
		pthread_join(ids[i], nullptr);
	return 0;
}
END

# together.py FILE KILLED <events: what the program has counted is what is there, each in what it belongs to.
cat >together.py <<'END'
import struct, sys
from collections import Counter, defaultdict
words = struct.unpack("<14Q", open(sys.argv[1], "rb").read()[:112])
killed = sys.argv[2] == "killed"
# What lies in which of these at once, but for what handlers do, which may come in the middle of anything.
within = {("m", "round"): "round_of", ("function", "plugged"): ("round", "step one", "handled"), ("m", "inside"): "plugged",
          ("m", "step one"): None, ("m", "handled"): "on_signal", ("syscall", "getppid"): ("inside", "nested"), ("m", "nested"): "step two", ("syscall", "write"): "round"}
calls = defaultdict(list)
asyncs = Counter()
for line in sys.stdin:
    kind, pid, tid, process, thread, category, name, start, end, *args = line.rstrip("\n").split("\t")
    if kind == "complete":
        calls[int(tid)].append((int(start), -int(end), category, name, "unfinished=true" in args))
    elif kind.startswith("async"):
        asyncs[kind, int(end)] += 1
def bad(*what):
    print(*what)
    sys.exit(1)
for number in range(4):
    tid, rounds, signals = words[2 + 3 * number:5 + 3 * number]
    counts, stack = Counter(), []
    for start, end, category, name, unfinished in sorted(calls[tid]):
        end = -end
        while stack and (stack[-1][0] <= start and stack[-1][0] < end):
            stack.pop()
        if stack and end > stack[-1][0]:
            bad(tid, category, name, "crosses", stack[-1])
        if not unfinished:
            counts[category, name] += 1
            outer = within.get((category, name))
            outer = (outer,) if isinstance(outer, str) else outer
            if outer and not (stack and stack[-1][1] in outer):
                bad(tid, name, "lies in", stack[-1] if stack else None)
        stack.append((end, name))
    # What the thread was at when it was killed is completed in parts, and not counted yet.
    def expect(least, *keys):
        for key in keys:
            if not least <= counts[key] <= least + 4 * killed:
                bad(tid, key, counts[key], "instead of", least)
    if rounds == 0:
        bad(tid, "does nothing")
    expect(rounds, ("function", "round_of"), ("m", "round"), ("m", "step one"), ("m", "across"), ("m", "step two"), ("m", "nested"),
           ("syscall", "write"))
    expect(signals, ("m", "handled"), ("function", "on_signal"))
    expect(2 * rounds + signals, ("function", "plugged"), ("m", "inside"))
    expect(3 * rounds + signals, ("syscall", "getppid"))
    begun, ended = (sum(n for (kind, at), n in asyncs.items() if kind == k and at == number) for k in ("async-begin", "async-end"))
    if not rounds <= begun <= rounds + 2 or not begun - 1 <= ended <= begun:
        bad(tid, "async", begun, ended, "of", rounds)
    print(tid, rounds, signals)
END

hooks=(-finstrument-functions "-finstrument-functions-exclude-file-list=/usr/,/include/")
$FX_CC -O2 -w "-I$FX_SRCDIR/include" -fplugin="$PLUGIN" -c plugged.c -o plugged.o 2>compile.log &&
	$FX_CXX -std=c++20 -O0 "-I$FX_SRCDIR/include" "${hooks[@]}" -pthread together.cc plugged.o -o together-O0 2>>compile.log &&
	$FX_CXX -std=c++20 -O2 "-I$FX_SRCDIR/include" "${hooks[@]}" -pthread together.cc plugged.o -o together-O2 2>>compile.log ||
	fail "does not compile: $(cat compile.log)"
nm plugged.o | grep -q '__fxtrace' || fail "the plugin has done nothing"
nm together-O2 | grep -q '__cyg_profile_func_enter' || fail "there are no hooks"

# record_together PROGRAM SIGNALS
record_together() {
	rm -f share
	"$FXTRACE" run -o trace.fxt -b 16M --on-full block -c function,m,syscall,malloc,pthread:all,process -- "./$1" share "$2"
}

ends_by_itself() {
	for program in together-O0 together-O2; do
		expect_ok ./$program share 20 # without a tracer
		expect_ok record_together $program 30
		cp err told
		expect_no_line 'crossing\|crossed\|lost\|left out' told
		expect_clean trace.fxt
		list_archive trace.fxt
		python3 together.py share whole <events >said || fail "$program: $(cat said)"
		expect_events 1+ 'category == "m" && name == "handled"'
		expect_events 1+ 'category == "malloc" && name == "malloc"'
		expect_events 1+ 'category == "pthread" && name == "pthread_mutex_lock"'
	done
}

has_sent() {
	[ "$(od -An -v -t u8 -j 8 -N 8 share 2>/dev/null | tr -d ' ')" -ge "$1" ] 2>/dev/null
}

is_killed() {
	for sent in 5 20; do
		rm -f share
		record_together together-O2 0 >out 2>told &
		run=$!
		wait_for 30 has_sent $sent || fail "the program does not start: $(cat told)"
		kill -9 "$(od -An -v -t u8 -N 8 share | tr -d ' ')"
		wait "$run"
		expect_equal 137 $? "status of run"
		expect_clean trace.fxt
		list_archive trace.fxt
		python3 together.py share killed <events >said || fail "killed: $(cat said)"
	done
}

ends_by_itself
is_killed
