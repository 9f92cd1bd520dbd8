/* SPDX-License-Identifier: MIT */
/* One static probe that is recorded (symbols/probes.h): where it is, what it says, and how its records are read. */
#ifndef FX_KERNEL_PROBE_H
#define FX_KERNEL_PROBE_H

#include <stddef.h>
#include <stdint.h>

#include "kernel/probe-operand.h"
#include "lists/vector.h"

/* What its category begins with: sdt:PROVIDER:NAME. */
#define FX_PROBE_PREFIX "sdt:"

#define FX_PROBE_DESCRIPTION "a static probe of the program or a library"

/* Probes of files that come later are numbered from here on. */
#define FX_PROBE_LATE_FIRST 1000u

/* Where a value lies in a record, in bytes; size 0: it does not have it. */
struct fx_probe_field {
	uint16_t offset, size;
};

struct fx_probe {
	char *category;	  /* sdt:PROVIDER:NAME; at the same address while records are written */
	const char *name; /* its end */
	const char *path; /* of its file */
	uint64_t offset, semaphore; /* in the file */
	unsigned count;		    /* of the arguments */
	struct fx_probe_argument arguments[FX_PROBE_ARGUMENTS];
	/* When the kernel knows it: */
	uint32_t number; /* of its tracepoint; 0: none */
	struct fx_probe_field values[FX_PROBE_ARGUMENTS], texts[FX_PROBE_ARGUMENTS];
	int guard; /* see kernel/probe-place.c; -1: none */
};

struct fx_probe_list {
	FX_VECTOR(struct fx_probe) probes;
	FX_VECTOR(char *) paths;
	unsigned first; /* the number of the first, in their names */
};

/* Whether what lies at an argument is read as a text as well: it may be the address of one. */
static inline int fx_probe_may_be_text(const struct fx_probe_argument *argument)
{
	return argument->kind == FX_PROBE_FETCHED && argument->size == 8 && !argument->is_signed &&
	       !argument->is_float;
}

#endif
