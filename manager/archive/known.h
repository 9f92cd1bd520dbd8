/* SPDX-License-Identifier: MIT */
/*
 * Sets of categories by name: what providers say that they know, merged. Names are the providers' word:
 * control characters are made underscores, and there is a bound to how many are kept.
 */
#ifndef FX_MANAGER_KNOWN_H
#define FX_MANAGER_KNOWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lists/hashes-lenient.h"
#include "engine/layout.h"
#include "manager/settings/settings.h"

/* Categories that are told apart, besides the tracer's own; with descriptions they take 3 MB. */
#define FX_KNOWN_CATEGORIES_MAX 5000u

/* Those that one provider may bring in, so that none takes the room of all others; an engine makes known
 * at most FX_KNOWN_MAX, and events may name more. */
#define FX_KNOWN_PER_PROVIDER 1100u

#define FX_CATEGORY_HELP_MAX 400u /* bytes of a description, without the NUL */

struct fx_known {
	UT_hash_handle hh;
	bool lost;	    /* not in the hash for lack of memory */
	char *help;	    /* owned; NULL none */
	uint32_t bit;	    /* of the tracer's categories; 0: the program's own */
	bool by_default;    /* part of #default */
	uint32_t providers; /* that know it */
	uint32_t newest;    /* id of the last of them */
	char name[FX_CATEGORY_NAME_MAX + 1];
};

/* A uthash; NULL: empty. */
struct fx_known_set {
	struct fx_known *entries;
	uint32_t speaker; /* id of the provider that spoke last */
	uint32_t made;	  /* entries that were made by its words */
};

void fx_known_destroy(struct fx_known_set *set);

/* The entry of a name, made now if it is new; NULL without memory, for no name, and beyond the bounds.
 * *made counts the entries that one provider brings in; NULL: the tracer does. */
struct fx_known *fx_known_add(struct fx_known_set *set, uint32_t *made, const char *name,
			      size_t length);

/* Adds a text of a String Record with FX_STRING_CATEGORY, said by provider `id`: a name, possibly with a
 * description behind a NUL. A provider says all that it has to say in a row. */
void fx_known_say(struct fx_known_set *set, uint32_t id, const char *text, size_t length);

/* Adds the tracer's own. */
void fx_known_builtin(struct fx_known_set *set);

/* Puts the entries into the order of their names. */
void fx_known_sort(struct fx_known_set *set);

/*
 * The words that ask for categories, in the session's lists, that no name of the set satisfies; between
 * commas and blanks, cut to `size` bytes with the NUL. Names that end in a slash stand in the set for
 * providers.
 */
void fx_known_unseen(const struct fx_known_set *set, const struct fx_session_config *config,
		     char *ret, size_t size);

#endif
