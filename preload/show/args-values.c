/* SPDX-License-Identifier: MIT */
/* Structures that the kernel takes or gives: times, limits, usage, terminals, file systems. */
#include <errno.h>
#include <mqueue.h>
#include <sys/ioctl.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <termios.h>
#include <utime.h>

#include "preload/show/args.h"

/* The kernel's, of which libc's has one of the same name. */
#define SCHED_ATTR_POLICY   4u
#define SCHED_ATTR_NICE	    16u
#define SCHED_ATTR_PRIORITY 20u

static void args_values_arg_text(struct fx_call *call, unsigned name, const struct fx_text *t)
{
	fx_arg_bytes(call, name, t->begin, fx_text_length(t));
}

/* --- Times ---------------------------------------------------------------------------------------- */

static int64_t args_values_nanoseconds(int64_t seconds, int64_t rest)
{
	return (int64_t)((uint64_t)seconds * 1000000000u + (uint64_t)rest);
}

void fx_arg_timeval(struct fx_call *call, unsigned name, const struct timeval *tv)
{
	if (!call->error && tv)
		fx_arg_long(call, name, args_values_nanoseconds(tv->tv_sec, tv->tv_usec * 1000));
}

void fx_arg_rest(struct fx_call *call, unsigned name, const struct timespec *ts)
{
	if (call->error == EINTR && ts)
		fx_arg_long(call, name, args_values_nanoseconds(ts->tv_sec, ts->tv_nsec));
}

void fx_arg_timer_old(struct fx_call *call, unsigned name, const struct itimerspec *ts)
{
	if (!call->error && ts)
		fx_arg_long(call, name,
			    args_values_nanoseconds(ts->it_value.tv_sec, ts->it_value.tv_nsec));
}

void fx_arg_itimer_old(struct fx_call *call, unsigned name, const struct itimerval *tv)
{
	if (!call->error && tv)
		fx_arg_timeval(call, name, &tv->it_value);
}

/* Seconds since 1970, and a part of `digits' digits. */
static void text_moment(struct fx_text *t, int64_t seconds, uint64_t part, uint64_t digits)
{
	fx_text_signed(t, seconds);
	fx_text_char(t, '.');
	for (uint64_t unit = digits / 10; unit; unit /= 10)
		fx_text_char(t, (char)('0' + part / unit % 10));
}

static void text_file_time(struct fx_text *t, const struct timespec *ts)
{
	if (ts->tv_nsec == UTIME_NOW)
		fx_text_string(t, "UTIME_NOW");
	else if (ts->tv_nsec == UTIME_OMIT)
		fx_text_string(t, "UTIME_OMIT");
	else
		text_moment(t, ts->tv_sec, (uint64_t)ts->tv_nsec, 1000000000);
}

/* Errors that come after the times of a file have been read; and none means now. */
static bool file_times_begin(struct fx_call *call, unsigned name, const void *times)
{
	if (!times)
		fx_arg_bytes(call, name, "now", 3);
	return times && (!call->error || call->error == ENOENT || call->error == EACCES ||
			 call->error == EPERM);
}

void fx_arg_file_times(struct fx_call *call, unsigned name, const struct timespec times[2])
{
	char buffer[FX_FILE_TIMES_TEXT];
	struct fx_text t = FX_TEXT(buffer);

	if (!file_times_begin(call, name, times))
		return;
	text_file_time(&t, &times[0]);
	fx_text_char(&t, ' ');
	text_file_time(&t, &times[1]);
	args_values_arg_text(call, name, &t);
}

void fx_arg_file_timevals(struct fx_call *call, unsigned name, const struct timeval times[2])
{
	char buffer[FX_FILE_TIMES_TEXT];
	struct fx_text t = FX_TEXT(buffer);

	if (!file_times_begin(call, name, times))
		return;
	text_moment(&t, times[0].tv_sec, (uint64_t)times[0].tv_usec, 1000000);
	fx_text_char(&t, ' ');
	text_moment(&t, times[1].tv_sec, (uint64_t)times[1].tv_usec, 1000000);
	args_values_arg_text(call, name, &t);
}

void fx_arg_utimbuf(struct fx_call *call, unsigned name, const struct utimbuf *times)
{
	char buffer[FX_FILE_TIMES_TEXT];
	struct fx_text t = FX_TEXT(buffer);

	if (!file_times_begin(call, name, times))
		return;
	fx_text_signed(&t, times->actime);
	fx_text_char(&t, ' ');
	fx_text_signed(&t, times->modtime);
	args_values_arg_text(call, name, &t);
}

/* --- Processes ------------------------------------------------------------------------------------ */

void fx_arg_rusage(struct fx_call *call, unsigned name, const struct rusage *usage)
{
	(void)name;
	if (call->error || !usage)
		return;
	fx_arg_timeval(call, FX_STR_user_ns, &usage->ru_utime);
	fx_arg_timeval(call, FX_STR_system_ns, &usage->ru_stime);
	fx_arg_long(call, FX_STR_max_rss_kib, usage->ru_maxrss);
}

/* The same for wait(): only if there was somebody to tell about. */
void fx_arg_child_usage(struct fx_call *call, unsigned name, const struct rusage *usage, pid_t ret)
{
	if (ret > 0)
		fx_arg_rusage(call, name, usage);
}

void fx_arg_sched_attr(struct fx_call *call, unsigned name, const void *attributes)
{
	const char *at = attributes;

	(void)name;
	if (call->error || !attributes)
		return;
	fx_arg_policy(call, FX_STR_policy, *(const uint32_t *)(at + SCHED_ATTR_POLICY));
	fx_arg_int(call, FX_STR_nice, *(const int32_t *)(at + SCHED_ATTR_NICE));
	fx_arg_int(call, FX_STR_priority, *(const int32_t *)(at + SCHED_ATTR_PRIORITY));
}

void fx_arg_out_policy(struct fx_call *call, unsigned name, const int *policy)
{
	if (!call->error && policy)
		fx_arg_policy(call, name, (unsigned)*policy);
}

void fx_arg_out_uint(struct fx_call *call, unsigned name, const unsigned *number)
{
	if (!call->error && number)
		fx_arg_uint(call, name, *number);
}

void fx_arg_signal_stack(struct fx_call *call, unsigned name, const stack_t *stack)
{
	if (call->error || !stack)
		return;
	fx_arg_ptr(call, name, stack->ss_sp);
	fx_arg_size(call, FX_STR_size, stack->ss_size);
}

/* --- Messages ------------------------------------------------------------------------------------- */

void fx_arg_message_type(struct fx_call *call, unsigned name, const void *message)
{
	if (!call->error && message)
		fx_arg_long(call, name, *(const long *)message);
}

void fx_arg_queue_attr(struct fx_call *call, unsigned name, const struct mq_attr *attr)
{
	char buffer[FX_FLAGS_TEXT];
	struct fx_text t = FX_TEXT(buffer);

	if (call->error || !attr)
		return;
	fx_text_signed(&t, attr->mq_maxmsg);
	fx_text_string(&t, " of ");
	fx_text_signed(&t, attr->mq_msgsize);
	fx_text_string(&t, " bytes, ");
	fx_text_signed(&t, attr->mq_curmsgs);
	fx_text_string(&t, attr->mq_flags & O_NONBLOCK ? " there, O_NONBLOCK" : " there");
	args_values_arg_text(call, name, &t);
}

/* --- The system ------------------------------------------------------------------------------------ */

void fx_arg_statfs(struct fx_call *call, unsigned name, const struct statfs *fs)
{
	char buffer[FX_FLAGS_TEXT];
	struct fx_text t = FX_TEXT(buffer);
	const char *type;

	if (call->error || !fs)
		return;
	type = fx_name_of(FX_NAMES(file_system), (uint32_t)fs->f_type);
	if (type) {
		fx_text_string(&t, type);
	} else {
		fx_text_string(&t, "0x");
		fx_text_number(&t, (uint32_t)fs->f_type, 16);
	}
	fx_text_string(&t, " free ");
	fx_text_number(&t, fs->f_bavail * (uint64_t)fs->f_bsize, 10);
	fx_text_string(&t, " of ");
	fx_text_number(&t, fs->f_blocks * (uint64_t)fs->f_bsize, 10);
	args_values_arg_text(call, name, &t);
}

void fx_arg_statvfs(struct fx_call *call, unsigned name, const struct statvfs *fs)
{
	char buffer[FX_FLAGS_TEXT];
	struct fx_text t = FX_TEXT(buffer);

	if (call->error || !fs)
		return;
	fx_text_string(&t, "free ");
	fx_text_number(&t, fs->f_bavail * fs->f_frsize, 10);
	fx_text_string(&t, " of ");
	fx_text_number(&t, fs->f_blocks * fs->f_frsize, 10);
	args_values_arg_text(call, name, &t);
}

void fx_arg_release(struct fx_call *call, unsigned name, const struct utsname *uts)
{
	if (!call->error && uts)
		fx_arg_out_path(call, name, uts->release);
}

void fx_arg_termios(struct fx_call *call, unsigned name, const struct termios *attributes)
{
	if (!call->error && attributes)
		fx_arg_local_modes(call, name, attributes->c_lflag);
}

void fx_arg_winsize(struct fx_call *call, unsigned name, const struct winsize *size)
{
	char buffer[24];
	struct fx_text t = FX_TEXT(buffer);

	if (call->error || !size)
		return;
	fx_text_number(&t, size->ws_col, 10);
	fx_text_char(&t, 'x');
	fx_text_number(&t, size->ws_row, 10);
	args_values_arg_text(call, name, &t);
}
