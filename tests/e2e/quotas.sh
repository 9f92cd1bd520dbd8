#!/bin/bash
# SPDX-License-Identifier: MIT
# What one process, or all together, may take of memory: beyond it they run untraced, or with numbers for
# strings, and the summary says which option has more.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
. "$FX_SRCDIR/tests/e2e/control.sh"

# Three at a time, memory for two: all run, two are traced.
cat >three.sh <<'E2'
sleep 0.3 & sleep 0.3 &
wait
echo done
E2
expect_ok "$FXTRACE" run -o two.fxt -b 1M --max-memory 2M -- sh three.sh
expect_equal "done" "$(cat out)" "output of the program"
expect_line 'cannot be traced: its buffer would exceed --max-memory' err
expect_loss memory-short '[0-9]+' err
expect_clean two.fxt
expect_ok "$FXTRACE" run -o three.fxt -b 1M --max-memory 3M -- sh three.sh
expect_no_line 'memory' err
expect_one_error 2 "$FXTRACE" run --max-memory 0 -- true
expect_one_error 2 "$FXTRACE" run --max-strings much -- true

# The same with a manager, which says so in its status, and gives what the dead had to others.
manager_start -b 1M --max-memory 1M
provider_start sleep 100
first=$PROVIDER
wait_for 10 providers_are 1 || fail "the process does not register"
with_provider sleep 0 || fail "a refused program does not run"
expect_ok "$FXTRACE" status
expect_line '^memory: 1[0-9]* KiB of 1024 KiB' out
expect_line '^not traced: 1 process, 1 for want of memory: .*--max-memory' out
expect_line 'sleep .*: cannot be traced: its buffer would exceed --max-memory' manager.err
# A session tells of those that it lacks, and of none from before it.
expect_ok "$FXTRACE" start -o lacking.fxt
with_provider sleep 0 || fail "a refused program does not run"
expect_ok "$FXTRACE" terminate
expect_loss memory-short 1 err
expect_clean lacking.fxt
kill "$first"
wait_for 10 providers_are 0 || fail "the manager keeps the dead"
provider_start sleep 100
wait_for 10 providers_are 1 || fail "the memory of the dead is not given back"
expect_one_error 2 "$FXTRACE" record --max-memory 1M -- true
expect_one_error 2 "$FXTRACE" start --max-strings 1M
kill "$PROVIDER"
manager_stop

# What another user may take, so that something is left for the rest.
[ "$(id -u)" -eq 0 ] || exit 0
need setpriv
chmod 755 "$TEST_DIR"
other=(setpriv --reuid=12345 --regid=12345 --clear-groups)
"${other[@]}" true 2>/dev/null || { echo "there is no other user here: not tried" && exit 0; }
socket=$TEST_DIR/fxtrace/manager.sock

cat >forks.c <<'EOF'
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

/* COUNT processes, each of which runs this program; they end with it. */
int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 0;

	for (int i = 0; i < count; i++) {
		pid_t pid = fork();

		if (pid < 0)
			return 1;
		if (pid == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			execl("/proc/self/exe", argv[0], (char *)0);
			_exit(1);
		}
	}
	pause();
	return 0;
}
EOF
compile forks forks.c

# The rest of a user's 250 processes are refused, and run; root's is let in.
manager_start -b 64K --allow-users=12345
expect_ok "$FXTRACE" start -b 64K -o many.fxt
"${other[@]}" env "LD_PRELOAD=$LIBFXTRACE" "FXTRACE_SOCKET=$socket" ./forks 255 &
forks=$!
refused_are() {
	[ "$(grep -c 'cannot be traced: as many are as can be' manager.err)" -ge "$1" ]
}
wait_for 60 refused_are 6 || fail "more than 250 processes of a user are let in: $(tail -n 3 manager.err)"
expect_ok "$FXTRACE" terminate
expect_loss manager-full '[0-9]+' err
providers_are 250 || fail "fewer than 250 processes of a user are let in: $("$FXTRACE" status)"
provider_start sleep 100
wait_for 10 providers_are 251 || fail "a user's processes keep root's out"
kill "$PROVIDER" "$forks"
wait_for 30 providers_are 0 || fail "the manager keeps the dead"
manager_stop

# The same of memory.
manager_start -b 1M --allow-users=12345,12346 --max-user-memory 2M
sleeps=()
sleeps_as() { # USER
	setpriv --reuid="$1" --regid="$1" --clear-groups env "LD_PRELOAD=$LIBFXTRACE" "FXTRACE_SOCKET=$socket" sleep 100 &
	sleeps+=($!)
}
sleeps_as 12345
sleeps_as 12345
wait_for 10 providers_are 2 || fail "there is no room for two"
sleeps_as 12345
wait_for 10 grep -q 'sleep .*: cannot be traced: its buffer would exceed --max-user-memory' manager.err ||
	fail "a user has more memory than --max-user-memory: $(cat manager.err)"
sleeps_as 12346
wait_for 10 providers_are 3 || fail "one user's memory is another's"
provider_start sleep 100
wait_for 10 providers_are 4 || fail "root's own processes have the limit of others"
kill "${sleeps[@]}" "$PROVIDER"
manager_stop
expect_one_error 2 "$FXTRACE" manager --max-user-memory 0
