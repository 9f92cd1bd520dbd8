/* SPDX-License-Identifier: MIT */
/*
 * The kernel's tracepoints: their numbers for perf_event_open(2), and where their fields lie (tracefs, events/GROUP/NAME). Where
 * tracefs is not mounted, root mounts it for this process alone.
 */
#ifndef FX_KERNEL_TRACEPOINT_H
#define FX_KERNEL_TRACEPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* FX_TRACEPOINTS(X): X(id, group, name); those of system calls, which cost each of them, stand last. */
#define FX_TRACEPOINTS(X)                                                                          \
	X(SWITCH, "sched", "sched_switch")                                                         \
	X(WAKING, "sched", "sched_waking")                                                         \
	X(ENTER, "raw_syscalls", "sys_enter")                                                      \
	X(EXIT, "raw_syscalls", "sys_exit")
#define FX_TRACEPOINTS_OF_CALLS 2u

#define FX_ENUM_TRACEPOINT_(id, group, name) FX_TRACEPOINT_##id,
enum fx_tracepoint { FX_TRACEPOINTS(FX_ENUM_TRACEPOINT_) FX_TRACEPOINT_COUNT };

/* Fields that are read: X(id, tracepoint, name) */
#define FX_TRACEPOINT_FIELDS(X)                                                                    \
	X(ENTER_NUMBER, ENTER, "id")                                                               \
	X(ENTER_ARGS, ENTER, "args")                                                               \
	X(EXIT_NUMBER, EXIT, "id")                                                                 \
	X(EXIT_RESULT, EXIT, "ret")                                                                \
	X(SWITCH_TID, SWITCH, "prev_pid")                                                          \
	X(SWITCH_STATE, SWITCH, "prev_state")                                                      \
	X(WAKING_TID, WAKING, "pid")                                                               \
	X(WAKING_CPU, WAKING, "target_cpu")

#define FX_ENUM_TRACEPOINT_FIELD_(id, tracepoint, name) FX_FIELD_##id,
enum fx_tracepoint_field { FX_TRACEPOINT_FIELDS(FX_ENUM_TRACEPOINT_FIELD_) FX_FIELD_COUNT };

struct fx_tracepoint_place {
	uint16_t offset, size; /* bytes */
};

struct fx_tracepoints {
	uint32_t numbers[FX_TRACEPOINT_COUNT];
	struct fx_tracepoint_place fields[FX_FIELD_COUNT];
};

/* 0; -ENOENT: there is no tracefs, or it lacks one; -EACCES: it may not be read. */
int fx_tracepoints_find(struct fx_tracepoints *ret);

/* One that came, and what it says. */
struct fx_tracepoint_event {
	const struct fx_tracepoints *tracepoints;
	enum fx_tracepoint tracepoint;
	const uint8_t *bytes;
	size_t size;
};

/* Which one the bytes of a record are of, which the event then borrows. False: none of these. */
bool fx_tracepoint_read(const struct fx_tracepoints *tracepoints, const uint8_t *bytes, size_t size,
			struct fx_tracepoint_event *ret);

/* A number that it says, sign extended; 0 if the bytes do not have it. `index': of an array of such. */
int64_t fx_tracepoint_value(const struct fx_tracepoint_event *event, enum fx_tracepoint_field field,
			    unsigned index);

/* Whether it came in an interrupt, which no thread is answerable for; also if the bytes do not tell. */
bool fx_tracepoint_is_of_interrupt(const struct fx_tracepoint_event *event);

#endif
