/* SPDX-License-Identifier: MIT */
/* Numbers and bit sets by the names that the headers give them. */
#include <signal.h>
#include <sys/file.h>
#include <sys/socket.h>

#include "preload/args.h"
#include "preload/text.h"

struct named {
	unsigned long value;
	char name[24];
};

/* Either one number has one name, or a set of bits has a name each. */
#define NAMED(constant)                                                                            \
	{                                                                                          \
		constant, #constant                                                                \
	}

static const struct named access_modes[] = {
    NAMED(O_RDONLY),
    NAMED(O_WRONLY),
    NAMED(O_RDWR),
};

/* Before a flag those that contain its bits. */
static const struct named open_flags[] = {
    NAMED(O_TMPFILE),  NAMED(O_SYNC),	   NAMED(O_CREAT),  NAMED(O_EXCL),
    NAMED(O_NOCTTY),   NAMED(O_TRUNC),	   NAMED(O_APPEND), NAMED(O_NONBLOCK),
    NAMED(O_DSYNC),    NAMED(O_DIRECTORY), NAMED(O_ASYNC),  NAMED(O_DIRECT),
    NAMED(O_NOFOLLOW), NAMED(O_NOATIME),   NAMED(O_PATH),   NAMED(O_CLOEXEC),
};

static const struct named domains[] = {
    NAMED(AF_UNSPEC),  NAMED(AF_UNIX),	 NAMED(AF_INET),  NAMED(AF_INET6),
    NAMED(AF_NETLINK), NAMED(AF_PACKET), NAMED(AF_VSOCK), NAMED(AF_BLUETOOTH),
};

static const struct named types[] = {
    NAMED(SOCK_STREAM), NAMED(SOCK_DGRAM),     NAMED(SOCK_RAW),
    NAMED(SOCK_RDM),	NAMED(SOCK_SEQPACKET), NAMED(SOCK_PACKET),
};

static const struct named type_flags[] = {
    NAMED(SOCK_CLOEXEC),
    NAMED(SOCK_NONBLOCK),
};

static const struct named message_flags[] = {
    NAMED(MSG_OOB),	   NAMED(MSG_PEEK),	NAMED(MSG_DONTROUTE),	 NAMED(MSG_CTRUNC),
    NAMED(MSG_TRUNC),	   NAMED(MSG_DONTWAIT), NAMED(MSG_EOR),		 NAMED(MSG_WAITALL),
    NAMED(MSG_CONFIRM),	   NAMED(MSG_ERRQUEUE), NAMED(MSG_NOSIGNAL),	 NAMED(MSG_MORE),
    NAMED(MSG_WAITFORONE), NAMED(MSG_FASTOPEN), NAMED(MSG_CMSG_CLOEXEC),
};

static const struct named shutdown_hows[] = {
    NAMED(SHUT_RD),
    NAMED(SHUT_WR),
    NAMED(SHUT_RDWR),
};

static const struct named clocks[] = {
    NAMED(CLOCK_REALTIME),	    NAMED(CLOCK_MONOTONIC),	NAMED(CLOCK_PROCESS_CPUTIME_ID),
    NAMED(CLOCK_THREAD_CPUTIME_ID), NAMED(CLOCK_MONOTONIC_RAW), NAMED(CLOCK_REALTIME_COARSE),
    NAMED(CLOCK_MONOTONIC_COARSE),  NAMED(CLOCK_BOOTTIME),	NAMED(CLOCK_REALTIME_ALARM),
    NAMED(CLOCK_BOOTTIME_ALARM),    NAMED(CLOCK_TAI),
};

static const struct named waits[] = {
    NAMED(WNOHANG), NAMED(WUNTRACED), NAMED(WEXITED), NAMED(WCONTINUED), NAMED(WNOWAIT),
};

static const struct named lock_operations[] = {
    NAMED(LOCK_SH),
    NAMED(LOCK_EX),
    NAMED(LOCK_NB),
    NAMED(LOCK_UN),
};

static void separate(struct fx_text *t)
{
	if (fx_text_length(t))
		fx_text_char(t, '|');
}

/* The name of one number; the number itself if the list lacks it. */
static void text_name(struct fx_text *t, const struct named *list, unsigned count, long value)
{
	separate(t);
	for (unsigned i = 0; i < count; i++) {
		if (list[i].value == (unsigned long)value) {
			fx_text_string(t, list[i].name);
			return;
		}
	}
	fx_text_signed(t, value);
}

/* The names of all bits that are set; those without a name in hex. */
static void text_flags(struct fx_text *t, const struct named *list, unsigned count,
		       unsigned long flags)
{
	for (unsigned i = 0; i < count; i++) {
		if (list[i].value == 0 || (flags & list[i].value) != list[i].value)
			continue;
		separate(t);
		fx_text_string(t, list[i].name);
		flags &= ~list[i].value;
	}
	if (!flags && fx_text_length(t))
		return;
	separate(t);
	if (flags)
		fx_text_string(t, "0x");
	fx_text_number(t, flags, 16);
}

#define LIST(list) (list), FX_ARRAY_LEN(list)

static void arg_name(struct fx_call *call, unsigned name, const struct named *list, unsigned count,
		     long value)
{
	char buffer[FX_FLAGS_TEXT];
	struct fx_text t = FX_TEXT(buffer);

	text_name(&t, list, count, value);
	fx_arg_text(call, name, buffer, fx_text_length(&t));
}

static void arg_flags(struct fx_call *call, unsigned name, const struct named *list, unsigned count,
		      unsigned flags)
{
	char buffer[FX_FLAGS_TEXT];
	struct fx_text t = FX_TEXT(buffer);

	text_flags(&t, list, count, flags);
	fx_arg_text(call, name, buffer, fx_text_length(&t));
}

void fx_arg_open_flags(struct fx_call *call, unsigned name, int flags)
{
	char buffer[FX_FLAGS_TEXT];
	struct fx_text t = FX_TEXT(buffer);
	unsigned rest = (unsigned)flags & ~(unsigned)O_ACCMODE;

	text_name(&t, LIST(access_modes), flags & O_ACCMODE);
	if (rest)
		text_flags(&t, LIST(open_flags), rest);
	fx_arg_text(call, name, buffer, fx_text_length(&t));
}

void fx_arg_mode(struct fx_call *call, unsigned name, mode_t mode)
{
	char buffer[12];
	struct fx_text t = FX_TEXT(buffer);

	if (mode)
		fx_text_char(&t, '0');
	fx_text_number(&t, mode, 8);
	fx_arg_text(call, name, buffer, fx_text_length(&t));
}

void fx_arg_dirfd(struct fx_call *call, unsigned name, int fd)
{
	if (fd == AT_FDCWD)
		fx_arg_text(call, name, "AT_FDCWD", 8);
	else
		fx_arg_int(call, name, fd);
}

void fx_arg_sock_domain(struct fx_call *call, unsigned name, int domain)
{
	arg_name(call, name, LIST(domains), domain);
}

void fx_arg_sock_type(struct fx_call *call, unsigned name, int type)
{
	char buffer[FX_FLAGS_TEXT];
	struct fx_text t = FX_TEXT(buffer);
	unsigned rest = (unsigned)type & ~0xfu;

	text_name(&t, LIST(types), type & 0xf);
	if (rest)
		text_flags(&t, LIST(type_flags), rest);
	fx_arg_text(call, name, buffer, fx_text_length(&t));
}

void fx_arg_sock_flags(struct fx_call *call, unsigned name, int flags)
{
	arg_flags(call, name, LIST(type_flags), (unsigned)flags);
}

void fx_arg_msg_flags(struct fx_call *call, unsigned name, int flags)
{
	arg_flags(call, name, LIST(message_flags), (unsigned)flags);
}

void fx_arg_shutdown_how(struct fx_call *call, unsigned name, int how)
{
	arg_name(call, name, LIST(shutdown_hows), how);
}

void fx_arg_clock(struct fx_call *call, unsigned name, clockid_t clock)
{
	arg_name(call, name, LIST(clocks), clock);
}

void fx_arg_lock_operation(struct fx_call *call, unsigned name, int operation)
{
	arg_flags(call, name, LIST(lock_operations), (unsigned)operation);
}

void fx_arg_wait_options(struct fx_call *call, unsigned name, int options)
{
	arg_flags(call, name, LIST(waits), (unsigned)options);
}
