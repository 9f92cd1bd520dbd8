/* SPDX-License-Identifier: MIT */
/*
 * What a process is about to become. The record of an exec that succeeds is never written by the process, so the
 * manager is told of path and arguments before it, and shows them with the call that stays open
 * (FX_TIE_EXECS). A child of vfork writes nothing: what it executes is shown with its parent's call.
 */
#ifndef FX_PRELOAD_EXECS_H
#define FX_PRELOAD_EXECS_H

#include "preload/show/args.h"

/* Before the call whose open frame has this header. The pointers need not be good. `traced`: the program will
 * register. */
void fx_exec_tell(uint64_t header, const char *path, fx_strings argv, bool traced);

/* The same with the path of an open file. */
void fx_exec_tell_fd(uint64_t header, int fd, fx_strings argv, bool traced);

/* It has failed; `traced` as before. */
void fx_exec_failed(bool traced);

/* Whether the child which ran on this thread has become a program that will register; then that is forgotten. */
bool fx_exec_will_register(void);

/* `path' and `argv' of the program that the child which ran on this thread has become, if there is one; then they
 * are forgotten. */
#define FX_WORDS_EXECUTED (FX_WORDS_text + FX_WORDS_far_argv)
void fx_exec_show(struct fx_call *call);

#endif
