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

/* The value of a variable, or NULL. A program may have a getenv of its own, which is not ours to call. */
const char *fx_environ_value(const char *name);

/* Remembers what is to be handed on, in the constructor, after everything has been set. Under
 * FXTRACE_NO_FOLLOW=1 it takes it out of this program's environment instead, so that no child is
 * traced. Without this call environments stay as they are. */
void fx_environ_init(void);

/* False under FXTRACE_NO_FOLLOW=1. */
bool fx_environ_follows(void);

/* What to start a program with. A program that would complain of this library (base/loadable.h) gets the
 * environment without it. */
struct fx_environ {
	fx_strings envp;
	size_t mapped; /* bytes to be unmapped, at envp; 0: none */
	bool strip;
};

/* Decides for a program: by path, open, or looked for in PATH. What cannot be traced is noted. */
void fx_environ_for_file(struct fx_environ *e, const char *path);
void fx_environ_for_fd(struct fx_environ *e, int fd);
void fx_environ_for_command(struct fx_environ *e, const char *file);

/* Decides once more, by the LD_PRELOAD that it is given. */
void fx_environ_see(struct fx_environ *e, fx_strings envp);

/* Bytes that its environment needs beside `envp` (NULL: an empty one); 0 if `envp` is right as it
 * is. */
size_t fx_environ_room(const struct fx_environ *e, fx_strings envp);

/* Builds it in `room` bytes at `memory`; with NULL, in memory of its own. */
void fx_environ_build(struct fx_environ *e, fx_strings envp, size_t room, void *memory);

/* After a program that could not be started. Keeps errno. */
void fx_environ_release(const struct fx_environ *e);

/* Larger environments are not built on the stack. */
#define FX_ENVIRON_STACK 32768u

#define FX_ENVIRON_MAKE(e, envp)                                                                   \
	do {                                                                                       \
		size_t room_;                                                                      \
                                                                                                   \
		fx_environ_see((e), (envp));                                                       \
		room_ = fx_environ_room((e), (envp));                                              \
		fx_environ_build((e), (envp), room_,                                               \
				 room_ &&room_ <= FX_ENVIRON_STACK ? __builtin_alloca(room_)       \
								   : NULL);                        \
	} while (0)

#endif
