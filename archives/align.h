/* SPDX-License-Identifier: MIT */
/*
 * How the clocks of several archives lie to each other. What decides, of each archive, is the first of these that is
 * there: what the user says; that it has another's clock, being of the same machine since the same start; the dates
 * that the clock records tell, with the drift that they show; the messages to an archive whose clock is known. Where
 * dates would have a message come before it was sent, they are moved just so far that none does.
 */
#ifndef FX_ARCHIVES_ALIGN_H
#define FX_ARCHIVES_ALIGN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "archives/clockmap.h"
#include "archives/facts.h"

/* X(NAME, "by what") */
#define FX_ALIGNMENTS(X)                                                                           \
	X(FIRST, "the others are aligned to it")                                                   \
	X(OFFSET, "by --offset")                                                                   \
	X(MACHINE, "it is another's")                                                              \
	X(DATES, "by its clock records")                                                           \
	X(BOTH, "by its clock records, and moved by messages")                                     \
	X(MESSAGES, "by messages")

#define FX_ENUM_ALIGNMENT_(name, text) FX_ALIGN_##name,
enum fx_alignment { FX_ALIGN_NONE, FX_ALIGNMENTS(FX_ENUM_ALIGNMENT_) };

const char *fx_alignment_text(enum fx_alignment how);

struct fx_aligned {
	struct fx_facts facts;
	bool has_offset;
	int64_t offset; /* ns, to the clock of the first archive */
	/* What comes of it: */
	struct fx_aligned *leader; /* an earlier one, whose clock it has; NULL: none */
	uint64_t first_ns,
	    last_ns; /* of its own times, and of those that have its clock; UINT64_MAX: there are none */
	enum fx_alignment how; /* FX_ALIGN_NONE: nothing tells */
	bool is_contradicted;  /* no clock that drifts evenly could have its messages in order */
	double
	    error; /* ns, that it may be wrong by against the first one's; INFINITY: nothing tells; < 0: the user says */
	struct fx_clockmap map;
};

/*
 * Finds the maps of all; the first archive's clock is kept, unless it is slower than another. `links`: the ends of messages that all
 * facts were read with. 0 or -errno.
 */
int fx_align(struct fx_aligned *archives, size_t count, struct fx_links *links);

/* Whether a message runs backwards by these maps. */
bool fx_align_is_backwards(struct fx_aligned *archives, const struct fx_link *link);

/* Whether two archives were recorded on one machine since the same start. */
bool fx_align_is_same_machine(const struct fx_facts *a, const struct fx_facts *b);

#endif
