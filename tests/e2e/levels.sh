#!/bin/bash
# SPDX-License-Identifier: MIT
# Durations that have begun by records of their own, and those that are recorded whole, in one another: together they are never deeper
# than viewers show, whichever lies in which, and instants have a place in the deepest; what is left out is counted.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

cat >levels.c <<'END'
#include <fxtrace/event.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
static void begun(int levels, void (*then)(int), int more)
{
	TRACE_DURATION_BEGIN("c", "begun");
	if (levels > 1)
		begun(levels - 1, then, more);
	else
		then(more);
	TRACE_DURATION_END("c", "begun");
}
static void whole(int levels, void (*then)(int), int more)
{
	TRACE_DURATION("c", "whole");
	if (levels > 1)
		whole(levels - 1, then, more);
	else
		then(more);
}
static void both(int levels, void (*then)(int), int more)
{
	TRACE_DURATION("c", "whole");
	TRACE_DURATION_BEGIN("c", "begun");
	if (levels > 1)
		both(levels - 1, then, more);
	else
		then(more);
	TRACE_DURATION_END("c", "begun");
}
static void leaf(int more)
{
	TRACE_INSTANT("c", "leaf", TRACE_SCOPE_THREAD);
	TRACE_FLOW_BEGIN("c", "arrow", 1);
	TRACE_FLOW_END("c", "arrow", 1);
	if (more < 0)
		raise(-more);
}
static void then_whole(int levels)
{
	whole(levels, leaf, 0);
}
static void then_begun(int levels)
{
	begun(levels, leaf, 0);
}
static void handler(int signal)
{
	(void)signal;
	begun(20, leaf, 0);
	whole(20, leaf, 0);
	both(20, leaf, 0);
}
int main(int argc, char **argv)
{
	int levels = argc > 2 ? atoi(argv[2]) : 0;
	if (!strcmp(argv[1], "whole-in-begun")) {
		begun(levels, then_whole, levels);
	} else if (!strcmp(argv[1], "begun-in-whole")) {
		whole(levels, then_begun, levels);
	} else if (!strcmp(argv[1], "both")) {
		both(levels, leaf, 0);
	} else if (!strcmp(argv[1], "handler")) {
		signal(SIGUSR1, handler);
		both(levels, leaf, -SIGUSR1);
	} else if (!strcmp(argv[1], "killed")) {
		both(levels, leaf, -SIGKILL);
	}
	{
		TRACE_DURATION("c", "behind");
		both(1, leaf, 0);
	}
	return 0;
}
END
compile levels "-I$FX_SRCDIR/include" -Wall -Werror levels.c

# levels STATUS WHAT N: the archive is clean.
levels() {
	expect_status "$1" "$FXTRACE" run -c c -o trace.fxt --on-full block -- ./levels "$2" "$3"
	cp err told
	expect_clean trace.fxt
	list_archive trace.fxt
}

# durations COUNT: so many in the archive, without those behind; with what is said to be lost they are all.
durations() {
	expect_events "$1" '(type == "complete" && name == "whole" || type == "begin")'
	expect_events "$1" '(type == "complete" && name == "whole" || type == "end")'
}

as_deep_as_viewers_show() {
	local what

	for what in whole-in-begun begun-in-whole both; do
		levels 0 "$what" 255
		expect_no_line 'too deeply' told
		durations $((2 * 255 + 2))
		expect_events 2 'type == "instant" && name == "leaf"'
	done
}

deeper_than_viewers_show() {
	local what

	for what in whole-in-begun begun-in-whole both; do
		levels 0 "$what" 300
		expect_loss too-deep $((600 - 511)) told
		durations $((511 + 2))
		expect_events 2 'type == "instant" && name == "leaf"'
		expect_events 1 'name == "behind"'
	done
}

# What handlers record comes late.
deep_in_handlers() {
	levels 0 handler 240
	expect_loss too-deep 9 told
	levels 0 handler 200
	expect_no_line 'too deeply' told
}

deep_when_killed() {
	levels 137 killed 300
	expect_line 'nested too deeply' told
	expect_events 1 'type == "instant" && name == "leaf"'
}

as_deep_as_viewers_show
deeper_than_viewers_show
deep_in_handlers
deep_when_killed
