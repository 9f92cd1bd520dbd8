/* SPDX-License-Identifier: MIT */
/*
 * Lists of categories: words between commas.
 *
 *	NAME		a category, of the tracer (FX_CATEGORIES) or the program's own
 *	NAME*		all that begin so
 *	PROVIDER/NAME	in processes of this name alone
 *	-WORD		takes away what the word means
 *	kernel:NAME	and tracepoint:GROUP/NAME, or tracepoint:GROUP, which may be globs: the kernel provider's, of no program
 *
 * The category "user" stands for all of the program's own. Words count in their order; those for single
 * providers come after those for all.
 */
#ifndef FX_MANAGER_WANTED_H
#define FX_MANAGER_WANTED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "manager/settings/settings.h"

/* One word; not terminated. */
struct fx_word {
	bool take_away;
	const char *provider; /* NULL: for all */
	size_t provider_length;
	const char *name; /* with its asterisk */
	size_t length;
};

/* Reads the word at *at and moves *at behind it; NULL there ends the list. */
bool fx_word_next(const char **at, struct fx_word *ret);

/* What is wrong with a word, or a list, a static text; NULL if nothing is. */
const char *fx_word_check(const char *text, size_t length);
const char *fx_words_check(const char *list);

/* Whether a word is the kernel provider's; and whether a list asks for something of it. */
bool fx_word_is_kernel(const struct fx_word *word);
bool fx_words_ask_kernel(const char *list);

/* Whether a word means static probes (sdt:PROVIDER:NAME), which the kernel provider has breakpoints for; and whether a list asks for some. */
bool fx_word_is_probe(const struct fx_word *word);
bool fx_words_ask_probes(const char *list);

/* Whether a list asks for what the kernel provider has, probes or others, and for nothing else. */
bool fx_words_are_of_kernel(const char *list);

/* Words of a list that passed the check. */
unsigned fx_words_count(const char *list);

/* Bits of the tracer's categories that a name, or a name with an asterisk, means. */
uint32_t fx_category_bits(const char *name, size_t length);

/* Bits of those that a session may record of some process, whatever its name. */
uint32_t fx_wanted_bits(const struct fx_session_config *config);

/*
 * What a session wants of processes of this name: the bits for fx_control.state; and, of FX_WANTED_SIZE
 * bytes, zeroes or written here before, the list of the program's own categories, as in
 * engine/layout.h.
 */
uint32_t fx_wanted_write(const struct fx_session_config *config, const char *provider,
			 char *ret_list);

#endif
