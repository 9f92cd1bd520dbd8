/* SPDX-License-Identifier: MIT */
/*
 * Whether a program takes a preloaded library of this machine's kind without complaint, as far as its
 * file tells. If not, it must be started without: it would write to its stderr, or refuse to run.
 */
#ifndef FX_BASE_LOADABLE_H
#define FX_BASE_LOADABLE_H

enum fx_loadable {
	FX_LOADABLE = 0,	/* or not to be told: what starts it will say what is wrong */
	FX_LOADABLE_OTHER_KIND, /* an ELF program of another class or machine */
	FX_LOADABLE_SANITIZED,	/* its AddressSanitizer or ThreadSanitizer must be loaded first */
};

/* Looks at the file `path`, relative to the directory `dirfd` (or AT_FDCWD); for a script, at the
 * interpreter that its first line names. Raw system calls alone: a bad `path` is the kernel's to refuse. */
enum fx_loadable fx_loadable_file(int dirfd, const char *path);

/* The same for an open file, whose offset stays. */
enum fx_loadable fx_loadable_fd(int fd);

#endif
