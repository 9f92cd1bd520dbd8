/* SPDX-License-Identifier: MIT */
/*
 * Messages that begin in one archive and end in another, found by an id that both ends have: a table of (id, time). Arrows of category
 * `mpi' have such ids, and any other source of them may add its own. In memory up to a limit, and then in a file; so that there
 * may be any number of them.
 */
#ifndef FX_ARCHIVES_LINKS_H
#define FX_ARCHIVES_LINKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <fxtrace/reader.h>

#include "lists/vector.h"

struct fx_links;

/* NULL: no memory. */
struct fx_links *fx_links_new(void);
void fx_links_free(struct fx_links *links);

/* Whether a record is the end of a message that may go to another archive. */
bool fx_link_read(const struct fxt_record *record, bool *ret_is_sent);

/* `ns': of the archive's own clock. 0 or -ENOMEM. */
int fx_links_add(struct fx_links *links, size_t archive, bool is_sent, uint64_t id, uint64_t ns);

/* A message. */
struct fx_link {
	uint64_t id;
	size_t from, to; /* archives, which differ */
	uint64_t sent, received;
};

/* Calls `seen' with each, until it does not return 0; that is returned. Or -errno. Nothing may be added from then on.
 * An id that has two beginnings or two ends is nobody's: `odd' (NULL: nobody) is called with it. */
int fx_links_walk(struct fx_links *links, int (*seen)(void *opaque, const struct fx_link *link),
		  int (*odd)(void *opaque, uint64_t id), void *opaque);

/* Ids, a million at most. All zeros: none. */
struct fx_link_ids {
	FX_VECTOR(uint64_t) ids; /* ascending */
	bool is_full;
};

/* Not less than those before. 0 or -ENOMEM. */
int fx_link_ids_add(struct fx_link_ids *ids, uint64_t id);
bool fx_link_ids_has(const struct fx_link_ids *ids, uint64_t id);
void fx_link_ids_free(struct fx_link_ids *ids);

#endif
