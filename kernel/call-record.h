/* SPDX-License-Identifier: MIT */
/* The record of a system call of another process. As those of kernel/records.h it is written only while tracing runs. */
#ifndef FX_KERNEL_CALL_RECORD_H
#define FX_KERNEL_CALL_RECORD_H

#include <stdint.h>

#include "kernel/call-table.h"
#include "kernel/record-text.h"
#include "kernel/task.h"

enum fx_call_end {
	FX_CALL_RETURNS,
	FX_CALL_NEVER_RETURNS, /* its thread has ended in it */
	FX_CALL_UNFINISHED,    /* it was still open */
};

struct fx_kernel_call {
	struct fx_task task;
	uint64_t begin_ns, end_ns;
	int64_t number;
	const struct fx_call_shape *shape;  /* NULL: only the number is known */
	const struct fx_record_text *texts; /* what arguments point to; NULL in one: not known */
	const uint64_t *args;		    /* FX_CALL_ARGS of them */
	enum fx_call_end end;
	int64_t result; /* if it returns: a negative errno is one from -4095 on */
};

void fx_kernel_record_call(const struct fx_kernel_call *call);

#endif
