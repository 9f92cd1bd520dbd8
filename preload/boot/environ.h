/* SPDX-License-Identifier: MIT */
/*
 * What a new program needs in its environment to be traced: this library in LD_PRELOAD, and the
 * FXTRACE_ variables that this program was started with.
 *
 * A program that gives its children an environment of their own loses them; the wrappers of exec and
 * posix_spawn put them back. Variables that stand there with another value are left alone. No
 * allocation, no lock: a child of vfork or of a threaded program may do this.
 */
#ifndef FX_PRELOAD_ENVIRON_H
#define FX_PRELOAD_ENVIRON_H

#include <stdbool.h>

#include "preload/types.h"

#define FX_ENVIRON_PATH_BYTES 4096u

/* One more to be handed on: "FXTRACE_NAME=VALUE". */
void fx_environ_add(const char *variable);

/* Remembers what is to be handed on, in the constructor, after everything has been set. Under
 * FXTRACE_NO_FOLLOW=1 it takes it out of this program's environment instead, so that no child is
 * traced. Without this call environments stay as they are. */
void fx_environ_init(void);

/* Takes this library, and the variables that are for it, out of this program's environment: what it starts is not
 * steered by them. */
void fx_environ_forget(void);

/* Does the same before the process is under a filter that would end what has this library: libc starts programs by itself,
 * in system() and popen(). */
void fx_environ_confine(void);

/* The process goes under Landlock: what access() says may be read, may be refused. */
void fx_environ_landlocked(void);

/* False under FXTRACE_NO_FOLLOW=1. */
bool fx_environ_follows(void);

/* This library's path, as children find it; empty: not known. */
const char *fx_environ_library(void);

/* What to start a program with. A program that would complain of this library (base/loadable.h) gets the
 * environment without it. */
struct fx_environ {
	fx_strings envp;
	size_t mapped; /* bytes to be unmapped, at envp; 0: none */
	bool
	    is_childs; /* set by the caller: it is for a child, and else for what this process becomes */
	bool strip;
	bool traced; /* what is started will register, as far as its file tells */
};

/* Decides for a program: by path, open, or looked for in PATH. What is to be traced and cannot be is noted. */
void fx_environ_for_file(struct fx_environ *e, const char *path);
void fx_environ_for_fd(struct fx_environ *e, int fd);
void fx_environ_for_command(struct fx_environ *e, const char *file);

/* Whether it is started under a filter that this library does not get along with: then that is decided, and the kernel
 * is not asked for anything. */
bool fx_environ_is_confined(struct fx_environ *e, const char *path);

/* Builds it beside `envp` (NULL: an empty one), in memory of its own, so that no stack is too small; and decides once
 * more, by the LD_PRELOAD that stands there. `envp` is taken as it is where that is right, or not to be read, or
 * changed by another thread all the time. */
void fx_environ_make(struct fx_environ *e, fx_strings envp);

/* After a program that could not be started. Keeps errno. */
void fx_environ_release(const struct fx_environ *e);

#endif
