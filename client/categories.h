/* SPDX-License-Identifier: MIT */
/*
 * Lists of categories, as --categories takes them: those of manager/settings/wanted.h, and groups.
 */
#ifndef FX_CLIENT_CATEGORIES_H
#define FX_CLIENT_CATEGORIES_H

#include <stdbool.h>
#include <stdint.h>

#include "protocol/messages.h"

/* Bits of the categories that are recorded by default, and their names as a list. */
uint32_t fx_categories_default(void);
const char *fx_categories_default_list(void);

/* The tracer's categories, by name. */
void fx_categories_each(void (*see)(void *opaque, const char *name, bool by_default,
				    const char *help),
			void *opaque);

/* The bytes that one of them usually takes in an archive, 0 for the program's own, and when; NULL there: it is none of the
 * tracer's. */
unsigned fx_categories_cost(const char *name, const char **ret_when);

/* Bits of those whose records can carry a stack. */
uint32_t fx_categories_with_stacks(void);

/*
 * Reads a list. *ret_bits is where its words begin from: nothing, or the default if the first word takes
 * away. `ret_words` gets the words, with the words of a group in place of #GROUP. NULL, or what is wrong;
 * the text is valid until the next call.
 */
const char *fx_categories_parse(const char *list, uint32_t *ret_bits,
				char ret_words[FX_CATEGORY_LIST_MAX]);

/* The same in two steps: what a list begins from, and what it adds to words that are there. */
void fx_categories_begin(const char *list, uint32_t *ret_bits,
			 char ret_words[FX_CATEGORY_LIST_MAX]);
const char *fx_categories_add(const char *list, char words[FX_CATEGORY_LIST_MAX]);

/* The bits of a list that has categories of the tracer alone. NULL, or what is wrong, as above. */
const char *fx_categories_parse_bits(const char *list, uint32_t *ret_bits);

/* Prints what a list may name, of the tracer's categories those of `bits`, groups too, a line each: the name, a tab, and
 * what it means. */
void fx_categories_print(uint32_t bits);

#endif
