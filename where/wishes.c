/* SPDX-License-Identifier: MIT */
#include "where/wishes.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* Of longer sets the rest counts as something unknown. */
#define POLLED_MAX 1024u

static bool memory_read(pid_t pid, uint64_t address, void *ret, size_t size)
{
	struct iovec to = {ret, size}, from = {(void *)(uintptr_t)address, size};

	return process_vm_readv(pid, &to, 1, &from, 1, 0) == (ssize_t)size;
}

/* Any of them lets it go on. Without memory, it may do so by something unknown. */
static void wish_add(struct fx_where_thread *thread, struct fx_pipe channel, enum fx_wish_kind kind)
{
	if (fx_vector_reserve(&thread->wishes, 1) < 0) {
		thread->may_go_on = true;
		return;
	}
	thread->wishes.items[thread->wishes.count++] =
	    (struct fx_wish){.kind = kind, .channel = channel};
}

/* --- One descriptor ----------------------------------------------------------------------------- */

/* What a call waits for at its first argument. */
static const struct {
	int64_t call;
	enum fx_wish_kind kind;
} calls_of_one[] = {
    {SYS_read, FX_WISH_BYTES},	  {SYS_readv, FX_WISH_BYTES},	 {SYS_recvfrom, FX_WISH_BYTES},
    {SYS_write, FX_WISH_ROOM},	  {SYS_writev, FX_WISH_ROOM},	 {SYS_recvmsg, FX_WISH_BYTES},
    {SYS_sendto, FX_WISH_ROOM},	  {SYS_sendmsg, FX_WISH_ROOM},	 {SYS_sendmmsg, FX_WISH_ROOM},
    {SYS_accept, FX_WISH_CALLER}, {SYS_accept4, FX_WISH_CALLER}, {SYS_connect, FX_WISH_ACCEPTED},
};

static bool one_find(struct fx_where_thread *thread)
{
	static const enum fx_where_wait at_socket[] = {[FX_WISH_BYTES] = FX_WAITS_SOCKET_BYTES,
						       [FX_WISH_ROOM] = FX_WAITS_SOCKET_ROOM,
						       [FX_WISH_CALLER] = FX_WAITS_CALLER,
						       [FX_WISH_ACCEPTED] = FX_WAITS_ACCEPTED};
	struct fx_pipe channel;

	for (size_t i = 0; i < sizeof(calls_of_one) / sizeof(calls_of_one[0]); i++) {
		enum fx_wish_kind kind = calls_of_one[i].kind;

		if (thread->call != calls_of_one[i].call)
			continue;
		if (!fx_pipe_of(thread->pid, (int)thread->args[0], &channel))
			return true;
		thread->wait = channel.is_socket       ? at_socket[kind]
			       : kind == FX_WISH_BYTES ? FX_WAITS_BYTES
						       : FX_WAITS_ROOM;
		wish_add(thread, channel, kind);
		return true;
	}
	return false;
}

/* --- Sets of them ------------------------------------------------------------------------------- */

/* What is no pipe and no socket may let it go on whenever it likes. */
static void polled_add(struct fx_where_thread *thread, int fd, bool in, bool out)
{
	struct fx_pipe channel;

	thread->wait = FX_WAITS_ANY;
	if (!fx_pipe_of(thread->pid, fd, &channel)) {
		thread->may_go_on = true;
		return;
	}
	/* That the other end is closed it hears in any case. */
	if (in || !out)
		wish_add(thread, channel, FX_WISH_BYTES);
	if (out)
		wish_add(thread, channel, FX_WISH_ROOM);
}

static void poll_find(struct fx_where_thread *thread)
{
	uint64_t count = thread->args[1];

	for (uint64_t i = 0; i < count && i < POLLED_MAX; i++) {
		struct pollfd one = {0};

		if (!memory_read(thread->pid, thread->args[0] + i * sizeof(one), &one, sizeof(one)))
			thread->may_go_on = true;
		else if (one.fd >= 0)
			polled_add(thread, one.fd, one.events & (POLLIN | POLLRDNORM),
				   one.events & (POLLOUT | POLLWRNORM));
	}
	thread->may_go_on |= count > POLLED_MAX;
}

static void select_find(struct fx_where_thread *thread)
{
	int count = (int)thread->args[0];
	fd_set sets[2];

	for (int i = 0; i < 2; i++) {
		FD_ZERO(&sets[i]);
		if (count > FD_SETSIZE ||
		    (thread->args[1 + i] && !memory_read(thread->pid, thread->args[1 + i], &sets[i],
							 ((size_t)count + 63) / 64 * 8)))
			thread->may_go_on = true;
	}
	thread->may_go_on |= thread->args[3] != 0; /* exceptions */
	for (int fd = 0; fd < count && fd < FD_SETSIZE; fd++) {
		bool in = FD_ISSET(fd, &sets[0]), out = FD_ISSET(fd, &sets[1]);

		if (in || out)
			polled_add(thread, fd, in, out);
	}
}

/* What it has been told of stands in /proc/PID/fdinfo, each by the number that it had then. */
static void epoll_find(struct fx_where_thread *thread)
{
	char path[64], line[256];
	unsigned events;
	FILE *file;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/fdinfo/%d", (int)thread->pid, (int)thread->args[0]);
	file = fopen(path, "re");
	thread->may_go_on |= !file;
	while (file && fgets(line, sizeof(line), file)) {
		uint64_t inode;
		struct fx_pipe now;

		if (sscanf(line, "tfd: %d events: %x data: %*x pos:%*d ino:%" SCNx64, &fd, &events,
			   &inode) != 3)
			continue;
		if (fx_pipe_of(thread->pid, fd, &now) && now.inode != inode)
			thread->may_go_on = true; /* the number is another's by now */
		else
			polled_add(thread, fd, events & EPOLLIN, events & EPOLLOUT);
	}
	if (file)
		fclose(file);
}

/* Which argument is the time that it waits at most: no pointer, or less than 0, is any time. */
static const struct {
	int64_t call;
	void (*find)(struct fx_where_thread *thread);
	unsigned limit;
	bool is_pointer;
} calls_of_many[] = {
#ifdef SYS_poll
    {SYS_poll, poll_find, 2, false},
#endif
#ifdef SYS_select
    {SYS_select, select_find, 4, true},
#endif
#ifdef SYS_epoll_wait
    {SYS_epoll_wait, epoll_find, 3, false},
#endif
    {SYS_ppoll, poll_find, 2, true},	     {SYS_pselect6, select_find, 4, true},
    {SYS_epoll_pwait, epoll_find, 3, false},
#ifdef SYS_epoll_pwait2
    {SYS_epoll_pwait2, epoll_find, 3, true},
#endif
};

void fx_wishes_find(struct fx_where_thread *thread)
{
	if (thread->state != 'S' || one_find(thread))
		return;
	for (size_t i = 0; i < sizeof(calls_of_many) / sizeof(calls_of_many[0]); i++) {
		uint64_t limit = thread->args[calls_of_many[i].limit];

		if (thread->call != calls_of_many[i].call)
			continue;
		calls_of_many[i].find(thread);
		thread->may_go_on |= calls_of_many[i].is_pointer ? limit != 0 : (int)limit >= 0;
	}
}
