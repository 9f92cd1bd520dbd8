/* SPDX-License-Identifier: MIT */
/* The instructions of the programs that kernel/texts.h loads into the kernel. */
#ifndef FX_KERNEL_TEXTS_PROGRAM_H
#define FX_KERNEL_TEXTS_PROGRAM_H

#include <linux/bpf.h>

#include "kernel/tracepoint.h"

/* As much of a text is copied, its end included. */
#define FX_TEXT_MAX 512u

#define FX_TEXTS_CODE_MAX 256u

struct fx_texts_code {
	struct bpf_insn insns[FX_TEXTS_CODE_MAX];
	unsigned count;
};

/* Maps by their descriptors. */
struct fx_texts_maps {
	int tasks; /* threads that are watched, by number */
	int calls; /* of a system call by its number the arguments that are texts, a bit for each */
	int late; /* of a thread what could not be read as its call began: where it lies, and which argument it is */
	int scratch; /* of a processor a record */
	int events;  /* of a processor the event that takes records */
};

/* What the kernel gets as a record: numbers, how long the text is, where it lies, and it. */
enum { FX_TEXTS_ARGUMENT_SHIFT = 16, FX_TEXTS_AT_END = 8, FX_TEXTS_HEAD = 16 };

/* For the tracepoints of a call's begin and end, and of a new thread. */
void fx_texts_code_enter(const struct fx_texts_maps *maps, const struct fx_tracepoints *points,
			 struct fx_texts_code *ret);
void fx_texts_code_exit(const struct fx_texts_maps *maps, struct fx_texts_code *ret);
void fx_texts_code_fork(const struct fx_texts_maps *maps, const struct fx_tracepoints *points,
			struct fx_texts_code *ret);

#endif
