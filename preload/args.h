/* SPDX-License-Identifier: MIT */
/*
 * How arguments are shown: one fx_arg_KIND() for each KIND of wrappers.tbl, and FX_WORDS_KIND, the
 * most 8-byte words that it appends to a record.
 *
 * Arguments are encoded after the call, straight into the buffer. What stands behind a pointer is looked at only when the result of the call says that
 * the kernel has read or written it: what the kernel refuses must not make us crash.
 */
#ifndef FX_PRELOAD_ARGS_H
#define FX_PRELOAD_ARGS_H

#include <fcntl.h>

#include "engine/record.h"
#include <fxtrace/format.h>
#include "preload/strings.h"
#include "preload/types.h"

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

/* The longest text that is shown, in bytes. */
#define FX_TEXT_MAX 255

/* Words of a text argument of at most `bytes` bytes. */
#define FX_TEXT_WORDS(bytes) (1 + ((bytes) + 7) / 8)

/* Header word of an argument; `value` is what its upper half holds. */
#define FX_ARG_HEADER(type, words, name, value)                                                    \
	(FXT_PUT(ARG_TYPE, FXT_ARG_##type) | FXT_PUT(ARG_SIZE, words) | FXT_PUT(ARG_NAME, name) |  \
	 FXT_PUT(ARG_VALUE32_VALUE, value))

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
	fx_arg_one(call, FX_ARG_HEADER(INT32, 1, name, (uint32_t)value));
}

#define FX_WORDS_uint 1
fx_hot void fx_arg_uint(struct fx_call *call, unsigned name, uint32_t value)
{
	fx_arg_one(call, FX_ARG_HEADER(UINT32, 1, name, value));
}

#define FX_WORDS_size 2
fx_hot void fx_arg_size(struct fx_call *call, unsigned name, uint64_t value)
{
	if (fx_likely(value <= UINT32_MAX))
		fx_arg_one(call, FX_ARG_HEADER(UINT32, 1, name, value));
	else
		fx_arg_two(call, FX_ARG_HEADER(UINT64, 2, name, 0), value);
}

#define FX_WORDS_long 2
fx_hot void fx_arg_long(struct fx_call *call, unsigned name, int64_t value)
{
	if (fx_likely(value == (int32_t)value))
		fx_arg_one(call, FX_ARG_HEADER(INT32, 1, name, (uint32_t)value));
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
	fx_arg_one(call, FX_ARG_HEADER(STRING, 1, name, string));
}

/* `length` bytes of text, at most FX_TEXT_MAX. */
void fx_arg_text(struct fx_call *call, unsigned name, const char *text, size_t length);

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

#define FX_WORDS_signal 1
fx_hot void fx_arg_signal(struct fx_call *call, unsigned name, int number)
{
	fx_arg_named(call, name, fx_signal_string(number), number);
}

/* --- What stands behind pointers (args.c) ----------------------------------------------------- */

/* A path, cut at FX_TEXT_MAX bytes between two characters; its address if the kernel did not read
 * it. */
#define FX_WORDS_path FX_TEXT_WORDS(FX_TEXT_MAX)
void fx_arg_path(struct fx_call *call, unsigned name, const char *path);

/* Strings joined by spaces, cut like a path; nothing if the call failed. */
#define FX_WORDS_argv FX_TEXT_WORDS(FX_TEXT_MAX)
void fx_arg_argv(struct fx_call *call, unsigned name, fx_strings argv);

/* Nanoseconds; null for none. */
#define FX_WORDS_timespec 2
void fx_arg_timespec(struct fx_call *call, unsigned name, const struct timespec *ts);

/* The two descriptors of a pipe, "3 4". */
#define FX_WORDS_fd_pair FX_TEXT_WORDS(24)
void fx_arg_fd_pair(struct fx_call *call, unsigned name, const int *fds);

/* What wait() learned: exit status, or the signal that ended or stopped the process. */
#define FX_WORDS_wait_status 1
void fx_arg_wait_status(struct fx_call *call, unsigned name, const int *status);

#define FX_WORDS_out_pid 1
void fx_arg_out_pid(struct fx_call *call, unsigned name, const pid_t *pid);

#define FX_WORDS_out_signal 1
void fx_arg_out_signal(struct fx_call *call, unsigned name, const int *number);

#define FX_WORDS_out_ptr 2
void fx_arg_out_ptr(struct fx_call *call, unsigned name, void *const *ptr);

/* An address as "192.0.2.1:80", "[::1]:80", a path, "@abstract". */
#define FX_SOCKADDR_TEXT  128
#define FX_WORDS_sockaddr FX_TEXT_WORDS(FX_SOCKADDR_TEXT)
void fx_arg_sockaddr(struct fx_call *call, unsigned name, const struct sockaddr *addr,
		     socklen_t length);

/* The same, written by the call. */
#define FX_WORDS_sockaddr_out FX_TEXT_WORDS(FX_SOCKADDR_TEXT)
void fx_arg_sockaddr_out(struct fx_call *call, unsigned name, const struct sockaddr *addr,
			 const socklen_t *length);

/* --- Numbers that have names (args-flags.c) --------------------------------------------------- */

/* The longest text that they make. */
#define FX_FLAGS_TEXT 128

#define FX_WORDS_open_flags FX_TEXT_WORDS(FX_FLAGS_TEXT)
void fx_arg_open_flags(struct fx_call *call, unsigned name, int flags);

/* Permission bits in octal. */
#define FX_WORDS_mode FX_TEXT_WORDS(12)
void fx_arg_mode(struct fx_call *call, unsigned name, mode_t mode);

/* The same where it was passed: O_CREAT or O_TMPFILE. */
#define FX_PASSED_open_mode(flags) (((flags)&O_CREAT) || ((flags)&O_TMPFILE) == O_TMPFILE)
#define FX_WORDS_open_mode	   FX_WORDS_mode
fx_hot void fx_arg_open_mode(struct fx_call *call, unsigned name, mode_t mode, int flags)
{
	if (FX_PASSED_open_mode(flags))
		fx_arg_mode(call, name, mode);
}

/* A descriptor or AT_FDCWD. */
#define FX_WORDS_dirfd FX_TEXT_WORDS(8)
void fx_arg_dirfd(struct fx_call *call, unsigned name, int fd);

#define FX_WORDS_sock_domain FX_TEXT_WORDS(FX_FLAGS_TEXT)
void fx_arg_sock_domain(struct fx_call *call, unsigned name, int domain);

#define FX_WORDS_sock_type FX_TEXT_WORDS(FX_FLAGS_TEXT)
void fx_arg_sock_type(struct fx_call *call, unsigned name, int type);

#define FX_WORDS_sock_flags FX_TEXT_WORDS(FX_FLAGS_TEXT)
void fx_arg_sock_flags(struct fx_call *call, unsigned name, int flags);

#define FX_WORDS_msg_flags FX_TEXT_WORDS(FX_FLAGS_TEXT)
void fx_arg_msg_flags(struct fx_call *call, unsigned name, int flags);

#define FX_WORDS_shutdown_how FX_TEXT_WORDS(FX_FLAGS_TEXT)
void fx_arg_shutdown_how(struct fx_call *call, unsigned name, int how);

#define FX_WORDS_clock FX_TEXT_WORDS(FX_FLAGS_TEXT)
void fx_arg_clock(struct fx_call *call, unsigned name, clockid_t clock);

#define FX_WORDS_lock_operation FX_TEXT_WORDS(FX_FLAGS_TEXT)
void fx_arg_lock_operation(struct fx_call *call, unsigned name, int operation);

#define FX_WORDS_wait_options FX_TEXT_WORDS(FX_FLAGS_TEXT)
void fx_arg_wait_options(struct fx_call *call, unsigned name, int options);

#endif
