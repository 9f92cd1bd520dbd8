/* SPDX-License-Identifier: MIT */
/*
 * The program's own categories: which of them are wanted, and which the program knows. What the tracer
 * itself records goes by bits (FX_CATEGORIES); these go by their names. Nothing here is for the hot path:
 * a caller that asks at every event keeps the answer until the epoch changes.
 */
#ifndef FX_ENGINE_CATEGORY_H
#define FX_ENGINE_CATEGORY_H

#include <stdbool.h>

/* Categories that a process can make known; more are recorded, but not listed. */
#define FX_KNOWN_MAX 1024u

/* Bytes of a description that are told. */
#define FX_DESCRIPTION_MAX 400u

/* Whether events of the category are wanted, provided that FX_CAT_USER is on. Holds for the epoch. */
bool fx_category_wanted(const char *name);

/*
 * The program knows the category: the manager lists it. `description` may be NULL, and may come later; the first one counts. Both
 * must stay where they are, for a forked child says it again. Once is enough; again does nothing. Async-signal-safe.
 */
void fx_category_know(const char *name, const char *description);

/* Whether fx_category_know() would do something. */
bool fx_category_is_news(const char *name, const char *description);

/* Goes through what is known so far. */
void fx_categories_say(void (*say)(const char *name, const char *description));

/* Says to a fresh buffer what is known so far. */
void fx_categories_tell(void);

#endif
