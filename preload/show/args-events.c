/* SPDX-License-Identifier: MIT */
/* Arguments of calls that wait: for descriptors, signals, children; and what they have learned. */
#include <errno.h>
#include <sys/epoll.h>

#include "preload/show/args.h"

/* --- Descriptors ---------------------------------------------------------------------------------- */

static void text_polled(struct fx_text *t, int fd, short events)
{
	if (fx_text_length(t))
		fx_text_char(t, ' ');
	fx_text_signed(t, fd);
	fx_text_char(t, ':');
	fx_text_flags(t, FX_NAMES(poll_events), (uint16_t)events);
}

void fx_arg_pollfds(struct fx_call *call, unsigned name, const struct pollfd *fds, size_t count)
{
	char asked_buffer[FX_FLAGS_TEXT], ready_buffer[FX_FLAGS_TEXT];
	struct fx_text asked = FX_TEXT(asked_buffer), ready = FX_TEXT(ready_buffer);

	if (!fds || (call->error && call->error != EINTR))
		return;
	for (size_t i = 0; i < count && ready.at < ready.end; i++) {
		if (asked.at < asked.end)
			text_polled(&asked, fds[i].fd, fds[i].events);
		if (fds[i].revents && !call->error)
			text_polled(&ready, fds[i].fd, fds[i].revents);
	}
	fx_text_end(&asked);
	fx_arg_bytes(call, name, asked_buffer, fx_text_length(&asked));
	fx_text_end(&ready);
	if (fx_text_length(&ready))
		fx_arg_bytes(call, FX_STR_ready, ready_buffer, fx_text_length(&ready));
}

/* Appends the numbers of the bits that are set; false if none is. */
static bool args_events_text_set(struct fx_text *t, const unsigned long *set, unsigned words)
{
	bool some = false;

	for (unsigned i = 0; i < words; i++)
		for (unsigned long left = set[i]; left; left &= left - 1) {
			if (some)
				fx_text_char(t, ' ');
			some = true;
			fx_text_number(t, i * 8 * sizeof left + (unsigned)__builtin_ctzl(left), 10);
		}
	return some;
}

static void arg_set(struct fx_call *call, unsigned name, const unsigned long *set, unsigned words)
{
	char buffer[FX_FLAGS_TEXT];
	struct fx_text t = FX_TEXT(buffer);

	args_events_text_set(&t, set, words);
	fx_text_end(&t);
	fx_arg_bytes(call, name, buffer, fx_text_length(&t));
}

static void text_ready(struct fx_text *t, const char *what, const fd_set *set, unsigned words)
{
	char *begin = t->at;

	if (fx_text_length(t))
		fx_text_string(t, ", ");
	fx_text_string(t, what);
	if (!args_events_text_set(t, (const void *)set, words))
		t->at = begin;
}

void fx_arg_sets(struct fx_call *call, unsigned name, const fd_set *exceptfds,
		 const fd_set *readfds, const fd_set *writefds, const struct fx_before_sets *before)
{
	const unsigned names[3] = {FX_STR_readfds, FX_STR_writefds, name};
	const fd_set *const ready[3] = {readfds, writefds, exceptfds};
	static const char *const what[3] = {"in ", "out ", "except "};
	char buffer[FX_FLAGS_TEXT];
	struct fx_text t = FX_TEXT(buffer);

	for (unsigned i = 0; i < FX_ARRAY_LEN(names); i++)
		if (before->given[i])
			arg_set(call, names[i], before->sets[i], before->words);
	for (unsigned i = 0; i < FX_ARRAY_LEN(ready); i++)
		if (before->given[i] && !call->error)
			text_ready(&t, what[i], ready[i], before->words);
	fx_text_end(&t);
	if (fx_text_length(&t))
		fx_arg_bytes(call, FX_STR_ready, buffer, fx_text_length(&t));
}

void fx_arg_select_time(struct fx_call *call, unsigned name, const struct timeval *timeout,
			const struct fx_before_sets *before)
{
	if (!timeout)
		fx_arg_one(call, FX_ARG_HEADER(NULL, 1, name, 0));
	else if (before->timed)
		fx_arg_long(call, name, before->timeout_ns);
	fx_arg_timeval(call, FX_STR_left_ns, timeout);
}

void fx_text_epoll_data(struct fx_text *t, uint64_t data)
{
	if (data > UINT32_MAX) {
		fx_text_string(t, "0x");
		fx_text_number(t, data, 16);
	} else {
		fx_text_number(t, data, 10);
	}
}

void fx_arg_epoll_event(struct fx_call *call, unsigned name, const struct epoll_event *event,
			int operation)
{
	char buffer[FX_FLAGS_TEXT];
	struct fx_text t = FX_TEXT(buffer);

	/* the kernel copies the event first */
	if (!event || call->error == EFAULT || call->error == ENOSYS ||
	    (operation != EPOLL_CTL_ADD && operation != EPOLL_CTL_MOD))
		return;
	fx_text_flags(&t, FX_NAMES(epoll_events), event->events);
	fx_arg_bytes(call, name, buffer, fx_text_length(&t));
	t.at = t.begin;
	fx_text_epoll_data(&t, event->data.u64);
	fx_arg_bytes(call, FX_STR_data, buffer, fx_text_length(&t));
}

/* --- Signals -------------------------------------------------------------------------------------- */

static void text_signal(struct fx_text *t, int number)
{
	unsigned length, index = fx_signal_string(number);
	const char *name = index ? fx_builtin_text(index, &length) : NULL;

	if (name) {
		fx_text_bytes(t, name, length);
	} else if (number >= SIGRTMIN) {
		fx_text_string(t, "SIGRTMIN+");
		fx_text_number(t, (unsigned)(number - SIGRTMIN), 10);
	} else {
		fx_text_signed(t, number);
	}
}

static void text_signals(struct fx_text *t, uint64_t set)
{
	bool first = true;

	for (int i = 1; i < NSIG; i++) {
		if (!(set >> (i - 1) & 1))
			continue;
		if (!first)
			fx_text_char(t, '|');
		first = false;
		text_signal(t, i);
	}
}

void fx_arg_realtime_signal(struct fx_call *call, unsigned name, int number)
{
	char buffer[FX_SIGNAL_TEXT];
	struct fx_text t = FX_TEXT(buffer);

	if (number < SIGRTMIN || number > SIGRTMAX) {
		fx_arg_int(call, name, number);
		return;
	}
	text_signal(&t, number);
	fx_arg_bytes(call, name, buffer, fx_text_length(&t));
}

static void arg_signals(struct fx_call *call, unsigned name, uint64_t set)
{
	char buffer[FX_FLAGS_TEXT];
	struct fx_text t = FX_TEXT(buffer);

	/* libc keeps the first two that it has for itself out of full sets */
	if (__builtin_popcountll(set) > 32) {
		fx_text_string(&t, "all");
		set = ~set & ~(3ull << 31);
		if (set)
			fx_text_string(&t, " but ");
	}
	text_signals(&t, set);
	fx_arg_bytes(call, name, buffer, fx_text_length(&t));
}

/* The first word of the set: the kernel has 64 signals. */
static uint64_t set_of(const sigset_t *set)
{
	return *(const uint64_t *)set;
}

void fx_arg_sigset(struct fx_call *call, unsigned name, const sigset_t *set)
{
	if (set && call->error != EFAULT && call->error != EINVAL && call->error != ENOSYS)
		arg_signals(call, name, set_of(set));
}

void fx_arg_sigset_out(struct fx_call *call, unsigned name, const sigset_t *set)
{
	if (set && !call->error)
		arg_signals(call, name, set_of(set));
}

void fx_arg_handler(struct fx_call *call, unsigned name, fx_signal_handler handler)
{
	if (handler == SIG_DFL)
		fx_arg_bytes(call, name, "SIG_DFL", 7);
	else if (handler == SIG_IGN)
		fx_arg_bytes(call, name, "SIG_IGN", 7);
	else
		fx_arg_ptr(call, name, (const void *)handler);
}

void fx_arg_sigaction(struct fx_call *call, unsigned name, const struct sigaction *action)
{
	if (call->error || !action)
		return;
	fx_arg_handler(call, name, action->sa_handler);
	if (action->sa_flags)
		fx_arg_sigaction_flags(call, FX_STR_flags, (unsigned)action->sa_flags);
	if (set_of(&action->sa_mask))
		arg_signals(call, FX_STR_mask, set_of(&action->sa_mask));
}

void fx_arg_sigaction_old(struct fx_call *call, unsigned name, const struct sigaction *action)
{
	if (!call->error && action)
		fx_arg_handler(call, name, action->sa_handler);
}

void fx_arg_signal_mask(struct fx_call *call, unsigned name, int mask)
{
	arg_signals(call, name, (uint32_t)mask);
}

void fx_arg_sigevent(struct fx_call *call, unsigned name, const struct sigevent *event)
{
	if (call->error || !event)
		return;
	fx_arg_notify_way(call, name, (unsigned)event->sigev_notify);
	if (event->sigev_notify == SIGEV_SIGNAL || event->sigev_notify == SIGEV_THREAD_ID)
		fx_arg_signal(call, FX_STR_signal, event->sigev_signo);
}

void fx_arg_siginfo(struct fx_call *call, unsigned name, const siginfo_t *info)
{
	if (call->error || !info)
		return;
	fx_arg_signal_code(call, name, (unsigned)info->si_code);
	if (info->si_code == SI_USER || info->si_code == SI_QUEUE || info->si_code == SI_TKILL)
		fx_arg_int(call, FX_STR_pid, info->si_pid);
}

/* --- Children ------------------------------------------------------------------------------------- */

void fx_arg_wait_status(struct fx_call *call, unsigned name, const int *status, pid_t ret)
{
	(void)name;
	if (call->error || !status || ret <= 0)
		return;
	if (WIFEXITED(*status))
		fx_arg_int(call, FX_STR_exited, WEXITSTATUS(*status));
	else if (WIFSIGNALED(*status))
		fx_arg_signal(call, FX_STR_signal, WTERMSIG(*status));
	else if (WIFSTOPPED(*status))
		fx_arg_signal(call, FX_STR_stopped, WSTOPSIG(*status));
	else if (WIFCONTINUED(*status))
		fx_arg_signal(call, FX_STR_continued, SIGCONT);
}

void fx_arg_shell(struct fx_call *call, unsigned name, const char *command, int status)
{
	fx_arg_text(call, name, command);
	if (command)
		fx_arg_wait_status(call, name, &status, 1);
}

void fx_arg_wait_info(struct fx_call *call, unsigned name, const siginfo_t *info)
{
	if (call->error || !info || !info->si_pid)
		return;
	fx_arg_int(call, name, info->si_pid);
	if (info->si_code == CLD_EXITED)
		fx_arg_int(call, FX_STR_exited, info->si_status);
	else if (info->si_code == CLD_KILLED || info->si_code == CLD_DUMPED)
		fx_arg_signal(call, FX_STR_signal, info->si_status);
	else if (info->si_code == CLD_CONTINUED)
		fx_arg_signal(call, FX_STR_continued, info->si_status);
	else
		fx_arg_signal(call, FX_STR_stopped, info->si_status);
}
