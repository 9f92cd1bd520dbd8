#!/bin/bash
# SPDX-License-Identifier: MIT
# `record' and `start' with --kernel=calls beside other programs that make system calls without end, and are not traced: those calls find no way
# to the provider, so that none of the traced processes' is lost; of these that came before the session, with it and later, and of what they
# start, be it right behind the begin.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
. "$FX_SRCDIR/tests/e2e/control.sh"

need python3
! is_emulated || skip "the emulator knows no performance events"
cat >stranger.c <<'END_C'
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

static volatile sig_atomic_t is_over;

static void end(int number)
{
	is_over = number;
}

int main(void)
{
	unsigned long calls = 0;

	signal(SIGTERM, end);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	while (!is_over) {
		open("/nowhere/of-a-stranger", O_RDONLY);
		syscall(SYS_getppid);
		calls += 2;
	}
	printf("%lu\n", calls);
	return 0;
}
END_C
compile stranger -O1 stranger.c
cat >names.c <<'END_C'
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void *opens(void *arg)
{
	char path[64];

	for (int i = 0; i < 100; i++) {
		snprintf(path, sizeof(path), "/nowhere/%s-%d", (const char *)arg, i);
		open(path, O_RDONLY);
	}
	return NULL;
}

/* Opens names that begin with what it is told, in a thread and in a child. */
int main(int argc, char **argv)
{
	char own[32], child[32];
	pthread_t thread;

	(void)argc;
	snprintf(own, sizeof(own), "%s-thread", argv[1]);
	snprintf(child, sizeof(child), "%s-child", argv[1]);
	pthread_create(&thread, NULL, opens, own);
	pthread_join(thread, NULL);
	if (fork() == 0) {
		opens(child);
		_exit(0);
	}
	wait(NULL);
	return 0;
}
END_C
compile names -O1 -static names.c -pthread 2>/dev/null || skip "nothing can be linked statically"

strangers=()
strangers_start() {
	strangers=()
	for i in 1 2; do
		timeout 300 ./stranger >"calls$i" &
		strangers+=($!)
	done
}
# They have made many calls.
strangers_end() {
	local made

	kill -TERM "${strangers[@]}"
	wait "${strangers[@]}" || true
	made=$(awk '{ sum += $1 } END { print sum }' calls1 calls2)
	echo "the others made $made calls"
	[ "${made:-0}" -gt 20000 ] || fail "the others made $made calls"
}
# expect_names ARCHIVE WHO...: all that ./names has opened for each, and nothing of anybody else.
expect_names() {
	local archive=$1
	shift
	expect_clean "$archive"
	expect_ok "$FXTRACE" query --json "$archive" "
		select string_value as text from args join slice using (arg_set_id)
		where category = 'syscall' and key = 'path' and string_value like '/nowhere/%'"
	python3 - "$@" <<'END' >checked 2>&1 || fail "$archive: $(tail -c 2000 checked)"
import collections, json, sys
texts = collections.Counter(row["text"] for row in json.load(open("out")))
want = collections.Counter("/nowhere/%s-%s-%d" % (who, part, i) for who in sys.argv[1:] for part in ("thread", "child") for i in range(100))
assert texts == want, (want - texts, texts - want)
END
	expect_ok "$FXTRACE" query --csv "$archive" "select count(*) from slice where name = 'records dropped'"
	expect_equal 0 "$(tail -n 1 out | tr -d '\r')" "losses of $archive"
}

manager_start
strangers_start
expect_ok "$FXTRACE" record --kernel=calls -o record.fxt -- sh -c './names record; true'
! grep -qE 'not recorded|are shown as addresses' err || skip "$(grep -E 'recorded|addresses' err)"
cp err told
strangers_end
expect_no_line 'records? lost' told
expect_names record.fxt record

# --- A session that goes on -----------------------------------------------------------------------

cat >before.sh <<'END'
touch began
until [ -e go ]; do sleep 0.01; done
./names before
touch over
END
with_provider sh before.sh &
before=$!
wait_for 60 test -e began || fail "it does not begin"
expect_ok "$FXTRACE" start --kernel=calls -o session.fxt
strangers_start
touch go
wait_for 120 test -e over || fail "it does not end"
wait "$before"
for i in 1 2 3 4; do
	with_provider sh -c "./names later$i; true"
done
strangers_end
expect_ok "$FXTRACE" stop
expect_ok "$FXTRACE" terminate
expect_names session.fxt before later1 later2 later3 later4

# --- Tracepoints by name, without system calls ------------------------------------------------------

# Who registers is followed from its connect() on: all 20,000 calls behind that are there.
cat >calls.c <<'EOF'
#include <sys/syscall.h>
#include <unistd.h>
int main(void)
{
	for (int i = 0; i < 20000; i++)
		syscall(SYS_getppid);
	return 0;
}
EOF
compile calls -O1 calls.c
expect_ok "$FXTRACE" start --kernel -c sched,tracepoint:raw_syscalls/sys_enter -o points.fxt
for _ in 1 2 3 4 5 6; do
	with_provider ./calls
done
expect_ok "$FXTRACE" stop
expect_ok "$FXTRACE" terminate
expect_clean points.fxt
expect_ok "$FXTRACE" query --csv points.fxt "select count(*) from slice where name = 'records dropped'"
if [ "$(tail -n 1 out | tr -d '\r')" = 0 ]; then
	expect_ok "$FXTRACE" query --csv points.fxt "
		select count(*) from slice join thread_track on slice.track_id = thread_track.id join thread using (utid)
		where slice.name = 'sys_enter' group by utid having count(*) >= 20000"
	expect_equal 6 "$(tail -n +2 out | wc -l)" "processes whose calls are all there"
fi
