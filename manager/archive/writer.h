/* SPDX-License-Identifier: MIT */
/*
 * The thread that writes the archive. It takes blocks from the queue, turns them into records of
 * the archive, and keeps the timebase. Names of functions are looked up here, so that a slow disk
 * delays the archive and not the saving of buffers. It waits for no file with symbols: what needs names
 * that are being read stands aside (manager/archive/parking.h).
 */
#ifndef FX_MANAGER_WRITER_H
#define FX_MANAGER_WRITER_H

#include <stdint.h>
#include <sys/types.h>

#include "base/clock.h"
#include "manager/archive/output.h"
#include "manager/archive/queue.h"
#include "manager/archive/totals.h"

/* What may wait for a writer, in bytes, before buffers are left to fill. */
#define FX_QUEUE_LIMIT (UINT64_C(256) << 20)

struct fx_writer_config {
	struct fx_output *output;	     /* ready to be begun; becomes the writer's */
	const char *path;		     /* for messages; must outlive the writer */
	const struct fx_clock_choice *clock; /* outlives the writer */
	struct fx_anchor first_anchor;
	uint64_t queue_limit; /* bytes */
	/* What would keep what is lost depends on it; not kept. */
	const struct fx_session_config *cures_of;
	/* What was asked for; outlives the writer. NULL: nothing. */
	const struct fx_session_config *session;
	const char *functions;	   /* as struct fx_session_config has them; not kept */
	uint64_t max_strings;	   /* see struct fx_stream_shared; 0: the default */
	uint64_t max_symbols;	   /* bytes of the symbols of one file, */
	uint64_t max_user_symbols; /* and of those of one user; 0: the default */
	const char *symbol_cache;  /* as in the session; not kept */
	bool lines;		   /* of code, in stacks */
	bool pairs;
	/* Circular: how long before the end things are kept, in ns; 0: as there is room. */
	uint64_t last_ns;
	int done_fd; /* an eventfd, written when everything is; -1 none */
};

struct fx_writer;

/* Starts the thread and writes the magic record. 0 or -errno; on failure the output is closed. */
int fx_writer_start(const struct fx_writer_config *config, struct fx_writer **ret);

/* The queue to put blocks in. */
struct fx_queue *fx_writer_queue(struct fx_writer *w);

/* Lets the writer put all that is queued into the file. 0 or -ENOMEM. */
int fx_writer_flush(struct fx_writer *w);

/* Whether that is done, as often as it was asked for. */
bool fx_writer_flushed(const struct fx_writer *w);

/* Has what is queued from now on judged by another list of functions, of less than FX_BLOCK_SIZE bytes; lines that were found
 * (fx_writer_suppressed()) stay. 0 or -ENOMEM. */
int fx_writer_choose(struct fx_writer *w, const char *functions);

/* Lines of the list of functions that were found while the archive is made: all there are by now, for malloc()'s free(); NULL:
 * no more than there were. */
char *fx_writer_suppressed(struct fx_writer *w);

/* The first error of the output so far, 0 none. */
int fx_writer_error(const struct fx_writer *w);

/* Whether the reader of a pipe or a socket must go on reading: see fx_output_set_patience(). */
void fx_writer_hurry(struct fx_writer *w, bool hurry);

/* Nothing more will be queued: the writer finishes by itself, and tells done_fd. */
void fx_writer_close(struct fx_writer *w);

/* A provider, as its archive is told of it. */
struct fx_newcomer {
	uint32_t id;
	pid_t pid;
	uint64_t born;		  /* CLOCK_BOOTTIME ns; when it registered */
	const char *name;	  /* borrowed, 100 bytes at most */
	struct fx_origin *origin; /* shared */
	bool is_kernel;		  /* the kernel provider */
	bool exec; /* the process was another program before, and is counted already */
};

/*
 * Makes what the writer knows of one provider and queues its BEGIN. The inlet may be named in blocks until its END is
 * queued. NULL without memory.
 */
struct fx_inlet *fx_writer_inlet(struct fx_writer *w, const struct fx_newcomer *who);

/* Whether so much of what came of the provider is yet to be written that its buffer is to be left alone: others
 * need the room. From any thread. */
bool fx_inlet_is_behind(const struct fx_inlet *inlet);

/* A process was heard of that is not traced, which is counted elsewhere: it is not missing. Nothing with pid 0, or no
 * writer. */
void fx_writer_excuse(struct fx_writer *w, pid_t pid);

/* Waits until everything is written, and closes the output. Returns its first error; *w is gone. */
int fx_writer_finish(struct fx_writer *w, struct fx_totals *ret_totals);

#endif
