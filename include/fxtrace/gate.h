/* SPDX-License-Identifier: MIT */
/*
 * What the compiler plugins (fxtrace.so for GCC, fxtrace-clang.so) put into a module (a program or a shared library), and what libfxtrace.so looks for
 * there. For other compilers that want to do the same; programs need none of it.
 *
 * At its entry and before each of its exits a function does
 *
 *	const struct fxtrace_calls *calls = __fxtrace_gate;
 *
 *	if (calls)
 *		calls->enter(function, __builtin_return_address(0));	(at exits: calls->leave)
 *
 * where __fxtrace_gate is one word of the module's own, hidden and writable. It begins as the address of __fxtrace_calls, a
 * weak reference: NULL, unless libfxtrace.so is loaded. Executables whose linker has settled that reference already are
 * opened by libfxtrace.so as it is loaded: a note of the module says where the word is.
 *
 *	owner FXTRACE_NOTE_OWNER, type FXTRACE_NOTE_GATE: 4 bytes, the distance from there to __fxtrace_gate
 *
 * The section FXTRACE_SITES_SECTION has a struct fxtrace_site for each function that has this code. It is for tools that read
 * the file: names of functions whose symbols were stripped.
 */
#ifndef FXTRACE_GATE_H
#define FXTRACE_GATE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Both as the hooks of -finstrument-functions: the function's address, and where its call returns to. */
struct fxtrace_calls {
	void (*enter)(void *function, void *site);
	void (*leave)(void *function, void *site);
};

#define FXTRACE_NOTE_OWNER  "fxtrace"
#define FXTRACE_NOTE_GATE   1
#define FXTRACE_NOTE_EVENTS 2 /* the same, to the word of event.h */
#define FXTRACE_NOTE_ENGINE                                                                        \
	3 /* of what records, to what it says of itself: these find one another by it */
/* These two have no field: code that the linker makes (-flto) was to have this; and the plugin was there when it was made. */
#define FXTRACE_NOTE_PROMISED 4
#define FXTRACE_NOTE_MADE     5
#define FXTRACE_SITES_SECTION "fxtrace_sites"
/*
 * Notes of this section name functions that have had this code since before the linker made its own of them (-flto), and for which
 * nobody writes sites where that is done without the plugin. The file does not load it. Where FXTRACE_NOTE_MADE is, there are
 * sites. Field of each: line, size and flags as in a site, then name and file, each with a NUL.
 */
#define FXTRACE_EARLY_SECTION ".fxtrace.early"
#define FXTRACE_NOTE_EARLY    6

/* Distances are counted from the field itself, so that nothing is relocated. Texts end with a NUL. */
struct fxtrace_site {
	int32_t function; /* its first instruction */
	int32_t name;	  /* as the linker knows it */
	int32_t file;	  /* where it is defined; as the compiler was given it */
	uint32_t line;	  /* 0: not known */
	uint32_t size; /* in instructions, as the compiler counts them, before the plugin's own */
	uint32_t flags;
};

/* fxtrace_site.flags */
#define FXTRACE_SITE_EARLY 1u /* made before inlining: it may be part of other functions as well */
#define FXTRACE_SITE_LOOP  2u /* has a loop */
#define FXTRACE_SITE_CALL  4u /* calls others */

#ifdef __cplusplus
}
#endif

#endif
