/* SPDX-License-Identifier: MIT */
/*
 * What ties processes together: which made which, what a program became by exec, which was told of the end of which, which
 * killed which, and whose signal another took (manager/archive/signal-ties.h). Arrows between processes are drawn here, and
 * here alone: a process tells what it has done to which other one (FX_TIE_*, engine/layout.h), and when both are known to
 * the archive both ends of the arrow are written together. So no flow ends that has not begun, whatever was lost; what only
 * one side tells of is left out.
 *
 * Told are pids, and pids come again: what is told of one belongs to the process that had it at that time. And a process
 * tells the pids of its own namespace, which the manager knows by other numbers once their processes are heard of: until
 * then what is told of them waits. Belongs to the writer thread.
 */
#ifndef FX_MANAGER_TIES_H
#define FX_MANAGER_TIES_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/layout.h"
#include "manager/archive/arrows.h"
#include "manager/archive/signal-ties.h"

struct fx_archive;
struct fx_stream;
struct fx_stream_end;
struct fx_life;
struct fx_alias;
struct fx_waiting_tie;

struct fx_ties {
	struct fx_arrows arrows;
	struct fx_life *lives;		/* uthash, by pid */
	struct fx_alias *aliases;	/* uthash: what namespaces call processes */
	struct fx_waiting_tie *waiting; /* the oldest first */
	unsigned waiting_count;
	struct fx_signals signals;
	/* processes that were to be heard of, and were not: ended before that, */
	uint64_t early;
	uint64_t late;	  /* or had time enough for it */
	uint64_t refused; /* those whose numbers are not known */
	uint64_t unheld;  /* what was told and is not drawn for want of memory */
};

void fx_ties_init(struct fx_ties *ties, struct fx_archive *archive);
void fx_ties_destroy(struct fx_ties *ties);

/* A process image comes into the archive. `exec`: its process was another before. */
void fx_ties_birth(struct fx_ties *ties, struct fx_stream *s, uint64_t born_ns, bool exec);

/* Nothing more comes of it, and its threads are about to be forgotten. */
void fx_ties_end(struct fx_ties *ties, struct fx_stream *s, const struct fx_stream_end *end);

/* What thread `tid` of the stream tells. */
struct fx_tie {
	enum fx_tie_kind kind;
	uint32_t tid;	/* as its process calls it */
	uint32_t shown; /* as the archive does */
	uint32_t pid;	/* the other process */
	int32_t value;	/* a status of wait(), or a signal */
	uint64_t ns;
	/* of FX_TIE_SENDS and FX_TIE_TAKES: see engine/layout.h */
	uint64_t begin_ns;
	uint64_t number;
	enum fx_signal_way way;
	int32_t thread;
};

/* 0; or -EINVAL, and nothing was done. Another provider may be selected in the archive afterwards. */
int fx_ties_take(struct fx_ties *ties, struct fx_stream *s, const struct fx_tie *tie);

/* A process by this number was heard of, and is counted as something else: it is not missing. Once for each, when all has
 * been told. */
void fx_ties_excuse(struct fx_ties *ties, uint32_t pid);

/* Nothing more will be told: what waited for that is drawn, and what is missing counted. */
void fx_ties_finish(struct fx_ties *ties);

#endif
