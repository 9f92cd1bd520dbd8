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
LD_PRELOAD=$LIBFXTRACE FXTRACE_CATEGORIES='#quiet' FXTRACE_OUTPUT=plain.fxt ./first ||
	fail "the preloaded program ends with $?"
wait_for 20 is_done plain.fxt || fail "no archive of a plain preload"
list_archive plain.fxt
expect_equal 0 "$(in_all function)" "functions taken away in a plain preload"
[ "$(in_all syscall)" -gt 0 ] || fail "no system calls in a plain preload"

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
cut -c3- out | cut -d' ' -f1 >names
sort names | cmp -s - names || fail "the list is not sorted: $(tr '\n' ' ' <names)"
expect_ok "$FXTRACE" list-categories --json --timeout 100ms
expect_line '"name": "pthread:all", "default": false, "providers": 1, "help": "' out
expect_one_error 2 "$FXTRACE" list-categories --timeout 11s
manager_stop
