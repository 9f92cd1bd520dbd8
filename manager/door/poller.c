/* SPDX-License-Identifier: MIT */
#include "manager/door/poller.h"

#include <errno.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <unistd.h>

int fx_poller_init(struct fx_poller *ret)
{
	ret->fd = epoll_create1(EPOLL_CLOEXEC);
	return ret->fd < 0 ? -errno : 0;
}

void fx_poller_destroy(struct fx_poller *p)
{
	if (p->fd >= 0)
		close(p->fd);
	p->fd = -1;
}

int fx_poller_add(struct fx_poller *p, int fd, struct fx_watch *watch)
{
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = watch};

	return epoll_ctl(p->fd, EPOLL_CTL_ADD, fd, &event) < 0 ? -errno : 0;
}

void fx_poller_remove(struct fx_poller *p, int fd)
{
	epoll_ctl(p->fd, EPOLL_CTL_DEL, fd, NULL);
}

bool fx_poller_wait(struct fx_poller *p, uint64_t timeout_ns)
{
	struct epoll_event event;
	struct fx_watch *watch;
	int ms = (int)((timeout_ns + 999999) / 1000000);

	/* One at a time: what a watch does may free the owner of another. */
	if (epoll_wait(p->fd, &event, 1, ms) <= 0)
		return false;
	watch = event.data.ptr;
	watch->ready(watch->opaque);
	return true;
}
