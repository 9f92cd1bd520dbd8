/* SPDX-License-Identifier: MIT */
/* Waiting for what hosts send and say, for the end of what brings it, and for signals. */
#include <errno.h>
#include <poll.h>
#include <sys/inotify.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "client/hosts-internal.h"

static uint64_t watch_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

int fx_hosts_watch_open(const char *folder, const sigset_t *set, struct fx_hosts_watch *ret)
{
	int r = 0;

	*ret = (struct fx_hosts_watch){
	    .files = inotify_init1(IN_CLOEXEC | IN_NONBLOCK),
	    .signals = signalfd(-1, set, SFD_CLOEXEC | SFD_NONBLOCK),
	    .begin = watch_ms(),
	};
	if (ret->files < 0 || ret->signals < 0 ||
	    inotify_add_watch(ret->files, folder, IN_MODIFY) < 0)
		r = -errno;
	if (r < 0)
		fx_hosts_watch_close(ret);
	return r;
}

static uint64_t watch_left(const struct fx_hosts_watch *watch)
{
	uint64_t took = watch_ms() - watch->begin;

	return took < FX_HOSTS_PATIENCE_MS ? FX_HOSTS_PATIENCE_MS - took : 0;
}

bool fx_hosts_watch_is_over(const struct fx_hosts_watch *watch)
{
	return watch_left(watch) == 0;
}

bool fx_hosts_watch_wait(const struct fx_hosts_watch *watch, bool has_patience)
{
	struct pollfd fds[] = {{.fd = watch->files, .events = POLLIN},
			       {.fd = watch->signals, .events = POLLIN}};
	struct signalfd_siginfo info;
	char events[4096];

	if (poll(fds, 2, has_patience ? (int)watch_left(watch) : -1) <= 0)
		return true;
	if ((fds[0].revents & POLLIN) && read(watch->files, events, sizeof(events)) < 0)
		return errno == EINTR || errno == EAGAIN;
	return !(fds[1].revents & POLLIN) || read(watch->signals, &info, sizeof(info)) < 0 ||
	       info.ssi_signo == SIGCHLD;
}

void fx_hosts_watch_close(struct fx_hosts_watch *watch)
{
	if (watch->files >= 0)
		close(watch->files);
	if (watch->signals >= 0)
		close(watch->signals);
}
