/* SPDX-License-Identifier: MIT */
/*
 * What a session is asked to do.
 */
#ifndef FX_MANAGER_SETTINGS_H
#define FX_MANAGER_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/layout.h"
#include "manager/settings/clock.h"
#include "manager/settings/policy.h"
#include "protocol/messages.h"

#define FX_DEFAULT_OUTPUT      "fxtrace.fxt"
#define FX_DEFAULT_BUFFER_SIZE (16ull << 20)
#define FX_DEFAULT_MAX_STRINGS (32ull << 20)
#define FX_MAX_SYMBOLS_MAX     (4ull << 30)

/* A buffer size for providers of one name. */
struct fx_provider_size {
	const char *name;
	uint64_t size;
};

struct fx_session_config {
	const char *output; /* path, "-" is standard output */
	uint64_t buffer_size;
	const struct fx_provider_size *sizes; /* the last one of a name counts */
	size_t size_count;
	enum fx_buffering_mode mode;
	enum fx_on_full on_full;
	enum fx_clock_wish clock; /* of a manager */
	bool pairs;
	bool follow; /* trace children of the program as well */
	bool verbose;
	uint32_t max_depth;	  /* 0: as deep as there is room */
	uint32_t categories;	  /* bits of enum fx_category_bits, before `words` count */
	const char *words;	  /* see manager/settings/wanted.h; NULL none */
	uint32_t more_categories; /* of a start, in addition */
	const char *more_words;	  /* the same; NULL none */
	uint64_t min_duration_ns; /* 0: none */
	uint64_t last_ns;	  /* circular: what is kept at the end; 0: all that there is */
	const char *functions;	  /* see manager/settings/functions.h; NULL: all */
	uint64_t duration_ns;	  /* 0: until the end */
	uint64_t watchdog_ns;	  /* a standstill that is told of; 0: none is */
	uint64_t max_memory;	  /* bytes that all buffers together may take; 0: any */
	uint64_t max_user_memory; /* of a daemon: those of one user, not its own; 0: any */
	uint64_t max_strings; /* bytes that the strings of one process may take in the manager */
	uint64_t max_symbols; /* bytes of the symbols of one file there, */
	uint64_t max_user_symbols; /* and of those of one user; 0: the default */
	const char *symbol_cache;  /* where tables of symbols are kept; see fx_store_folder() */
	uint32_t sample_hz;	   /* of a run: samples a second of processor time; 0: none */
	bool kernel;		   /* of a run: what the kernel says of its processes is recorded */
	bool kernel_machine;	   /* of all threads of the machine */
	bool kernel_calls;	   /* and system calls of all processes that do not record theirs */
	bool patch;		   /* functions with room for a call get one */
	bool lines;		   /* stacks have source lines, and inlined functions */
	uint32_t stack_categories; /* bits: their calls carry their stack */
	uint64_t stack_duration_ns; /* if they took so long */
	const struct fx_trigger *triggers;
	size_t trigger_count;
	struct fx_policy policy; /* of a daemon */
};

#endif
