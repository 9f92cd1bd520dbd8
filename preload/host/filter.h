/* SPDX-License-Identifier: MIT */
/*
 * What a seccomp filter says to what this library asks of the kernel: found out by running it, before the program
 * installs it.
 *
 * A filter sees numbers of calls and arguments. Where it decides by what is not known beforehand (an address, say, or the
 * place that the call is made from), the worst of its answers counts.
 */
#ifndef FX_PRELOAD_FILTER_H
#define FX_PRELOAD_FILTER_H

#include <linux/filter.h>
#include <stdint.h>

/* From what is harmless to what is not. */
enum fx_answer {
	FX_ANSWER_ALLOW,
	FX_ANSWER_ERROR, /* or what is logged */
	FX_ANSWER_HARM, /* the end of the process or thread, a signal, another process that is asked */
};

/* The answer to system call `number`, of which argument `position` is `value`, and nothing is known of the others; -1: of
 * none. */
enum fx_answer fx_filter_answer(const struct sock_filter *code, uint32_t count, long number,
				int position, uint64_t value);

/* Bits of enum fx_ask: what the program's filter refuses. All, if nobody may look at it; nothing, if the kernel will not
 * have it. */
uint32_t fx_filter_refuses(const struct sock_fprog *program);

#endif
