/* SPDX-License-Identifier: MIT */
/* One record of a ring (kernel/ring.h), as it goes from the thread that reads the rings to the one that works on what was read; and
 * what stands in records of samples. */
#ifndef FX_KERNEL_RING_RECORD_H
#define FX_KERNEL_RING_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/sample.h"

/* One record, with what every record has; the rest is as the kernel wrote it. */
struct fx_ring_record {
	struct fx_ring_record *next;
	uint64_t ns; /* CLOCK_BOOTTIME */
	uint32_t pid, tid, cpu;
	uint32_t type; /* PERF_RECORD_* */
	uint16_t misc;
	bool is_tracepoint; /* a sample of a tracepoint: see fx_ring_tracepoint() */
	size_t size;	    /* of the body */
	uint64_t body[]; /* behind the header, without the parts that every record has at its end */
};

/* Whose a record is, when it was made and on which processor: what PERF_SAMPLE_TID, TIME and CPU ask for. It stands at the end of
 * every record but samples, */
struct fx_ring_trailer {
	uint32_t pid, tid;
	uint64_t ns; /* of the ring's clock */
	uint32_t cpu, reserved;
};

/* and, by PERF_SAMPLE_IP, behind the address at the begin of those: of tracepoints */
struct fx_ring_sample_begin {
	uint64_t ip;
	struct fx_ring_trailer trailer;
};

/* and, by PERF_SAMPLE_ADDR, of others. */
struct fx_ring_place_begin {
	uint64_t ip;
	uint32_t pid, tid;
	uint64_t ns;
	uint64_t address; /* of a page fault */
	uint32_t cpu, reserved;
};

/* A list of records, linked by `next'. */
void fx_ring_records_free(struct fx_ring_record *first);

/* What a sample says; it points into the record. False: the record is none. */
bool fx_ring_sample(const struct fx_ring_record *record, struct fx_caught *ret);

/* Where a page fault was: a sample that has nothing behind its begin. False: it is none. */
bool fx_ring_fault(const struct fx_ring_record *record, uint64_t *ret_ip, uint64_t *ret_address);

/* What a tracepoint says, of which the first two bytes are its number. NULL: the record is of none. */
const uint8_t *fx_ring_tracepoint(const struct fx_ring_record *record, size_t *ret_size);

#endif
