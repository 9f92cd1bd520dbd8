/* SPDX-License-Identifier: MIT */
/*
 * Texts that system calls are given, of which the tracepoints say where they lie alone: programs of BPF copy them into the rings while the call
 * begins, or at its end where the page was not there before the kernel itself had read it.
 */
#ifndef FX_KERNEL_TEXTS_H
#define FX_KERNEL_TEXTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "kernel/ring-record.h"
#include "kernel/tracepoint.h"

struct fx_texts;

/* Of the process and of what it starts from now on. 0 or -errno: -EPERM where BPF is not permitted, -ENOTSUP where the kernel has
 * other numbers for processes than are known here. */
int fx_texts_open(pid_t pid, const struct fx_tracepoints *points, struct fx_texts **ret);
void fx_texts_close(struct fx_texts *texts);

/* Those of a processor go into the event `fd' (PERF_COUNT_SW_BPF_OUTPUT). 0 or -errno. */
int fx_texts_direct(const struct fx_texts *texts, uint32_t cpu, int fd);

/* One that came; it points into the record's bytes. */
struct fx_text_found {
	unsigned argument; /* its number, from 0 */
	bool at_end;	   /* the call has begun, and ends; else it begins */
	uint64_t address;  /* where it lies in the program */
	const char *data;
	size_t length;
};

/* What the bytes of a tracepoint's record say, if they are none of a tracepoint. */
bool fx_text_read(const uint8_t *bytes, size_t size, struct fx_text_found *ret);

#endif
