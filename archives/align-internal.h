/* SPDX-License-Identifier: MIT */
/*
 * Clocks as they are aligned (align.h), between its units: align.c has the order of it all, align-alone.c what needs no messages,
 * align-messages.c what these say, align-lines.c a clock by its messages, align-settle.c all clocks at once.
 */
#ifndef FX_ARCHIVES_ALIGN_INTERNAL_H
#define FX_ARCHIVES_ALIGN_INTERNAL_H

#include "archives/align.h"
#include "archives/between.h"
#include "archives/bounds.h"

struct fx_align_work {
	struct fx_aligned *archives;
	size_t count;
	struct fx_links *links;
	struct fx_between between;
	bool is_again; /* what is out of order after all is kept */
	uint64_t backwards;
};

/* A time and a distance, where that is one; else an end of all times. */
uint64_t fx_align_moved(uint64_t ns, int64_t by);

/* --- Each 0 or -errno --- */

int fx_align_by_offset(struct fx_aligned *a, int64_t offset, enum fx_alignment how);

/* The clock of another archive, but for what time namespaces add. */
int fx_align_by_machine(struct fx_aligned *a, struct fx_aligned *other);

/* What needs no other's clock but that of an archive with a date. */
int fx_align_alone(struct fx_aligned *archives, struct fx_aligned *a);

/* Looks at all messages that there are between archives. */
int fx_align_see_all(struct fx_align_work *work);

/*
 * What the messages to all whose clocks are known by now say of an archive's. `errors': with what these may be wrong by, if that is
 * known, and with what the map is no line by.
 */
int fx_align_gather(const struct fx_align_work *work, struct fx_aligned *a, bool errors,
		    struct fx_bounds *bounds);

/* Those that nothing else has aligned wait for one another; then all are brought into order. */
int fx_align_by_messages(struct fx_align_work *work);

/* Moves all clocks that may so that all messages are in order. */
int fx_align_settle(struct fx_align_work *work);

/* Whether messages may move its clock. */
bool fx_align_may_move(const struct fx_aligned *a);

#endif
