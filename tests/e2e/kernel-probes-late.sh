#!/bin/bash
# SPDX-License-Identifier: MIT
# Static probes (sdt:) of files that are mapped while a session runs: a library that is loaded with dlopen, a program that only a child
# names, processes that were there before `fxtrace start' and `record'. From when the kernel has counted a probe's semaphore up,
# each pass is recorded; of processes that are not traced none; and a stop takes the breakpoints away.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
. "$FX_SRCDIR/tests/e2e/control.sh"

need python3
! is_emulated || skip "the emulator knows no performance events"
echo '#include <sys/sdt.h>' | $FX_CC -E - >/dev/null 2>&1 || skip "there is no <sys/sdt.h> (systemtap-sdt-dev)"

# wanted: passes by with -count until the file "go-COUNT" is there, then with count, so often. Else it waits until nobody looks. It stays on one
# processor: where one pass was recorded, all that follow are.
cat >later.c <<'END'
#define _GNU_SOURCE
#define _SDT_HAS_SEMAPHORES 1
#include <sched.h>
#include <stdio.h>
#include <unistd.h>
__extension__ unsigned short later_pass_semaphore __attribute__((unused, section(".probes")));
#include <sys/sdt.h>
int passes(int wanted, int count);
int passes(int wanted, int count)
{
	volatile unsigned short *looked = &later_pass_semaphore;
	cpu_set_t here;
	char go[32];

	CPU_ZERO(&here);
	CPU_SET(sched_getcpu(), &here);
	sched_setaffinity(0, sizeof(here), &here);
	snprintf(go, sizeof(go), "go-%d", count);
	for (int i = 0; wanted ? access(go, F_OK) != 0 : *looked; i++) {
		if (i == 120000)
			return 1;
		if (wanted)
			STAP_PROBE3(later, pass, i, -count, (int)getpid());
		usleep(1000);
	}
	if (wanted && !*looked)
		return 1;
	for (int i = 0; i < count; i++)
		STAP_PROBE3(later, pass, i, count, (int)getpid());
	printf("passed %d\n", count);
	fflush(stdout);
	return 0;
}
END
compile liblater.so -O2 -shared -fPIC later.c
cat >loads.c <<'END'
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
/* loads LIBRARY COUNT [PROGRAM]: passes of the library, then of the program, in a child that alone knows how it is called. */
int main(int argc, char **argv)
{
	void *library = dlopen(argv[1], RTLD_NOW);
	int (*passes)(int, int) = library ? (int (*)(int, int))dlsym(library, "passes") : NULL;
	int status = 0;

	if (!passes || passes(1, atoi(argv[2])))
		return 2;
	if (argc > 3 && fork() == 0) {
		char path[4096];
		snprintf(path, sizeof(path), "%s.program", argv[3]);
		execl(path, path, "1", "70", (char *)NULL);
		_exit(127);
	}
	while (wait(&status) > 0)
		;
	return WEXITSTATUS(status);
}
END
compile loads -O1 loads.c -ldl
cat >alone.c <<'END'
#include <stdlib.h>
#include <unistd.h>
int passes(int wanted, int count);
/* alone [WANTED COUNT]...: passes; before each pair but the first, a file of the pair's number (go1, go2...) is awaited. */
int main(int argc, char **argv)
{
	for (int i = 1; i + 1 < argc; i += 2) {
		char go[] = "go0";
		go[2] = (char)('0' + i / 2);
		while (i > 1 && access(go, F_OK) != 0)
			usleep(1000);
		if (passes(atoi(argv[i]), atoi(argv[i + 1])))
			return 2;
	}
	return 0;
}
END
compile child.program -O2 alone.c later.c
cp child.program traced-program

# go COUNT ARCHIVE: once a pass is recorded, as the program waits for.
go() {
	is_recorded() {
		"$FXTRACE" dump "$2" 2>/dev/null | grep -q "category=\"sdt:later:pass\".*\"arg1\":int32=-$1\\b"
	}
	wait_for 120 is_recorded "$1" "$2" || fail "no pass is recorded of those before $1: $(cat err)"
	touch "go-$1"
}

# --- Of one program: a library that is loaded, a program that a child runs -------------------------

expect_ok traced -c 'sdt:no:such' -- true
if grep -q 'probes (sdt:) are not recorded' err; then
	skip "$(grep 'are not recorded' err)"
fi
"$FXTRACE" run -o trace.fxt -c 'sdt:later:*' -- ./loads ./liblater.so 50 child >said 2>err &
runner=$!
go 50 trace.fxt
go 70 trace.fxt
wait "$runner" || fail "it ends with $?: $(cat err)"
expect_equal "passed 50 passed 70" "$(paste -sd' ' said)" "passes"
expect_clean trace.fxt
list_archive trace.fxt
expect_events 50 'category == "sdt:later:pass" && name == "pass" && has("arg1=50")'
expect_events 70 'category == "sdt:later:pass" && has("arg1=70")'
for i in 0 49; do
	expect_events 1 "category == \"sdt:later:pass\" && has(\"arg0=$i\") && has(\"arg1=50\")"
done
# What is taken away from a list, and what was not asked for, has no breakpoint: nobody looks, and nothing is recorded.
expect_ok traced -c 'sdt:other:*' -- ./child.program 0 5
list_archive trace.fxt
expect_events 0 'category == "sdt:later:pass"'

# --- Of a session that runs: from start to stop ----------------------------------------------------

manager_start
expect_ok "$FXTRACE" start -c '#default,-syscall' -o session.fxt
# Before: nobody looks; while probes are recorded; after the stop; and none in the session that goes on.
with_provider ./traced-program 0 11 1 100 0 12 0 13 >said &
program=$!
has_said() {
	[ "$(wc -l <said)" -ge "$1" ]
}
wait_for 60 has_said 1 || fail "the program does not start"
expect_one_error 2 "$FXTRACE" start -c 'syscall,sdt:later:pass'
expect_line 'tracing runs already' err
expect_ok "$FXTRACE" start -c 'sdt:later:pass'
expect_one_error 1 "$FXTRACE" start -c 'sdt:later:pass'
expect_line "events are recorded already, and no probes \(sdt:\) are added" err
touch go1
go 100 session.fxt
wait_for 60 has_said 2 || fail "it does not pass by"
# The same file has the breakpoint in other processes, too.
touch go-1000
expect_ok ./traced-program 1 1000
expect_equal "passed 1000" "$(cat out)" "passes of one that is not traced"
expect_ok "$FXTRACE" stop
touch go2
wait_for 120 has_said 3 || fail "somebody looks at the probe after a stop"
expect_ok "$FXTRACE" start
touch go3
wait_for 60 has_said 4 || fail "somebody looks at the probe in a session that has not asked for it"
wait "$program" || fail "the program ends with $?"
expect_ok "$FXTRACE" terminate
expect_clean session.fxt
list_archive session.fxt
expect_events 100 'category == "sdt:later:pass" && has("arg1=100")'
for other in 11 12 13 1000; do
	expect_events 0 "category == \"sdt:later:pass\" && has(\"arg1=$other\")"
done

# Of a file whose probes cannot be placed, which nobody reads a message of any more.
printf '#include <sys/sdt.h>\n#define ONE STAP_PROBE(later, many);\n#define TEN ONE ONE ONE ONE ONE ONE ONE ONE ONE ONE\nint passes(int w, int c) { TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN return w - 1 + c - 50; }\n' >many.c
compile libmany.so -O2 -shared -fPIC many.c
expect_ok "$FXTRACE" start -c 'sdt:later:*' -o many.fxt
with_provider sh -c './loads ./libmany.so 50; sleep 3'
expect_ok "$FXTRACE" stop
expect_ok "$FXTRACE" terminate
list_archive many.fxt
expect_events 1 'category == "sdt" && name == "probes not recorded" && has("why=there are too many at once") && $0 ~ "libmany.so"'
# --- Beside --kernel: not in addition, but after a stop, with all -----------------------------------

rm -f go*
expect_ok "$FXTRACE" start -c '#default,-syscall' -o beside.fxt
with_provider ./traced-program 0 14 1 50 >said &
program=$!
wait_for 60 has_said 1 || fail "the program does not start"
expect_ok "$FXTRACE" start --kernel
expect_one_error 1 "$FXTRACE" start -c 'sdt:later:pass'
expect_line "events are recorded already, and no probes \(sdt:\) are added" err
expect_ok "$FXTRACE" stop
expect_ok "$FXTRACE" start --kernel -c 'sdt:later:pass'
touch go1
go 50 beside.fxt
wait "$program" || fail "the program ends with $?"
expect_ok "$FXTRACE" terminate
list_archive beside.fxt
expect_events 50 'category == "sdt:later:pass" && has("arg1=50")'
expect_ok "$FXTRACE" query beside.fxt "select count(*) > 0 from sched"
expect_line '^ *1$' out

# --- record: of its program from the begin on, of what that loads, and of one that runs ------------

rm -f go*
touch go-30
expect_ok "$FXTRACE" record -c '#default,sdt:later:*' -o recorded.fxt -- ./child.program 1 30
list_archive recorded.fxt
expect_events 30 'category == "sdt:later:pass"'
with_provider ./traced-program 0 9 1 40 >said &
program=$!
wait_for 60 has_said 1 || fail "the program does not start"
touch go1
"$FXTRACE" record -c '#default,sdt:later:*' -o second.fxt -- \
	sh -c './loads ./liblater.so 20 && until [ "$(wc -l <said)" -ge 2 ]; do sleep 0.01; done' >record.out 2>err &
recorder=$!
go 20 second.fxt
go 40 second.fxt
wait "$recorder" || fail "record ends with $?: $(cat err)"
wait "$program" || fail "the program ends with $?"
expect_clean second.fxt
list_archive second.fxt
expect_events 20 'category == "sdt:later:pass" && has("arg1=20")'
expect_events 40 'category == "sdt:later:pass" && has("arg1=40")'

# --- Nothing is left --------------------------------------------------------------------------------

left() {
	unshare -m sh -c 'mount --make-rprivate / && { [ -e /sys/kernel/tracing/uprobe_events ] ||
		mount -t tracefs tracefs /sys/kernel/tracing; } && cat /sys/kernel/tracing/uprobe_events' |
		grep -c "$TEST_DIR"
}
is_clean() {
	[ "$(left)" -eq 0 ]
}
wait_for 60 is_clean || fail "something is still defined in the kernel"
