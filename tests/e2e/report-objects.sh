#!/bin/bash
# SPDX-License-Identifier: MIT
# `fxtrace report --lock', `--fd', `--file' and `--peer': the history of objects, of a program that says itself what it did with
# them, in order; and what is said of an object that is not there.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

need python3
compile histories -O1 -w -D_GNU_SOURCE "$FX_SRCDIR/tests/e2e/targets/histories.c"

# record NAME CATEGORIES: a run into NAME.fxt, with what it says in NAME.log.
record() {
	expect_ok "$FXTRACE" run -q -c "$2" -o "$1.fxt" -- ./histories "${1%%-*}"
	cp out "$1.log"
}

# told NAME PATTERN: what a line of the log says.
told() {
	sed -n "s/$2/\\1/p" "$1.log"
}

# agrees WHAT NAME OPTION...: the report of these objects and the log.
agrees() {
	local what=$1 name=$2

	shift 2
	expect_ok "$FXTRACE" report --json --top 0 "$@" "$name.fxt"
	cp out "$name.json"
	python3 "$FX_SRCDIR/tests/e2e/report_objects.py" "$what" "$name.json" "$name.log" >said 2>&1 ||
		fail "$name: $(tail -n 6 said)"
}

# --- Locks

all='#default,pthread:all'
record lock "$all"
agrees lock lock --lock guarded
agrees lock lock --lock "$(told lock 'address \(.*\)')"
agrees lock lock --lock 'mutex guard*'
pid=$(python3 -c 'import json; print(json.load(open("lock.json"))["users"]["rows"][0]["pid"])')
agrees lock lock --lock "$pid:$(told lock 'address \(.*\)')"
record lock-default '#default'
agrees lock:default lock-default --lock guarded
expect_ok "$FXTRACE" report --lock guarded lock-default.fxt
expect_line 'calls that waited are recorded.*pthread:all' out
record condition "$all"
agrees condition condition --lock ready --lock permits --lock calm
record condition-default '#default'
agrees condition:default condition-default --lock ready --lock permits --lock calm

# --- Descriptors, files, peers

record descriptor '#default'
agrees descriptor descriptor --fd "$(told descriptor 'fd \(.*\)')"
for life in 0 1 2 3; do
	# A file by its whole path, and by its last part: the same.
	expect_ok "$FXTRACE" report --csv --top 0 --file "$PWD/life$life" descriptor.fxt
	mv out by-path
	expect_ok "$FXTRACE" report --csv --top 0 --file "life$life" descriptor.fxt
	expect_same_file by-path out
	expect_equal "$(awk -v life="$life" '$1 == "life" { n++ } $1 == "use" && n == life + 1' descriptor.log | wc -l)" \
		"$(grep -c ',"\(open\|read\|write\|lseek\|close\)(' out)" "calls of life$life"
done
record channel '#default'
agrees channel channel --peer "$(told channel 'pipe \(pipe[^ ]*\).*')"
record connection '#default'
agrees connection connection --peer ":$(told connection 'port \(.*\)')"

# --- How much is shown

expect_ok "$FXTRACE" report --csv --lock guarded --top 3 lock.fxt
expect_equal 'pthread_mutex_lock pthread_mutex_lock pthread_mutex_lock' \
	"$(sed -n '/^at_ns/,$p' out | grep -o 'pthread_[a-z_]*' | xargs)" 'the first ones'
expect_ok "$FXTRACE" report --csv --lock guarded --sort time_ns --top 1 lock.fxt
expect_equal 'waiter4' "$(sed -n '/^at_ns/,$p' out | grep -o 'waiter[0-9]' | head -n 1)" 'the longest one'
expect_ok "$FXTRACE" report --lock guarded --top 3 lock.fxt
expect_line '^\(9 more; --top 0 shows all\)$' out
expect_ok "$FXTRACE" report --csv --lock guarded --thread 'waiter2' --top 0 lock.fxt
expect_equal 2 "$(sed -n '/^at_ns/,$p' out | grep -c 'pthread_mutex')" 'uses by one thread'
# Whom it waited for is known all the same, and how long in a part of the time.
expect_equal 'owner waiter0 waiter1' \
	"$(sed -n '/^total_ns/,/^at_ns/p' out | sed -n 's/.*,"\([a-z0-9]*\)"\r*$/\1/p' | sort | xargs)" 'whom it waited for'
COLUMNS=70 expect_ok "$FXTRACE" report --lock guarded lock.fxt
expect_equal '' "$(sed 's/…/./g' out | awk 'length($0) > 70 && /ms/')" 'rows that are wider than the terminal'
# Beside sections that are asked for.
expect_ok "$FXTRACE" report --lock guarded --waits lock.fxt
expect_line '^Locks that were waited for$' out
expect_line '^Who waited for whom$' out
expect_ok "$FXTRACE" report - --lock guarded <lock.fxt
expect_line 'waiter4' out

# --- What is not there

expect_one_error 1 "$FXTRACE" report --lock 0x10 lock.fxt
expect_line 'lock\.fxt: --lock 0x10: no call has used it; there is .*0x.*, and fxtrace report --waits shows' err
expect_equal 0 "$(wc -c <out)" 'output'
expect_one_error 1 "$FXTRACE" report --lock guarder lock.fxt
expect_line 'there is mutex guarded \(0x' err
expect_one_error 1 "$FXTRACE" report --lock "1:guarded" lock.fxt
expect_one_error 1 "$FXTRACE" report --fd 1000000 descriptor.fxt
expect_line 'those that were used are between [0-9]+ and [0-9]+' err
expect_one_error 1 "$FXTRACE" report --file "$PWD/life9" descriptor.fxt
expect_line 'there is .*/life[0-9], and fxtrace report --files shows all' err
expect_one_error 1 "$FXTRACE" report --peer 192.0.2.1:9 connection.fxt
# What is there is told of all the same.
expect_one_error 1 "$FXTRACE" report --lock guarded --lock nothing lock.fxt
expect_line 'waiter4' out

# --- An archive with losses, and half of one

echo line >given
# shellcheck disable=SC2016 # another shell's
expect_ok "$FXTRACE" run -q -m oneshot -b 64K -o lost.fxt -- bash -c 'for ((i = 0; i < 3000; i++)); do read -r line <given; done'
expect_ok "$FXTRACE" report --file given lost.fxt
expect_line '^[1-9][0-9,]* records were lost, so numbers are too low' out
expect_one_error 1 "$FXTRACE" report --file nothing lost.fxt
expect_line 'records were lost' err
head -c $(($(stat -c %s lock.fxt) / 4 * 3 / 8 * 8 + 4)) lock.fxt >cut.fxt
expect_status 1 "$FXTRACE" report --lock guarded cut.fxt
expect_line 'cut\.fxt: offset .*; the report is of what is whole' err
