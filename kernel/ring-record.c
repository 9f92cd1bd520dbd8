/* SPDX-License-Identifier: MIT */
#include "kernel/ring-record.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/registers.h"

void fx_ring_records_free(struct fx_ring_record *first)
{
	struct fx_ring_record *next;

	for (; first; first = next) {
		next = first->next;
		free(first);
	}
}

/* Behind the begin: how many addresses of the kernel and these, the kind of the registers and these, how long the stack is and it
 * (kernel/ring.c asks for them). */
bool fx_ring_sample(const struct fx_ring_record *record, struct fx_caught *ret)
{
	const uint64_t *at = record->body + sizeof(struct fx_ring_place_begin) / 8;
	const uint64_t *end = record->body + record->size / 8;

	if (record->type != PERF_RECORD_SAMPLE || record->is_tracepoint ||
	    record->size <= sizeof(struct fx_ring_place_begin))
		return false;
	*ret = (struct fx_caught){
	    .ip = record->body[0],
	    .in_kernel = (record->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL,
	};
	if (at >= end || *at >= (uint64_t)(end - at))
		return true;
	ret->kernel_count = *at++;
	ret->kernel = at;
	at += ret->kernel_count;
	if (at >= end || *at++ != PERF_SAMPLE_REGS_ABI_64 || end - at < FX_REGISTER_COUNT + 1)
		return true;
	ret->registers = at;
	at += FX_REGISTER_COUNT + 1;
	ret->stack = (const uint8_t *)at;
	ret->stack_size =
	    record->size - (size_t)((const uint8_t *)at - (const uint8_t *)record->body);
	return true;
}

bool fx_ring_fault(const struct fx_ring_record *record, uint64_t *ret_ip, uint64_t *ret_address)
{
	struct fx_ring_place_begin begin;

	if (record->type != PERF_RECORD_SAMPLE || record->is_tracepoint ||
	    record->size != sizeof(begin))
		return false;
	memcpy(&begin, record->body, sizeof(begin));
	*ret_ip = begin.ip;
	*ret_address = begin.address;
	return true;
}

/* Behind the begin stand a size of four bytes and so many bytes. */
const uint8_t *fx_ring_tracepoint(const struct fx_ring_record *record, size_t *ret_size)
{
	const size_t begin = sizeof(struct fx_ring_sample_begin);
	const uint8_t *at = (const uint8_t *)record->body + begin;
	uint32_t size;

	if (!record->is_tracepoint || record->size < begin + sizeof(size))
		return NULL;
	memcpy(&size, at, sizeof(size));
	if (size > record->size - begin - sizeof(size) || size < 2)
		return NULL;
	*ret_size = size;
	return at + sizeof(size);
}
