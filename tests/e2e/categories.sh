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
manager_stop
