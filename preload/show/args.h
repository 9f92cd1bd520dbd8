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
#include <stdbool.h>

#include "preload/show/address.h"
#include "preload/show/args-plain.h"
#include "preload/show/text.h"
#include "preload/types.h"

/* --- What stands behind pointers (args.c) ----------------------------------------------------- */

/* A path, cut at FX_TEXT_MAX bytes between two characters; its address if it cannot be read. */
#define FX_WORDS_path FX_TEXT_WORDS(FX_TEXT_MAX)
void fx_arg_path(struct fx_call *call, unsigned name, const char *path);

/* A path that the kernel looks at late, if at all. */
#define FX_WORDS_late_path FX_WORDS_path
void fx_arg_late_path(struct fx_call *call, unsigned name, const char *path);

/* A short name, which the kernel has read if the call succeeded. */
#define FX_NAME_TEXT  32
#define FX_WORDS_name FX_TEXT_WORDS(FX_NAME_TEXT)
void fx_arg_name(struct fx_call *call, unsigned name, const char *text);

/* A string that nobody need have looked at, where it can be read; null for none. */
#define FX_WORDS_text FX_TEXT_WORDS(FX_TEXT_MAX)
void fx_arg_text(struct fx_call *call, unsigned name, const char *text);

/* The same of one that somebody has looked at: the tracer's own, or what libc has returned or gone through. */
void fx_arg_readable_text(struct fx_call *call, unsigned name, const char *text);

#define FX_WORDS_short_text FX_TEXT_WORDS(FX_NAME_TEXT)
void fx_arg_short_text(struct fx_call *call, unsigned name, const char *text);

/* A string that the call has written; nothing if it failed. */
#define FX_WORDS_out_path FX_TEXT_WORDS(FX_TEXT_MAX)
void fx_arg_out_path(struct fx_call *call, unsigned name, const char *text);

/* A command of system(), and how it has ended; null only asks whether there is a shell. */
#define FX_WORDS_shell (FX_WORDS_text + FX_WORDS_wait_status)
void fx_arg_shell(struct fx_call *call, unsigned name, const char *command, int status);

/* The same if there was room for it. */
#define FX_WORDS_out_text FX_WORDS_out_path
fx_hot void fx_arg_out_text(struct fx_call *call, unsigned name, const char *text, size_t room)
{
	if (room)
		fx_arg_out_path(call, name, text);
}

/* A character: itself, or the number of one that cannot be seen. */
#define FX_WORDS_char FX_TEXT_WORDS(8)
void fx_arg_char(struct fx_call *call, unsigned name, int c);

/* The same without NUL: as many bytes as the call says. */
#define FX_WORDS_out_bytes FX_TEXT_WORDS(FX_TEXT_MAX)
void fx_arg_out_bytes(struct fx_call *call, unsigned name, const char *bytes, ssize_t length);

/* Strings joined by spaces, cut like a path, for another process to read: its address if they cannot be. */
#define FX_WORDS_far_argv FX_TEXT_WORDS(FX_TEXT_MAX)
void fx_arg_far_argv(struct fx_call *call, unsigned name, fx_strings argv);

/* Nanoseconds; null for none. */
#define FX_WORDS_timespec 2
void fx_arg_timespec(struct fx_call *call, unsigned name, const struct timespec *ts);

/* The time of a clock when a call began that is given a deadline on it; `known' if it is one of the usual. */
struct fx_before_clock {
	clockid_t clock;
	bool known;
	int64_t now; /* ns */
};
void fx_before_clock_given(struct fx_before_clock *before, clockid_t clock);
void fx_before_clock_realtime(struct fx_before_clock *before);
void fx_before_clock_of_cond(struct fx_before_clock *before, const pthread_cond_t *cond);
void fx_before_clock_if_absolute(struct fx_before_clock *before, clockid_t clock, int flags);

/* The nanoseconds that were left until a deadline when the call began; the same and its `clock'. */
#define FX_WORDS_deadline 2
void fx_arg_deadline(struct fx_call *call, unsigned name, const struct timespec *ts,
		     const struct fx_before_clock *before);
#define FX_WORDS_clock_deadline (FX_WORDS_deadline + FX_WORDS_clock)
void fx_arg_clock_deadline(struct fx_call *call, unsigned name, const struct timespec *ts,
			   const struct fx_before_clock *before);

/* Of a sleep, which is absolute or not: then `timeout_ns' says how long it was until then. */
#define FX_WORDS_sleep_time (FX_WORDS_timespec + FX_WORDS_deadline)
void fx_arg_sleep_time(struct fx_call *call, unsigned name, const struct timespec *ts, int flags,
		       const struct fx_before_clock *before);

/* Until when, in nanoseconds; and `interval_ns' if it is one. */
#define FX_WORDS_itimerspec 4
void fx_arg_itimerspec(struct fx_call *call, unsigned name, const struct itimerspec *ts);
#define FX_WORDS_itimerval 4
void fx_arg_itimerval(struct fx_call *call, unsigned name, const struct itimerval *tv);

/* The two descriptors of a pipe, "3 4". */
#define FX_WORDS_fd_pair FX_TEXT_WORDS(24)
void fx_arg_fd_pair(struct fx_call *call, unsigned name, const int *fds);

/* What wait() learned: exit status, or the signal that ended or stopped the process. */
#define FX_WORDS_wait_status FX_WORDS_signal
void fx_arg_wait_status(struct fx_call *call, unsigned name, const int *status, pid_t ret);
#define FX_WORDS_wait_info (1 + FX_WORDS_signal)
void fx_arg_wait_info(struct fx_call *call, unsigned name, const siginfo_t *info);

#define FX_WORDS_out_pid 1
void fx_arg_out_pid(struct fx_call *call, unsigned name, const pid_t *pid);

#define FX_WORDS_out_signal FX_WORDS_signal
void fx_arg_out_signal(struct fx_call *call, unsigned name, const int *number);

#define FX_WORDS_out_int 1
void fx_arg_out_int(struct fx_call *call, unsigned name, const int *number);

#define FX_WORDS_out_size 2
void fx_arg_out_size(struct fx_call *call, unsigned name, const uint64_t *number);

#define FX_WORDS_out_ptr 2
void fx_arg_out_ptr(struct fx_call *call, unsigned name, void *const *ptr);

/* An address, as address.h has it. */
#define FX_WORDS_sockaddr FX_TEXT_WORDS(FX_SOCKADDR_TEXT)
void fx_arg_sockaddr(struct fx_call *call, unsigned name, const struct sockaddr *addr,
		     socklen_t length);

void fx_arg_address(struct fx_call *call, unsigned name, const struct sockaddr *addr,
		    size_t length);

/* The same, written by the call. */
#define FX_WORDS_sockaddr_out FX_TEXT_WORDS(FX_SOCKADDR_TEXT)
void fx_arg_sockaddr_out(struct fx_call *call, unsigned name, const struct sockaddr *addr,
			 const socklen_t *length);

/* What a name was found to be: "127.0.0.1:80 [::1]:80". */
#define FX_WORDS_addrinfo FX_TEXT_WORDS(FX_TEXT_MAX)
void fx_arg_addrinfo(struct fx_call *call, unsigned name, struct addrinfo *const *found);

/* Type, permissions and size, "S_IFREG|0644 120". */
#define FX_WORDS_stat_out FX_TEXT_WORDS(48)
void fx_arg_stat_out(struct fx_call *call, unsigned name, const struct stat *st);
#define FX_WORDS_statx_out FX_WORDS_stat_out
void fx_arg_statx_out(struct fx_call *call, unsigned name, const struct statx *st);

/* Groups, "0 4 24", of a call that was given room, or names, for `room' of them. */
#define FX_WORDS_gids FX_TEXT_WORDS(FX_FLAGS_TEXT)
void fx_arg_gids(struct fx_call *call, unsigned name, const gid_t *gids, size_t room, long count);

/* "soft hard", or the word unlimited. */
#define FX_WORDS_rlimit FX_TEXT_WORDS(48)
void fx_arg_rlimit(struct fx_call *call, unsigned name, const struct rlimit *limit);

#define FX_WORDS_sched_param 1
void fx_arg_sched_param(struct fx_call *call, unsigned name, const struct sched_param *param);

/* Processors, "0-3,8". */
#define FX_WORDS_cpus FX_TEXT_WORDS(FX_FLAGS_TEXT)
void fx_arg_cpus(struct fx_call *call, unsigned name, const void *set, size_t size);

/* Semaphore operations, "number:change ...". */
#define FX_WORDS_sembufs FX_TEXT_WORDS(FX_FLAGS_TEXT)
void fx_arg_sembufs(struct fx_call *call, unsigned name, const struct sembuf *ops, size_t count);

/* The descriptor, bytes and offset of a request. */
#define FX_WORDS_aiocb 5
void fx_arg_aiocb(struct fx_call *call, unsigned name, const struct aiocb *request);

/* --- Numbers that have names (args-flags.c; most are made from names.tbl) -------------------------- */

/* The longest text that they make. */
#define FX_FLAGS_TEXT 128

#include "preload/names.h"

#define FX_WORDS_open_flags FX_TEXT_WORDS(FX_FLAGS_TEXT)
void fx_arg_open_flags(struct fx_call *call, unsigned name, int flags);

#define FX_WORDS_sock_type FX_TEXT_WORDS(FX_FLAGS_TEXT)
void fx_arg_sock_type(struct fx_call *call, unsigned name, int type);

#define FX_WORDS_futex_operation FX_TEXT_WORDS(FX_FLAGS_TEXT)
void fx_arg_futex_operation(struct fx_call *call, unsigned name, int operation);

/* How long a futex is waited for: until a time, or for so long; of other operations the number. */
#define FX_WORDS_futex_timeout 2
void fx_arg_futex_timeout(struct fx_call *call, unsigned name, const void *timeout, int operation);

/* What a child shares, and the signal that its end sends. */
#define FX_WORDS_clone (FX_TEXT_WORDS(FX_FLAGS_TEXT) + FX_WORDS_signal)
void fx_arg_clone(struct fx_call *call, unsigned name, int flags);

/* openat2()'s `flags', `mode' if there is one, and `resolve'. */
#define FX_WORDS_open_how (FX_WORDS_open_flags + FX_WORDS_mode + FX_WORDS_resolve_flags)
void fx_arg_open_how(struct fx_call *call, unsigned name, const void *how);

/* clone3()'s flags and signal. */
#define FX_WORDS_clone_args FX_WORDS_clone
void fx_arg_clone_args(struct fx_call *call, unsigned name, const void *args);

/* Permission bits in octal, behind the type of a file if there is one. */
#define FX_WORDS_mode FX_TEXT_WORDS(FX_NAME_TEXT)
void fx_arg_mode(struct fx_call *call, unsigned name, mode_t mode);

/* The same where it was passed: O_CREAT or O_TMPFILE. */
#define FX_PASSED_open_mode(flags) (((flags)&O_CREAT) || ((flags)&O_TMPFILE) == O_TMPFILE)
#define FX_WORDS_open_mode	   FX_WORDS_mode
fx_hot void fx_arg_open_mode(struct fx_call *call, unsigned name, mode_t mode, int flags)
{
	if (FX_PASSED_open_mode(flags))
		fx_arg_mode(call, name, mode);
}

#define FX_WORDS_ipc_flags FX_TEXT_WORDS(FX_FLAGS_TEXT)
void fx_arg_ipc_flags(struct fx_call *call, unsigned name, int flags);

/* A descriptor or AT_FDCWD. */
#define FX_WORDS_dirfd FX_TEXT_WORDS(8)
void fx_arg_dirfd(struct fx_call *call, unsigned name, int fd);

/* A protocol, whose meaning depends on the domain. */
#define FX_WORDS_sock_protocol FX_TEXT_WORDS(FX_NAME_TEXT)
void fx_arg_sock_protocol(struct fx_call *call, unsigned name, int protocol, int domain);

/* An option of setsockopt(), whose meaning depends on the level. */
#define FX_WORDS_sockopt FX_TEXT_WORDS(FX_NAME_TEXT)
void fx_arg_sockopt(struct fx_call *call, unsigned name, int option, int level);

/*
 * Arguments of functions that take a different one, or none, from case to case. They are handed on
 * whether or not they were passed, as libc itself does, and shown if the case has one.
 */
#define FX_PASSED_fcntl(command, ret) true
#define FX_WORDS_fcntl		      FX_TEXT_WORDS(FX_FLAGS_TEXT)
void fx_arg_fcntl(struct fx_call *call, unsigned name, long arg, int command, int ret);

#define FX_WORDS_ioctl FX_TEXT_WORDS(FX_NAME_TEXT)
void fx_arg_ioctl(struct fx_call *call, unsigned name, unsigned long request);
#define FX_PASSED_ioctl_arg(request) true
#define FX_WORDS_ioctl_arg	     FX_WORDS_termios
void fx_arg_ioctl_arg(struct fx_call *call, unsigned name, const void *arg, unsigned long request);

#define FX_PASSED_new_addr(flags) true
#define FX_WORDS_new_addr	  2
void fx_arg_new_addr(struct fx_call *call, unsigned name, const void *addr, int flags);

#define FX_PASSED_semctl(command) true
#define FX_WORDS_semctl		  FX_TEXT_WORDS(FX_FLAGS_TEXT)
void fx_arg_semctl(struct fx_call *call, unsigned name, long arg, int command);

/* What IPC_STAT learned and IPC_SET sets, "0600 uid 0 gid 0, 4096 bytes, 1 attached". */
#define FX_WORDS_shm_segment FX_TEXT_WORDS(FX_FLAGS_TEXT)
void fx_arg_shm_segment(struct fx_call *call, unsigned name, const struct shmid_ds *segment,
			int command);
#define FX_WORDS_msg_queue FX_TEXT_WORDS(FX_FLAGS_TEXT)
void fx_arg_msg_queue(struct fx_call *call, unsigned name, const struct msqid_ds *queue,
		      int command);

/* The first options of mount(), if they are text; the kernel need not look at them. */
#define FX_WORDS_mount_data FX_TEXT_WORDS(FX_FLAGS_TEXT)
void fx_arg_mount_data(struct fx_call *call, unsigned name, const void *data);

/* The name of a parameter of fsconfig(), and its value: a text, a path or a descriptor. */
#define FX_WORDS_fs_name FX_WORDS_text
void fx_arg_fs_name(struct fx_call *call, unsigned name, const char *text);
#define FX_WORDS_fs_value (FX_WORDS_path + 1)
void fx_arg_fs_value(struct fx_call *call, unsigned name, const void *value, int command, int aux);

/* mount_setattr()'s `set', `clear', `propagation' and `userns', what there is of them. */
#define FX_WORDS_mount_attr (2 * FX_WORDS_mount_attributes + FX_WORDS_mount_flags + 1)
void fx_arg_mount_attr(struct fx_call *call, unsigned name, const void *attributes, size_t size);

/* The process of the capabilities, `pid' (0: one's own); and the sets `effective', `permitted' and `inheritable': "CAP_KILL|CAP_CHOWN",
 * "all but CAP_SYS_ADMIN". */
#define FX_WORDS_cap_header 1
void fx_arg_cap_header(struct fx_call *call, unsigned name, const void *header);
#define FX_WORDS_capabilities (3 * FX_TEXT_WORDS(FX_FLAGS_TEXT))
void fx_arg_capabilities(struct fx_call *call, unsigned name, const void *data, const void *header);

#define FX_PASSED_ulimit(command) true
#define FX_WORDS_ulimit		  2
void fx_arg_ulimit(struct fx_call *call, unsigned name, long value, int command);

#define FX_PASSED_ptrace(request) true
#define FX_WORDS_ptrace		  1
fx_hot void fx_arg_ptrace(struct fx_call *call, unsigned name, pid_t pid, int request)
{
	(void)request;
	fx_arg_int(call, name, pid);
}

/* The message level of syslog, without the facility. */
#define FX_WORDS_log FX_WORDS_log_priority
fx_hot void fx_arg_log(struct fx_call *call, unsigned name, int priority)
{
	fx_arg_log_priority(call, name, (unsigned)priority & 7);
}

/* --- Bytes that are moved (args-io.c) -------------------------------------------------------------- */

/* Lengths of the buffers, if they are several, "10 4096"; and `size', their sum. */
#define FX_WORDS_iov (FX_TEXT_WORDS(FX_FLAGS_TEXT) + FX_WORDS_size)
void fx_arg_iov(struct fx_call *call, unsigned name, const struct iovec *iov, size_t count);

/* A message: `addr' of the peer, buffers, `control' ("SCM_RIGHTS 3 4"); sent, or received. */
#define FX_WORDS_msghdr (FX_WORDS_sockaddr + FX_WORDS_iov + FX_TEXT_WORDS(FX_FLAGS_TEXT))
void fx_arg_msghdr(struct fx_call *call, unsigned name, const struct msghdr *msg);
#define FX_WORDS_msghdr_out (FX_WORDS_msghdr + FX_WORDS_msg_flags)
void fx_arg_msghdr_out(struct fx_call *call, unsigned name, const struct msghdr *msg);

/* Bytes of each of the messages that were sent or received, and the first one's peer. */
#define FX_WORDS_mmsghdrs (FX_TEXT_WORDS(FX_FLAGS_TEXT) + FX_WORDS_size + FX_WORDS_sockaddr_out)
void fx_arg_mmsghdrs(struct fx_call *call, unsigned name, const struct mmsghdr *messages, int done);

/* Where it began; by now it is `moved' bytes behind. */
#define FX_WORDS_moved_offset 2
void fx_arg_moved_offset(struct fx_call *call, unsigned name, const off_t *offset, int64_t moved);

/* An option's value: most are numbers. */
#define FX_WORDS_sockopt_in FX_TEXT_WORDS(64)
void fx_arg_sockopt_in(struct fx_call *call, unsigned name, const void *value, int level,
		       int option, socklen_t length);
#define FX_WORDS_sockopt_out FX_WORDS_sockopt_in
void fx_arg_sockopt_out(struct fx_call *call, unsigned name, const void *value, int level,
			int option, const socklen_t *length);

/* --- What is waited for, and what came (args-events.c) ---------------------------------------------- */

/* "3:POLLIN 4:POLLIN|POLLOUT"; and `ready', the same of those that are. */
#define FX_WORDS_pollfds (2 * FX_TEXT_WORDS(FX_FLAGS_TEXT))
void fx_arg_pollfds(struct fx_call *call, unsigned name, const struct pollfd *fds, size_t count);

/* The sets of select() before the call, which overwrites them: the first FD_SETSIZE descriptors, in words. */
struct fx_before_sets {
	unsigned words;
	bool given[3]; /* to read, to write, exceptions */
	bool timed;
	int64_t timeout_ns;
	unsigned long sets[3][FD_SETSIZE / (8 * sizeof(long))];
};
void fx_before_sets(struct fx_before_sets *before, int count, const fd_set *readfds,
		    const fd_set *writefds, const fd_set *exceptfds);
void fx_before_sets_and_time(struct fx_before_sets *before, int count, const fd_set *readfds,
			     const fd_set *writefds, const fd_set *exceptfds,
			     const struct timeval *timeout);

/* `readfds', `writefds' and itself as they were asked for, "3 5"; and `ready', "in 3, out 4 5, except 6". */
#define FX_WORDS_sets (4 * FX_TEXT_WORDS(FX_FLAGS_TEXT))
void fx_arg_sets(struct fx_call *call, unsigned name, const fd_set *exceptfds,
		 const fd_set *readfds, const fd_set *writefds,
		 const struct fx_before_sets *before);

/* What was asked for; and `left_ns', what the kernel left of it. */
#define FX_WORDS_select_time 4
void fx_arg_select_time(struct fx_call *call, unsigned name, const struct timeval *timeout,
			const struct fx_before_sets *before);

/* Events, and the program's `data' for them. */
#define FX_WORDS_epoll_event (FX_TEXT_WORDS(FX_FLAGS_TEXT) + FX_TEXT_WORDS(24))
void fx_arg_epoll_event(struct fx_call *call, unsigned name, const struct epoll_event *event,
			int operation);

/* What a program has given epoll to be told with the events: often a descriptor, or an address. */
void fx_text_epoll_data(struct fx_text *t, uint64_t data);

/* "3:EPOLLIN 4:EPOLLIN|EPOLLHUP"; in place of a descriptor that is not known the program's data, "(DATA)"
 * (epolls.c). */
#define FX_WORDS_epoll_ready FX_TEXT_WORDS(FX_FLAGS_TEXT)
void fx_arg_epoll_ready(struct fx_call *call, unsigned name, const struct epoll_event *events,
			int epfd, int count);

/* Signals: "SIGINT|SIGTERM"; read, or written by the call. */
#define FX_WORDS_sigset FX_TEXT_WORDS(FX_FLAGS_TEXT)
void fx_arg_sigset(struct fx_call *call, unsigned name, const sigset_t *set);
#define FX_WORDS_sigset_out FX_WORDS_sigset
void fx_arg_sigset_out(struct fx_call *call, unsigned name, const sigset_t *set);

/* SIG_DFL, SIG_IGN or a function; in a sigaction `flags' and `mask' too. */
#define FX_WORDS_handler FX_TEXT_WORDS(8)
void fx_arg_handler(struct fx_call *call, unsigned name, fx_signal_handler handler);
#define FX_WORDS_sigaction (FX_WORDS_handler + FX_WORDS_sigaction_flags + FX_WORDS_sigset)
void fx_arg_sigaction(struct fx_call *call, unsigned name, const struct sigaction *action);
#define FX_WORDS_sigaction_old FX_WORDS_handler
void fx_arg_sigaction_old(struct fx_call *call, unsigned name, const struct sigaction *action);

/* The same of a function that has no more than a word for them. */
#define FX_WORDS_signal_mask FX_WORDS_sigset
void fx_arg_signal_mask(struct fx_call *call, unsigned name, int mask);

/* How a program wants to be told, and by which `signal'. */
#define FX_WORDS_sigevent (FX_WORDS_notify_way + FX_WORDS_signal)
void fx_arg_sigevent(struct fx_call *call, unsigned name, const struct sigevent *event);

/* How a signal was sent, and the `pid' that did. */
#define FX_WORDS_siginfo (FX_WORDS_signal_code + 1)
void fx_arg_siginfo(struct fx_call *call, unsigned name, const siginfo_t *info);

/* --- Structures (args-values.c) ---------------------------------------------------------------------- */

/* Nanoseconds, of a call that has succeeded; what is left of an interrupted one's; of the timer before. */
#define FX_WORDS_timeval 2
void fx_arg_timeval(struct fx_call *call, unsigned name, const struct timeval *tv);
#define FX_WORDS_rest 2
void fx_arg_rest(struct fx_call *call, unsigned name, const struct timespec *ts);
#define FX_WORDS_timer_old 2
void fx_arg_timer_old(struct fx_call *call, unsigned name, const struct itimerspec *ts);
#define FX_WORDS_itimer_old 2
void fx_arg_itimer_old(struct fx_call *call, unsigned name, const struct itimerval *tv);

/* When a file was used and changed: "1700000000.000000000 UTIME_NOW". */
#define FX_FILE_TIMES_TEXT  64
#define FX_WORDS_file_times FX_TEXT_WORDS(FX_FILE_TIMES_TEXT)
void fx_arg_file_times(struct fx_call *call, unsigned name, const struct timespec times[2]);
#define FX_WORDS_file_timevals FX_WORDS_file_times
void fx_arg_file_timevals(struct fx_call *call, unsigned name, const struct timeval times[2]);
#define FX_WORDS_utimbuf FX_WORDS_file_times
void fx_arg_utimbuf(struct fx_call *call, unsigned name, const struct utimbuf *times);

/* `user_ns', `system_ns', `max_rss_kib'. */
#define FX_WORDS_rusage 6
void fx_arg_rusage(struct fx_call *call, unsigned name, const struct rusage *usage);
#define FX_WORDS_child_usage FX_WORDS_rusage
void fx_arg_child_usage(struct fx_call *call, unsigned name, const struct rusage *usage, pid_t ret);

/* `policy', `nice', `priority'. */
#define FX_WORDS_sched_attr (FX_WORDS_policy + 2)
void fx_arg_sched_attr(struct fx_call *call, unsigned name, const void *attributes);
#define FX_WORDS_out_policy FX_WORDS_policy
void fx_arg_out_policy(struct fx_call *call, unsigned name, const int *policy);

#define FX_WORDS_out_uint 1
void fx_arg_out_uint(struct fx_call *call, unsigned name, const unsigned *number);

/* Address and `size'. */
#define FX_WORDS_signal_stack 4
void fx_arg_signal_stack(struct fx_call *call, unsigned name, const stack_t *stack);

/* Of a System V message; "10 of 8192 bytes, 3 there" of a POSIX queue. */
#define FX_WORDS_message_type 2
void fx_arg_message_type(struct fx_call *call, unsigned name, const void *message);
#define FX_WORDS_queue_attr FX_TEXT_WORDS(FX_FLAGS_TEXT)
void fx_arg_queue_attr(struct fx_call *call, unsigned name, const struct mq_attr *attr);

/* "TMPFS_MAGIC free 1234 of 5678", in bytes. */
#define FX_WORDS_statfs FX_TEXT_WORDS(FX_FLAGS_TEXT)
void fx_arg_statfs(struct fx_call *call, unsigned name, const struct statfs *fs);

#define FX_WORDS_statvfs FX_TEXT_WORDS(FX_FLAGS_TEXT)
void fx_arg_statvfs(struct fx_call *call, unsigned name, const struct statvfs *fs);

/* The kernel's release. */
#define FX_WORDS_release FX_TEXT_WORDS(65)
void fx_arg_release(struct fx_call *call, unsigned name, const struct utsname *uts);

/* The local modes of a terminal; "80x24". */
#define FX_WORDS_termios FX_TEXT_WORDS(FX_FLAGS_TEXT)
void fx_arg_termios(struct fx_call *call, unsigned name, const struct termios *attributes);
#define FX_WORDS_winsize FX_TEXT_WORDS(24)
void fx_arg_winsize(struct fx_call *call, unsigned name, const struct winsize *size);

#endif
