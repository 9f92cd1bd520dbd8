#!/bin/bash
# SPDX-License-Identifier: MIT
# Where descriptors, memory, files or threads run out, or signals come late: the program runs and ends as ever, its status
# is ours, and a line says what there was too little of.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
not_sanitized "a sanitizer needs more of everything"

cat >calls.c <<'SOURCE'
#include <stdio.h>
#include <stdlib.h>

__attribute__((noinline)) static void step(void)
{
	__asm__ volatile("");
}

int main(int argc, char **argv)
{
	for (int i = argc > 1 ? atoi(argv[1]) : 100; i > 0; i--)
		step();
	puts("done");
	return 3;
}
SOURCE
compile calls calls.c -O1 -finstrument-functions

# Both ways round: the program, and what is said. A shell's output is no file that may be too large.
expect_scarce() { # WHAT LIMIT COMMAND...
	local what=$1 limit=$2 status

	shift 2
	rm -f trace.fxt
	# shellcheck disable=SC2086 # an option and its value
	(
		ulimit $limit || exit 77
		timeout -k 1 60 "$@" 2>&1
		echo "status $?"
	) | cat >said
	status=$(sed -n 's/^status //p' said)
	expect_equal 3 "$status" "status at ulimit $limit: $(cat said)"
	expect_line '^done$' said
	[ -z "$what" ] || expect_line "$what" said
	expect_no_line 'never loaded' said
}

# --- Descriptors -----------------------------------------------------------------------------------

for n in {4..24}; do
	expect_scarce '' "-n $n" "$FXTRACE" run -o trace.fxt ./calls
	if [ -e trace.fxt ]; then
		expect_clean trace.fxt
		list_archive trace.fxt
		expect_events 100 'name == "step"'
		expect_no_line 'too many open files' said
	else
		expect_line '^fxtrace: nothing is traced: .*: too many open files; a larger ulimit -n ' said
	fi
done
[ -e trace.fxt ] || fail "24 descriptors are not enough"

# Enough for one process: others are turned away at once, each by its name.
(
	ulimit -n 24
	timeout 60 "$FXTRACE" run -o trace.fxt -- sh -c '
		for i in 1 2 3 4 5 6 7 8 9 10; do ./calls >/dev/null & done; wait; exec ./calls' 2>&1
	echo "status $?"
) | cat >said
expect_line '^status 3$' said
expect_clean trace.fxt
[ "$(grep -c 'cannot be traced: too many open files' said)" -gt 0 ] ||
	expect_line '1[0-9] processes' said

# Limits that can be raised are, for us alone.
expect_scarce '' "-Sn 9" "$FXTRACE" run -o trace.fxt -- bash -c 'echo "it has $(ulimit -n)"; exec ./calls'
expect_line '^it has 9$' said
expect_clean trace.fxt
list_archive trace.fxt
expect_events 100 'name == "step"'

# A program that has used up all of its own: where it might raise its limit, its children and what it becomes are traced
# as ever, and have the limit that it had. Where it might not, they run, and are counted.
cat >full.c <<'SOURCE'
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline)) static void step(void)
{
	__asm__ volatile("");
}

/* full FREE [PROGRAM...]: leaves so many free, then becomes the program, or has a child. */
__attribute__((no_instrument_function)) int main(int argc, char **argv)
{
	struct rlimit limit;
	int status, last = -1, fd;

	while ((fd = dup(1)) >= 0)
		last = fd;
	for (int n = atoi(argv[1]); n > 0; n--)
		close(last--);
	if (argc > 2)
		return execv(argv[2], argv + 2);
	if (fork() == 0) {
		for (int i = 0; i < 100; i++)
			step();
		getrlimit(RLIMIT_NOFILE, &limit);
		_exit(limit.rlim_cur == 100 ? 3 : 1);
	}
	wait(&status);
	puts("done");
	return WEXITSTATUS(status);
}
SOURCE
compile full full.c -O1 -finstrument-functions
for free in 0 1 2 3 4; do
	for becomes in '' ./calls; do
		# The dynamic linker wants one itself.
		[ $free -gt 0 ] || [ -z "$becomes" ] || continue
		expect_scarce '' '-Sn 100' "$FXTRACE" run -o trace.fxt -- ./full $free $becomes
		expect_no_line 'descriptor' said
		expect_clean trace.fxt
		list_archive trace.fxt
		expect_events 100 'name == "step"'
		expect_scarce '' '-n 100' "$FXTRACE" run -o trace.fxt -- ./full $free $becomes
		expect_clean trace.fxt
		list_archive trace.fxt
		[ "$(count_events 'name == "step"')" -eq 100 ] ||
			expect_line '^fxtrace: 1 process ended before .*, or had no descriptor free for it$' said
	done
done

# A manager of the program's own has what the program has.
for n in 6 9 12 15; do
	expect_scarce '' "-n $n" env FXTRACE_OUTPUT="$TEST_DIR/own.fxt" LD_PRELOAD="$LIBFXTRACE" ./calls
done

# --- Sizes of files --------------------------------------------------------------------------------

for f in 0 1 8 100; do
	expect_scarce 'file too large; a larger ulimit -f ' "-f $f" "$FXTRACE" run -o trace.fxt ./calls
	[ ! -e trace.fxt ] || expect_clean trace.fxt
done
expect_scarce '' "-Sf 7" "$FXTRACE" run -o trace.fxt -- bash -c 'echo "it has $(ulimit -f)"; exec ./calls'
expect_line '^it has 7$' said
expect_clean trace.fxt

# A child's own memory would be larger than files may be, and it does not hear of that: it asks for some.
cat >sized.c <<'END'
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile int came;
static void note(int signal)
{
	came = 2;
}
int main(int argc, char **argv)
{
	struct rlimit limit = {4096, 4096};
	sigset_t set;
	int status;
	pid_t child;

	sigemptyset(&set);
	sigaddset(&set, SIGXFSZ);
	signal(SIGXFSZ, note);
	if (atoi(argv[1]))
		sigprocmask(SIG_BLOCK, &set, NULL);
	setrlimit(RLIMIT_FSIZE, &limit);
	child = fork();
	if (child == 0) {
		sigpending(&set);
		_exit(sigismember(&set, SIGXFSZ) + came);
	}
	return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : 99;
}
END
compile sized -O1 -w -D_GNU_SOURCE sized.c
for blocked in 0 1; do
	expect_status 0 "$FXTRACE" run -o trace.fxt -- ./sized $blocked
	expect_line '^fxtrace: trace.fxt: .* 2 processes' err
	expect_clean trace.fxt
done

# The archive alone grows too large; so does what is made of it.
expect_scarce 'File too large; the archive ends here' "-f $((40 * 1024))" \
	"$FXTRACE" run -o trace.fxt -c function -b 1M --on-full block -- ./calls 2500000
expect_clean trace.fxt
expect_ok "$FXTRACE" run -q -o small.fxt -- sh -c 'exit 0'
(
	ulimit -f 1
	"$FXTRACE" convert -f json small.fxt small.json 2>&1
	echo "status $?"
) | cat >said
expect_line '^status 1$' said
expect_line 'small.json: File too large' said
[ ! -e small.json ] || fail "half a conversion is left"

# --- Files that may not be read --------------------------------------------------------------------

# A program that may be run and not read: neither is its file, nor what /proc says of it. And one whose debug file may
# not: its names are in that one alone. Root may read everything.
expect_unread() { # WHAT PROGRAM
	local status=0

	rm -f shared/trace.fxt
	"${other[@]}" "$FXTRACE" run -o shared/trace.fxt "$2" >out 2>err || status=$?
	expect_equal 3 "$status" "status of $2: $(cat err)"
	expect_line '^done$' out
	expect_equal "fxtrace: $2: $1; its functions are shown by their addresses" "$(grep -F "$2" err)" "lines about $2"
	expect_line '^fxtrace: shared/trace.fxt: .* 1 process, 1 thread, 10[34] events' err
	expect_equal 2 "$(wc -l <err)" "lines on stderr: $(cat err)"
	expect_clean shared/trace.fxt
	list_archive shared/trace.fxt
	expect_events 101 "category == \"function\" && name ~ /^${2##*/}\\+0x/"
	# How it ended is known or not, and never said to be otherwise.
	expect_events 0 'name == "process exits" && /exited=/ && !has("exited=3")'
}

unread() {
	local other=(setpriv --reuid=12345 --regid=12345 --clear-groups)

	chmod 755 .
	"${other[@]}" test -r "$PWD/calls" || return 0
	mkdir -m 1777 shared
	cp calls sealed && chmod 711 sealed
	expect_unread "cannot be read" "$PWD/sealed"
	command -v objcopy strip >/dev/null || return 0
	objcopy --only-keep-debug calls apart.debug && strip -o apart calls &&
		objcopy --add-gnu-debuglink=apart.debug apart || fail "no debug file can be made"
	chmod 600 apart.debug
	expect_unread "has a debug file that cannot be read" "$PWD/apart"
	chmod 644 apart.debug
	expect_ok "${other[@]}" "$FXTRACE" run -q -o shared/trace.fxt -- sh -c './apart; exit 0'
	expect_equal '' "$(cat err)" "lines on stderr"
	list_archive shared/trace.fxt
	expect_events 100 'name == "step"'
}
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
	unread
fi

# --- Memory ----------------------------------------------------------------------------------------

for v in 30000 50000 80000 200000; do
	expect_scarce '' "-v $v" "$FXTRACE" run -o trace.fxt ./calls
	[ ! -e trace.fxt ] || expect_clean trace.fxt
done

# Narrow stacks, which the tracer has as the program does.
for s in 64 96 128; do
	expect_scarce '' "-s $s" "$FXTRACE" run -o trace.fxt ./calls
	expect_clean trace.fxt
	list_archive trace.fxt
	expect_events 100 'name == "step"'
	# A report that needs more does not take the status.
	expect_scarce '' "-s $s" "$FXTRACE" run --report -o trace.fxt ./calls
done

# And where an environment takes most of one. What leaves the program room enough is enough for every command.
expect_narrow() { # STATUS COMMAND...
	local status=0

	env -i PATH="$PATH" HOME="$PWD" LARGE="$large" prlimit --stack=65536 "${@:2}" >out 2>err || status=$?
	expect_equal "$1" "$status" "status of ${*:2} on a narrow stack: $(cat err)"
}
if command -v prlimit >/dev/null; then
	for size in 10000 30000 40000; do
		large=$(head -c $size /dev/zero | tr '\0' x)
		expect_narrow 3 ./calls
		rm -f trace.fxt
		expect_narrow 3 "$FXTRACE" run -o trace.fxt ./calls
		expect_line '^done$' out
		expect_clean trace.fxt
		list_archive trace.fxt
		expect_events 100 'name == "step"'
		expect_narrow 0 "$FXTRACE" report trace.fxt
		expect_line ' step$' out
		expect_narrow 0 "$FXTRACE" convert trace.fxt trace.json
		# By itself it has a manager of its own.
		expect_narrow 3 env LD_PRELOAD="$LIBFXTRACE" FXTRACE_OUTPUT=alone.fxt ./calls
		wait_for 60 test -e alone.fxt
	done
fi

# --- Signals while the archive is completed --------------------------------------------------------

# A reader who takes his time keeps it from being complete.
mkfifo pipe
for signal in INT TERM HUP QUIT; do
	rm -f go
	{
		head -c 1
		wait_for 60 test -e go
		cat
	} <pipe >read.fxt &
	env --default-signal=INT,QUIT "$FXTRACE" run -o pipe -c function -- ./calls 100000 >out 2>err &
	run=$!
	wait_for 60 grep -q 'done' out || fail "the program does not run"
	no_child() { [ -z "$(cat /proc/$run/task/$run/children)" ]; }
	wait_for 60 no_child || fail "the program does not end"
	sleep 0.1
	kill -$signal $run
	kill -$signal $run
	: >go
	wait $run
	expect_equal 3 $? "status after SIG$signal: $(cat err)"
	expect_line '^fxtrace: pipe: .* 1 process, .* 10000[0-9] events' err
	wait
	expect_clean read.fxt
done

# --- System calls that fail, each in its turn ------------------------------------------------------

# Some sandboxes let nobody trace.
command -v strace >/dev/null && strace -o calls.log true 2>/dev/null || exit 0
expect_failing() { # CALL ERROR
	local n

	for n in {1..20}; do
		rm -f trace.fxt
		timeout -k 1 60 strace -o calls.log -e trace="$1" -e inject="$1:error=$2:when=$n" \
			"$FXTRACE" run -o trace.fxt ./calls >out 2>err
		expect_equal 3 $? "status when $1 fails by $2, $n: $(cat err)"
		expect_line '^done$' out
		expect_line '^fxtrace: ' err
		expect_no_line 'never loaded' err
		[ ! -e trace.fxt ] || expect_clean trace.fxt
		grep -q INJECTED calls.log || break
	done
}
for call in memfd_create epoll_create1 eventfd2 signalfd4 pidfd_open accept4 pipe2; do
	expect_failing $call EMFILE
done
for call in socket bind listen; do
	expect_failing $call ENOMEM
done
expect_failing clone3 EAGAIN
