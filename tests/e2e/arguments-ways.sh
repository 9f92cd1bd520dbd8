#!/bin/bash
# SPDX-License-Identifier: MIT
# --args and --retval in all ways that a program comes by them: as it begins, in children and what they become, in libraries that are
# loaded later, by variable, in a session of a manager's; without debug information; with pointers that lead nowhere; of calls
# that never end, are left by a jump or by an exception, or recur.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

# On other machines that is said, and nothing is shown: not that values were optimised out.
if [ "$(uname -m)" != x86_64 ]; then
	echo '__attribute__((noinline)) int next(int x) { return x + 1; } int main(int argc, char **argv) { (void)argv; return next(argc) != 2; }' >few.c
	compile few -g -finstrument-functions few.c
	for option in --args --retval; do
		expect_one_error 2 "$FXTRACE" run "$option" next -o trace.fxt -- ./few
		expect_line '--args and --retval need x86-64' err
	done
	FXTRACE_ARGS=next FXTRACE_RETVAL=next "$FXTRACE" run -o trace.fxt -- ./few 2>err || fail "status $?: $(cat err)"
	expect_line 'show nothing on this machine' err
	expect_clean trace.fxt
	"$FXTRACE" dump trace.fxt >dump
	expect_line 'name="next"' dump
	expect_no_line 'optimised out|"ret"' dump
	exit 0
fi

cat >prog.c <<'END'
#include <dlfcn.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
static jmp_buf back;
static volatile long sink;
struct pair { int left; double right; };
__attribute__((noinline)) int add(int a, int b) { return a + b; }
__attribute__((noinline)) const char *name(const char *s, long n) { sink += n; return s; }
__attribute__((noinline)) struct pair twin(struct pair p) { p.left *= 2; p.right *= 2; return p; }
__attribute__((noinline)) int down(int n) { return n ? down(n - 1) + 1 : 0; }
__attribute__((noinline)) void leap(int n) { if (n) leap(n - 1); else longjmp(back, 1); }
__attribute__((noinline)) void ends(int how, const char *why) { sink = why[0]; if (how) raise(SIGKILL); }
__attribute__((noinline)) void child(int n) { sink += n; }
int main(int argc, char **argv)
{
	struct pair p = {21, 0.25};
	const char *way = argc > 1 ? argv[1] : "";
	long page = sysconf(_SC_PAGESIZE);
	char *two = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!strcmp(way, "wait"))
		for (sink = 0; access("go", F_OK); usleep(1000))
			add(0, 0);
	add(2, 3);
	munmap(two + page, page);
	memcpy(two + page - 6, "edge!", 6);
	name(two + page - 6, 1);
	memset(two, 'y', page);
	name(two + page - 6, 2);
	name((const char *)8, 3);
	name(NULL, 4);
	name(two + page, 5);
	twin(p);
	down(3);
	if (!setjmp(back))
		leap(2);
	if (!strcmp(way, "fork")) {
		if (fork() == 0) {
			child(77);
			if (fork() == 0) {
				child(78);
				_exit(0);
			}
			wait(NULL);
			execl(argv[0], argv[0], (char *)NULL);
		}
		wait(NULL);
	}
	if (!strcmp(way, "load")) {
		int (*of)(int) = (int (*)(int))dlsym(dlopen("./libof.so", RTLD_NOW), "of");
		for (int i = 0; i < 3000; i++) {
			of(i);
			usleep(1000);
		}
	}
	ends(!strcmp(way, "killed"), "because");
	return 0;
}
END
cat >of.c <<'END'
__attribute__((noinline)) int of(int i) { return i * 3; }
END
cat >throws.cc <<'END'
static volatile long sink;
__attribute__((noinline)) int thrown(int i) { if (i > 1) throw i; return i + 10; }
__attribute__((noinline)) int catches(int i) { try { return thrown(i); } catch (int caught) { return caught; } }
int main() { sink = catches(1); sink = catches(2); return 0; }
END
compile prog -g -O1 -finstrument-functions prog.c -ldl
compile libof.so -g -O1 -finstrument-functions -shared -fPIC of.c

# values FUNCTION ARCHIVE: the arguments of its calls, in order.
values() {
	list_archive "$2"
	sort -t "$(printf '\t')" -k 8n events | awk -F'\t' -v name="$1" '$7 == name {
		line = ""
		for (i = 10; i <= NF; i++) line = line (line == "" ? "" : " ") $i
		print line
	}'
}

# expect_values WANT FUNCTION ARCHIVE: WANT has a line for each call.
expect_values() {
	values "$2" "$3" >got
	expect_equal "$1" "$(cat got)" "values of $2 in $3"
}

# expect_all ARCHIVE: what each run of the program has.
expect_all() {
	expect_values "a=2 b=3 ret=5" add "$1"
	expect_equal "s=edge! n=1 ret=edge!" "$(values name "$1" | head -n 1)" "a text at the end of its page"
	expect_equal 4 "$(values name "$1" | grep -cE '^s=(0x[0-9a-f]+|[0-9]+) n=[2-5] ret=(0x[0-9a-f]+|[0-9]+)$')" \
		"texts that have no end, or are nowhere: $(values name "$1")"
	expect_values "p.left=21 p.right=0.25 ret.left=42 ret.right=0.5" twin "$1"
	expect_values $'n=3 ret=3\nn=2 ret=2\nn=1 ret=1\nn=0 ret=0' down "$1"
	# Nobody has seen what is returned by a call that was left.
	expect_values $'n=2\nn=1\nn=0' leap "$1"
}

traced -q --args '*' --retval '*' -- ./prog
expect_clean trace.fxt
expect_all trace.fxt
expect_values "how=0 why=because" ends trace.fxt
cp trace.fxt whole.fxt

# Those alone that match; the others as ever. What is not asked for is not there.
traced -q --args add --retval 'prog:t*' -- ./prog
expect_values "a=2 b=3" add trace.fxt
expect_values "ret.left=42 ret.right=0.5" twin trace.fxt
expect_equal 4 "$(values down trace.fxt | grep -c '^$')" "calls without values"

# Filters, minimal durations and depths go with it.
traced -q --args '*' -F add -F twin -- ./prog
expect_values "a=2 b=3" add trace.fxt
expect_equal '' "$(values down trace.fxt)" "what is filtered out"
traced -q --args '*' -D 3 -- ./prog
expect_values $'n=3\nn=2' down trace.fxt

# A call that the end has left open.
status=0
traced -q --args '*' -- ./prog killed || status=$?
expect_equal 137 "$status" "status of a program that is killed"
expect_equal "how=1 why=because unfinished=true" "$(values ends trace.fxt)" "a call that never ends"
expect_clean trace.fxt

# Children, theirs, and what they become.
traced -q --args '*' --retval '*' -- ./prog fork
expect_clean trace.fxt
expect_values $'n=77\nn=78' child trace.fxt
expect_values $'a=2 b=3 ret=5\na=2 b=3 ret=5' add trace.fxt

# A library that comes later: at first nothing is known of it, then all is. Before glibc 2.35 it has no name (doc/REQUIREMENTS.md).
if glibc_since 35; then
	traced -q --args 'of' --retval of -- ./prog load
	expect_clean trace.fxt
	values of trace.fxt >got
	expect_equal 3000 "$(wc -l <got)" "calls of a library that was loaded"
	awk 'NF && $0 != "i=" NR - 1 " ret=" 3 * (NR - 1) { print NR ": " $0; wrong = 1 } END { exit wrong }' got ||
		fail "values of a library that was loaded are wrong"
	expect_equal "i=2999 ret=8997" "$(tail -n 1 got)" "the last call of a library that was loaded, of $(grep -c i= got) with values"
else
	echo "a library that comes later is not looked at"
fi

# Exceptions return nothing.
compile throws -g -O0 -finstrument-functions throws.cc
traced -q --args '*' --retval '*' -- ./throws
expect_values $'i=1 ret=11\ni=2' 'thrown(int)' trace.fxt
expect_values $'i=1 ret=11\ni=2 ret=2' 'catches(int)' trace.fxt

# Without debug information, as uftrace spells it.
compile bare -O1 -finstrument-functions prog.c -ldl
traced -q --args 'add@arg1/i32,arg2/u8' --retval 'name@retval/s' --args 'down@arg1/i32,retval/i32' -- ./bare
expect_values "arg1=2 arg2=3" add trace.fxt
expect_values $'arg1=3 ret=3\narg1=2 ret=2\narg1=1 ret=1\narg1=0 ret=0' down trace.fxt
expect_equal "ret=edge!" "$(values name trace.fxt | head -n 1)" "a result without debug information"
traced --args 'add' -- ./bare 2>err
expect_line 'no function that matches --args or --retval has debug information; build with -g' err
traced --args 'no_such' -- ./prog 2>err
expect_line 'no function with hooks matches --args or --retval' err
traced --args '*' -- ./prog 2>err
expect_no_line 'args' err

# By variable, for a program that starts its manager itself.
mkdir private
(cd private && FXTRACE_ARGS='add' FXTRACE_RETVAL=$'add\ntwin' LD_PRELOAD=$LIBFXTRACE ../prog)
archive=$(echo private/prog.*.fxt)
wait_archive "$archive" || fail "a private manager has not completed its archive"
expect_values "a=2 b=3 ret=5" add "$archive"
expect_values "ret.left=42 ret.right=0.5" twin "$archive"

# In a session of a manager's: of a process that comes while it goes on, of one that was there before, and no longer in the next.
. "$FX_SRCDIR/tests/e2e/control.sh"
FX_TEST_MARK=$TEST_DIR manager_start
provider_start ./prog wait
wait_for 10 providers_are 1 || fail "no provider comes"
expect_ok "$FXTRACE" start --args add --retval '*' -o session.fxt
with_provider ./prog
touch go
wait "$PROVIDER"
expect_ok "$FXTRACE" stop
expect_ok "$FXTRACE" terminate
rm go
expect_clean session.fxt
expect_equal 2 "$(values add session.fxt | grep -cxF 'a=2 b=3 ret=5')" "in a session: $(values add session.fxt | sort | uniq -c)"
# A start goes on when the processes that are there know of their functions: here that takes as long as we like.
cp prog slow
provider_start ./slow wait
wait_for 10 providers_are 1 || fail "no provider comes"
starter=$(starters "$MANAGER")
kill -STOP "$starter" || fail "nothing starts readers: $starter"
"$FXTRACE" start --args add -o first.fxt &
start=$!
sleep 0.5
kill -0 "$start" || fail "a start does not wait for a file to be read"
kill -CONT "$starter"
wait "$start" || fail "start ends with $?"
has_values() { values add first.fxt | grep '^a=0 b=0$' >/dev/null; }
wait_for 30 has_values || fail "no values of a process that was there: $(values add first.fxt | sort | uniq -c)"
expect_ok "$FXTRACE" stop
expect_ok "$FXTRACE" terminate
expect_ok "$FXTRACE" start -o second.fxt
touch go
wait "$PROVIDER"
expect_ok "$FXTRACE" stop
expect_ok "$FXTRACE" terminate
expect_equal '' "$(values add second.fxt | grep a=)" "values in a session that wants none"
[ "$(values add second.fxt | wc -l)" -ge 1 ] || fail "no calls in a session that wants no values"
expect_clean first.fxt second.fxt

# What is no pattern.
expect_one_error 2 "$FXTRACE" run --args '' -- ./prog
expect_one_error 2 "$FXTRACE" run --args 'f@' -- ./prog
expect_one_error 2 "$FXTRACE" run --args 'f@arg0' -- ./prog
expect_one_error 2 "$FXTRACE" run --args 'f@arg1/z' -- ./prog
expect_one_error 2 "$FXTRACE" run --args 'f@arg1/i31' -- ./prog
expect_one_error 2 "$FXTRACE" run --args 'f@arg1,' -- ./prog
expect_one_error 2 "$FXTRACE" run --retval 'm:@retval' -- ./prog
expect_one_error 2 "$FXTRACE" run --args f --records pairs -- ./prog
expect_one_error 2 "$FXTRACE" run --retval f -c syscall -- ./prog
