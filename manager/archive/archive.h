/* SPDX-License-Identifier: MIT */
/*
 * The archive: which provider's section the file is in, and the records that the manager itself
 * writes. The order that viewers need is: magic; then for each provider its info, its
 * initialization and its process's name, before anything else of it.
 */
#ifndef FX_MANAGER_ARCHIVE_H
#define FX_MANAGER_ARCHIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <fxtrace/reader.h>

#include "lists/hashes-lenient.h"
#include "manager/archive/output.h"
#include "manager/process/about.h"

/* A provider whose records are held elsewhere before they come into the file. */
struct fx_apart {
	UT_hash_handle hh;
	bool lost; /* not in the hash for lack of memory */
	uint32_t id;
	struct fx_output *out; /* borrowed */
};

struct fx_archive {
	struct fx_output *out;	/* where the records of the selected provider go */
	struct fx_output *file; /* borrowed */
	uint32_t selected;	/* provider; 0 none */
	uint32_t current;	/* provider whose section the file is in; 0 none */
	struct fx_apart *apart; /* uthash, by id */
	uint64_t events; /* that it has; a caller that writes one past these functions counts it */
};

/* Writes the magic record. */
void fx_archive_begin(struct fx_archive *a, struct fx_output *out);

/* Introduces a provider, an id that was never used. Here and below, names of providers, processes and threads may
 * be of any bytes, and are escaped (base/escape.h); all other text is as it shall stand. */
void fx_archive_introduce(struct fx_archive *a, uint32_t id, const char *name);

/* What is known of a provider's process (NULL: nothing), in the place of what was. */
void fx_archive_process(struct fx_archive *a, uint64_t pid, const char *name,
			const struct fx_abouts *abouts);

/* What is written next is this provider's. */
void fx_archive_select(struct fx_archive *a, uint32_t id);

/* From now on the records of a provider go elsewhere; and no longer. 0 or -ENOMEM. */
int fx_archive_set_apart(struct fx_archive *a, uint32_t id, struct fx_output *out);
void fx_archive_rejoin(struct fx_archive *a, uint32_t id);

/* The file, in the section of a provider whose records were held elsewhere. Nobody is selected then. */
struct fx_output *fx_archive_section(struct fx_archive *a, uint32_t id);

/* Records of the selected provider. */
void fx_archive_string(struct fx_archive *a, unsigned index, const char *text, size_t length);
void fx_archive_thread(struct fx_archive *a, unsigned index, uint64_t pid, uint64_t tid);
void fx_archive_thread_name(struct fx_archive *a, uint64_t pid, uint64_t tid, const char *name);

/* "Records were lost", as the format has it. */
void fx_archive_provider_event(struct fx_archive *a, uint32_t id);

/* Any record of the selected provider; one that breaks a bound of the format is left out. */
void fx_archive_record(struct fx_archive *a, const struct fxt_record *record);

#endif
