#!/bin/bash
# SPDX-License-Identifier: MIT
# Functions left by other ways than return: the calls in the archive nest as they were made.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

target jumps jumps.c
target throws throws.cc

calls_of() {
	expect_ok "$FXTRACE" run -q -o trace.fxt -c function "$@"
	expect_clean trace.fxt
	"$FX_BUILDDIR/tests/e2e/calltree" archive trace.fxt >calls
}

# Each line: thread, depth, function; in the order of their starts, threads by their ids.
cat >jumps.calls <<'END'
1 0 main
1 1 jump
1 2 deep
1 3 deep
1 4 deep
1 5 deep
1 2 after
1 1 jump_often
1 2 deep
1 3 deep
1 2 deep
1 3 deep
1 2 deep
1 3 deep
1 2 after
1 1 jump_and_return
1 2 deep
1 3 deep
1 1 jump_and_close
1 2 deep
1 3 deep
1 1 interrupted
1 2 handler
1 3 after
1 2 after
1 1 jump_from_handler
1 2 handler_that_jumps
1 2 after
1 1 exit_thread
1 2 after
1 1 cancel_thread
1 2 after
1 1 change_stacks
1 2 on_other_stack
1 3 after
1 2 after
1 3 after
1 2 after
1 1 after
2 0 thread_that_exits
2 1 exit_deep
2 2 exit_deep
2 3 exit_deep
3 0 thread_that_is_cancelled
3 1 wait_to_be_cancelled
3 1 clean_up
3 2 after
END
calls_of -- ./jumps
sed -n '/change_stacks/,/^1 1 after/!p' calls >got
sed -n '/change_stacks/,/^1 1 after/!p' jumps.calls >want
expect_same_file want got
# Calls of libc nest among them.
expect_ok "$FXTRACE" run -q -o trace.fxt -c function,syscall -- ./jumps
expect_clean trace.fxt
list_archive trace.fxt
expect_events 1 'category == "syscall" && name == "close" && has("errno=EBADF")'
# How calls on another stack nest in those of the first is nobody's law; each is there, once.
for part in on_other_stack:1 change_stacks:1 after:13; do
	expect_equal "${part#*:}" "$(grep -c " ${part%:*}\$" calls)" "calls of ${part%:*}"
done

# Destructors run in the frame that they clean up, whether or not the compiler tells of its end.
cat >throws.calls <<'END'
1 0 main
1 1 shapes::caught()
1 2 shapes::deep(int)
1 3 shapes::deep(int)
1 4 shapes::deep(int)
1 4 shapes::Guard::~Guard()
1 5 shapes::after()
1 3 shapes::Guard::~Guard()
1 4 shapes::after()
1 2 shapes::after()
1 2 shapes::after()
1 1 shapes::thrown_again()
1 2 shapes::middle()
1 3 shapes::deep(int)
1 4 shapes::deep(int)
1 4 shapes::Guard::~Guard()
1 5 shapes::after()
1 3 shapes::after()
1 2 shapes::roomy()
1 2 shapes::after()
1 1 shapes::after()
1 1 shapes::Box<int>::twice(std::vector<int, std::allocator<int> > const&) const
1 2 shapes::after()
2 0 shapes::caught()
2 1 shapes::deep(int)
2 2 shapes::deep(int)
2 3 shapes::deep(int)
2 3 shapes::Guard::~Guard()
2 4 shapes::after()
2 2 shapes::Guard::~Guard()
2 3 shapes::after()
2 1 shapes::after()
2 1 shapes::after()
END
calls_of -- ./throws
# Clang shows what stands in headers, too; none of that calls the program's own.
sed -i -E '/^[0-9]+ [0-9]+ (main|shapes::)/!d' calls
expect_same_file throws.calls calls

# The same, as begin and end records.
for program in jumps throws; do
	expect_ok "$FXTRACE" run -q -o trace.fxt -c function --records pairs -- ./$program
	expect_clean trace.fxt
	list_archive trace.fxt
	expect_equal "$(count_events 'type == "begin"')" "$(count_events 'type == "end"')" "ends of $program"
	expect_events 0 'type == "complete"'
done
