/* SPDX-License-Identifier: MIT */
/* What is known of locks of files: see file-locks.h. */
#ifndef FX_MANAGER_FILE_LOCK_H
#define FX_MANAGER_FILE_LOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/layout.h"
#include "lists/hashes-lenient.h"
#include "lists/vector.h"
#include "manager/archive/arrows.h"
#include "manager/archive/transfer-draw.h"

/* What a thread told; times are ns. */
struct fx_file_told {
	enum fx_file_lock_kind kind;
	int32_t owner;
	bool is_alone; /* nobody but the process has what the owner leads to */
	uint64_t key;
	uint64_t begin, end;
	uint64_t first, last; /* bytes */
	uint32_t provider;
	uint32_t pid, shown; /* of the archive */
};

struct fx_file {
	UT_hash_handle hh;
	bool lost;   /* not in the hash for lack of memory */
	bool is_odd; /* something was done that was not told */
	uint64_t key;
	FX_VECTOR(struct fx_file_told) told;
};

/* Nothing more comes of a process image. */
struct fx_file_end {
	uint32_t provider, pid;
	bool is_death;
	uint64_t alive, heard; /* ns; it ended between them */
};

/* A process that has told something: ends of the others do not matter. */
struct fx_file_party {
	UT_hash_handle hh;
	bool lost; /* not in the hash for lack of memory */
	uint32_t pid;
	FX_VECTOR(uint32_t) spread; /* its images whose descriptors others may have, providers */
	FX_VECTOR(struct fx_file_end) ends; /* of its images, in their order */
};

struct fx_file_locks {
	struct fx_arrows *arrows;      /* borrowed */
	struct fx_file *files;	       /* uthash, by key */
	struct fx_file_party *parties; /* uthash, by pid */
	uint64_t bytes;		       /* of all that is remembered */
	bool is_doubtful;	       /* somebody has not told what it does */
	bool is_lossy;		       /* records are missing */
	bool is_full;
	struct fx_transfer_counts *counts; /* borrowed; of arrows, and of waits that have none */
};

#endif
