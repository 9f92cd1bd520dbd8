#!/bin/bash
# SPDX-License-Identifier: MIT
# fxtrace start --filter, --no-trace and --min-size while tracing runs: what is recorded before is judged by the list that there was,
# what comes after by the new one, exactly.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
. "$FX_SRCDIR/tests/e2e/control.sh"

# Each line of its input has it call each function a hundred times, and answer when that is done.
cat >prog.c <<'END'
#include <pthread.h>
#include <stdio.h>
#define NO_INLINE __attribute__((noinline))
static volatile unsigned long sink;
NO_INLINE void alpha(void) { __atomic_add_fetch(&sink, 1, __ATOMIC_RELAXED); }
NO_INLINE void beta(void) { __atomic_add_fetch(&sink, 2, __ATOMIC_RELAXED); }
NO_INLINE void gamma_(void) { __atomic_add_fetch(&sink, 3, __ATOMIC_RELAXED); }
NO_INLINE void *round_(void *unused)
{
	for (int i = 0; i < 100; i++) {
		alpha();
		beta();
		gamma_();
	}
	return unused;
}
int main(void)
{
	for (int c; (c = getchar()) != EOF;) {
		pthread_t t;

		if (c != '\n')
			continue;
		pthread_create(&t, NULL, round_, NULL);
		round_(NULL);
		pthread_join(t, NULL);
		puts("done");
		fflush(stdout);
	}
	return 0;
}
END
"$FX_CC" -O1 -finstrument-functions prog.c -o prog -pthread

round() {
	local answer
	echo >&"${prog[1]}"
	read -r answer <&"${prog[0]}"
	expect_equal "done" "$answer" "what the program says"
}

calls() {
	"$FXTRACE" dump "$2" | grep -c "type=complete .*category=\"function\"[^ ]* name=\"$1\""
}

# expect_calls ALPHA BETA GAMMA ROUND: of each in the archive.
expect_calls() {
	expect_clean a.fxt
	expect_equal "$*" "$(calls alpha a.fxt) $(calls beta a.fxt) $(calls gamma_ a.fxt) $(calls round_ a.fxt)" \
		"calls of alpha, beta, gamma_ and round_"
}

begin() {
	expect_ok "$FXTRACE" start -b 1M --on-full block -o a.fxt "$@"
	coproc prog { with_provider ./prog; }
	round
}

end() {
	local pid=$prog_PID
	eval "exec ${prog[1]}>&-"
	wait "$pid"
	expect_ok "$FXTRACE" stop
	expect_ok "$FXTRACE" terminate
}

manager_start

# From all to some, to others, and to all again.
begin
expect_ok "$FXTRACE" start -F alpha
round
expect_ok "$FXTRACE" start -N alpha -N round_
round
expect_ok "$FXTRACE" start -F 'be*' -F gamma_
round
expect_ok "$FXTRACE" start -F '*'
round
end
expect_calls 600 800 800 4

# From some to all but those.
begin -F alpha
expect_ok "$FXTRACE" start -N alpha
round
end
expect_calls 200 200 200 2

# A child and what comes later have the list of now.
begin -F alpha
expect_ok "$FXTRACE" start -F beta
with_provider ./prog <<<'' >out
round
end
expect_calls 200 400 0 0

# By size: none is as large.
begin
expect_ok "$FXTRACE" start --min-size 1M
round
end
expect_calls 200 200 200 2

# --- What cannot be ------------------------------------------------------------------------------

refused() {
	local status=$1 line=$2
	shift 2
	"$FXTRACE" start "$@" 2>err
	expect_equal "$status" $? "status of start $*"
	expect_line "$line" err
}

refused_request() {
	refused 1 "$@"
}

begin --when alpha
refused_request 'are for a whole session' -F beta
end
begin
refused_request 'are for a whole session' -F 'beta+depth=2'
refused_request 'began with some' -F '@prog.c'
refused 2 'tracing runs already' -F beta -b 2M
refused 2 'tracing runs already' -F beta -c function,syscall
refused_request 'tracing runs already'
round
end
expect_calls 400 400 400 4
begin --records pairs
refused_request 'are for a whole session' -F beta
end
expect_ok "$FXTRACE" start --buffering-mode circular -o a.fxt
refused_request 'streaming alone' -F beta
expect_ok "$FXTRACE" stop
expect_ok "$FXTRACE" terminate
manager_stop
