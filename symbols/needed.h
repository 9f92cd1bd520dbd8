/* SPDX-License-Identifier: MIT */
/*
 * The files that a command begins with: the program's own, the dynamic linker, and the libraries that it needs, and that these need.
 * Where it is a script, its interpreter's. They are looked for as the dynamic linker does; but where its cache has several of a
 * name (for another kind of processor, say), all are shown.
 */
#ifndef FX_SYMBOLS_NEEDED_H
#define FX_SYMBOLS_NEEDED_H

/* What is done with each: something else than 0 ends the search, and is its result. */
typedef int fx_needed_take(void *opaque, const char *path);

/*
 * Shows each file once, the program first. Further programs that the command names are shown as well, with what they need:
 * `env ./program', `sh -c "./program | more"'. Each is a path, or found in PATH. 0, what `take' returned, -ENOENT: there is no such
 * program, or -EINVAL: it is none of this machine.
 */
int fx_needed_files(char *const *command, fx_needed_take *take, void *opaque);

#endif
