/* SPDX-License-Identifier: MIT */
/*
 * What the kernel's performance events say of a process and of all that it starts (perf_event_open(2)): a ring of memory for
 * each processor, which a thread of its own empties, so that none overflows while names are looked for. Records come in
 * order of time from fx_rings_next().
 */
#ifndef FX_KERNEL_RINGS_H
#define FX_KERNEL_RINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* What is asked for. */
struct fx_rings_wish {
	pid_t pid;		     /* of which, and of what it starts from now on */
	uint32_t hz;		     /* samples a second of processor time; 0: none */
	bool switches;		     /* who is given a processor */
	const uint32_t *tracepoints; /* their numbers (kernel/tracepoint.h), */
	unsigned
	    tracepoint_count; /* and how many; they are left out where they are not permitted */
};

/* One record, with what every record has; the rest is as the kernel wrote it. */
struct fx_ring_record {
	struct fx_ring_record *next;
	uint64_t serial; /* among those that were read */
	uint64_t ns;	 /* CLOCK_BOOTTIME */
	uint32_t pid, tid, cpu;
	uint32_t type; /* PERF_RECORD_* */
	uint16_t misc;
	bool is_tracepoint; /* a sample of a tracepoint: see fx_ring_tracepoint() */
	size_t size;	    /* of the body */
	uint64_t body[]; /* behind the header, without the parts that every record has at its end */
};

/* PERF_CONTEXT_MAX: no address. */
#define FX_KERNEL_MARK ((uint64_t)-4095)

struct fx_rings;

/*
 * Opens the rings. *kernel: samples tell of time inside the kernel as well, which not everybody may see. 0 or -errno: -EACCES
 * or -EPERM where it is not permitted (perf_event_paranoid), -ENOSYS where the kernel has none.
 */
int fx_rings_open(const struct fx_rings_wish *wish, struct fx_rings **ret, bool *ret_kernel);
void fx_rings_close(struct fx_rings *rings);

/* Whether it has the tracepoints that were asked for. */
bool fx_rings_have_tracepoints(const struct fx_rings *rings);

/* Begins to read. 0 or -errno. */
int fx_rings_start(struct fx_rings *rings);

/* The next record, to be freed with free(). NULL: there is none within `wait_ms`. */
struct fx_ring_record *fx_rings_next(struct fx_rings *rings, unsigned wait_ms);

/* Nothing more is of interest: what is there is read, and then fx_rings_is_over(). */
void fx_rings_finish(struct fx_rings *rings);
bool fx_rings_is_over(struct fx_rings *rings);

/* How many records were lost since it was asked last: the rings were full, or there was no memory for them. */
uint64_t fx_rings_lost(struct fx_rings *rings);

/* The registers of a sample, and a part of its stack from the stack pointer on; and where it was in the kernel. */
struct fx_sample {
	uint64_t ip;
	const uint64_t
	    *kernel; /* addresses, the innermost first; among them marks from FX_KERNEL_MARK on */
	uint64_t kernel_count;
	const uint64_t *registers; /* NULL: not known */
	uint64_t unknown;	   /* bits: those of them that are not */
	const uint8_t *stack;
	uint64_t stack_size;
	bool in_kernel;
};

/* False: the record has no such. */
bool fx_ring_sample(const struct fx_ring_record *record, struct fx_sample *ret);

/* What a tracepoint says, of which the first two bytes are its number. NULL: the record is of none. */
const uint8_t *fx_ring_tracepoint(const struct fx_ring_record *record, size_t *ret_size);

#endif
