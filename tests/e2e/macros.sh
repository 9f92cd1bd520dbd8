#!/bin/bash
# SPDX-License-Identifier: MIT
# The macros of <fxtrace/event.h>: what a program says of itself, in C and C++, wherever it stands; and that nothing is left
# of it without a tracer, without its category, and with NTRACE.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

include=-I$FX_SRCDIR/include
run_with() {
	expect_ok "$FXTRACE" run -q -o trace.fxt "$@"
	mv out told
	expect_clean trace.fxt
	list_archive trace.fxt
}

# --- C: each macro, each value, 0 to 15 arguments -----------------------------------------------------

{
	cat <<'END'
#include <fxtrace/event.h>
#include <stdio.h>
static int evaluated;
static int count(void) { return ++evaluated; }
static void nested(int i)
{
	TRACE_DURATION("c", "outer", "i", TA_INT32(i));
	{
		char room[64];
		TRACE_DURATION("c", "middle");
		room[i] = 0;
		__asm__ volatile("" : : "r"(room) : "memory");
		TRACE_DURATION("c", "inner");
		if (i) TRACE_INSTANT("c", "leaf", TRACE_SCOPE_THREAD);
		else TRACE_INSTANT("c", "no leaf", TRACE_SCOPE_PROCESS);
	}
}
int main(void)
{
	uint64_t id = TRACE_NONCE(), other = TRACE_NONCE();
	const char *names[] = {"first", "second"};
	TRACE_INSTANT("c", "values", TRACE_SCOPE_GLOBAL, "null", TA_NULL(), "bool", TA_BOOL(7), "int32", TA_INT32(-5),
		      "uint32", TA_UINT32(4000000000), "int64", TA_INT64(-5000000000), "uint64", TA_UINT64(~0ull),
		      "double", TA_DOUBLE(2.5), "chars", TA_CHAR_ARRAY("abcdef", 3), "string", TA_STRING("text"),
		      "none", TA_STRING(NULL), "pointer", TA_POINTER(4096), "koid", TA_KOID(9),
		      "literal", TA_STRING_LITERAL("lit"), "empty", TA_STRING(""));
	nested(0);
	nested(1);
	TRACE_COUNTER("c", "queue", 7, "waiting", TA_INT32(3), "done", TA_UINT64(5));
	TRACE_ASYNC_BEGIN("c", "request", id, "a", TA_INT32(1));
	TRACE_ASYNC_INSTANT("c", "request", id);
	TRACE_DURATION_BEGIN("c", "phase", "k", TA_KOID(5));
	TRACE_FLOW_BEGIN("c", "flow", id);
	TRACE_DURATION_END("c", "phase");
	TRACE_DURATION_BEGIN("c", "later");
	TRACE_FLOW_STEP("c", "flow", id);
	TRACE_FLOW_END("c", "flow", id);
	TRACE_DURATION_END("c", "later", "at", TA_STRING("its end"));
	TRACE_ASYNC_END("c", "request", id);
	TRACE_INSTAFLOW_BEGIN("c", "insta", "step one", other);
	TRACE_INSTAFLOW_STEP("c", "insta", "step two", other, "a", TA_INT32(4));
	TRACE_INSTAFLOW_END("c", "insta", "step three", other);
	TRACE_ALERT("c", "enough");
	TRACE_ALERT("off", "not enough");
	for (int i = 0; i < 2; i++)
		TRACE_INSTANT("c", names[i], TRACE_SCOPE_THREAD);
	TRACE_INSTANT("off", "off", TRACE_SCOPE_THREAD, "n", TA_INT32(count()));
	{
		TRACE_DURATION("off", "off", "n", TA_INT32(count()));
	}
	TRACE_INSTANT("c", "counted", TRACE_SCOPE_THREAD, "n", TA_INT32(count()));
END
	arguments=
	for n in $(seq 0 15); do
		printf '\tTRACE_INSTANT("c", "args%d", TRACE_SCOPE_THREAD%s);\n' "$n" "$arguments"
		printf '\t{ TRACE_DURATION("c", "scope%d"%s); }\n' "$n" "$arguments"
		arguments="$arguments, \"k$n\", TA_INT32($n)"
	done
	cat <<'END'
	printf("%d %d %d %d %d\n", TRACE_ENABLED(), TRACE_CATEGORY_ENABLED("c"), TRACE_CATEGORY_ENABLED("off"), evaluated, id != other);
	return 0;
}
END
} >c.c

for options in "-O0 -std=c11" "-O2 -std=gnu11" "-O2 -no-pie -fno-pie" "-O2 -flto" "-O1 -fno-exceptions -finstrument-functions"; do
	# shellcheck disable=SC2086 # several
	compile c $options -Wall -Wextra -Werror $include c.c
	expect_ok ./c
	expect_line '^0 0 0 0 0$' out
	run_with --categories c -- ./c
	expect_line '^1 1 0 1 1$' told
	expect_events 1 'name == "values" && has("null=null") && has("bool=true") && has("int32=-5") && has("uint32=4000000000") &&
		has("int64=-5000000000") && has("uint64=18446744073709551615") && has("double=2.5") && has("chars=abc") &&
		has("string=text") && has("none=null") && has("koid=9") && has("literal=lit")'
	expect_events 2 'type == "complete" && name == "outer"'
	expect_events 2 'type == "complete" && name == "inner"'
	expect_events 1 'type == "instant" && name == "leaf"'
	expect_events 1 'type == "instant" && name == "no leaf"'
	expect_events 1 'type == "counter" && name == "queue" && has("waiting=3") && has("done=5")'
	expect_events 1 'type == "async-begin" && name == "request" && has("a=1")'
	expect_events 1 'type == "async-instant" && name == "request"'
	expect_events 1 'type == "async-end" && name == "request"'
	expect_events 1 'type == "flow-begin" && name == "flow"'
	expect_events 1 'type == "flow-step" && name == "flow"'
	expect_events 1 'type == "flow-end" && name == "flow"'
	expect_events 1 'type == "flow-step" && name == "insta"'
	expect_events 1 'type == "complete" && name == "step two" && has("a=4")'
	expect_events 1 'type == "begin" && name == "phase" && has("k=5")'
	expect_events 1 'type == "end" && name == "later" && has("at=its end")'
	expect_events 1 'name == "first"'
	expect_events 1 'name == "second"'
	expect_events 0 'category == "off"'
	expect_events 1 'name == "counted" && has("n=1")'
	expect_events 16 'type == "instant" && name ~ /^args/ && NF - 9 == substr(name, 5)'
	expect_events 16 'type == "complete" && name ~ /^scope/ && NF - 9 == substr(name, 6)'
	# Each inner one lies in the one around it.
	awk -F'\t' '$1 == "complete" && $7 == "inner" { s[++n] = $8; e[n] = $9 }
		$1 == "complete" && $7 == "middle" { if ($8 > s[++m] || $9 < e[m]) exit 1; ms[m] = $8; me[m] = $9 }
		$1 == "complete" && $7 == "outer" { if ($8 > ms[++o] || $9 < me[o]) exit 1 }
		END { if (o + 0 != 2) exit 1 }' events || fail "does not nest: $(cat events)"
done

expect_ok "$FXTRACE" run -q -o trace.fxt -c c -m circular --trigger enough:snapshot --trigger "not enough:stop" -- ./c
[ "$(printf '%s\n' trace*.fxt | wc -l)" -eq 2 ] || fail "no snapshot: $(echo trace*.fxt)"
rm -f trace*.fxt

# Sources of Fuchsia's find it under its own names.
printf '#include <trace/event.h>\n#include <lib/trace/event.h>\nvoid f(void); void f(void) { TRACE_DURATION("a", "b"); }\n' >there.c
compile there.o -c "$include" "$include/fxtrace/fuchsia" there.c

compile c -DNTRACE -O0 -Wall -Wextra -Werror -Wno-unused $include c.c
expect_ok ./c
nm c | grep -i fxtrace && fail "NTRACE leaves something"
readelf -SW c | grep -i fxtrace && fail "NTRACE leaves a section"

printf '#include <fxtrace/event.h>\nvoid f(void) { TRACE_INSTANT("c", "n", 0, "key"); }\n' >odd.c
# shellcheck disable=SC2086
$FX_CC -c $include odd.c -o odd.o >odd.log 2>&1 && fail "a key without its value is taken"

# --- C++: types are deduced, temporaries live as long as they must --------------------------------------

cat >cxx.cc <<'END'
#include <fxtrace/event.h>
#include <setjmp.h>
#include <string>
#include <string_view>
#include <vector>
enum class color : unsigned char { red = 3 };
enum plain { one = 1 };
static int evaluated;
__attribute__((unused)) static int count() { return ++evaluated; }
template <typename T> struct box {
	T v;
	void show() { TRACE_DURATION("cxx", "box", "v", v); }
};
inline std::string made() { return std::string("a temporary of more than a few bytes"); }
#ifdef __EXCEPTIONS
static void raise() { TRACE_DURATION("cxx", "thrown"); throw 1; }
#endif
static jmp_buf back;
static void jump() { TRACE_DURATION("cxx", "left"); longjmp(back, 1); }
int main()
{
	[[maybe_unused]] const char array[] = "array";
	[[maybe_unused]] std::string_view view("view of it", 4);
	[[maybe_unused]] bool flag = true;
	{
		TRACE_DURATION("cxx", "values", "string", made(), "view", view, "array", array, "bool", flag, "int", -5,
			       "unsigned", 5u, "long", -6l, "size", sizeof(int), "double", 2.5, "float", 0.5f,
			       "null", nullptr, "enum", color::red, "plain", one, "pointer", (void *)4096, "ta", TA_KOID(8));
		std::vector<std::string> others(100, made());
		flag = false;
	}
	TRACE_INSTANT("cxx", "now", TRACE_SCOPE_THREAD, "string", made(), "count", count());
	TRACE_INSTANT("off", "now", TRACE_SCOPE_THREAD, "count", count());
	box<int>{5}.show();
	box<std::string>{"s"}.show();
#ifdef __EXCEPTIONS
	try { raise(); } catch (int) {}
#endif
	static int i;
	for (i = 0; i < 3; i++) {
		TRACE_DURATION("cxx", "loop", "i", i);
		if (!setjmp(back))
			jump();
	}
	TRACE_COUNTER("cxx", "evaluated", 0, "n", evaluated);
	return 0;
}
END
for options in "-O0" "-O2 -std=c++17" "-O2 -std=c++20 -flto" "-O2 -fno-exceptions" "-O1 -no-pie -fno-pie"; do
	# shellcheck disable=SC2086
	compile cxx -std=c++17 $options -Wall -Wextra -Werror $include cxx.cc
	expect_ok ./cxx
	run_with --categories cxx -- ./cxx
	expect_events 1 'type == "complete" && name == "values" && has("string=a temporary of more than a few bytes") && has("view=view") &&
		has("array=array") && has("bool=true") && has("int=-5") && has("unsigned=5") && has("long=-6") && has("size=4") &&
		has("double=2.5") && has("float=0.5") && has("null=null") && has("enum=3") && has("plain=1") && has("ta=8")'
	expect_events 1 'name == "now" && has("count=1")'
	expect_events 1 'name == "box" && has("v=5")'
	expect_events 1 'name == "box" && has("v=s")'
	expect_events 3 'type == "complete" && name == "loop"'
	expect_events 3 'type == "complete" && name == "left"'
	[ "${options%-fno-exceptions}" != "$options" ] || expect_events 1 'type == "complete" && name == "thrown"'
	expect_events 1 'name == "evaluated" && has("n=1")'
done
compile cxx -std=c++17 -DNTRACE -O0 -Wall -Wextra $include cxx.cc
nm cxx | grep -i fxtrace && fail "NTRACE leaves something of C++"

# --- Threads, handlers, children, libraries, kill -9 ------------------------------------------------------

cat >lib.c <<'END'
#include <fxtrace/event.h>
void in_library(void);
void in_library(void) { TRACE_DURATION("w", "library"); }
END
compile lib.so -shared -fPIC $include lib.c
cat >world.c <<'END'
#include <fxtrace/event.h>
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static void handler(int s) { TRACE_DURATION("w", "handler", "signal", TA_INT32(s)); TRACE_INSTANT("w", "handled", 0); }
static void *thread(void *unused)
{
	for (int i = 0; i < 1000; i++) {
		TRACE_DURATION("w", "thread", "i", TA_INT32(i));
		TRACE_DURATION("w", "in thread");
	}
	return unused;
}
static void work(int depth)
{
	TRACE_DURATION("w", "work", "depth", TA_INT32(depth));
	if (depth)
		work(depth - 1);
	else
		raise(SIGUSR1);
}
int main(void)
{
	pthread_t threads[4];
	char *text = malloc(40001);
	void *library;
	signal(SIGUSR1, handler);
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], 0, thread, 0);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], 0);
	work(10);
	memset(text, 'x', 40000);
	text[40000] = 0;
	TRACE_INSTANT("w", "long", 0, "text", TA_STRING(text), "behind", TA_INT32(7));
	memcpy(text, "\n\t\001", 3);
	TRACE_INSTANT("w", "control", 0, "text", TA_CHAR_ARRAY(text, 3));
	for (int i = 0; i < 3; i++) {
		void (*in_library)(void);
		library = dlopen("./lib.so", RTLD_NOW);
		*(void **)&in_library = dlsym(library, "in_library");
		in_library();
		dlclose(library);
	}
	{
		TRACE_DURATION("w", "forks");
		if (fork() == 0) {
			work(0);
			TRACE_INSTANT("w", "child", 0);
			return 0; /* closes a scope that its parent has opened */
		}
		wait(NULL);
	}
	if (fork() == 0) {
		TRACE_DURATION("w", "killed", "a", TA_INT32(1));
		TRACE_INSTANT("w", "last", 0);
		kill(getpid(), SIGKILL);
	}
	wait(NULL);
	return 0;
}
END
for options in "-O0" "-O2 -finstrument-functions"; do
	# shellcheck disable=SC2086
	compile world $options -Wall -Wextra -Werror $include world.c -ldl
	run_with -- ./world
	expect_events 4000 'type == "complete" && category == "w" && name == "thread"'
	expect_events 4000 'type == "complete" && name == "in thread"'
	expect_events 12 'type == "complete" && category == "w" && name == "work"'
	expect_events 2 'type == "complete" && category == "w" && name == "handler" && has("signal=10")'
	expect_events 2 'name == "handled"'
	expect_events 1 'name == "long" && /text=xxxxxxxxxx/ && has("behind=7")'
	expect_events 1 'name == "control"'
	expect_events 3 'type == "complete" && category == "w" && name == "library"'
	expect_events 1 'type == "complete" && name == "forks"'
	expect_events 1 'name == "child"'
	# Each call of work() has its duration in it, which has the next call in it.
	case $options in
	*instrument*)
		awk -F'\t' '$1 == "complete" && $7 == "work" && !/depth=0/ { print $8, $9, $2, $6 }' events | sort -n >works
		awk '$3 != pid { pid = $3; end = 0; want = "function" }
			$4 != want || (end && $2 > end) { exit 1 }
			{ end = $2; want = want == "w" ? "function" : "w"; n++ }
			END { exit n == 22 ? 0 : n ? 2 : 1 }' works || fail "calls and durations do not alternate: $(cat works)"
		;;
	esac
	expect_events 1 'name == "last"'
	# What was open when it was killed is shown up to then.
	expect_events 1 'type == "complete" && has("unfinished=true") && category == "w" && name == "killed"'
done

# --- What leaves durations in every way ----------------------------------------------------------------------

cat >hard.c <<'END'
#define _GNU_SOURCE
#include <fxtrace/event.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>
static ucontext_t main_context, other_context;
static char stack[65536];
static jmp_buf back;
static void coroutine(void)
{
	for (;;) {
		TRACE_DURATION("h", "coroutine");
		swapcontext(&other_context, &main_context);
	}
}
__attribute__((noinline)) static void deep(int n)
{
	TRACE_DURATION("h", "deep", "n", TA_INT32(n));
	if (n)
		deep(n - 1);
	else
		longjmp(back, 1);
}
/* Jumps within one function, over durations that begin again and again. */
__attribute__((noinline)) static void over(int n)
{
	for (volatile int i = 0; i < n; i++) {
		jmp_buf here;
		TRACE_DURATION("h", "A");
		if (!setjmp(here)) {
			TRACE_DURATION("h", "B");
			TRACE_DURATION("h", "C");
			longjmp(here, 1);
		}
	}
}
static void tick(int s)
{
	TRACE_DURATION("h", "tick");
	TRACE_INSTANT("h", "tock", TRACE_SCOPE_THREAD, "s", TA_STRING(s ? "x" : ""));
}
static void *worker(void *unused)
{
	for (int i = 0; i < 20000; i++) {
		TRACE_DURATION("h", "work", "i", TA_INT64(i), "s", TA_STRING("text"));
		if (i % 1000 == 0)
			over(3);
		TRACE_COUNTER("h", "curve", 1, "v", TA_DOUBLE(i));
	}
	return unused;
}
static void leave(void)
{
	TRACE_DURATION("h", "leave");
	pthread_exit(0);
}
static void *leaver(void *unused)
{
	TRACE_DURATION("h", "leaver");
	leave();
	return unused;
}
int main(void)
{
	struct itimerval often = {{0, 300}, {0, 300}}, never = {{0, 0}, {0, 0}};
	pthread_t threads[4];
	signal(SIGPROF, tick);
	setitimer(ITIMER_PROF, &often, 0);
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], 0, worker, 0);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], 0);
	getcontext(&other_context);
	other_context.uc_stack.ss_sp = stack;
	other_context.uc_stack.ss_size = sizeof stack;
	makecontext(&other_context, coroutine, 0);
	for (int i = 0; i < 10; i++) {
		TRACE_DURATION("h", "around");
		swapcontext(&main_context, &other_context);
	}
	for (volatile int i = 0; i < 20; i++)
		if (!setjmp(back))
			deep(i);
	for (int i = 0; i < 20; i++) {
		pthread_create(&threads[0], 0, leaver, 0);
		pthread_join(threads[0], 0);
	}
	over(2000);
	for (int i = 0; i < 50; i++) {
		if (fork() == 0) {
			TRACE_INSTANT("h", "child", TRACE_SCOPE_THREAD);
			if (i % 2)
				_exit(0);
			return 0;
		}
		TRACE_INSTANT("h", "parent", TRACE_SCOPE_THREAD);
	}
	while (wait(NULL) > 0)
		;
	setitimer(ITIMER_PROF, &never, 0);
	return 0;
}
END
for options in "-O0" "-O2 -finstrument-functions"; do
	# shellcheck disable=SC2086
	compile hard $options -w $include hard.c
	run_with --on-full block -c h,function -- ./hard
	expect_events 80000 'type == "complete" && category == "h" && name == "work"'
	expect_events 80000 'type == "counter" && name == "curve"'
	expect_events 210 'type == "complete" && category == "h" && name == "deep"'
	expect_events 10 'type == "complete" && category == "h" && name == "around"'
	expect_events 20 'type == "complete" && category == "h" && name == "leave"'
	expect_events 20 'type == "complete" && category == "h" && name == "leaver"'
	expect_events 2240 'type == "complete" && category == "h" && name == "C"'
	expect_events 50 'name == "child"'
	expect_events 50 'name == "parent"'
done

# --- Categories ------------------------------------------------------------------------------------------------

expect_ok "$FXTRACE" run -o trace.fxt -c w -- ./world
expect_no_line 'no process knew' err
