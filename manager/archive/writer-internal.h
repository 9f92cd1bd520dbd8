/* SPDX-License-Identifier: MIT */
/*
 * Between the files of the writer:
 *
 *	writer.c         the thread: when it writes and when it sleeps, how it begins and ends
 *	writer-blocks.c  what each block of the queue does to the archive, and which stand aside
 */
#ifndef FX_MANAGER_WRITER_INTERNAL_H
#define FX_MANAGER_WRITER_INTERNAL_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "manager/archive/anchors.h"
#include "manager/archive/file-locks.h"
#include "manager/archive/parking.h"
#include "manager/archive/stream.h"
#include "manager/archive/ties.h"
#include "manager/archive/shares.h"
#include "manager/archive/transfers.h"
#include "manager/archive/writer.h"
#include "symbols/loader.h"

/* Processes that were heard of without being traced, as far as they are remembered. */
#define FX_EXCUSED_MAX 4096u

/* What stands aside is looked at this often. */
#define FX_LOOK_NS UINT64_C(2000000)

/* How blocks of one provider come in. */
struct fx_inlet {
	uint32_t id;
	uint32_t pid;
	struct fx_origin *origin; /* shared; NULL: not known */
	bool is_kernel;		  /* the kernel provider */
	bool exec;		  /* the process was another program before */
	uint64_t born;		  /* CLOCK_BOOTTIME ns */
	struct fx_stream *stream; /* the writer thread's */
	uint32_t findings;	  /* those of the clocks that are marked, or were before it came */
	struct fx_parked parked;  /* blocks that stand aside, */
	const struct fx_parking *parking; /* and where */
	char name[FXT_MAX_NAME_LENGTH + 1];
};

struct fx_writer {
	pthread_t thread;
	struct fx_queue queue;
	struct fx_output *output;
	const char *path;
	const struct fx_session_config *session;
	int error;		   /* first one of the output; read by other threads */
	uint64_t flushes, flushed; /* asked for; done, the writer thread's */
	int done_fd;
	struct fx_identities ids;
	struct fx_loader *loader; /* NULL: symbols are read by the writer's own thread */
	struct fx_parking parking;
	uint64_t next_look; /* CLOCK_MONOTONIC ns; at what stands aside */
	struct fx_stream_shared shared;
	struct fx_anchors anchors;
	const struct fx_clock_choice *clock;
	bool host_written;
	struct fx_ties ties;
	struct fx_transfers transfers;
	struct fx_shares shares;
	struct fx_file_locks file_locks;
	pthread_mutex_t lock; /* of what is excused */
	pid_t excused[FX_EXCUSED_MAX];
	unsigned excused_count;
	struct fx_totals totals;
};

/* Takes a block that has come: it is written, or stands aside. */
void fx_writer_take(struct fx_writer *w, struct fx_block *block);

/* Writes what stands aside, as far as names are known by now. */
void fx_writer_look_aside(struct fx_writer *w);

/* Says the first error of the output, once. */
void fx_writer_report_error(struct fx_writer *w);

#endif
