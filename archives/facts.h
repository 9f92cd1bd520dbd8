/* SPDX-License-Identifier: MIT */
/*
 * What has to be known of an archive before it is brought together with others: whose clock it has, which processes
 * and threads, and the messages to other machines. Memory grows with processes, threads and messages, of which so many
 * count (messages.h).
 */
#ifndef FX_ARCHIVES_FACTS_H
#define FX_ARCHIVES_FACTS_H

#include <stdbool.h>
#include <stdint.h>

#include "archives/clockmap.h"
#include "archives/links.h"
#include "archives/meetings.h"
#include "archives/messages.h"
#include "lists/hashes.h"
#include "format/clock-record.h"
#include "format/host-record.h"

/* A number of the kernel: of a process, or of a thread. */
struct fx_facts_id {
	uint64_t id;
	bool is_process;
	uint64_t names[2]; /* hashes of a process's first and newest name; 0: none */
	UT_hash_handle hh;
};

struct fx_facts {
	bool has_clock;
	struct fx_clock_record clock; /* the first */
	struct fx_host_record host;   /* the first; host "": not known */
	struct fx_clockmap dates;     /* to CLOCK_REALTIME, since the date was last changed */
	struct fx_facts_id *ids;
	uint64_t last_id, last_owner; /* the newest that were noted */
	struct fx_messages messages;
	uint64_t events;
	uint64_t first_ns, last_ns; /* of all times; UINT64_MAX: there are none */
	uint64_t fault_count;
	struct fxt_fault fault; /* the first one */
	/* Where ends of messages, and calls of collectives, go, as those of archive `number`. */
	struct fx_links *links;
	struct fx_meetings *meetings;
	size_t number;
};

/* Reads all of an archive. 0 or -errno; the facts are to be freed either way. */
int fx_facts_read(const char *path, struct fx_links *links, struct fx_meetings *meetings,
		  size_t number, struct fx_facts *ret);

void fx_facts_free(struct fx_facts *facts);

struct fx_facts_id *fx_facts_find(const struct fx_facts *facts, uint64_t id);

#endif
