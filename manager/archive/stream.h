/* SPDX-License-Identifier: MIT */
/*
 * One provider's way into the archive. The pieces of its buffer, copied and still not trusted, come
 * in (intake.h); records of the archive come out: checked, with times in nanoseconds, references that
 * the archive knows, the process id that the kernel vouched for, and each name before its use. Here is what is
 * remembered of the provider meanwhile, and its threads.
 *
 *	intake.c    what becomes of a piece, and the end
 *	rows.c      records of chunks and of the durable area, one after another
 *	rewrite.c   each of them, by its kind; begun.c and late.c of begins, ends and stops
 *	told.c      what the process tells the manager by records
 *	escaped.c   records that change their size
 *	async-take.c  ends of async events, whose begins may come later
 *	flow-ids.c  ids of arrows; loose-flows.c and vthread-flows.c those that stand in no slice
 *	kept.c      what is left of a circular buffer
 *	scope.c     calls that are recorded by what they lie in
 *	marks.c     what the manager adds: open calls, losses, the last heap counter
 *
 *	kernel.c    what the kernel provider says of other processes
 *
 * What a provider may not say is left out and counted as invalid: metadata, initialization, names
 * of processes and of other threads, scheduling, Perfetto blobs, malformed records, records with
 * strings that were never defined.
 */
#ifndef FX_MANAGER_STREAM_H
#define FX_MANAGER_STREAM_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lists/hashes-lenient.h"
#include "engine/reader/drain.h"
#include "manager/archive/crowd.h"
#include "manager/archive/archive.h"
#include "manager/archive/asyncs.h"
#include "manager/process/ending.h"
#include "manager/process/identity.h"
#include "manager/archive/flow-ids.h"
#include "manager/archive/kernel-tasks.h"
#include "manager/archive/known.h"
#include "manager/archive/loose.h"
#include "manager/settings/losses.h"
#include "manager/archive/modules.h"
#include "manager/archive/names.h"
#include "manager/archive/nesting.h"
#include "manager/process/origin.h"
#include "manager/archive/large.h"
#include "manager/settings/timebase.h"
#include "manager/archive/untraced.h"
#include "manager/archive/vthreads.h"

struct fx_meaning_entry;
struct fx_scope;
struct fx_ties;
struct fx_file_locks;
struct fx_shares;
struct fx_transfers;
struct fx_transfer_stream;

/* What all streams share; belongs to the writer. */
struct fx_stream_shared {
	struct fx_archive archive;
	struct fx_timebase timebase;
	struct fx_ties *ties;		  /* borrowed */
	struct fx_transfers *transfers;	  /* borrowed; NULL: nothing is drawn of them */
	struct fx_shares *shares;	  /* the same */
	struct fx_file_locks *file_locks; /* the same */
	struct fx_symbol_cache *symbols;
	struct fx_builtin_names builtin;
	struct fx_known_set known; /* categories, and names of providers with a slash */
	char cures[FX_CAUSES][FX_LOSS_CURE_MAX]; /* what would have kept what was lost */
	struct fx_identities *ids;		 /* borrowed; NULL: none are given */
	struct fx_kernel_tasks kernel_tasks;
	uint64_t max_strings;		   /* bytes that the strings of one provider may take */
	struct fx_function_list functions; /* NULL: all are recorded */
	struct fx_crowd crowd;
	uint32_t max_levels; /* as of fx_functions_enter() */
	bool has_min; /* functions have shortest durations of their own; that of the others is */
	uint64_t min_ns;
	bool pairs;	  /* begin and end records instead of complete ones */
	bool shallow;	  /* it was asked that deeper calls be left out */
	uint64_t last_ns; /* circular: what is older at the end is left out; 0: nothing is */
	struct fx_untraced untraced;
	struct fx_flow_ids flow_ids;
	uint32_t asyncs_plain; /* the provider whose ids of async events are its own; 0: none yet */
	struct fx_nesting_memory nesting;
	uint64_t scratch[FXT_MAX_RECORD_WORDS + 1];
};

/* A complete call that was recorded, as the provider wrote it. */
struct fx_recent {
	uint64_t start;	  /* ticks */
	uint64_t header;  /* its header word */
	uint64_t address; /* of its function, 0 if its name is no address */
};

#define FX_RECENT 8u

/* A begin without an end: the references of the archive. */
struct fx_begun {
	uint64_t ns;
	uint64_t address; /* of the function; 0: a slice of the program's own */
	uint16_t category;
	uint16_t name;
};

/* Begins beyond it are left out, as viewers drop slices that are nested deeper; that and their ends are only counted. */
#define FX_BEGUN_MAX FX_NESTING_LEVELS

/*
 * Slices that the program has begun and ended, of which none lies in another; the newest is the last. What is recorded whole, and began inside
 * of one, may come when that stands in the archive. So many are remembered of a thread.
 */
#define FX_ENDED_MAX 16u

struct fx_ended {
	struct fx_interval slices[FX_ENDED_MAX];
	uint32_t count;
};

/*
 * When tracing stops, a thread's open calls are written as open until then. One that the kernel stopped in
 * the middle of a hook may write the record of such a call when tracing goes on already; and one that sleeps
 * all the while has the same calls open at the next stop. So a stop is remembered.
 */
struct fx_stop {
	uint64_t ticks;	 /* when, as the manager has it */
	uint64_t ns;	 /* all that was open was open until then; 0: there was no stop */
	uint64_t before; /* ns of the stop before */
	uint32_t count;	 /* of stops */
	uint32_t told_next;
	uint64_t told[FX_RECENT]; /* starts, in ns, of the innermost calls that were told */
};

/*
 * Threads that a stream remembers; beyond it the ones that were quiet for longest are forgotten, and
 * introduced again if something late comes of them. Threads that may still be there stay: those with an unfinished
 * chunk, and the newest owner of each slot. If there is nobody to forget, a new thread is refused.
 */
#define FX_STREAM_THREADS_MAX (8u * FX_THREADS_MAX)

struct fx_stream_thread {
	UT_hash_handle hh;
	bool lost;			      /* not in the hash for lack of memory */
	struct fx_stream_thread *prev, *next; /* of those that are not held, by their last use */
	uint32_t tid;			      /* as its process calls it */
	uint32_t shown;			      /* as the archive does */
	uint32_t index;			      /* in the archive's thread table, 0 none now */
	uint32_t depth;			      /* begins without an end */
	uint32_t held;	    /* by unfinished chunks that it writes, and slots that are its own */
	bool introduced;    /* its kernel object stands in the archive */
	bool begun_writing; /* a chunk of its has come */
	bool kept_whole;    /* its first one: see kept.h */
	char name[16];	    /* "" unknown */
	uint64_t last_end;  /* ns; the latest time of its records */
	uint64_t kept_from; /* ns; of the first event that has come */
	/* `depth` of them, as far as there is room, by their times; the innermost last */
	struct fx_begun *begun;
	uint32_t begun_room;
	struct fx_peaks begun_levels; /* how many have lain in one another */
	struct fx_ended ended;
	struct fx_nesting nesting; /* of its complete calls in the archive */
	struct fx_loose *loose;	   /* made when first needed: loose-flows.h */
	uint64_t anchor_ns;	   /* of its newest instant, which arrows of that time belong to */
	struct fx_crowd_thread *crowd; /* made when first needed */
	struct fx_stop stop;
	uint32_t recent_next;
	struct fx_recent recent[FX_RECENT];
};

/* What must be remembered of a chunk that comes in several pieces. */
struct fx_stream_chunk {
	UT_hash_handle hh;
	bool lost; /* not in the hash for lack of memory */
	uint32_t number;
	uint64_t serial;
	struct fx_stream_thread *thread; /* NULL before the chunk's Thread Record */
	uint32_t stops;			 /* of the thread, when the chunk began */
	struct fx_locals locals;
};

/* A slot of the thread area: its newest owner, and its losses as far as they were written down. */
struct fx_stream_slot {
	struct fx_stream_thread *owner; /* NULL: not known */
	uint64_t lost[FX_LOSSES];
	uint64_t gap_total; /* of the newest gap that is written down */
	uint64_t too_deep;
	uint64_t too_short;
	uint64_t marked; /* ticks of the newest mark of losses */
};

/* An arrow whose begin was left out: see kept.h. */
struct fx_kept_flow {
	UT_hash_handle hh;
	bool lost; /* not in the hash for lack of memory */
	uint64_t id;
};

struct fx_stream_counts {
	uint64_t events;	  /* records of events written, the manager's own not counted */
	uint64_t dropped;	  /* records that providers have lost, whatever the cause */
	uint64_t lost[FX_CAUSES]; /* these, and all else that is missing */
	uint64_t unfinished;	  /* calls still open at the end */
	uint64_t unwanted;	  /* calls of functions that are not to be recorded */
	uint64_t brief;		  /* calls that were too short to be recorded */
	uint64_t loose;		  /* ends of arrows that have an instant of their own */
	uint64_t older;		  /* records from before the time that --last asks for */
};

/* What a thread was about to execute, in case the call never ends: the texts of its arguments. */
struct fx_stream_exec {
	uint64_t start; /* ticks; of its frame */
	uint32_t tid;
	uint32_t lengths[2];
	char texts[2][256];
};

struct fx_stream {
	struct fx_stream_shared *shared; /* borrowed */
	uint32_t id;
	uint32_t pid;		  /* as the archive has it */
	uint32_t kernel_pid;	  /* as the manager's kernel has it: others come to have the same */
	uint32_t first_tid;	  /* as the process itself calls its first thread */
	struct fx_origin *origin; /* borrowed; NULL: not known */
	bool is_kernel;		  /* the kernel provider: see kernel.h */
	char name[FXT_MAX_NAME_LENGTH + 1];
	uint32_t title_seen; /* which of the process's titles stands in the archive */
	struct fx_names names;
	struct fx_modules modules;
	struct fx_fragments fragments;
	struct fx_meaning_entry *meanings; /* made when first needed: meanings.c */
	struct fx_call_shapes *shapes;	   /* made when first needed: call-shapes.h */
	struct fx_stream_thread *threads;  /* uthash, by tid */
	struct fx_vthreads vthreads;
	struct fx_stream_thread *idle; /* those that are not held, the longest unused first */
	struct fx_stream_thread *by_index[FXT_MAX_THREAD_INDEX + 1];
	uint32_t next_index;
	struct fx_transfer_stream *transfers; /* made when first needed: transfers.h */
	struct fx_stream_chunk *chunks;	      /* uthash, by number: those that will go on */
	struct fx_stream_chunk whole;	      /* for chunks that come in one piece */
	struct fx_stream_slot *slots;
	uint32_t slot_count;
	struct fx_stream_exec *exec; /* the newest; NULL: none was told */
	uint64_t *stash;	     /* of the frames that are told next; made when first needed */
	uint32_t stash_words;	     /* of it */
	uint64_t others;	     /* threads that there have been, beside the process's first */
	uint64_t first_end; /* ns; when the first of its events to end did; UINT64_MAX none */
	uint64_t
	    kept_from; /* ns; circular: since when all is there; 0: of every thread, from its start */
	uint64_t floor;			/* ns; what has ended before is left out; 0: nothing is */
	struct fx_kept_flow *flows_out; /* uthash, by id: see kept.h */
	struct fx_asyncs asyncs;
	bool loose_is_due; /* something of the next two is to be written: loose-flows.h */
	struct fx_stream_thread *loose_due; /* a call of it is, with flows in it; NULL: none */
	struct fx_loose loose_left;	    /* of threads that are no more */
	uint32_t loose_count;		    /* flows that are held, of all threads, */
	uint64_t loose_words;		    /* and their words */
	struct fx_crowd_counts crowd;
	struct fx_scope *scope; /* NULL: nothing depends on what a call lies in */
	struct fx_stream_counts counts;
	uint64_t dropped_before; /* by what the process was before exec */
	uint64_t dropped_at;	 /* ns; where the counter of losses has come to */
	bool has_heap;		 /* a value of the heap counter was recorded */
	bool liar;		 /* its counts of losses cannot be true */
	bool starved;		 /* there was no memory for something of it */
};

/* What is known when a stream ends. */
struct fx_stream_end {
	uint64_t ticks;			    /* the moment: death, exec, or stop */
	uint64_t unslotted[FX_LOSSES_ROOM]; /* lost by threads that had no slot */
	uint64_t unfollowed;		    /* children that might not ask for a buffer */
	uint64_t given_up; /* ticks when it gave up what tracing needs; 0: it has not */
	int64_t heap_bytes;
	int64_t heap_blocks;
	bool absent;	    /* it never mapped its buffer, */
	bool limited;	    /* and its address space was limited */
	bool starved;	    /* there was no memory to take all that it has recorded */
	const char *broken; /* static; NULL if the provider kept the rules */
	bool wrapped;	    /* circular: older events were overwritten */
	struct fx_ending ending;
};

/* The process of a stream: the members of the same name of struct fx_stream. */
struct fx_stream_who {
	uint32_t pid, kernel_pid, first_tid;
	struct fx_origin *origin;
	bool is_kernel;
};

/* Makes a stream and introduces it in the archive. 0 or -ENOMEM. */
int fx_stream_create(struct fx_stream_shared *shared, uint32_t id, uint32_t pid, const char *name,
		     struct fx_stream **ret);
int fx_stream_create_as(struct fx_stream_shared *shared, uint32_t id,
			const struct fx_stream_who *who, const char *name, struct fx_stream **ret);
void fx_stream_destroy(struct fx_stream *s);

/* Forgets everything but the counts and the name. */
void fx_stream_clear(struct fx_stream *s);

/* Whether the names that what came so far needs are known, as far as they will be. */
bool fx_stream_is_ready(struct fx_stream *s);

/* One that the process has written stands in the archive. */
static inline void fx_stream_counts_event(struct fx_stream *s)
{
	s->counts.events++;
	s->shared->archive.events++;
}

/* A record is left out: `r` says why, -errno. What may be so because something else could not be remembered, is. */
static inline void fx_stream_lose(struct fx_stream *s, int r)
{
	s->starved |= r == -ENOMEM;
	if (r == -EMLINK)
		s->counts.lost[FX_CAUSE_VIRTUAL]++;
	else
		s->counts.lost[s->starved ? FX_CAUSE_UNHELD : FX_CAUSE_INVALID]++;
}

/* Puts into the archive what is decided of the records that are held: see fx_scope_settle(). */
void fx_stream_settle(struct fx_stream *s, uint64_t until_ns);

/* Whether records of it are missing, at its end. */
static inline bool fx_stream_is_lossy(const struct fx_stream *s, const struct fx_stream_end *end)
{
	return s->counts.dropped || end->wrapped || end->broken || end->starved || s->starved;
}

/* When something was that the provider's records say: the kernel provider has no ticks. */
static inline uint64_t fx_stream_ns(struct fx_stream *s, uint64_t time)
{
	return s->is_kernel ? time : fx_timebase_ns(&s->shared->timebase, time);
}

/* Whether a call is shorter than those of its function that are recorded, as far as providers do not know it. */
static inline bool fx_stream_is_brief(const struct fx_stream *s, const struct fx_name *function,
				      uint64_t start, uint64_t end)
{
	return end - start < (function->has_min ? function->min_ns : s->shared->min_ns);
}

/* --- Threads --------------------------------------------------------------------------------- */

/* The thread, made if need be; NULL without memory, for a tid that cannot be, and beyond the bound. It is
 * good until the next call, and as long as it is held. */
struct fx_stream_thread *fx_stream_thread(struct fx_stream *s, uint64_t tid);

/* The same, but none is made. */
const struct fx_stream_thread *fx_stream_thread_known(const struct fx_stream *s, uint64_t tid);

/* It must not be forgotten, and may be again, as far as this holder is concerned. */
void fx_stream_thread_hold(struct fx_stream *s, struct fx_stream_thread *t);
void fx_stream_thread_release(struct fx_stream *s, struct fx_stream_thread *t);

/* A thread begins whose number was another's, as it may be: that one has ended. */
void fx_stream_thread_begins(struct fx_stream *s, struct fx_stream_thread *t);

/* Whether a complete event goes into the archive; *start may become later, so that it crosses none. */
bool fx_stream_nests(struct fx_stream *s, struct fx_stream_thread *t, uint64_t *start,
		     uint64_t end);

/* Nothing more comes of the thread: what is held of arrows is due. */
void fx_stream_leave_loose(struct fx_stream *s, struct fx_stream_thread *t);

/* Ends what the thread has begun, at `ns`: all, or what lies inside the first `depth` of them. */
void fx_stream_end_begun(struct fx_stream *s, struct fx_stream_thread *t, uint32_t depth,
			 uint64_t ns);

/* The thread whose chunk it is; NULL: none. */
void fx_stream_chunk_own(struct fx_stream *s, struct fx_stream_chunk *c,
			 struct fx_stream_thread *t);

/* Sees to it that the thread has a name and an index in the archive; returns the index. */
unsigned fx_stream_thread_index(struct fx_stream *s, struct fx_stream_thread *t);

/* A thread's new name; `length` bytes, cut to what fits. */
void fx_stream_thread_rename(struct fx_stream *s, struct fx_stream_thread *t, const char *name,
			     size_t length);

/* --- The manager's own events ---------------------------------------------------------------- */

#define FX_MANAGER_CATEGORY "fxtrace"

/* An event of the manager's on one of the provider's threads. */
struct fxt_record fx_stream_event(struct fx_stream *s, struct fx_stream_thread *t,
				  enum fxt_event_type type, uint64_t ns);

/* Writes the end, or the whole, of what has not ended. */
void fx_stream_unfinished(struct fx_stream *s, struct fxt_record *record);

#endif
