/* SPDX-License-Identifier: MIT */
#include "manager/ground.h"

#include <errno.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

void fx_ground_clear(struct fx_ground *ret)
{
	*ret = (struct fx_ground){
	    .poller.fd = -1, .owner.fd = -1, .owner.bell_fd = -1, .signal_fd = -1};
}

static void bell_ready(void *opaque)
{
	struct fx_ground *ground = opaque;
	eventfd_t count;

	eventfd_read(ground->owner.bell_fd, &count);
	ground->rang = true;
}

int fx_ground_init(struct fx_ground *ret, const char **ret_what)
{
	int r;

	fx_ground_clear(ret);
	*ret_what = "cannot make shared memory";
	r = fx_owner_init(&ret->owner);
	if (r < 0)
		return r;
	*ret_what = "cannot poll";
	r = fx_poller_init(&ret->poller);
	if (r < 0)
		return r;
	ret->bell_watch = (struct fx_watch){.ready = bell_ready, .opaque = ret};
	return fx_poller_add(&ret->poller, ret->owner.bell_fd, &ret->bell_watch);
}

static void signal_ready(void *opaque)
{
	struct fx_ground *ground = opaque;
	struct signalfd_siginfo info;

	if (read(ground->signal_fd, &info, sizeof(info)) == sizeof(info))
		ground->signal(ground->opaque, &info);
}

static int signals_take(struct fx_ground *ground)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGQUIT);
	sigaddset(&set, SIGUSR2);
	sigprocmask(SIG_BLOCK, &set, &ground->old_mask);
	/* A disk that is full, or a pipe that nobody reads, must be an error and not a signal. */
	signal(SIGXFSZ, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	ground->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (ground->signal_fd < 0)
		return -errno;
	ground->signal_watch = (struct fx_watch){.ready = signal_ready, .opaque = ground};
	return fx_poller_add(&ground->poller, ground->signal_fd, &ground->signal_watch);
}

static void raise_limit(int resource)
{
	struct rlimit limit;

	if (getrlimit(resource, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(resource, &limit);
	}
}

int fx_ground_listen(struct fx_ground *ground,
		     void (*signal)(void *opaque, const struct signalfd_siginfo *info),
		     void *opaque)
{
	int r;

	ground->signal = signal;
	ground->opaque = opaque;
	raise_limit(RLIMIT_NOFILE); /* one for each provider, and two more while it registers */
	raise_limit(RLIMIT_FSIZE);  /* shared memory counts as a file */
	r = fx_owner_listen(&ground->owner);
	return r < 0 ? r : signals_take(ground);
}

void fx_ground_destroy(struct fx_ground *ground)
{
	fx_owner_destroy(&ground->owner);
	fx_poller_destroy(&ground->poller);
	if (ground->signal_fd >= 0) {
		close(ground->signal_fd);
		sigprocmask(SIG_SETMASK, &ground->old_mask, NULL);
	}
	ground->signal_fd = -1;
}
