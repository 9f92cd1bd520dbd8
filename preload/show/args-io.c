/* SPDX-License-Identifier: MIT */
/* Arguments of calls that move bytes: how many and where to. What the bytes are is nobody's business. */
#include <errno.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/un.h>

#include "preload/show/args.h"
#include "preload/host/peek.h"

/* Errors that come after the kernel has read the arrays and headers of the call. */
static bool io_began(int error)
{
	switch (error) {
	case 0:
	case EAGAIN:
	case EINTR:
	case EPIPE:
	case ECONNRESET:
	case ENOSPC:
	case ETIMEDOUT:
		return true;
	default:
		return false;
	}
}

static void text_blank(struct fx_text *t)
{
	if (fx_text_length(t))
		fx_text_char(t, ' ');
}

/* --- Buffers ------------------------------------------------------------------------------------ */

static uint64_t bytes_of(const struct iovec *iov, size_t count)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < count; i++)
		bytes += iov[i].iov_len;
	return bytes;
}

static void arg_lengths(struct fx_call *call, unsigned name, const struct iovec *iov, size_t count)
{
	char buffer[FX_FLAGS_TEXT];
	struct fx_text t = FX_TEXT(buffer);

	for (size_t i = 0; i < count && t.at < t.end; i++) {
		text_blank(&t);
		fx_text_number(&t, iov[i].iov_len, 10);
	}
	fx_arg_bytes(call, name, buffer, fx_text_length(&t));
}

void fx_arg_iov(struct fx_call *call, unsigned name, const struct iovec *iov, size_t count)
{
	if (!iov || !io_began(call->error)) {
		fx_arg_ptr(call, name, iov);
		return;
	}
	if (count > 1)
		arg_lengths(call, name, iov, count);
	fx_arg_size(call, FX_STR_size, bytes_of(iov, count));
}

void fx_show_count(struct fx_call *call, const struct fx_fd_ref *is, const void *number,
		   int64_t bytes)
{
	uint64_t value;

	if (fx_likely(!(is->string & FX_FD_COUNTED)) || bytes != (int64_t)sizeof value)
		return;
	memcpy(&value, number, sizeof value);
	fx_arg_size(call, FX_STR_value, value);
}

/* --- Messages ----------------------------------------------------------------------------------- */

static void text_rights(struct fx_text *t, const struct cmsghdr *c, size_t bytes)
{
	int fd;

	fx_text_string(t, "SCM_RIGHTS");
	for (size_t at = 0; at + sizeof fd <= bytes; at += sizeof fd) {
		memcpy(&fd, CMSG_DATA(c) + at, sizeof fd);
		fx_text_char(t, ' ');
		fx_text_signed(t, fd);
	}
}

static void text_credentials(struct fx_text *t, const struct ucred *who)
{
	fx_text_string(t, "pid ");
	fx_text_signed(t, who->pid);
	fx_text_string(t, " uid ");
	fx_text_number(t, who->uid, 10);
	fx_text_string(t, " gid ");
	fx_text_number(t, who->gid, 10);
}

static void text_control(struct fx_text *t, const struct cmsghdr *c)
{
	const size_t bytes = c->cmsg_len - CMSG_LEN(0);
	struct ucred who;

	if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS) {
		text_rights(t, c, bytes);
	} else if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_CREDENTIALS &&
		   bytes >= sizeof who) {
		memcpy(&who, CMSG_DATA(c), sizeof who);
		fx_text_string(t, "SCM_CREDENTIALS ");
		text_credentials(t, &who);
	} else {
		fx_text_name(t, FX_NAMES(sock_level), (uint32_t)c->cmsg_level);
		fx_text_char(t, ':');
		fx_text_signed(t, c->cmsg_type);
	}
}

/* What goes with the bytes: descriptors, credentials; of the rest level and type. */
static void arg_control(struct fx_call *call, const struct msghdr *msg)
{
	const char *at = msg->msg_control;
	size_t left = at ? msg->msg_controllen : 0;
	char buffer[FX_FLAGS_TEXT];
	struct fx_text t = FX_TEXT(buffer);

	while (left >= CMSG_LEN(0) && t.at < t.end) {
		const struct cmsghdr *c = (const void *)at;
		const size_t step = CMSG_ALIGN(c->cmsg_len);

		if (c->cmsg_len < CMSG_LEN(0) || c->cmsg_len > left)
			break;
		if (fx_text_length(&t))
			fx_text_string(&t, ", ");
		text_control(&t, c);
		if (step >= left)
			break;
		at += step;
		left -= step;
	}
	if (fx_text_length(&t))
		fx_arg_bytes(call, FX_STR_control, buffer, fx_text_length(&t));
}

void fx_arg_msghdr(struct fx_call *call, unsigned name, const struct msghdr *msg)
{
	if (!msg || !io_began(call->error)) {
		fx_arg_ptr(call, name, msg);
		return;
	}
	if (msg->msg_name && msg->msg_namelen)
		fx_arg_sockaddr(call, FX_STR_addr, msg->msg_name, msg->msg_namelen);
	fx_arg_iov(call, FX_STR_iov, msg->msg_iov, msg->msg_iovlen);
	if (!call->error)
		arg_control(call, msg);
}

void fx_arg_msghdr_out(struct fx_call *call, unsigned name, const struct msghdr *msg)
{
	if (!msg || !io_began(call->error)) {
		fx_arg_ptr(call, name, msg);
		return;
	}
	fx_arg_sockaddr_out(call, FX_STR_addr, msg->msg_name, &msg->msg_namelen);
	fx_arg_iov(call, FX_STR_iov, msg->msg_iov, msg->msg_iovlen);
	if (call->error)
		return;
	arg_control(call, msg);
	if (msg->msg_flags & ~MSG_CMSG_CLOEXEC)
		fx_arg_msg_flags(call, FX_STR_msg_flags,
				 (unsigned)(msg->msg_flags & ~MSG_CMSG_CLOEXEC));
}

void fx_arg_mmsghdrs(struct fx_call *call, unsigned name, const struct mmsghdr *messages, int done)
{
	char buffer[FX_FLAGS_TEXT];
	struct fx_text t = FX_TEXT(buffer);
	uint64_t bytes = 0;

	if (!messages || call->error || done < 0) {
		fx_arg_ptr(call, name, messages);
		return;
	}
	for (int i = 0; i < done; i++) {
		bytes += messages[i].msg_len;
		if (t.at < t.end) {
			text_blank(&t);
			fx_text_number(&t, messages[i].msg_len, 10);
		}
	}
	fx_arg_bytes(call, name, buffer, fx_text_length(&t));
	fx_arg_size(call, FX_STR_size, bytes);
	if (done)
		fx_arg_sockaddr_out(call, FX_STR_addr, messages[0].msg_hdr.msg_name,
				    &messages[0].msg_hdr.msg_namelen);
}

void fx_arg_sockaddr_out(struct fx_call *call, unsigned name, const struct sockaddr *addr,
			 const socklen_t *length)
{
	/* The length may be more than there was room for, and the pointer bad if there was none. */
	if (addr && length && !call->error && *length && fx_peek_near(addr, *length, length))
		fx_arg_address(call, name, addr, *length);
}

/* Addresses come once for each type of socket, one behind the other. */
void fx_arg_addrinfo(struct fx_call *call, unsigned name, struct addrinfo *const *found)
{
	char buffer[FX_TEXT_MAX], one[FX_SOCKADDR_TEXT], last[FX_SOCKADDR_TEXT];
	struct fx_text t = FX_TEXT(buffer);
	size_t last_length = 0;

	if (call->error || !found)
		return;
	for (const struct addrinfo *i = *found; i && t.at < t.end; i = i->ai_next) {
		struct fx_text address = FX_TEXT(one);
		size_t length;

		fx_text_sockaddr(&address, i->ai_addr, i->ai_addrlen);
		length = fx_text_length(&address);
		if (length == last_length && memcmp(one, last, length) == 0)
			continue;
		text_blank(&t);
		fx_text_bytes(&t, one, length);
		memcpy(last, one, length);
		last_length = length;
	}
	fx_text_end(&t);
	fx_arg_bytes(call, name, buffer, fx_text_length(&t));
}

/* --- Offsets ------------------------------------------------------------------------------------ */

void fx_arg_moved_offset(struct fx_call *call, unsigned name, const off_t *offset, int64_t moved)
{
	if (offset && !call->error)
		fx_arg_long(call, name, *offset - moved);
}

/* --- Options of sockets --------------------------------------------------------------------------- */

static void arg_credentials(struct fx_call *call, unsigned name, const struct ucred *who)
{
	char buffer[64];
	struct fx_text t = FX_TEXT(buffer);

	text_credentials(&t, who);
	fx_arg_bytes(call, name, buffer, fx_text_length(&t));
}

static void arg_linger(struct fx_call *call, unsigned name, const struct linger *linger)
{
	char buffer[32];
	struct fx_text t = FX_TEXT(buffer);

	fx_text_string(&t, linger->l_onoff ? "on " : "off ");
	fx_text_signed(&t, linger->l_linger);
	fx_text_char(&t, 's');
	fx_arg_bytes(call, name, buffer, fx_text_length(&t));
}

/* Values that are numbers for machines. */
static bool arg_number_by_name(struct fx_call *call, unsigned name, int number, int option)
{
	switch (option) {
	case SO_ERROR:
		if (number)
			fx_arg_errno(call, name, number);
		return number;
	case SO_TYPE:
		fx_arg_sock_kind(call, name, (unsigned)number);
		return true;
	case SO_DOMAIN:
		fx_arg_sock_domain(call, name, (unsigned)number);
		return true;
	default:
		return false;
	}
}

/* Of level SOL_SOCKET; false if there is nothing to say beyond the number. */
static bool arg_socket_value(struct fx_call *call, unsigned name, const void *value, size_t length,
			     int option)
{
	if (option == SO_PEERCRED && length == sizeof(struct ucred))
		arg_credentials(call, name, value);
	else if (option == SO_LINGER && length == sizeof(struct linger))
		arg_linger(call, name, value);
	else if ((option == SO_RCVTIMEO || option == SO_SNDTIMEO) &&
		 length == sizeof(struct timeval))
		fx_arg_timeval(call, FX_STR_value_ns, value);
	else if (option == SO_BINDTODEVICE)
		fx_arg_bytes(call, name, value,
			     strnlen(value, length < FX_NAME_TEXT ? length : FX_NAME_TEXT));
	else if (length == sizeof(int))
		return arg_number_by_name(call, name, *(const int *)value, option);
	else
		return false;
	return true;
}

static void arg_value(struct fx_call *call, unsigned name, const void *value, size_t length,
		      int level, int option)
{
	if (level == SOL_SOCKET && arg_socket_value(call, name, value, length, option))
		return;
	if (level == IPPROTO_TCP && option == TCP_CONGESTION) {
		fx_arg_bytes(call, name, value,
			     strnlen(value, length < FX_NAME_TEXT ? length : FX_NAME_TEXT));
		return;
	}
	if (length == sizeof(int))
		fx_arg_int(call, name, *(const int *)value);
}

void fx_arg_sockopt_in(struct fx_call *call, unsigned name, const void *value, int level,
		       int option, socklen_t length)
{
	/* there are options without a value, whatever is passed */
	if (!call->error && value && fx_peek_near(value, length, &call))
		arg_value(call, name, value, length, level, option);
}

void fx_arg_sockopt_out(struct fx_call *call, unsigned name, const void *value, int level,
			int option, const socklen_t *length)
{
	if (!call->error && value && length)
		arg_value(call, name, value, *length, level, option);
}
