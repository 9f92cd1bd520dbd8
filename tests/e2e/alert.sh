#!/bin/bash
# SPDX-License-Identifier: MIT
# Alerts that programs raise with <fxtrace/alert.h>: a snapshot, a stop, and nothing where nobody traces.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
. "$FX_SRCDIR/tests/e2e/control.sh"

cat >alert.c <<'EOF'
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <sys/wait.h>

#include <fxtrace/alert.h>

__attribute__((noinline)) static void before(void) { __asm__ volatile(""); }
__attribute__((noinline)) static void after(void) { __asm__ volatile(""); }

static int expect(int want, int got)
{
	if (want != got)
		fprintf(stderr, "%d instead of %d\n", got, want);
	return want == got;
}

/* Each name, and what is said of it. */
static int names(int said)
{
	int bad = said == -ENOSYS ? said : -EINVAL;

	errno = 77;
	return expect(said, fxtrace_alert("a")) && expect(said, fxtrace_alert("fourteen-bytes")) &&
	       expect(bad, fxtrace_alert("")) && expect(bad, fxtrace_alert("fifteen-bytes-!")) &&
	       expect(77, errno);
}

int main(int argc, char **argv)
{
	const char *how = argv[argc - 1];

	if (!strcmp(how, "untraced"))
		return !names(-ENOSYS);
	if (!strcmp(how, "traced"))
		return !names(0);
	if (!strcmp(how, "child")) {
		pid_t child = fork();
		int status = 1;

		if (child == 0)
			_exit(!expect(0, fxtrace_alert("late")));
		waitpid(child, &status, 0);
		return status ? 1 : 3;
	}
	before();
	if (!expect(0, fxtrace_alert("late")))
		return 1;
	/* A stop: until it has come; nobody would hear then. */
	while (!strcmp(how, "stop") && fxtrace_alert("late") == 0)
		usleep(1000);
	after();
	if (!strcmp(how, "stop") && !expect(-ESHUTDOWN, fxtrace_alert("late")))
		return 1;
	return 3;
}
EOF
options=(-O1 -finstrument-functions -I "$FX_SRCDIR/include")
compile alert alert.c "${options[@]}" -ldl
compile alert-fixed alert.c "${options[@]}" -fno-pie -no-pie -ldl
cp alert.c alert.cc
compile alert-cxx alert.cc "${options[@]}" -ldl

for program in alert alert-fixed alert-cxx; do
	expect_ok "./$program" untraced
	expect_equal '' "$(cat out err)" "what an untraced $program says"
	expect_ok "$FXTRACE" run -q -o trace.fxt -- "./$program" traced
	expect_clean trace.fxt
done
# A library that is loaded, and does not trace.
FXTRACE_DISABLE=1 LD_PRELOAD=$LIBFXTRACE ./alert snapshot >out 2>err
expect_line '^-108 instead of 0' err

expect_status 3 "$FXTRACE" run -m circular --trigger late:snapshot --trigger other:stop -o shot.fxt -- \
	./alert snapshot
expect_clean shot.1.fxt shot.fxt
[ ! -e shot.2.fxt ] || fail "two snapshots of one alert"
expect_line 'name="before"' <("$FXTRACE" dump shot.1.fxt)
expect_line 'name="after"' <("$FXTRACE" dump shot.fxt)

expect_status 3 "$FXTRACE" run --trigger late:stop -o stop.fxt -- ./alert stop
expect_clean stop.fxt
"$FXTRACE" dump stop.fxt >stop.txt
expect_line 'name="before"' stop.txt
expect_no_line 'name="after"' stop.txt

# A forked child speaks for itself.
expect_status 3 "$FXTRACE" run -m circular --trigger late:snapshot -o child.fxt -- ./alert child
expect_clean child.1.fxt child.fxt

# With a daemon: the program was there before the session.
manager_start
expect_status 3 "$FXTRACE" record -m circular --trigger late:snapshot -o daemon.fxt -- ./alert snapshot
wait_for 10 grep -q 'daemon.1.fxt: a snapshot' manager.err || fail "no snapshot: $(cat manager.err)"
expect_clean daemon.1.fxt daemon.fxt
manager_stop
