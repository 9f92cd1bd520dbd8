/* SPDX-License-Identifier: MIT */
/*
 * The history of objects that were asked for (wanted.h): what the section `history' keeps of them. On the walk
 * history-objects.h keeps objects and uses, which history-locks.h, history-fds.h and history-files.h find in calls;
 * history-tables.h tells of them.
 */
#ifndef FX_REPORT_HISTORY_STATE_H
#define FX_REPORT_HISTORY_STATE_H

#include "report/deeds.h"
#include "report/keys.h"
#include "report/section.h"
#include "report/uses.h"
#include "report/waiting.h"
#include "report/wanted.h"

#define FX_HISTORY_NO_PROCESS UINT32_MAX

/* Texts that name something as a path, and as a peer. */
enum fx_history_way { FX_HISTORY_AS_PATH, FX_HISTORY_AS_PEER, FX_HISTORY_WAYS };

struct fx_history_object {
	enum fx_wanted_kind kind;
	bool is_wanted;
	uint32_t process; /* number; FX_HISTORY_NO_PROCESS: it is of no process alone */
	uint64_t number;  /* address, descriptor */
	uint32_t what;	  /* a lock: number of a text, as "mutex" */
	uint32_t text;	  /* its name: number of a text; 0: not known */
};

/* A use in which an arrow may end still. */
struct fx_history_recent {
	uint64_t at, number, begin, end;
};

/* A descriptor or stream that was opened, and of which no call has said yet what it is. */
struct fx_history_opened {
	struct fx_use use;
	uint32_t path; /* number of a text; 0: none */
	bool is_set;
};

/* What comes nearest to what is not there. */
struct fx_history_near {
	uint32_t text;
	size_t alike; /* bytes */
};

struct fx_history {
	struct fx_report *report;
	const struct fx_wanted *wanted;
	size_t wanted_count;
	bool is_found[FX_WANTED_MAX];
	struct fx_history_near near[FX_WANTED_MAX];
	uint64_t lowest, highest; /* descriptors that were used; lowest > highest: none */
	bool wants_locks, wants_fds, wants_files, wants_peers;
	struct fx_waiting waiting;
	struct fx_deeds deeds;
	struct fx_keys keys; /* address or descriptor; 1 + process or 0, kind, text */
	FX_VECTOR(struct fx_history_object) objects;
	/* By number of a text, as a path and as a peer: 0: not looked at, 1: not wanted, 2: wanted */
	FX_VECTOR(uint8_t) verdicts[FX_HISTORY_WAYS];
	struct fx_keys open_keys; /* descriptor or stream; thread, whether it is a stream */
	FX_VECTOR(struct fx_history_opened) opened;
	struct fx_uses uses;
	/* Of the thread at hand: */
	const struct fx_thread *thread;
	FX_VECTOR(struct fx_history_recent) recent;
	uint32_t let_go, let_go_name; /* 1 + the object of its last use, an instant, and the call */
	bool has_releases;	      /* calls that wait for nobody are recorded, too */
	uint64_t streams;	      /* calls of streams: their bytes are not known */
};

#endif
