/* SPDX-License-Identifier: MIT */
/*
 * The memory that a provider shares with the manager: one process's buffer, and the pages through
 * which the manager speaks. This header is the contract of the two sides; nothing else is shared.
 *
 *	common page     manager writes, all providers map it read-only     (sealed FUTURE_WRITE)
 *	control page    manager writes, one provider maps it read-only     (sealed FUTURE_WRITE)
 *	buffer          one provider writes, the manager maps it read-only (sealed SHRINK, GROW)
 *
 * The buffer, at the offsets that the control page gives (fx_layout):
 *
 *	| header | builtin strings | thread area | chunk table | durable | rolling 0 | rolling 1 |
 *
 * Vocabulary
 *	chunk      the unit in which threads take rolling space: chunk_size bytes, owned by one
 *	           thread from claim to release. Zero beyond its last record. Begins with a Thread
 *	           Record.
 *	half       one of the two rolling buffers (oneshot: the only one, all chunks). In streaming mode writing may
 *	           leave it before it is full: as soon as the other one is saved and enough is in this one.
 *	wrap       how often writing has moved from one half to the other; half in use = wrap & 1.
 *	serial     a chunk's place in the order of claims: wrap * chunks_per_half + index in the
 *	           half.
 *	epoch      counts the starts of tracing; 0 never occurs while tracing runs.
 *	frame      an open call on a thread's open-call stack.
 *
 * Commit rules
 *	record     payload first, header word last (release). Readers take records up to the first
 *	           zero header (acquire), so they never see half a record.
 *	durable    space is claimed by a compare-and-exchange of the header word from 0 to a blob
 *	           header of the same size (FX_DURABLE_CLAIM); the true header replaces it when the
 *	           payload stands. The area can thus be walked at any moment, also after a kill -9.
 *	frame      `start` last (release), 0 = no call. Readers take frames up to the first 0.
 *
 * Words that are written whole. A chunk's states and its word are drawn at FX_CHUNK_HELD.
 *
 *	rolling_state      |63          wrap           32|31   chunks claimed in this half   0|
 *
 *	fx_control.state   |63          epoch          32| 31  |30| 29     |28  24|23 21| 20   |19 12|11        0|
 *	                   |                             |PAIRS| -|STOPPING| NEWS |  -  |CHOSEN|  -  |categories |
 *
 *	                   a low half of 0, or of STOPPING alone: tracing is stopped
 *
 * Pairs of accesses, writer -> reader
 *	record header: store release (engine/provider/record.h)     -> load acquire (engine/reader/drain.c)
 *	the same, durable: release   (engine/provider/durable.c)    -> load acquire (engine/reader/durable.c)
 *	chunk_table[]: store release (engine/provider/chunk.c)      -> load acquire (engine/reader/drain.c)
 *	rolling_state: cas acq_rel   (engine/provider/chunk.c)      -> load acquire (engine/reader/drain.c,
 *	                                                      before chunk_table)
 *	half_ended[]:  cas acq_rel, before the cas of       -> load relaxed, after the load of
 *	               rolling_state (engine/provider/chunk.c)      rolling_state (engine/reader/drain.c)
 *	saved[]:       store release (manager)             -> load acquire (engine/provider/chunk.c,
 *	                                                      before zeroing)
 *	wraps_saved:   store release (manager)             -> load acquire (engine/provider/chunk.c)
 *	state:         store release (manager)             -> load relaxed on the hot path: it is
 *	                                                      compared with the copy made at adoption,
 *	                                                      and adoption loads it with acquire
 *	frame.start:   store release (engine/provider/frame.h)      -> load acquire (engine/reader/slots.c)
 *	slot.tid:      store release (engine/provider/slot.c)       -> load acquire (engine/reader/slots.c)
 *	slot.dropped:  add acq_rel   (engine/provider/record.c)     -> load acquire (engine/reader/slots.c, before lost[])
 */
#ifndef FX_ENGINE_LAYOUT_H
#define FX_ENGINE_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/recipe.h"

#define FX_BUFFER_MAGIC	  0x3046554254584746ull /* in memory: "FGXTBUF0" */
#define FX_CONTROL_MAGIC  0x304c545254584746ull /* in memory: "FGXTRTL0" */
#define FX_LAYOUT_VERSION 1u

#define FX_PAGE 4096u

/* Sizes in bytes. A buffer's size is what the user asked for: durable plus both rolling halves. */
#define FX_BUFFER_MIN	(4096ull)
#define FX_BUFFER_MAX	(4ull << 30)
#define FX_BUFFER_STEP	FX_PAGE /* sizes are multiples of it */
#define FX_CHUNK_MAX	16384u
#define FX_CHUNK_MIN	1024u
#define FX_DURABLE_MIN	4096u
#define FX_DURABLE_MAX	(1u << 20)
#define FX_BUILTIN_SIZE (64u << 10) /* room for the builtin strings; a multiple of the page */
#define FX_THREADS_MAX	2048u	    /* threads that can record at one time */
#define FX_PACKETS	64u	    /* depth of the packet ring */

/* Flow ids: the process that makes them (23 bits), the slot of its thread (11), and a number. A child that the manager
 * does not know yet goes by its pid. */
#define FX_FLOW_MAKER_SHIFT 41
#define FX_FLOW_SLOT_SHIFT  30
#define FX_FLOW_UNKNOWN	    (1ull << 63)

/* String indices: 1 .. FX_STRING_LOCAL-1 stand in the builtin or durable area, once for all; the
 * rest is defined anew inside each chunk that uses it, when the first kind or its room has run out.
 */
#define FX_STRING_LOCAL 0x7000u
#define FX_STRING_MAX	0x7fffu

/* The thread index that every chunk's first record defines. */
#define FX_CHUNK_THREAD_INDEX 1u

/* In the header of that Thread Record: the thread has had no chunk before; one of the same number was another. */
#define FX_THREAD_BEGINS (1ull << 24)

/*
 * What a thread has done to another process, for the manager to draw an arrow: a Kernel Object Record of
 * type process (1) that never reaches an archive. Its koid is the other's pid, its name empty, and it has three
 * arguments, whose names do not count: UINT64, the time in ticks; INT32, the kind; INT32, the value.
 */
enum fx_tie_kind {
	FX_TIE_CREATES = 1, /* made the process (the time is before that); value: FX_TIE_VALUE_* */
	FX_TIE_EXECS =
	    2, /* is about to become another program; the pid is its own; value: FX_TIE_VALUE_* */
	FX_TIE_REAPS = 3, /* learned of its end; value: the status, as of wait() */
	FX_TIE_KILLS = 4, /* sends it the signal in value */
	FX_TIE_SENDS = 5, /* has sent it the signal in value; pid 0: some processes */
	FX_TIE_TAKES =
	    6, /* has taken the signal in value, which it sent; pid 0: the sender is not known */
	FX_TIE_STAYS = 7, /* did not become what it told last; the pid is its own */
};

/* What is made or becomes another program will register: it is missed if it does not. */
#define FX_TIE_VALUE_REGISTERS 1
/* The category process is off: it is told for that alone, and nothing is drawn. */
#define FX_TIE_VALUE_SILENT 2

#define FX_TIE_WORDS 6u

/*
 * The two kinds that tell of signals have four arguments more: UINT64, the time at which the call began (the first is
 * its end); UINT64, a number that counts what the process tells of signals; INT32, the way; INT32, a thread: sent to
 * it alone (0: to the process, -1: to some thread), or, taken, 1 if only takes remove the signal, else 0.
 */
enum fx_signal_way {
	FX_SIGNAL_UNKNOWN = 0,	  /* taken, and nobody knows how it was sent */
	FX_SIGNAL_TO_PROCESS = 1, /* kill() */
	FX_SIGNAL_TO_THREAD = 2,  /* tgkill() */
	FX_SIGNAL_QUEUED = 3,	  /* sigqueue(), pthread_sigqueue() */
	FX_SIGNAL_OTHER = 4,	  /* by the kernel */
};
#define FX_TIE_SIGNAL_WORDS 12u

/*
 * FX_TIE_EXECS may have three more: UINT64, when the call began in whose frame it is told (ticks; 0: it has none);
 * and two that are shown with that call if it never ends: the path, and the arguments, as one text.
 */
#define FX_TIE_EXEC_WORDS 74u

/*
 * What a thread does to a lock in memory of several processes: a Kernel Object Record of type process with the koid 0, no name, and six
 * arguments, whose names do not count: UINT64, the time in ticks; INT32, the kind; INT32, the value; UINT64, when it began; UINT64, when
 * the lock was looked at (0: never); UINT64, which lock. Told whether anybody waits or not, since no process knows that.
 */
enum fx_share_kind {
	/* A mutex is about to be released: the time lies before that. Value: 1 if somebody may have part who is not traced. */
	FX_SHARE_RELEASES = 20,
	/*
	 * It was had, after a wait, and is still held at this time. Value: who held it when it was looked at (0: not known). Not looked at:
	 * it may have been free.
	 */
	FX_SHARE_HAS = 21,
	/*
	 * A unit was added to a semaphore, between begin and time; or taken. Looked at before, it had none. Value: so many ticks after
	 * the time it had none either (0: it had, or was not looked at).
	 */
	FX_SHARE_POSTS = 22,
	FX_SHARE_TAKES = 23,
	/* Something is done to it that is not told; to any lock, if that is 0. Looked at: after a wait. */
	FX_SHARE_NOT_SAID = 24,
	/*
	 * A thread came to a barrier, and has left it: in place of when it was looked at, of how many threads a round is. Value: so many rounds
	 * were full before it came, at least. The second: it was the one that filled its round.
	 */
	FX_SHARE_MEETS = 25,
	FX_SHARE_MEETS_LAST = 26,
	/* A read-write lock is about to be released, by one who writes or reads; and a reader's release, the newest of its thread, is over. */
	FX_SHARE_WRITER_LEAVES = 27,
	FX_SHARE_READER_LEAVES = 28,
	FX_SHARE_READER_LEFT = 29,
	/* It was had, after a wait, to read or to write, and is still held. Looked at: it was held against that then. */
	FX_SHARE_READS = 30,
	FX_SHARE_WRITES = 31,
	/*
	 * A thread is about to let one of those go that wait for a condition, or all: the time lies before that. In place of when it was looked
	 * at: how many have ever begun to wait. And its newest such call is over.
	 */
	FX_SHARE_SIGNALS = 32,
	FX_SHARE_BROADCASTS = 33,
	FX_SHARE_SIGNALLED = 34,
	/* A thread has waited for a condition. In place of when it was looked at: how many had begun to before. Value: 1 if nobody woke it. */
	FX_SHARE_WAKES = 35,
	/* As FX_SHARE_HAS, of a robust mutex whose owner has ended without releasing it. */
	FX_SHARE_INHERITS = 36,
	FX_SHARE_KINDS_END = 37,
};
#define FX_SHARE_WORDS 12u

/*
 * What a thread does to a lock of a file: a Kernel Object Record of type process with the koid 0, no name, and seven arguments, whose
 * names do not count: UINT64, the time in ticks; INT32, the kind; INT32, whose lock it is (below); UINT64s, when the call began, which
 * file, and the first and the last byte. Told whether anybody waits or not, since no process knows that.
 */
enum fx_file_lock_kind {
	/* It is about to ask for one, which may take a while; for one that others may have as well. */
	FX_FILE_LOCK_WANTS = 40,
	FX_FILE_LOCK_WANTS_SHARED = 41,
	/* It has got what it has asked for, after it may have waited, or at once; or it has not, and flock() has given back what there was. */
	FX_FILE_LOCK_HAS_WAITED = 42,
	FX_FILE_LOCK_HAS = 43,
	FX_FILE_LOCK_FAILS = 44,
	/* What there was of these bytes was given back between begin and time. */
	FX_FILE_LOCK_FREES = 45,
	/* Something is done that is not told; to any file, if that is 0. */
	FX_FILE_LOCK_NOT_SAID = 46,
	/* As FX_FILE_LOCK_FREES, of all that the process has of the file: a descriptor of it was closed. Of a descriptor: the only one. */
	FX_FILE_LOCK_CLOSES = 47,
	/* From now on others may have what descriptors of the process lead to; of no file. */
	FX_FILE_LOCK_SPREADS = 48,
	/* What there is of a descriptor, the only one, is about to go: when it is closed and no other thread's call still has the file. */
	FX_FILE_LOCK_MAY_GO = 49,
};
#define FX_FILE_LOCK_WORDS 14u

/* Locks of the process (fcntl, lockf); otherwise of what a descriptor leads to, 1 + that, and, of flock(), this as well. */
#define FX_FILE_LOCK_OF_PROCESS 0
#define FX_FILE_LOCK_OF_FLOCK	0x40000000
/* Beside these: nobody but the process has what the descriptor leads to, so it goes with the process. */
#define FX_FILE_LOCK_OF_ALONE 0x20000000

/*
 * A Kernel Object Record of type process with the koid 0 and without arguments: its name, an inline string of so many bytes
 * at most, is what the process has written over its own arguments (manager/process/title.h).
 */
#define FX_TITLE_BYTES 960u

/*
 * A record that is larger than a chunk is written in fragments, each a large record of a private type:
 *
 *	header	FX_FRAGMENT_HEADER(words of the fragment)
 *	word 1	number of the record, for its thread (low half) and words of the record (high half)
 *	word 2	which word of the record comes first here
 *	...	words of the record
 *
 * Fragments of a record follow one another in their thread's chunks. Never in an archive.
 */
#define FX_FRAGMENT_TYPE	 15u /* in the place of enum fxt_large_type */
#define FX_FRAGMENT_HEAD	 3u  /* words before the record's own */
#define FX_FRAGMENT_HEADER(size) (15ull | (uint64_t)(size) << 4 | (uint64_t)FX_FRAGMENT_TYPE << 36)
#define FX_LARGEST_RECORD	 (256u << 10) /* bytes of the largest record */

/* Values of the trace provider protocol. */
enum fx_buffering_mode {
	FX_MODE_ONESHOT = 1,
	FX_MODE_CIRCULAR = 2,
	FX_MODE_STREAMING = 3,
};

enum fx_on_full {
	FX_ON_FULL_DROP = 0,
	FX_ON_FULL_BLOCK = 1,
};

/* What fx_control.phase says, for threads of the program that wait for it: count of changes << 2 | phase.
 * Events go by fx_control.state alone. */
enum fx_phase {
	FX_PHASE_STOPPED = 0,
	FX_PHASE_STARTED = 1,
	FX_PHASE_STOPPING = 2, /* what was recorded is being saved */
};

#define FX_PHASE_MASK	  3u
#define FX_PHASE_OF(word) ((enum fx_phase)((word)&FX_PHASE_MASK))
#define FX_PHASE_COUNT	  4u /* is added at each change */

/* Categories of the provider itself: the low half of fx_control.state. */
#define FX_CATEGORIES(X)                                                                           \
	X(FUNCTION, 0, "function", 1, "entry and exit of instrumented functions")                  \
	X(PTHREAD, 1, "pthread", 1, "threads, lock contention, condition variables")               \
	X(PTHREAD_ALL, 2, "pthread:all", 0, "uncontended lock operations as well")                 \
	X(MALLOC, 3, "malloc", 0, "every allocation call")                                         \
	X(HEAP, 4, "heap", 1, "live bytes and blocks as a counter")                                \
	X(SYSCALL, 5, "syscall", 1, "libc entry points of system calls")                           \
	X(PROCESS, 6, "process", 1, "fork, exec, spawn, exit, wait")                               \
	X(DL, 7, "dl", 1, "dlopen, dlclose")                                                       \
	X(USER, 8, "user", 1, "the program's own events")                                          \
	X(STDIO, 9, "stdio", 1, "streams: calls that fill or empty a buffer")                      \
	X(STDIO_ALL, 10, "stdio:all", 0, "every call on a stream")                                 \
	X(LIBC, 11, "libc", 1, "slow functions of the C library: resolver, users, directories")    \
	X(MESSAGE, 12, "message", 1, "arrows from who wrote to who read, of pipes and sockets")

/* Functions are written as begin and end records; stands in place of FX_CAT_FUNCTION, so that the
 * usual path has no test for it. */
#define FX_CAT_PAIRS (1u << 31)

/* Some functions are left out (engine/recipe.h); stands in its place for the same reason. */
#define FX_CAT_CHOSEN (1u << 20)

#define FX_CATEGORY_BIT(sym, bit, name, dflt, help) FX_CAT_##sym = 1u << (bit),
enum fx_category_bits { FX_CATEGORIES(FX_CATEGORY_BIT) };
#undef FX_CATEGORY_BIT

/* Functions are recorded, in any of the three ways. */
#define FX_CAT_FUNCTIONS (FX_CAT_FUNCTION | FX_CAT_CHOSEN | FX_CAT_PAIRS)

/* Whether functions can be given calls of the hooks on this machine (fx_control.patch). */
#if defined(__x86_64__)
#define FX_PATCH_IS_KNOWN true
#else
#define FX_PATCH_IS_KNOWN false
#endif

/* Stands alone in the low half of fx_control.state from a stop until somebody of the provider has noticed
 * it: threads that ask for any category take the slow way once more, where STOPPED is posted. */
#define FX_STATE_STOPPING (1u << 29)

/* Counts how often the manager has put something into the control page's memory that every thread is to look at before it goes
 * on. */
#define FX_STATE_NEWS	  0x1f000000u
#define FX_STATE_NEWS_ONE 0x01000000u

/* The program's own categories that are wanted, at fx_control.categories_offset: words, each with a NUL,
 * then an empty one. NAME, NAME* for all that begin so, or the same behind a '-': not that one. The last
 * word that a category matches decides; one that matches none is not wanted. No word at all: all are. */
#define FX_CATEGORY_NAME_MAX 100u	    /* bytes, without the NUL */
#define FX_WANTED_MAX	     100u	    /* words */
#define FX_WANTED_SIZE	     (3u * FX_PAGE) /* room for so many */

/* In the header of a String Record: the text is the name of a category that the provider knows, possibly
 * behind a NUL with a description. Index 0: it stands there for that alone. */
#define FX_STRING_CATEGORY (1ull << 49)

/* A virtual thread's number, where a record has its thread inline; above the pid before it stands the reference
 * to its name. */
#define FX_VTHREAD	      (1ull << 63)
#define FX_VTHREAD_NAME_SHIFT 48

/* In the koid of a kernel object that is neither process nor thread: those are the manager's to name. */
#define FX_KOID_OBJECT (1ull << 62)

/* In the header of a String Record: the text is a stack, as code addresses of 8 bytes, the innermost
 * first; all are return addresses. A 0 says that more have been left out. */
#define FX_STRING_STACK (1ull << 50)

/* Where things lie in the buffer: offsets and sizes in bytes. Computed by fx_layout_compute(). */
struct fx_layout {
	uint64_t total_size;	 /* of the memfd */
	uint64_t builtin_offset; /* FX_BUILTIN_SIZE bytes of String Records */
	uint64_t threads_offset; /* thread_count x struct fx_thread_slot */
	uint64_t table_offset;	 /* 2 * chunks_per_half (oneshot: chunks_per_half) words */
	uint64_t durable_offset;
	uint64_t durable_size;
	uint64_t rolling_offset[2]; /* multiples of chunk_size */
	uint32_t thread_count;
	uint32_t chunk_size; /* a power of two */
	uint32_t chunks_per_half;
	uint32_t halves; /* 1 oneshot, 2 otherwise */
};

/* Whether a buffer can have so many bytes. */
static inline bool fx_buffer_size_is_valid(uint64_t size)
{
	return size >= FX_BUFFER_MIN && size <= FX_BUFFER_MAX && size % FX_BUFFER_STEP == 0;
}

/* Values of fx_control.saved[] that no chunk's word ever has: the chunk may not be claimed, because it is
 * somebody's, or because the session's share of the buffer ends before it. */
#define FX_SAVED_NEVER	UINT64_MAX
#define FX_SAVED_BEYOND (UINT64_MAX - 1)

/*
 * Computes the layout of a buffer of `size` bytes. Streaming and
 * circular: durable = size / 16 within its bounds, the rest in two halves of whole chunks. Oneshot:
 * the same durable area, the rest in one half. Returns 0, or -EINVAL for a size that a buffer cannot
 * have or an unknown mode.
 */
int fx_layout_compute(struct fx_layout *ret, uint64_t size, enum fx_buffering_mode mode);

/* Appends room for the arguments of open calls; where it begins. */
uint64_t fx_layout_add_stash(struct fx_layout *l);

/* How many chunks of each half a session that asks for `size` bytes gets of a buffer of two halves: as
 * many as there are, or, of a larger buffer, what the size has the room for, and two at least. */
uint32_t fx_layout_share(const struct fx_layout *l, uint64_t size);

/* After how many chunks a half is left, in streaming mode, if the other one is saved: few of a large buffer, which is
 * there for when the manager lags; so many that a switch of halves costs nothing beside them. 0: only when it is full. */
uint32_t fx_layout_enough(const struct fx_layout *l);

/*
 * Why a record was lost, as the thread that could not write it knows. A number never changes its meaning. The manager has a
 * sentence and a cure for each (manager/settings/losses.def).
 */
enum fx_loss {
	FX_LOSS_FULL = 0, /* there was no room */
	FX_LOSS_NESTED =
	    1, /* of a handler that interrupted handlers, each in the middle of a record */
	FX_LOSS_LEFT = 2,    /* a handler has jumped out of the middle of it */
	FX_LOSS_LARGE = 3,   /* larger than what there can ever be room for */
	FX_LOSS_THREADS = 4, /* of a thread for which there was no slot */
	FX_LOSS_CONFINED =
	    5, /* of a thread that began when the process might not ask for its id any more */
	FX_LOSS_ADOPTED =
	    6, /* of a handler that interrupted its thread as that was given its slot */
	FX_LOSS_UNWAITED =
	    7, /* lossless: there was no room, and the process might not wait for it */
	FX_LOSS_STUCK =
	    8, /* lossless: all room was held in the middle of records that nobody went on with */
	FX_LOSS_ENDED = 9,    /* lossless: tracing ended while its writer waited for room */
	FX_LOSS_WORN = 10,    /* the buffer has been used as often as can be counted */
	FX_LOSS_FOREIGN = 11, /* of a thread that libc has not made */
	FX_LOSS_KERNEL = 12,  /* the kernel provider's: the kernel had no room for it */
};
#define FX_LOSSES      13u
#define FX_LOSSES_ROOM 16u /* for causes to come */

/* One open call. 32 bytes. A user-space address is below 2^48, a Duration Complete header whose
 * name reference is not 0 is above: `id` is the one or the other. */
struct fx_frame {
	uint64_t start; /* ticks; 0 = no call here */
	uint64_t id;	/* function address, or header word of the record to be written */
	uint64_t sp;	/* stack address that identifies the call */
	uint64_t key;	/* functions: low half call site, high half place of the hook. others: first
			   argument */
};

/* Bit 0 of sp (stack addresses are even): the call has no begin record, and gets no end. */
#define FX_FRAME_SILENT 1ull

/* Key of frame 0: the thread that holds the lock that this one waits for. In the low bits a tid (0: not known), above it
 * the low bits of the start of the call that waits: it says nothing of any other. */
#define FX_HOLDER_SHIFT 22u
/* Its start, stored before the key: where that thread has locked it, a return address; below FX_HELD_AT_MIN: not known. */
#define FX_HELD_AT_MIN 4096u
#define FX_HOLDER_TID  ((1ull << FX_HOLDER_SHIFT) - 1)

static inline uint64_t fx_holder_word(uint64_t start, uint32_t tid)
{
	return start << FX_HOLDER_SHIFT | (tid & FX_HOLDER_TID);
}

/* That thread's tid, if the word is of the call that began then; else 0. */
static inline uint32_t fx_holder_of(uint64_t word, uint64_t start)
{
	return word == fx_holder_word(start, (uint32_t)(word & FX_HOLDER_TID))
		   ? (uint32_t)(word & FX_HOLDER_TID)
		   : 0;
}

#define FX_FRAMES                                                                                  \
	504 /* including the sentinel at [0]; viewers drop slices nested deeper than 512 */

/* What one thread shares. 16 KiB; pages that were never touched take no memory. */
struct fx_thread_slot {
	uint32_t tid;		/* 0 = free */
	uint32_t incarnation;	/* grows each time the slot gets a new owner */
	uint64_t pthread;	/* pthread_self() of the owner, 0 unknown */
	char name[16];		/* as the kernel has it, NUL-padded */
	uint64_t dropped;	/* records lost, whatever the cause */
	uint64_t dropped_first; /* ticks of the first loss since writing went on, 0 none */
	uint64_t dropped_last;	/* ticks of the newest loss */
	uint64_t too_deep;  /* calls not recorded because FX_FRAMES or max_depth calls were open */
	uint64_t too_short; /* calls left out by min_duration */
	uint64_t unwound; /* calls whose exit was never seen (longjmp and the like), closed by their
			     caller */
	uint32_t last_tid; /* the newest owner's; that thread may be gone */
	uint32_t owed;	   /* ends of calls that found no room, and may still find some */
	/* by enum fx_loss, those of `dropped` that were not lost for want of room; counted before it */
	uint64_t lost[FX_LOSSES_ROOM];
	/* the owner's share of the live heap that the header's sum does not have yet */
	int64_t heap_bytes;
	int64_t heap_blocks;
	/* the newest gap that was over when writing went on: its first and its last loss, and what `dropped` was
	 * then; 0 none */
	uint64_t gap_first;
	uint64_t gap_last;
	uint64_t gap_total;
	struct fx_frame
	    frames[FX_FRAMES]; /* [0] is a sentinel with start = 1 as a rule, id = 0, sp = ~0 */
};

/*
 * What is kept of a slot's open calls until they end: the arguments of functions that were chosen, as words of a record. One
 * entry behind another, the innermost last; `top' words of them from the begin. An entry is one of the frame whose `start' is
 * its own: `start' is stored last (release), and 0 before.
 */
#define FX_STASH_SIZE	81920u
#define FX_STASH_WORDS	2047u
#define FX_STASH_PLACES 512u /* one for each frame, by its number; the others are not used */

/* The same of one call, where it is few words: 128 bytes. `start' is 0 while they are written. */
#define FX_STASH_PLACE_WORDS 14u

struct fx_stash_place {
	uint64_t start;	 /* of the frame */
	uint64_t header; /* of the record, as if the call returned nothing that is wanted */
	uint64_t args[FX_STASH_PLACE_WORDS];
};

struct fx_stash {
	uint64_t top;
	uint64_t words[FX_STASH_WORDS];
	struct fx_stash_place places[FX_STASH_PLACES];
};

struct fx_stash_entry {
	uint64_t start; /* of the frame */
	uint16_t frame; /* its index */
	uint16_t words; /* of arguments */
	uint16_t count; /* of arguments */
	uint16_t
	    before; /* where the entry below begins, in words, and one more; 0: there is none */
	uint64_t args[];
};

#define FX_STASH_HEAD 2u /* words of an entry without its arguments */

/* Provider -> manager packets: 16 bytes, as in the trace provider protocol, and their place in the
 * ring. seq = position + 1 (release) once the packet stands. */
struct fx_packet {
	uint16_t request; /* enum fx_packet_request */
	uint16_t data16;
	uint32_t data32;
	uint64_t data64;
};

enum fx_packet_request {
	FX_PACKET_STARTED = 1, /* data32 = FX_FIFO_VERSION, data64 = epoch */
	FX_PACKET_SAVE_BUFFER =
	    2, /* data32 = wrap to be saved, data64 = bytes used of the durable area */
	FX_PACKET_STOPPED = 3, /* data64 = epoch that was stopped */
	FX_PACKET_ALERT = 4,   /* 14 bytes of name in data16, data32, data64 */
	FX_PACKET_BUFFER_SAVED = 0x100,
};

#define FX_FIFO_VERSION 1u

struct fx_packet_slot {
	uint64_t seq;
	struct fx_packet packet;
	uint64_t pad;
};

/* At offset 0 of the buffer: one page of words, then the packet ring in the next page. */
struct fx_buffer_header {
	uint64_t magic; /* FX_BUFFER_MAGIC, stored last at initialisation (release) */
	uint32_t version;
	uint32_t pid;
	uint64_t total_size;
	uint64_t durable_size;
	uint64_t rolling_size; /* of one half */
	/* (wrap + 1) << 32 | chunks claimed in it, of the newest wrap in either half that was left early; wraps that it
	 * does not name were left full */
	uint64_t half_ended[2];
	/* which builtin strings the provider has, since they do not stand in the buffer; 0: they do */
	uint64_t builtin_id;
	/* wrap << 32 | chunks claimed in this half */
	uint64_t rolling_state __attribute__((aligned(64)));
	/* where the search for free durable space begins; a hint, behind or at the true end */
	uint64_t durable_hint __attribute__((aligned(64)));
	uint32_t next_string;  /* next global string index to be given */
	uint32_t durable_full; /* 1 after the first record that found no durable room */
	/* records lost by threads that have no slot */
	uint64_t dropped_unslotted __attribute__((aligned(64)));
	uint64_t threads_used;	/* slots from here on were never taken, and take no memory */
	uint64_t epoch_started; /* newest epoch that a thread has noticed */
	uint64_t epoch_stopped; /* newest epoch whose stop a thread has noticed */
	uint64_t unfollowed; /* children, and theirs, that might make no system call to be traced */
	uint64_t given_up;   /* ticks when the process gave up what tracing needs; 0: it has not */
	/* live heap, without the threads' shares, which stand in their slots; may be negative */
	int64_t heap_bytes __attribute__((aligned(64)));
	int64_t heap_blocks;
	uint64_t packet_head __attribute__((aligned(64)));
	/* of dropped_unslotted, as in a slot; the rest are FX_LOSS_THREADS */
	uint64_t lost_unslotted[FX_LOSSES_ROOM] __attribute__((aligned(64)));
	struct fx_packet_slot packets[FX_PACKETS] __attribute__((aligned(4096)));
};

/*
 * A word of the chunk table: what its owner says of a chunk.
 *
 *	 63                                   26    25      24    23                    0
 *	+---------------------------------------+--------+------+------------------------+
 *	|                serial                 |RELEASED| HELD |       bytes used       |
 *	+---------------------------------------+--------+------+------------------------+
 *
 * The manager's word of the same chunk, saved[i], is a copy of it from when all was saved, or FX_SAVED_NEVER or _BEYOND.
 * The states of a chunk, and the side that moves it on:
 *
 *	state       chunk_table[i]       saved[i]         next
 *	fresh       0                    0                a thread claims it: cas of rolling_state
 *	opening     as before            as before        its thread zeroes it and writes the Thread Record (streaming, oneshot)
 *	            HELD|RELEASED, 0     any              the same in circular mode, where readers must know at once
 *	held        HELD, 0              as before        its thread writes records; it, or one that collects idle chunks,
 *	                                                  gives it back
 *	released    RELEASED, bytes      as before        the manager saves what it holds
 *	saved       RELEASED, bytes      the same word    it is free: a thread claims it in the next wrap
 *
 *	              claim            opened            give back             manager
 *	    fresh ---------> opening ---------> held ---------------> released -------> saved
 *	                        ^                                        |                |
 *	                        |            circular mode: at once      |                |
 *	                        +----------------------------------------+----------------+  next wrap
 *
 * A half that is full is saved while some of its chunks are held: those get saved[i] = FX_SAVED_NEVER, so that nobody
 * claims them, and the manager takes the rest when they are released. A chunk that the session's share leaves out has
 * FX_SAVED_BEYOND in every state.
 */
#define FX_CHUNK_HELD	  (1ull << 24)
#define FX_CHUNK_RELEASED (1ull << 25)
#define FX_CHUNK_OPENING                                                                           \
	(FX_CHUNK_HELD | FX_CHUNK_RELEASED) /* circular mode: claimed, not yet zeroed */
#define FX_CHUNK_END(word)		 ((uint32_t)((word)&0xffffffu)) /* bytes used, in a released chunk */
#define FX_CHUNK_SERIAL(w)		 ((w) >> 26)
#define FX_CHUNK_SERIAL_MAX		 ((1ull << 38) - 1)
#define FX_CHUNK_WORD(serial, flag, end) (((uint64_t)(serial) << 26) | (flag) | (end))

#define FX_PROGRAM_SIZE 256u /* of a path, with the NUL */

/* The control page of one provider. The manager fills it before the provider gets it. */
struct fx_control {
	uint64_t magic;
	uint32_t version;
	uint32_t clock_kind; /* enum fx_clock_kind */
	/* epoch << 32 | category bits; no bits = stopped. Polled by every hook. */
	uint64_t state __attribute__((aligned(64)));
	uint32_t wraps_saved; /* wraps whose halves are saved: half of wrap w is free if wraps_saved
				 >= w - 1 */
	uint32_t space_word;  /* lossless writers FUTEX_WAIT on it; grows when space was freed for
				them, and after every change of state */
	uint32_t phase;	      /* a futex; changes before `state` does at a start and a stop */
	/* configuration; does not change while tracing runs */
	uint32_t buffering_mode __attribute__((aligned(64)));
	uint32_t on_full;
	uint32_t tick_step;    /* ticks of a nanosecond and a little more */
	uint32_t max_depth;    /* calls nested deeper are left out; FX_FRAMES - 1 at most */
	uint64_t min_duration; /* ticks; function calls shorter are left out */
	uint64_t
	    provider_id; /* also the upper bits of flow ids, unique in the session; 0: the manager
				  does not know the provider yet */
	struct fx_layout layout;
	/* oneshot: chunks from this serial on are not to be claimed; 0 = no limit */
	uint64_t serial_limit;
	/* in the control page's memory; 0: all of the program's own categories are wanted */
	uint64_t categories_offset;
	uint64_t stack_categories; /* bits: calls of these categories carry their stack, */
	uint64_t stack_duration;   /* ticks: if they took so long */
	/* streaming: a half is left for the other one, if that is saved, after so many chunks; 0: when it is full */
	uint32_t half_enough;
	uint32_t patch; /* 1: functions that have room for it get a call of the hooks */
	/* the builtin strings that the manager knows, too; 0 none */
	uint64_t builtin_id;
	/* in the control page's memory, a struct fx_recipe_book (engine/recipe.h); 0: no arguments are wanted of functions */
	uint64_t recipes_offset;
	/* in the buffer: room for the arguments of open calls, FX_STASH_SIZE for each slot; 0 none */
	uint64_t stash_offset;
	/* the path of the program as the process sees it, NUL-terminated; empty: the manager does not know, and it asks itself */
	char program[FX_PROGRAM_SIZE];
	/* 1: the kernel says that no filter of system calls was there when the process registered: newer calls may be tried */
	uint32_t unfiltered;
	/* saved[i]: the released word of chunk i whose contents are wholly saved; FX_SAVED_NEVER while an
	 * owner of before still holds it; FX_SAVED_BEYOND if the session does not use it. Only the last
	 * counts in circular mode, in which wraps_saved does not. */
	uint64_t saved[] __attribute__((aligned(4096)));
};

/* The page that all providers share. */
struct fx_common {
	/* A robust futex owned by a manager thread: its tid; FUTEX_OWNER_DIED is set by the kernel.
	 */
	uint32_t owner;
	uint32_t doorbell;  /* providers FUTEX_WAKE it when a half is full; never changes */
	uint32_t unguarded; /* 1: the kernel does not mark `owner` (it knows no robust futexes) */
};

#define FX_OWNER_DIED 0x40000000u /* FUTEX_OWNER_DIED of linux/futex.h */

/* What fx_control.categories_offset is for a layout: behind saved[]. */
static inline uint64_t fx_control_wanted(const struct fx_layout *l)
{
	uint64_t bytes = sizeof(struct fx_control) + 8ull * l->halves * l->chunks_per_half;

	return (bytes + FX_PAGE - 1) & ~(uint64_t)(FX_PAGE - 1);
}

/* Where recipes are, or will be; NULL: none are wanted. */
static inline const struct fx_recipe_book *fx_recipe_book_of(const struct fx_control *c)
{
	return c->recipes_offset
		   ? (const struct fx_recipe_book *)((const char *)c + c->recipes_offset)
		   : (const struct fx_recipe_book *)0;
}

/* Bytes of the control memfd for a layout; and of one with recipes, which stand at its end. */
static inline uint64_t fx_control_size(const struct fx_layout *l)
{
	return fx_control_wanted(l) + FX_WANTED_SIZE;
}

static inline uint64_t fx_control_size_with(const struct fx_layout *l, bool recipes)
{
	return fx_control_size(l) + (recipes ? FX_RECIPE_SPACE : 0);
}

_Static_assert(sizeof(struct fx_frame) == 32, "frame");
_Static_assert(sizeof(struct fx_thread_slot) == 16384, "thread slot is four pages");
_Static_assert(sizeof(struct fx_stash) == FX_STASH_SIZE, "stash is twenty pages");
_Static_assert(sizeof(struct fx_stash_place) == 4 * sizeof(struct fx_frame),
	       "places lie as frames do");
_Static_assert(FX_STASH_PLACES >= FX_FRAMES, "a place for each frame");
_Static_assert(sizeof(struct fx_stash_entry) == 8 * FX_STASH_HEAD, "head of a stash's entry");
_Static_assert(sizeof(struct fx_packet) == 16, "packet of the trace provider protocol");
_Static_assert(sizeof(struct fx_packet_slot) == 32, "packet slot");
_Static_assert(sizeof(struct fx_buffer_header) == 2 * 4096, "header page and ring page");
_Static_assert(sizeof(struct fx_common) <= FX_PAGE, "common page");
_Static_assert(FX_WANTED_MAX *(FX_CATEGORY_NAME_MAX + 2) + 1 <= FX_WANTED_SIZE,
	       "wanted categories");

#endif
