#!/bin/bash
# SPDX-License-Identifier: MIT
# What --categories takes: groups of the user's file, categories of one program, names that nobody knows.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
. "$FX_SRCDIR/tests/e2e/control.sh"

export XDG_CONFIG_HOME=$PWD/config
mkdir -p config/fxtrace
cat >config/fxtrace/categories <<'GROUPS'
# for this test
quiet = syscall, -function
first = first/syscall
GROUPS

cat >program.c <<'PROGRAM'
#include <unistd.h>

__attribute__((noinline)) static int leaf(int i)
{
	return i * 3;
}

int main(int argc, char **argv)
{
	(void)argv;
	close(-1);
	return leaf(argc) == 0;
}
PROGRAM
compile first program.c -O1 -finstrument-functions
cp first second

# in_all CATEGORY, in_program CATEGORY NAME: events of the archive listed last.
in_all() {
	# shellcheck disable=SC2016 # awk's
	count_events "category == \"$1\""
}
in_program() {
	count_events "category == \"$1\" && process == \"$2\""
}

# is_done ARCHIVE: nobody writes it any more.
is_done() {
	[ -s "$1" ] && [ -z "$(find /proc/[0-9]*/fd -lname "$PWD/$1" 2>/dev/null)" ]
}

# The list of groups.
expect_ok "$FXTRACE" list-category-groups
expect_line '^#quiet  *syscall,-function$' out
expect_line '^#default  *function,' out
expect_ok "$FXTRACE" list-category-groups --json
expect_line '"name": "first", "categories": "first/syscall", "file": ".*/categories", "line": 3' out

# fxtrace run, its variable, and a preload without a manager.
expect_ok "$FXTRACE" run -c 'function,#quiet' -o run.fxt -- ./first
list_archive run.fxt
expect_equal 0 "$(in_all function)" "functions taken away by a group"
[ "$(in_all syscall)" -gt 0 ] || fail "no system calls by a group"
FXTRACE_CATEGORIES='#quiet' expect_ok "$FXTRACE" run -o run.fxt -- ./first
list_archive run.fxt
expect_equal 0 "$(in_all function)" "functions taken away by the variable's group"
plain_preload() {
	LD_PRELOAD=$LIBFXTRACE FXTRACE_CATEGORIES='#quiet' FXTRACE_OUTPUT=plain.fxt ./first ||
		fail "the preloaded program ends with $?"
	wait_for 20 is_done plain.fxt || fail "no archive of a plain preload"
	list_archive plain.fxt
	expect_equal 0 "$(in_all function)" "functions taken away in a plain preload"
	[ "$(in_all syscall)" -gt 0 ] || fail "no system calls in a plain preload"
}
is_emulated || plain_preload

# Categories of one program.
expect_ok "$FXTRACE" run -c 'function,#first,-second/function' -o each.fxt -- \
	sh -c './first; ./second'
list_archive each.fxt
[ "$(in_program syscall first)" -gt 0 ] || fail "the one has not what was asked for"
[ "$(in_program function first)" -gt 0 ] || fail "the one has not what all have"
expect_equal 0 "$(in_program syscall second)" "system calls of the other"
expect_equal 0 "$(in_program function second)" "functions of the other"

# Names that nobody knows are told of; those of the tracer it knows, whether anything happened or not.
expect_ok "$FXTRACE" run -c 'function,dl,render,second/gpu*' -o unseen.fxt -- ./first
expect_line '^fxtrace: no process knew what --categories asks for: render, second/gpu\*$' err
expect_ok "$FXTRACE" run -c 'syscall,sys*,first/dl,-nothing' -o seen.fxt -- ./first
expect_no_line 'no process knew' err

# One clear line.
expect_one_error 2 "$FXTRACE" run -c '#nothing' -- ./first
expect_line "'#nothing': no such group" err
FXTRACE_CATEGORIES='#nothing' expect_one_error 2 "$FXTRACE" run -- ./first
expect_one_error 2 "$FXTRACE" record -c '#nothing' -- ./first
expect_one_error 2 "$FXTRACE" start -c '#nothing'
echo 'no list' >>config/fxtrace/categories
expect_one_error 2 "$FXTRACE" run -c '#quiet' -- ./first
expect_line 'config/fxtrace/categories:4: not NAME = LIST' err
expect_one_error 1 "$FXTRACE" list-category-groups
expect_ok "$FXTRACE" run -q -c function -- ./first
sed -i '$d' config/fxtrace/categories

# With a manager, and more at a start.
manager_start
expect_ok "$FXTRACE" record -c '#quiet' -o record.fxt -- ./first
list_archive record.fxt
expect_equal 0 "$(in_all function)" "functions taken away by a group"
[ "$(in_all syscall)" -gt 0 ] || fail "no system calls by a group"
expect_ok "$FXTRACE" record -c 'function,render' -o record.fxt -- ./first
expect_line 'no process knew .*: render$' err
expect_ok "$FXTRACE" record --json -c 'function,render' -o record.fxt -- ./first
expect_line '"unseen_categories": "render"' out

# What is known, by the names' order.
provider_start sleep 60
wait_for 10 providers_are 1 || fail "the process does not register"
expect_ok "$FXTRACE" list-categories
expect_line '^\* function  *entry and exit' out
expect_line '^  malloc ' out
grep -v '^    ' out | cut -c3- | cut -d' ' -f1 >names
sort names | cmp -s - names || fail "the list is not sorted: $(tr '\n' ' ' <names)"
expect_ok "$FXTRACE" list-categories --json --timeout 100ms
expect_line '"name": "pthread:all", "default": false, "providers": 1, "help": "' out
expect_one_error 2 "$FXTRACE" list-categories --timeout 11s
manager_stop

# --- What each costs -------------------------------------------------------------------------------

# Without a manager the tracer's own are listed, and the size that is said is that of the records.
unset FXTRACE_SOCKET
export XDG_RUNTIME_DIR=$PWD
expect_ok "$FXTRACE" list-categories
expect_line '^\* function  *entry and exit' out
expect_line '^  *some 24 bytes for each call; nothing of what was built without -finstrument-functions' out
expect_one_error 1 "$FXTRACE" list-categories --socket ./none
cat >mix.c <<'PROGRAM'
#include <dlfcn.h>
#include <fcntl.h>
#include <netdb.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *locks(void *arg)
{
	for (int i = 0; i < 50; i++) {
		pthread_mutex_lock(&mutex);
		usleep(100);
		pthread_mutex_unlock(&mutex);
	}
	return arg;
}

int main(void)
{
	FILE *out = fopen("/dev/null", "w");
	struct addrinfo *found = NULL;
	pthread_t threads[2];
	char byte = 0;

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, locks, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < 500; i++)
		free(malloc(40000 + (size_t)i * 10));
	for (int i = 0; i < 100; i++) {
		int fd = open("/dev/zero", O_RDWR);

		if (read(fd, &byte, 1) != 1 || write(fd, &byte, 1) != 1 || close(fd) < 0)
			return 1;
	}
	for (int i = 0; i < 500; i++) {
		fputc('x', out);
		if (i % 10 == 0)
			fflush(out);
	}
	for (int i = 0; i < 5; i++) {
		if (fork() == 0)
			_exit(0);
		wait(NULL);
	}
	for (int i = 0; i < 5; i++)
		dlclose(dlopen("libm.so.6", RTLD_NOW));
	if (getaddrinfo("127.0.0.1", "80", NULL, &found) == 0)
		freeaddrinfo(found);
	return 0;
}
PROGRAM
compile mix mix.c -w -finstrument-functions -pthread -ldl
if command -v python3 >/dev/null; then
	for list in '#default,malloc' '#default,pthread:all,stdio:all'; do
		expect_ok "$FXTRACE" run -q -c "$list" -o mix.fxt -- ./mix
		"$FXTRACE" dump --json mix.fxt >dumped
		"$FXTRACE" list-categories --json >categories
		python3 - "$list" <<'EOF' || fail "what is said of costs with $list is far from what is measured"
import json, sys
said = {c["name"]: c["bytes"] for c in json.load(open("categories"))}
records = [json.loads(line) for line in open("dumped")]
sizes = {}
for r, following in zip(records, records[1:]):
    if r["kind"] == "event":
        sizes.setdefault(r["category"], []).append(following["offset"] - r["offset"])
wrong = {"function", "heap", "syscall", "process", "pthread", "stdio", "dl", "libc"} - set(sizes)
for name, some in sizes.items():
    name += ":all" if name + ":all" in sys.argv[1] else ""
    measured = sum(some) / len(some)
    print(name, len(some), measured, said[name])
    if not said[name] / 1.7 < measured < said[name] * 1.7:
        wrong.add(name)
print(*wrong)
sys.exit(bool(wrong))
EOF
	done
fi
