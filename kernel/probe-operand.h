/* SPDX-License-Identifier: MIT */
/* Where the arguments of static probes are: operands of the machine's assembler, as the kernel calls them in definitions of its
 * uprobes (uprobetracer in the kernel's documentation). */
#ifndef FX_KERNEL_PROBE_OPERAND_H
#define FX_KERNEL_PROBE_OPERAND_H

#include <stdbool.h>
#include <stdint.h>

#include "symbols/probes.h"

/* <sys/sdt.h> has no more. */
#define FX_PROBE_ARGUMENTS 12u

enum fx_probe_argument_kind {
	FX_PROBE_UNREACHABLE, /* the kernel's uprobes cannot say it; `why' */
	FX_PROBE_CONSTANT,
	FX_PROBE_FETCHED,
};

struct fx_probe_argument {
	enum fx_probe_argument_kind kind;
	uint8_t size; /* bytes: 1, 2, 4 or 8 */
	bool is_signed, is_float;
	int64_t constant;
	const char *why; /* it is unreachable: a word or two */
	char fetch[48];	 /* as in "+16(%sp)" */
};

/*
 * Reads a probe's list of arguments ("-4@%eax 8@-16(%rbp) 8f@%xmm0 4@16+counters(%rip)"). How many there are; what cannot be
 * understood is FX_PROBE_UNREACHABLE.
 */
unsigned fx_probe_operands(const struct fx_probe_seen *probe,
			   struct fx_probe_argument ret[FX_PROBE_ARGUMENTS]);

/* The name of its type: s8 to s64, u8 to u64, f32 or f64. */
const char *fx_probe_argument_type(const struct fx_probe_argument *argument);

#endif
