/* SPDX-License-Identifier: MIT */
/*
 * The reader half of the engine: takes what a provider has committed out of its buffer.
 *
 * The buffer is memory that another process may change at any moment and may have filled with
 * anything. So every word that decides something is loaded once, checked, and used from a local
 * copy; data is copied out before anyone looks inside; and no value found in the buffer is used as
 * an offset or a size before it was found to lie within the area that it belongs to.
 *
 * What is taken goes as pieces into a block of the caller's. When the block is full, the caller
 * hands it on and calls again with an empty one.
 *
 * Giving chunks back
 *	A chunk may be reused when saved[] of the control page equals its word in the chunk table.
 *	saved[] is stored only while the provider writes the other half and has not been allowed back:
 *	no claim can be under way in the half then, so that a chunk whose word has not moved since it
 *	was saved last has an owner that has not said so yet. Such a chunk is withheld
 *	(FX_SAVED_NEVER) until its owner shows up, for nobody else may get it.
 */
#ifndef FX_ENGINE_DRAIN_H
#define FX_ENGINE_DRAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/builtin.h"
#include "engine/layout.h"

enum fx_piece_kind {
	FX_PIECE_CHUNK = 1, /* whole records of one chunk */
	FX_PIECE_DURABLE, /* whole records of the durable area, or of builtin strings of the provider's own */
	FX_PIECE_THREAD, /* struct fx_thread_facts */
	FX_PIECE_FRAMES, /* struct fx_frame[], outermost first */
	FX_PIECE_BUILTIN, /* const struct fx_builtin *: the provider has the strings that the manager knows */
	FX_PIECE_STASH, /* what the calls of the frames that follow were called with: words of a struct fx_stash */
};

enum fx_piece_flags {
	FX_PIECE_FIRST = 1u << 0, /* of its chunk */
	FX_PIECE_LAST = 1u << 1,  /* of its chunk: nothing will follow */
};

/* The head of a piece; `bytes` of payload follow, a multiple of 8. */
struct fx_piece {
	uint32_t kind;
	uint32_t flags;
	uint32_t bytes;
	uint32_t index;	  /* chunk: its number. thread and frames: the slot's */
	uint64_t serial;  /* chunk: its serial. frames: tid */
	uint64_t holder;  /* frames: fx_holder_word() */
	uint64_t held_at; /* frames: where that has locked it; below FX_HELD_AT_MIN: not known */
};

/* What a slot of the thread area says of its thread. */
struct fx_thread_facts {
	uint32_t tid; /* the newest owner's; it may be gone, the losses below are still its own */
	uint32_t incarnation;
	char name[16];		       /* NUL-terminated; empty while it changes */
	uint64_t dropped;	       /* records, whatever the cause */
	uint64_t lost[FX_LOSSES_ROOM]; /* the same by cause: their sum is `dropped` */
	uint64_t dropped_first;
	uint64_t dropped_last;
	uint64_t gap_first; /* a gap that is over; 0: there is none, or it is another session's */
	uint64_t gap_last;
	uint64_t gap_total; /* `dropped` when it was over */
	uint64_t too_deep;
	uint64_t too_short;
	uint64_t unwound;
};

/* Where pieces go. The memory is the caller's and 8-byte aligned. */
struct fx_drain_block {
	uint8_t *data;
	size_t used;
	size_t capacity; /* at least FX_DRAIN_BLOCK_MIN */
};

/* Room for the largest piece: one thread's frames or one chunk. */
#define FX_DRAIN_BLOCK_MIN (128u << 10)

struct fx_drain_chunk {
	uint64_t done;	 /* the newest word whose chunk is wholly copied; 0 none */
	uint64_t serial; /* of the owner whose data were copied up to `pos` */
	uint32_t pos;	 /* bytes copied of a chunk that is still held */
	uint32_t watched;
};

/* One provider's buffer, seen from the manager. */
struct fx_drain {
	const uint8_t *buffer;	    /* mapped read-only, layout.total_size bytes; borrowed */
	struct fx_control *control; /* the manager's writable mapping; borrowed */
	struct fx_layout layout;    /* our own copy */
	uint32_t chunk_count;
	uint32_t share;	    /* chunks of each half that the session uses */
	const char *broken; /* what the provider did that no provider does; NULL if nothing */

	uint64_t floor;	  /* chunks of lower serials are forgotten */
	uint64_t limit;	  /* serials below it are done or watched */
	uint64_t claimed; /* chunks that were claimed, as far as passes have seen */
	uint64_t state;	  /* rolling_state at the newest pass */
	bool held;	  /* the newest pass left chunks that are held */
	uint32_t watch_count;
	uint32_t *watch;	       /* chunk numbers */
	struct fx_drain_chunk *chunks; /* chunk_count of them */

	const struct fx_builtin
	    *builtin;	      /* those that the provider may have without telling; NULL none */
	uint32_t builtin_pos; /* bytes taken of the builtin strings */
	bool builtin_done;
	uint64_t durable_pos; /* bytes walked of the durable area */
	uint32_t hole_count, hole_room;
	uint64_t *holes; /* offsets of claims that were not filled when walked */

	struct candidate *history; /* circular mode: what a pass of fx_drain_history() takes */
	uint32_t history_count, history_next;

	uint64_t stash_offset; /* as in struct fx_control; the caller's to set */

	bool over;	     /* nothing more comes: what threads owe is lost; the caller's to set */
	uint32_t slots_used; /* slots that ever had an owner, as far as known */
	uint32_t slot_room;
	uint32_t slot_next;	       /* where a pass of fx_drain_threads() goes on */
	struct fx_thread_facts *slots; /* as last told */

	/* losses that are another session's: what stood in the first slots when this one began */
	uint32_t baseline_count;
	struct fx_thread_facts *baseline;
	uint64_t unslotted[FX_LOSSES_ROOM];
	uint64_t unfollowed;
};

/* `layout` must be what fx_layout_compute() gave. 0 or -ENOMEM. */
int fx_drain_init(struct fx_drain *ret, const struct fx_layout *layout, const void *buffer,
		  struct fx_control *control);
void fx_drain_destroy(struct fx_drain *d);

/* Whether the provider has attached itself to its buffer. */
bool fx_drain_is_attached(const struct fx_drain *d);

/* Whether a pass over the chunks would find anything new but the growth of held chunks. */
bool fx_drain_has_news(const struct fx_drain *d);

/* How full the half in use is, in chunks. */
uint32_t fx_drain_fill(const struct fx_drain *d);

/*
 * Each of the following appends pieces to `block`. They return 0 when everything was taken, 1 when
 * the block is full and there is more, -ENOMEM, or -EBADMSG when the provider broke the rules
 * (d->broken says which; what was appended is good).
 */

/* Released chunks, oldest first; with `held`, also what is committed of chunks still held. */
int fx_drain_chunks(struct fx_drain *d, bool held, struct fx_drain_block *block);

/*
 * Circular mode: all that the buffer holds, oldest first, also while the provider goes on; what it
 * overwrites meanwhile is left out. The call after one that returned 0 begins anew.
 */
int fx_drain_history(struct fx_drain *d, struct fx_drain_block *block);

/* New records of the durable area; at the first call, the builtin strings too. */
int fx_drain_durable(struct fx_drain *d, struct fx_drain_block *block);

/* Whether it is a thread that has a slot, or was the last to have it, by its own number: taken or not yet. */
bool fx_drain_has_thread(const struct fx_drain *d, uint32_t tid);

/* The facts of every slot of which something changed; each slot once before it returns 0. */
int fx_drain_threads(struct fx_drain *d, struct fx_drain_block *block);

/* The open calls of slot *cursor and those after it; *cursor is 0 at first. While threads go on: those that are open all the time
 * are there, and others may be. */
int fx_drain_frames(struct fx_drain *d, uint32_t *cursor, struct fx_drain_block *block);

/*
 * For a buffer that outlives a session. All of these are to be called while tracing is stopped.
 *
 * fx_drain_restart() begins another session, of any buffering mode: what the buffer holds is forgotten,
 * of each half the first `share` chunks are free but for those that a thread holds, names and modules will
 * be told again from the first, and losses count from here. 0 or -ENOMEM.
 */
int fx_drain_restart(struct fx_drain *d, uint32_t share);

/* What has been recorded until now is forgotten: no later pass will take it. */
void fx_drain_forget(struct fx_drain *d);

/* Builtin strings, the durable area and the facts of threads will be told again from the first. */
void fx_drain_retell(struct fx_drain *d);

/* The same losses are another session's, and the same chunks forgotten, as with `from`. 0 or -ENOMEM. */
int fx_drain_inherit(struct fx_drain *d, const struct fx_drain *from);

/* Takes the losses that are another session's off the facts of slot `index`. */
void fx_drain_discount(const struct fx_drain *d, uint32_t index, struct fx_thread_facts *facts);

/* Serial of the next chunk to be claimed; 0 for a provider that is not attached or broke the rules. */
uint64_t fx_drain_next_serial(const struct fx_drain *d);

/*
 * Lets the provider reuse what is saved. To be called after a pass of fx_drain_chunks() with
 * `held` that returned 0. Returns true if space was freed.
 */
bool fx_drain_acknowledge(struct fx_drain *d);

/* Whether fx_drain_acknowledge() has something to do after the next pass. */
bool fx_drain_must_acknowledge(const struct fx_drain *d);

/* Records that threads with a slot have lost since the session began, as the slots say now. */
uint64_t fx_drain_dropped(const struct fx_drain *d);

/* The same of threads that have none, by enum fx_loss. */
void fx_drain_unslotted(const struct fx_drain *d, uint64_t ret[FX_LOSSES_ROOM]);

/* Children since then that might not ask for a buffer. */
uint64_t fx_drain_unfollowed(const struct fx_drain *d);

/* When, in ticks, the process has given up what tracing needs; 0: it has not. */
uint64_t fx_drain_given_up(const struct fx_drain *d);

/* The live heap as the header and the slots say now. */
void fx_drain_heap(const struct fx_drain *d, int64_t *ret_bytes, int64_t *ret_blocks);

/*
 * Calls `each` with a copy of every Profiler Record of the durable area (modules and their mappings) from *at on, 0 at first;
 * *at is where the next call goes on. Returns how many there were. Nothing before the provider has attached.
 */
#define FX_DRAIN_MODULE_WORDS 80u
size_t fx_drain_modules(const struct fx_drain *d, uint64_t *at,
			void (*each)(void *opaque, const uint64_t *record, size_t words),
			void *opaque);

/*
 * Calls `each` with a copy of the text of every String Record outside of chunks that has FX_STRING_CATEGORY:
 * what the provider knows, session or not. Nothing before it has attached.
 */
void fx_drain_known(const struct fx_drain *d,
		    void (*each)(void *opaque, const char *text, size_t length), void *opaque);

#endif
