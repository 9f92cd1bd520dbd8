/* SPDX-License-Identifier: MIT */
#include "preload/show/args.h"

#include <errno.h>
#include <string.h>

#include "preload/host/peek.h"
#include "preload/show/address.h"
#include "preload/show/text.h"

/* --- Text ------------------------------------------------------------------------------------- */

void fx_arg_bytes(struct fx_call *call, unsigned name, const char *text, size_t length)
{
	unsigned words = (unsigned)((length + 7) / 8);

	if (words)
		call->next[words] = 0; /* the padding behind the text */
	memcpy(call->next + 1, text, length);
	*call->next = FX_ARG_HEADER(STRING, 1 + words, name,
				    length ? FXT_STRING_INLINE | length : FXT_STRING_EMPTY);
	call->next += 1 + words;
	call->nargs++;
}

/* The errors that the kernel returns without having read the path. */
static bool path_was_read(int error)
{
	return error != EFAULT && error != EINVAL && error != ENOSYS;
}

static void arg_null(struct fx_call *call, unsigned name)
{
	fx_arg_one(call, FX_ARG_HEADER(NULL, 1, name, 0));
}

/* Text that nobody need have looked at. */
static void arg_far(struct fx_call *call, unsigned name, const char *text, size_t max)
{
	const long length = text ? fx_peek_string(text, max + 1) : 0;

	if (!text)
		arg_null(call, name);
	else if (length < 0)
		fx_arg_ptr(call, name, text);
	else
		fx_arg_bytes(call, name, text, fx_text_cut(text, (size_t)length, max));
}

void fx_arg_path(struct fx_call *call, unsigned name, const char *path)
{
	size_t length;

	if (!path || !path_was_read(call->error)) {
		fx_arg_text(call, name, path);
		return;
	}
	length = strnlen(path, FX_TEXT_MAX + 1);
	fx_arg_bytes(call, name, path, fx_text_cut(path, length, FX_TEXT_MAX));
}

/* Errors that come after both paths of a call. */
static bool late_path_was_read(int error)
{
	return error == 0 || error == EEXIST || error == EXDEV || error == ENOTEMPTY;
}

void fx_arg_late_path(struct fx_call *call, unsigned name, const char *path)
{
	if (late_path_was_read(call->error))
		fx_arg_path(call, name, path);
	else
		fx_arg_text(call, name, path);
}

static void arg_cut(struct fx_call *call, unsigned name, const char *text, size_t max)
{
	fx_arg_bytes(call, name, text, fx_text_cut(text, strnlen(text, max + 1), max));
}

void fx_arg_name(struct fx_call *call, unsigned name, const char *text)
{
	if (text && !call->error)
		arg_cut(call, name, text, FX_NAME_TEXT);
	else
		arg_far(call, name, text, FX_NAME_TEXT);
}

/* Whether a function of the C library has looked at its text is not told by what it returns: with no file of protocols to look
 * into, getprotobyname() does not read the name. */
void fx_arg_text(struct fx_call *call, unsigned name, const char *text)
{
	arg_far(call, name, text, FX_TEXT_MAX);
}

void fx_arg_readable_text(struct fx_call *call, unsigned name, const char *text)
{
	if (text)
		arg_cut(call, name, text, FX_TEXT_MAX);
	else
		arg_null(call, name);
}

void fx_arg_short_text(struct fx_call *call, unsigned name, const char *text)
{
	arg_far(call, name, text, FX_NAME_TEXT);
}

void fx_arg_out_path(struct fx_call *call, unsigned name, const char *text)
{
	if (text && !call->error)
		arg_cut(call, name, text, FX_TEXT_MAX);
}

void fx_arg_out_bytes(struct fx_call *call, unsigned name, const char *bytes, ssize_t length)
{
	if (bytes && !call->error && length >= 0)
		fx_arg_bytes(call, name, bytes, fx_text_cut(bytes, (size_t)length, FX_TEXT_MAX));
}

/* As many as there is room for; false if one of them cannot be read. */
static bool text_strings(struct fx_text *t, fx_strings strings)
{
	const char *good = NULL; /* the end of the last one: the next lies beside it, most often */

	for (fx_strings s = strings; t->at < t->end; s++) {
		long length;

		/* the first one of a page, though it may begin on the one before */
		if ((s == strings || ((uintptr_t)s + sizeof *s - 1) % FX_PAGE < sizeof *s) &&
		    !fx_peek(s, sizeof *s))
			return false;
		if (!*s)
			return true;
		length = fx_peek_string_near(*s, FX_TEXT_MAX + 1, good);
		if (length < 0)
			return false;
		if (s != strings)
			fx_text_char(t, ' ');
		fx_text_bytes(t, *s, (size_t)length);
		good = *s + length;
	}
	return true;
}

void fx_arg_far_argv(struct fx_call *call, unsigned name, fx_strings argv)
{
	char buffer[FX_TEXT_MAX + 1];
	struct fx_text t = FX_TEXT(buffer);

	if (!argv)
		arg_null(call, name);
	else if (!text_strings(&t, argv))
		fx_arg_ptr(call, name, argv);
	else
		fx_arg_bytes(call, name, buffer,
			     fx_text_cut(buffer, fx_text_length(&t), FX_TEXT_MAX));
}

void fx_arg_fd_pair(struct fx_call *call, unsigned name, const int *fds)
{
	char buffer[24];
	struct fx_text t = FX_TEXT(buffer);

	if (call->error)
		return;
	fx_text_signed(&t, fds[0]);
	fx_text_char(&t, ' ');
	fx_text_signed(&t, fds[1]);
	fx_arg_bytes(call, name, buffer, fx_text_length(&t));
}

/* --- Numbers ---------------------------------------------------------------------------------- */

/* Interrupted and timed-out calls have read their time too. */
static bool time_was_read(int error)
{
	return error == 0 || error == EINTR || error == EAGAIN || error == ETIMEDOUT;
}

static int64_t args_nanoseconds(int64_t seconds, int64_t rest)
{
	return (int64_t)((uint64_t)seconds * 1000000000u + (uint64_t)rest);
}

void fx_arg_timespec(struct fx_call *call, unsigned name, const struct timespec *ts)
{
	if (!ts)
		arg_null(call, name);
	else if (time_was_read(call->error))
		fx_arg_long(call, name, args_nanoseconds(ts->tv_sec, ts->tv_nsec));
}

/* A call that times out has read it, others need not have. */
static bool deadline_was_read(const struct fx_call *call, const struct timespec *ts,
			      const struct fx_before_clock *before)
{
	if (call->error == ETIMEDOUT)
		return true;
	return call->error != EFAULT && call->error != EINVAL &&
	       fx_peek_near(ts, sizeof *ts, before);
}

static void arg_left(struct fx_call *call, unsigned name, const struct timespec *ts,
		     const struct fx_before_clock *before)
{
	fx_arg_long(
	    call, name,
	    (int64_t)((uint64_t)args_nanoseconds(ts->tv_sec, ts->tv_nsec) - (uint64_t)before->now));
}

void fx_arg_deadline(struct fx_call *call, unsigned name, const struct timespec *ts,
		     const struct fx_before_clock *before)
{
	if (!ts)
		arg_null(call, name);
	else if (before->known && deadline_was_read(call, ts, before))
		arg_left(call, name, ts, before);
}

void fx_arg_clock_deadline(struct fx_call *call, unsigned name, const struct timespec *ts,
			   const struct fx_before_clock *before)
{
	if (ts)
		fx_arg_clock(call, FX_STR_clock, (unsigned)before->clock);
	fx_arg_deadline(call, name, ts, before);
}

void fx_arg_sleep_time(struct fx_call *call, unsigned name, const struct timespec *ts, int flags,
		       const struct fx_before_clock *before)
{
	fx_arg_timespec(call, name, ts);
	if (flags & TIMER_ABSTIME && before->known && ts && time_was_read(call->error))
		arg_left(call, FX_STR_timeout_ns, ts, before);
}

static void arg_timer(struct fx_call *call, unsigned name, int64_t value, int64_t interval)
{
	fx_arg_long(call, name, value);
	if (interval)
		fx_arg_long(call, FX_STR_interval_ns, interval);
}

void fx_arg_itimerspec(struct fx_call *call, unsigned name, const struct itimerspec *ts)
{
	if (ts && !call->error)
		arg_timer(call, name, args_nanoseconds(ts->it_value.tv_sec, ts->it_value.tv_nsec),
			  args_nanoseconds(ts->it_interval.tv_sec, ts->it_interval.tv_nsec));
}

void fx_arg_itimerval(struct fx_call *call, unsigned name, const struct itimerval *tv)
{
	if (tv && !call->error)
		arg_timer(call, name,
			  args_nanoseconds(tv->it_value.tv_sec, tv->it_value.tv_usec * 1000),
			  args_nanoseconds(tv->it_interval.tv_sec, tv->it_interval.tv_usec * 1000));
}

void fx_arg_hex(struct fx_call *call, unsigned name, uint64_t value)
{
	char buffer[24];
	struct fx_text t = FX_TEXT(buffer);

	if (value)
		fx_text_string(&t, "0x");
	fx_text_number(&t, value, 16);
	fx_arg_bytes(call, name, buffer, fx_text_length(&t));
}

void fx_arg_out_pid(struct fx_call *call, unsigned name, const pid_t *pid)
{
	if (!call->error && pid)
		fx_arg_int(call, name, *pid);
}

void fx_arg_out_signal(struct fx_call *call, unsigned name, const int *number)
{
	if (!call->error)
		fx_arg_signal(call, name, *number);
}

void fx_arg_out_int(struct fx_call *call, unsigned name, const int *number)
{
	if (!call->error && number)
		fx_arg_int(call, name, *number);
}

void fx_arg_out_size(struct fx_call *call, unsigned name, const uint64_t *number)
{
	if (!call->error && number)
		fx_arg_size(call, name, *number);
}

void fx_arg_out_ptr(struct fx_call *call, unsigned name, void *const *ptr)
{
	if (!call->error && ptr)
		fx_arg_ptr(call, name, *ptr);
}

void fx_arg_sched_param(struct fx_call *call, unsigned name, const struct sched_param *param)
{
	if (!call->error && param)
		fx_arg_int(call, name, param->sched_priority);
}

void fx_arg_aiocb(struct fx_call *call, unsigned name, const struct aiocb *request)
{
	(void)name;
	if (!request || call->error)
		return;
	fx_arg_fd(call, FX_STR_fd, request->aio_fildes);
	fx_arg_size(call, FX_STR_count, request->aio_nbytes);
	fx_arg_long(call, FX_STR_offset, request->aio_offset);
}

static void text_limit(struct fx_text *t, rlim_t limit)
{
	if (limit == RLIM_INFINITY)
		fx_text_string(t, "unlimited");
	else
		fx_text_number(t, limit, 10);
}

void fx_arg_rlimit(struct fx_call *call, unsigned name, const struct rlimit *limit)
{
	char buffer[48];
	struct fx_text t = FX_TEXT(buffer);

	if (call->error || !limit)
		return;
	text_limit(&t, limit->rlim_cur);
	fx_text_char(&t, ' ');
	text_limit(&t, limit->rlim_max);
	fx_arg_bytes(call, name, buffer, fx_text_length(&t));
}

/* --- Sets of numbers ---------------------------------------------------------------------------- */

static bool bit_is_set(const uint8_t *set, size_t i)
{
	return set[i / 8] >> i % 8 & 1;
}

/* The first bit from `i` on that is `value`, at most `end`. */
static size_t bit_find(const uint8_t *set, size_t i, size_t end, bool value)
{
	while (i < end && bit_is_set(set, i) != value)
		i++;
	return i;
}

void fx_arg_cpus(struct fx_call *call, unsigned name, const void *set, size_t size)
{
	char buffer[FX_FLAGS_TEXT];
	struct fx_text t = FX_TEXT(buffer);
	size_t first, end, bits = size * 8;

	if (call->error || !set)
		return;
	for (first = bit_find(set, 0, bits, true); first < bits;
	     first = bit_find(set, end, bits, true)) {
		end = bit_find(set, first, bits, false);
		if (fx_text_length(&t))
			fx_text_char(&t, ',');
		fx_text_number(&t, first, 10);
		if (end > first + 1) {
			fx_text_char(&t, '-');
			fx_text_number(&t, end - 1, 10);
		}
	}
	fx_arg_bytes(call, name, buffer, fx_text_length(&t));
}

void fx_arg_gids(struct fx_call *call, unsigned name, const gid_t *gids, size_t room, long count)
{
	char buffer[FX_FLAGS_TEXT];
	struct fx_text t = FX_TEXT(buffer);

	if (call->error || !gids || !room || count < 0)
		return;
	for (long i = 0; i < count && t.at < t.end; i++) {
		if (i)
			fx_text_char(&t, ' ');
		fx_text_number(&t, gids[i], 10);
	}
	fx_text_end(&t);
	fx_arg_bytes(call, name, buffer, fx_text_length(&t));
}

void fx_arg_sembufs(struct fx_call *call, unsigned name, const struct sembuf *ops, size_t count)
{
	char buffer[FX_FLAGS_TEXT];
	struct fx_text t = FX_TEXT(buffer);

	if (call->error || !ops)
		return;
	for (size_t i = 0; i < count && t.at < t.end; i++) {
		if (i)
			fx_text_char(&t, ' ');
		fx_text_number(&t, ops[i].sem_num, 10);
		fx_text_char(&t, ':');
		fx_text_signed(&t, ops[i].sem_op);
	}
	fx_arg_bytes(call, name, buffer, fx_text_length(&t));
}

/* --- Socket addresses ------------------------------------------------------------------------- */

void fx_arg_address(struct fx_call *call, unsigned name, const struct sockaddr *addr, size_t length)
{
	char buffer[FX_SOCKADDR_TEXT];
	struct fx_text t = FX_TEXT(buffer);

	fx_text_sockaddr(&t, addr, length);
	fx_arg_bytes(call, name, buffer, fx_text_length(&t));
}

/* The kernel looks at the descriptor before the address: only these errors come after it. */
static bool address_was_read(int error)
{
	switch (error) {
	case 0:
	case EINPROGRESS:
	case EALREADY:
	case EISCONN:
	case ECONNREFUSED:
	case ECONNRESET:
	case ENETUNREACH:
	case EHOSTUNREACH:
	case ETIMEDOUT:
	case EADDRINUSE:
	case EADDRNOTAVAIL:
	case ENOENT:
	case EPROTOTYPE:
		return true;
	default:
		return false;
	}
}

void fx_arg_sockaddr(struct fx_call *call, unsigned name, const struct sockaddr *addr,
		     socklen_t length)
{
	if (addr && address_was_read(call->error))
		fx_arg_address(call, name, addr, length);
}
