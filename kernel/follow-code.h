/* SPDX-License-Identifier: MIT */
/* The instructions of the programs that kernel/follow.h loads into the kernel. */
#ifndef FX_KERNEL_FOLLOW_CODE_H
#define FX_KERNEL_FOLLOW_CODE_H

#include <stddef.h>
#include <stdint.h>

#include "kernel/insns.h"
#include "kernel/task-layout.h"
#include "kernel/texts.h"
#include "kernel/tracepoint.h"

/* Maps by their descriptors. */
struct fx_follow_maps {
	int tasks; /* threads that are followed, by number */
	int calls; /* of a system call by its number the arguments that are texts, a bit for each */
	int late; /* of a thread what could not be read as its call began: where it lies, and which argument it is */
	int scratch; /* of a processor room for records: enum fx_follow_room */
	int events;  /* of a processor the event that takes records */
};

/* What they are made for. */
struct fx_follow_terms {
	struct fx_follow_maps maps;
	const struct fx_tracepoints *points; /* records are written as these have them */
	struct fx_task_layout task;
	uint32_t stack_bytes; /* of a thread's stack in the kernel */
	/* In a pid namespace: which one, by its device and number, and the number that the process has there; all 0: in the first. */
	uint64_t device, inode;
	uint32_t pid;
};

/* Whoever is woken in an interrupt is so while another program may be writing its record, and a wakeup itself is not interrupted. */
enum fx_follow_room { FX_FOLLOW_ROOM_USUAL, FX_FOLLOW_ROOM_WAKING, FX_FOLLOW_ROOMS };

/* Bytes of a record. */
#define FX_FOLLOW_RECORD_MAX ((size_t)FX_TEXTS_HEAD + FX_TEXT_MAX)

/* The place of a mark among the followed threads: the process itself has been met. No thread has that number. */
#define FX_FOLLOW_MET UINT32_MAX

/* For a raw tracepoint; 0 or -ENOTSUP: there is none for that one. */
int fx_follow_code(const struct fx_follow_terms *terms, enum fx_tracepoint which,
		   struct fx_insns *ret);

#endif
