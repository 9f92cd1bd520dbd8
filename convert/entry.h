/* SPDX-License-Identifier: MIT */
/*
 * What the index remembers of an event.
 */
#ifndef FX_CONVERT_ENTRY_H
#define FX_CONVERT_ENTRY_H

#include <stdint.h>

enum fx_entry_kind {
	FX_ENTRY_COMPLETE, /* end: when it ended */
	FX_ENTRY_BEGIN,	   /* end: 0, as long as it stands in the thread's list */
	FX_ENTRY_END,	   /* to be found in the thread's list alone */
	FX_ENTRY_INSTANT,
	FX_ENTRY_COUNTER,
	FX_ENTRY_FLOW, /* end: the record that it stands behind, see FX_ENTRY_ANCHORED */
	FX_ENTRY_LOG,
	FX_ENTRY_BLOB, /* a large event: an instant with a payload */
};

enum {
	FX_ENTRY_CUT = 1,	 /* slice: ends early, since it crossed the end of an outer one */
	FX_ENTRY_UNFINISHED = 2, /* slice: its end was never recorded */
	FX_ENTRY_LEFT_OUT = 4,	 /* not to be exported: nested too deep */
	FX_ENTRY_ANCHORED = 8,	 /* flow: `end' is the word of the record just before it, which
				  * is a slice or an instant of the same time */
};

/* One event of a thread. */
struct fx_entry {
	uint64_t ts;
	uint64_t end;
	union {
		struct {
			uint64_t word : 36; /* where its record stands, in words */
			uint64_t provider : 20;
			uint64_t kind : 4; /* enum fx_entry_kind */
			uint64_t flags : 4;
		};
		uint64_t packed; /* all four, FX_ENTRY_PACK() */
	};
};

/* Word, provider and kind, with no flags: put together before it is stored, memory need not be read for it. */
#define FX_ENTRY_PACK(word, provider, kind)                                                        \
	((uint64_t)(word) | (uint64_t)(provider) << 36 | (uint64_t)(kind) << 56)

#define FX_MAX_WORD	 ((UINT64_C(1) << 36) - 1)
#define FX_MAX_PROVIDERS ((UINT64_C(1) << 20) - 1)

/* The end of a begin record, from its end record. */
struct fx_entry_end {
	uint64_t begin; /* counts from 0, of the begins of a thread in the order of its list */
	uint64_t end;
	uint64_t word; /* of the end record */
};

#define FX_NO_WORD UINT64_MAX

/* An async record. They stand apart, since their operations belong to no thread. */
struct fx_async_entry {
	uint64_t ts;
	uint64_t id;
	uint64_t word;
	uint32_t provider;
	uint32_t process; /* number */
	uint8_t type;	  /* enum fxt_event_type */
};

/* A scheduling record. Its thread refs are resolved here, its strings when it is decoded. */
struct fx_sched_entry {
	uint64_t ts;
	uint64_t word;
	uint64_t outgoing; /* tid */
	uint64_t incoming; /* tid */
	uint32_t provider;
};

#endif
