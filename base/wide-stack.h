/* SPDX-License-Identifier: MIT */
/*
 * A stack that is wide enough whatever the limit of stacks is (ulimit -s): the program that is to be traced may be content with a
 * narrow one, and what starts and records it has the same limit.
 */
#ifndef FX_BASE_WIDE_STACK_H
#define FX_BASE_WIDE_STACK_H

/*
 * Calls main_on_it(argc, argv), and returns what that does: on a stack of its own where this thread's may not grow so far, else, and
 * where there is no memory for one, on the one that is there. Threads that are made later have a wide one, too, unless they
 * are told otherwise. Once in a process, in its first thread.
 */
int fx_wide_stack_call(int (*main_on_it)(int argc, char **argv), int argc, char **argv);

#endif
