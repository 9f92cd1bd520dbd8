/* SPDX-License-Identifier: MIT */
/*
 * Words of modules through which they call others (the entries of their global offset tables), in a process into which this library
 * came while that ran: they are made to lead to the wrappers, and are put back.
 *
 *	module's word -> libc's function			before, and after
 *	module's word -> our wrapper -> libc's function		in between
 *
 * A word is changed only where it leads to the very function that the wrapper calls on to, or would when it is called first (lazy
 * binding). Each is written whole, by one exchange, while other threads call through it. All is done inside dl_iterate_phdr(), so
 * that modules neither come nor go, and one thread at a time does it.
 */
#ifndef FX_PRELOAD_WORDS_H
#define FX_PRELOAD_WORDS_H

#include <stdbool.h>
#include <stdint.h>

struct fx_words_count {
	uint32_t changed; /* words that lead to wrappers now, or were put back */
	uint32_t left;	  /* words that could not be written */
};

/* Changes those of all modules, and of those that come later. 0 or -ENOMEM: some are not changed. */
int fx_words_change(struct fx_words_count *ret);

/* Puts back what was changed. */
void fx_words_restore(struct fx_words_count *ret);

/* Whether modules that come are to be changed. */
bool fx_words_are_changed(void);

/* Some may have come. Takes the dynamic linker's lock. */
void fx_words_loaded(void);

#endif
