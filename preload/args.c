/* SPDX-License-Identifier: MIT */
#include "preload/args.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/un.h>

#include "preload/text.h"

/* --- Text ------------------------------------------------------------------------------------- */

void fx_arg_text(struct fx_call *call, unsigned name, const char *text, size_t length)
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

void fx_arg_path(struct fx_call *call, unsigned name, const char *path)
{
	size_t length;

	if (!path || !path_was_read(call->error)) {
		fx_arg_ptr(call, name, path);
		return;
	}
	length = strnlen(path, FX_TEXT_MAX + 1);
	fx_arg_text(call, name, path, fx_text_cut(path, length, FX_TEXT_MAX));
}

void fx_arg_argv(struct fx_call *call, unsigned name, fx_strings argv)
{
	char buffer[FX_TEXT_MAX + 1];
	struct fx_text t = FX_TEXT(buffer);

	if (call->error || !argv)
		return;
	for (fx_strings a = argv; *a && t.at < t.end; a++) {
		if (a != argv)
			fx_text_char(&t, ' ');
		fx_text_string(&t, *a);
	}
	fx_arg_text(call, name, buffer, fx_text_cut(buffer, fx_text_length(&t), FX_TEXT_MAX));
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
	fx_arg_text(call, name, buffer, fx_text_length(&t));
}

/* --- Numbers ---------------------------------------------------------------------------------- */

/* Interrupted and timed-out calls have read their time too. */
static bool time_was_read(int error)
{
	return error == 0 || error == EINTR || error == EAGAIN || error == ETIMEDOUT;
}

void fx_arg_timespec(struct fx_call *call, unsigned name, const struct timespec *ts)
{
	if (!ts)
		fx_arg_one(call, FX_ARG_HEADER(NULL, 1, name, 0));
	else if (time_was_read(call->error))
		fx_arg_long(call, name,
			    (int64_t)((uint64_t)ts->tv_sec * 1000000000u + (uint64_t)ts->tv_nsec));
}

void fx_arg_wait_status(struct fx_call *call, unsigned name, const int *status)
{
	(void)name;
	if (call->error || !status)
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

void fx_arg_out_ptr(struct fx_call *call, unsigned name, void *const *ptr)
{
	if (!call->error && ptr)
		fx_arg_ptr(call, name, *ptr);
}

/* --- Socket addresses ------------------------------------------------------------------------- */

static void text_inet(struct fx_text *t, const struct sockaddr_in *in)
{
	uint32_t address = ntohl(in->sin_addr.s_addr);

	for (int shift = 24; shift >= 0; shift -= 8) {
		fx_text_number(t, address >> shift & 0xff, 10);
		fx_text_char(t, shift ? '.' : ':');
	}
	fx_text_number(t, ntohs(in->sin_port), 10);
}

/* The longest row of at least two zero groups, which is written as "::"; length 0 if none. */
static unsigned longest_zeros(const uint16_t group[8], unsigned *ret_first)
{
	unsigned best = 1, run = 0;

	*ret_first = 8;
	for (unsigned i = 0; i < 8; i++) {
		run = group[i] ? 0 : run + 1;
		if (run > best) {
			best = run;
			*ret_first = i + 1 - run;
		}
	}
	return *ret_first < 8 ? best : 0;
}

static void text_inet6(struct fx_text *t, const struct sockaddr_in6 *in)
{
	uint16_t group[8];
	unsigned first, zeros;

	for (unsigned i = 0; i < 8; i++)
		group[i] = (uint16_t)(in->sin6_addr.s6_addr[2 * i] << 8 |
				      in->sin6_addr.s6_addr[2 * i + 1]);
	zeros = longest_zeros(group, &first);
	fx_text_char(t, '[');
	for (unsigned i = 0; i < 8; i++) {
		if (i == first) {
			fx_text_string(t, "::");
			i += zeros - 1;
			continue;
		}
		if (i && i != first + zeros)
			fx_text_char(t, ':');
		fx_text_number(t, group[i], 16);
	}
	fx_text_string(t, "]:");
	fx_text_number(t, ntohs(in->sin6_port), 10);
}

static void text_unix(struct fx_text *t, const struct sockaddr_un *un, size_t length)
{
	size_t bytes = length - offsetof(struct sockaddr_un, sun_path);

	if (bytes > sizeof un->sun_path)
		bytes = sizeof un->sun_path;
	if (bytes &&
	    !un->sun_path[0]) { /* abstract: all bytes count, the first one is shown as @ */
		fx_text_char(t, '@');
		fx_text_bytes(t, un->sun_path + 1, bytes - 1);
	} else {
		fx_text_bytes(t, un->sun_path, strnlen(un->sun_path, bytes));
	}
}

static void text_sockaddr(struct fx_text *t, const struct sockaddr *addr, size_t length)
{
	if (length >= sizeof(struct sockaddr_in) && addr->sa_family == AF_INET)
		text_inet(t, (const void *)addr);
	else if (length >= sizeof(struct sockaddr_in6) && addr->sa_family == AF_INET6)
		text_inet6(t, (const void *)addr);
	else if (length >= offsetof(struct sockaddr_un, sun_path) && addr->sa_family == AF_UNIX)
		text_unix(t, (const void *)addr, length);
	else if (length >= sizeof addr->sa_family) {
		fx_text_string(t, "family ");
		fx_text_number(t, addr->sa_family, 10);
	}
}

static void arg_address(struct fx_call *call, unsigned name, const struct sockaddr *addr,
			size_t length)
{
	char buffer[FX_SOCKADDR_TEXT];
	struct fx_text t = FX_TEXT(buffer);

	text_sockaddr(&t, addr, length);
	fx_arg_text(call, name, buffer, fx_text_length(&t));
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
		arg_address(call, name, addr, length);
}

void fx_arg_sockaddr_out(struct fx_call *call, unsigned name, const struct sockaddr *addr,
			 const socklen_t *length)
{
	if (addr && length && !call->error && *length)
		arg_address(call, name, addr, *length);
}
