/* SPDX-License-Identifier: MIT */
/* What programs of BPF that follow threads are made for. */
#ifndef FX_KERNEL_FOLLOW_TERMS_H
#define FX_KERNEL_FOLLOW_TERMS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/un.h>

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
	int counts;  /* of what programs could not do: enum fx_follow_count */
	int sockets; /* addresses of the manager's: struct fx_follow_socket; -1: none */
};

/* As the second and third argument of connect() have it where libfxtrace.so registers, with zeroes behind: others give another length (protocol/socket.c). */
struct fx_follow_socket {
	uint16_t length;
	uint8_t address[sizeof(struct sockaddr_un)];
};
_Static_assert(sizeof(struct fx_follow_socket) % 8 == 0, "cleared word by word");

enum fx_follow_count {
	FX_FOLLOW_UNFOLLOWED, /* threads that there was no room for */
	FX_FOLLOW_UNTOLD,     /* records that found no way into a ring */
	FX_FOLLOW_COUNTS
};

/* What they are made for. */
struct fx_follow_terms {
	struct fx_follow_maps maps;
	bool everyone; /* all threads are of interest, and none is remembered */
	bool arrivals; /* of calls nothing is told but who connects to the manager */
	const struct fx_tracepoints *points; /* records are written as these have them */
	struct fx_task_layout task;
	uint32_t stack_bytes; /* of a thread's stack in the kernel */
	/* In a pid namespace: which one, by its device and number, and the number that the process has there; all 0: in the first. */
	uint64_t device, inode;
	uint32_t pid;
};

/* Whoever is woken in an interrupt is so while another program may be writing its record, and a wakeup itself is not interrupted. */
enum fx_follow_room {
	FX_FOLLOW_ROOM_USUAL,
	FX_FOLLOW_ROOM_WAKING,
	FX_FOLLOW_ROOM_POINT, /* of the programs of kernel/follow-point.h, none of which interrupts another */
	FX_FOLLOW_ROOMS
};

/* Bytes of a record. Of a tracepoint that is taken as it is, what lies beyond is not told: a text is shorter, or is not there. */
#define FX_FOLLOW_RECORD_MAX 2048u
_Static_assert(FX_TEXTS_HEAD + FX_TEXT_MAX <= FX_FOLLOW_RECORD_MAX, "a text has room");

/* The place of a mark among the followed threads: the process itself has been met. No thread has that number. */
#define FX_FOLLOW_MET UINT32_MAX

#endif
