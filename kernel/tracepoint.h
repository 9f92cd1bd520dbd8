/* SPDX-License-Identifier: MIT */
/*
 * The kernel's tracepoints that this program knows: their numbers for perf_event_open(2), and where their fields lie. Those that a
 * user names are in kernel/points.h.
 */
#ifndef FX_KERNEL_TRACEPOINT_H
#define FX_KERNEL_TRACEPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol/kernel-ready.h"

/*
 * FX_TRACEPOINTS(X): X(id, set, wide, group, name)
 *	set	those that are recorded together: FX_KERNEL_SETS of protocol/kernel-ready.h
 *	wide	it comes while any thread runs; else it is of interest in those of the program alone
 */
#define FX_TRACEPOINTS(X)                                                                          \
	X(SWITCH, WAKEUPS, 0, "sched", "sched_switch")                                             \
	X(WAKING, WAKEUPS, 0, "sched", "sched_waking")                                             \
	X(MIGRATE, MIGRATIONS, 1, "sched", "sched_migrate_task")                                   \
	X(ENTER, CALLS, 0, "raw_syscalls", "sys_enter")                                            \
	X(EXIT, CALLS, 0, "raw_syscalls", "sys_exit")                                              \
	X(FORK, TEXTS, 0, "sched", "sched_process_fork")                                           \
	X(FREE, TEXTS, 0, "sched", "sched_process_free")                                           \
	X(IRQ_ENTRY, IRQ, 1, "irq", "irq_handler_entry")                                           \
	X(IRQ_EXIT, IRQ, 1, "irq", "irq_handler_exit")                                             \
	X(SOFTIRQ_ENTRY, IRQ, 1, "irq", "softirq_entry")                                           \
	X(SOFTIRQ_EXIT, IRQ, 1, "irq", "softirq_exit")                                             \
	X(BIO_QUEUE, BLOCK, 0, "block", "block_bio_queue")                                         \
	X(CACHE_ADD, BLOCK, 0, "filemap", "mm_filemap_add_to_page_cache")                          \
	X(REQUEST_DONE, BLOCK, 1, "block", "block_rq_complete")                                    \
	X(RETRANSMIT, NET, 1, "tcp", "tcp_retransmit_skb")                                         \
	X(DROP, NET, 1, "skb", "kfree_skb")

#define FX_ENUM_TRACEPOINT_(id, set, wide, group, name) FX_TRACEPOINT_##id,
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
	X(WAKING_CPU, WAKING, "target_cpu")                                                        \
	X(MIGRATE_TID, MIGRATE, "pid")                                                             \
	X(MIGRATE_FROM, MIGRATE, "orig_cpu")                                                       \
	X(MIGRATE_TO, MIGRATE, "dest_cpu")                                                         \
	X(IRQ_NUMBER, IRQ_ENTRY, "irq")                                                            \
	X(IRQ_NAME, IRQ_ENTRY, "name")                                                             \
	X(IRQ_EXIT_NUMBER, IRQ_EXIT, "irq")                                                        \
	X(SOFTIRQ_KIND, SOFTIRQ_ENTRY, "vec")                                                      \
	X(SOFTIRQ_EXIT_KIND, SOFTIRQ_EXIT, "vec")                                                  \
	X(BIO_DEVICE, BIO_QUEUE, "dev")                                                            \
	X(BIO_SECTOR, BIO_QUEUE, "sector")                                                         \
	X(BIO_SECTORS, BIO_QUEUE, "nr_sector")                                                     \
	X(BIO_FLAGS, BIO_QUEUE, "rwbs")                                                            \
	X(CACHE_DEVICE, CACHE_ADD, "s_dev")                                                        \
	X(CACHE_INODE, CACHE_ADD, "i_ino")                                                         \
	X(DONE_DEVICE, REQUEST_DONE, "dev")                                                        \
	X(DONE_SECTOR, REQUEST_DONE, "sector")                                                     \
	X(DONE_SECTORS, REQUEST_DONE, "nr_sector")                                                 \
	X(DONE_ERROR, REQUEST_DONE, "error")                                                       \
	X(RETRANSMIT_FAMILY, RETRANSMIT, "family")                                                 \
	X(RETRANSMIT_FROM_PORT, RETRANSMIT, "sport")                                               \
	X(RETRANSMIT_TO_PORT, RETRANSMIT, "dport")                                                 \
	X(RETRANSMIT_FROM, RETRANSMIT, "saddr")                                                    \
	X(RETRANSMIT_TO, RETRANSMIT, "daddr")                                                      \
	X(RETRANSMIT_FROM6, RETRANSMIT, "saddr_v6")                                                \
	X(RETRANSMIT_TO6, RETRANSMIT, "daddr_v6")                                                  \
	X(RETRANSMIT_STATE, RETRANSMIT, "state")                                                   \
	X(DROP_PLACE, DROP, "location")                                                            \
	X(DROP_PROTOCOL, DROP, "protocol")                                                         \
	X(DROP_REASON, DROP, "reason")

#define FX_ENUM_TRACEPOINT_FIELD_(id, tracepoint, name) FX_FIELD_##id,
enum fx_tracepoint_field { FX_TRACEPOINT_FIELDS(FX_ENUM_TRACEPOINT_FIELD_) FX_FIELD_COUNT };

struct fx_tracepoint_place {
	uint16_t offset, size; /* bytes; of an array, the size of one */
	uint16_t count;	       /* of an array; else 1 */
	bool is_elsewhere;     /* there stands where it is, and how long */
};

struct fx_tracepoints {
	uint32_t sets; /* bits of enum fx_kernel_set: all of these is there */
	uint32_t numbers[FX_TRACEPOINT_COUNT];
	struct fx_tracepoint_place fields[FX_FIELD_COUNT];
};

/* Those of `sets', as far as the kernel has them: what is not in ret->sets has no numbers. */
void fx_tracepoints_find(uint32_t sets, struct fx_tracepoints *ret);

/* The bit of the set that one is of, and whether it comes while any thread runs. */
uint32_t fx_tracepoint_set(enum fx_tracepoint which);
const char *fx_tracepoint_group(enum fx_tracepoint which);
const char *fx_tracepoint_name(enum fx_tracepoint which);
bool fx_tracepoint_is_wide(enum fx_tracepoint which);

/* When one is of interest, by its fields, in the words of the kernel's filters; NULL: always. */
const char *fx_tracepoint_filter(enum fx_tracepoint which);

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

/* A number that it says, of 4 and 8 bytes sign extended; 0 if the bytes do not have it. `index': of an array of such. */
int64_t fx_tracepoint_value(const struct fx_tracepoint_event *event, enum fx_tracepoint_field field,
			    unsigned index);

/* The bytes of an array; a text may end before them with a NUL. NULL: the record does not have them. */
const uint8_t *fx_tracepoint_array(const struct fx_tracepoint_event *event,
				   enum fx_tracepoint_field field, size_t *ret_size);

/* Whether a program of kernel/follow-code.h has written it, with the fields alone that are read here: it has a mark in the upper bit of the
 * thread's number, of which the kernel has none. */
bool fx_tracepoint_is_followed(const struct fx_tracepoint_event *event);

/* Whether it came in an interrupt, which no thread is answerable for; also if the bytes do not tell. */
bool fx_tracepoint_is_of_interrupt(const struct fx_tracepoint_event *event);

#endif
