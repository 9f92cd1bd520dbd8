/* SPDX-License-Identifier: MIT */
/*
 * A call that is being recorded, and how arguments go into its record: numbers, addresses, builtin strings and
 * descriptors, which take a word or two.
 */
#ifndef FX_PRELOAD_ARGS_PLAIN_H
#define FX_PRELOAD_ARGS_PLAIN_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/provider/record.h"
#include <fxtrace/format.h>
#include "preload/show/fdtable.h"
#include "preload/show/naming.h"
#include "preload/strings.h"

struct fx_call {
	struct fx_thread *thread;
	struct fx_frame *frame;
	uint64_t start, end; /* ticks */
	uint64_t *record;    /* in the buffer; its header word is written last */
	uint64_t *next;	     /* where the next argument goes */
	struct fx_reservation reservation;
	uint32_t category; /* FX_CAT_... */
	int error;	   /* errno of the call, 0 if it succeeded */
	unsigned nargs;
};

/* Words of a text argument of at most `bytes` bytes. */
#define FX_TEXT_WORDS(bytes) (1 + ((bytes) + 7) / 8)

/* Header word of an argument; `value` is what its upper half holds. */
#define FX_ARG_HEADER(type, words, name, value)                                                    \
	(FXT_PUT(ARG_TYPE, FXT_ARG_##type) | FXT_PUT(ARG_SIZE, words) | FXT_PUT(ARG_NAME, name) |  \
	 FXT_PUT(ARG_VALUE32_VALUE, value))

/* The same for what takes one word, by kind; and whether the value of such a kind does. */
#define FX_WORD_int(name, value)    FX_ARG_HEADER(INT32, 1, name, (uint32_t)(value))
#define FX_WORD_uint(name, value)   FX_ARG_HEADER(UINT32, 1, name, value)
#define FX_WORD_fd(name, value)	    FX_WORD_int(name, value)
#define FX_WORD_size(name, value)   FX_WORD_uint(name, value)
#define FX_WORD_long(name, value)   FX_WORD_int(name, value)
#define FX_WORD_string(name, value) FX_ARG_HEADER(STRING, 1, name, value)
#define FX_ONE_WORD_size(value)	    ((value) <= UINT32_MAX)
#define FX_ONE_WORD_long(value)	    ((value) == (int32_t)(value))
/* of a system call that has succeeded */
#define FX_ONE_WORD_file(string) ((string)-1 < FX_STRING_LOCAL - 1)
#define FX_ONE_WORD_ret(value)	 ((uint64_t)(value) <= INT32_MAX)

fx_hot void fx_arg_one(struct fx_call *call, uint64_t header)
{
	*call->next++ = header;
	call->nargs++;
}

fx_hot void fx_arg_two(struct fx_call *call, uint64_t header, uint64_t value)
{
	call->next[0] = header;
	call->next[1] = value;
	call->next += 2;
	call->nargs++;
}

#define FX_WORDS_int 1
fx_hot void fx_arg_int(struct fx_call *call, unsigned name, int value)
{
	fx_arg_one(call, FX_WORD_int(name, value));
}

#define FX_WORDS_uint 1
fx_hot void fx_arg_uint(struct fx_call *call, unsigned name, uint32_t value)
{
	fx_arg_one(call, FX_WORD_uint(name, value));
}

#define FX_WORDS_size 2
fx_hot void fx_arg_size(struct fx_call *call, unsigned name, uint64_t value)
{
	if (fx_likely(FX_ONE_WORD_size(value)))
		fx_arg_one(call, FX_WORD_size(name, value));
	else
		fx_arg_two(call, FX_ARG_HEADER(UINT64, 2, name, 0), value);
}

#define FX_WORDS_long 2
fx_hot void fx_arg_long(struct fx_call *call, unsigned name, int64_t value)
{
	if (fx_likely(FX_ONE_WORD_long(value)))
		fx_arg_one(call, FX_WORD_long(name, value));
	else
		fx_arg_two(call, FX_ARG_HEADER(INT64, 2, name, 0), (uint64_t)value);
}

#define FX_WORDS_ptr 2
fx_hot void fx_arg_ptr(struct fx_call *call, unsigned name, const volatile void *value)
{
	fx_arg_two(call, FX_ARG_HEADER(POINTER, 2, name, 0), (uint64_t)(uintptr_t)value);
}

/* A number that stands for an object, such as a pthread_t. */
#define FX_WORDS_handle 2
fx_hot void fx_arg_handle(struct fx_call *call, unsigned name, uint64_t value)
{
	fx_arg_two(call, FX_ARG_HEADER(POINTER, 2, name, 0), value);
}

/* A function of the program, of whatever type. */
#define FX_WORDS_code		       2
#define fx_arg_code(call, name, value) fx_arg_handle((call), (name), (uint64_t)(uintptr_t)(value))

/* A builtin string. */
#define FX_WORDS_string 1
fx_hot void fx_arg_string(struct fx_call *call, unsigned name, unsigned string)
{
	fx_arg_one(call, FX_WORD_string(name, string));
}

/* A number in hex, as text: it has meaning for machines. */
#define FX_WORDS_hex FX_TEXT_WORDS(24)
void fx_arg_hex(struct fx_call *call, unsigned name, uint64_t value);

/* A descriptor. What it is comes last in the record: FX_WORDS_FILE, and FX_WORDS_TOTAL for the bytes
 * so far. */
#define FX_WORDS_fd 1
fx_hot void fx_arg_fd(struct fx_call *call, unsigned name, int fd)
{
	fx_arg_int(call, name, fd);
}

#define FX_WORDS_FILE 1
fx_hot void fx_show_file(struct fx_call *call, unsigned name, const struct fx_fd_ref *is)
{
	if (is->string)
		fx_arg_one(call, FX_ARG_HEADER(STRING, 1, name, is->string & ~FX_FD_COUNTED));
}

/* What an eventfd's call has added or taken, if it is one's. */
#define FX_WORDS_COUNT 2
void fx_show_count(struct fx_call *call, const struct fx_fd_ref *is, const void *number,
		   int64_t bytes);

/* Both, for a call that moves bytes: `total` is one of the entry's, `bytes` negative if it has failed. One
 * test for all that is usual, and one store for each field of the call. */
#define FX_WORDS_TOTAL 2
fx_hot void fx_show_total(struct fx_call *call, unsigned name, const struct fx_fd_ref *is,
			  unsigned total_name, uint64_t *total, int64_t bytes)
{
	uint64_t *next = call->next, sum;

	if (fx_unlikely(!is->string || bytes < 0)) {
		fx_show_file(call, name, is);
		return;
	}
	sum = fx_fd_add(total, bytes);
	next[0] = FX_ARG_HEADER(STRING, 1, name, is->string & ~FX_FD_COUNTED);
	next[1] = FX_ARG_HEADER(UINT32, 1, total_name, sum);
	call->nargs += 2;
	call->next = next + 2;
	if (fx_unlikely(sum > UINT32_MAX)) {
		next[1] = FX_ARG_HEADER(UINT64, 2, total_name, 0);
		next[2] = sum;
		call->next = next + 3;
	}
}

/* `length` bytes of text, at most FX_TEXT_MAX. */
void fx_arg_bytes(struct fx_call *call, unsigned name, const char *text, size_t length);

/* A number by its name, a builtin string; as a number where it has none (0). */
fx_hot void fx_arg_named(struct fx_call *call, unsigned name, unsigned string, int number)
{
	if (string)
		fx_arg_string(call, name, string);
	else
		fx_arg_int(call, name, number);
}

#define FX_WORDS_errno 1
fx_hot void fx_arg_errno(struct fx_call *call, unsigned name, int number)
{
	fx_arg_named(call, name, fx_errno_string(number), number);
}

/* Those of real time are numbers: "SIGRTMIN+2". */
#define FX_SIGNAL_TEXT	16
#define FX_WORDS_signal FX_TEXT_WORDS(FX_SIGNAL_TEXT)
void fx_arg_realtime_signal(struct fx_call *call, unsigned name, int number);
fx_hot void fx_arg_signal(struct fx_call *call, unsigned name, int number)
{
	if (fx_unlikely(number >= __SIGRTMIN))
		fx_arg_realtime_signal(call, name, number);
	else
		fx_arg_named(call, name, fx_signal_string(number), number);
}

#endif
