/* SPDX-License-Identifier: MIT */
/*
 * What functions call that were built for a profiler: mcount (-pg, behind the prologue) and __fentry__ (-mfentry, before it).
 * They tell of entries alone. An exit could be had by replacing return addresses, which nobody here does; so an entry is
 * an instant event of category "function". Then libc's own function gets the call as it was, and gprof its counts.
 */
#ifndef FX_PRELOAD_ENTRIES_H
#define FX_PRELOAD_ENTRIES_H

#include <stdbool.h>
#include <stdint.h>

/* A compiler expects these calls to change no register that a function gets something in; the ways in entry-ways.c see to
 * that. `place': where the call returns to. */

/* Records the entry. False: nothing has happened, and the slow half is to do it. Changes no vector. With the way to
 * it and back 103 instructions (gcc 12, x86-64; tests/preload/steps.sh counts them). */
bool fx_entry_record(uint64_t place) __attribute__((visibility("hidden")));

/* The slow half, with the vectors saved. Keeps errno. */
void fx_entry_record_slowly(uint64_t place) __attribute__((visibility("hidden")));

/* libc's own, which the calls go on to; NULL: nobody has looked for them. */
struct fx_entry_next {
	void *mcount, *fentry;
};
extern struct fx_entry_next fx_entry_next __attribute__((visibility("hidden")));

#if defined(__x86_64__)
/* What the calls go to that are written where a function has room for one (preload/boot/patch.h). */
void fx_entry_patched(void) __attribute__((visibility("hidden")));

/* Which parts of the vectors' state there are to save, as XSAVE is told them; 0: it is to be FXSAVE. */
uint64_t fx_entry_vectors(void) __attribute__((visibility("hidden")));
#endif

#endif
