/* SPDX-License-Identifier: MIT */
#include "manager/door/ground.h"

#include <errno.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "manager/process/limits.h"

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

	fx_limits_take();
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

static void signals_list(sigset_t *ret)
{
	sigemptyset(ret);
	sigaddset(ret, SIGINT);
	sigaddset(ret, SIGTERM);
	sigaddset(ret, SIGHUP);
	sigaddset(ret, SIGQUIT);
	sigaddset(ret, SIGUSR2);
}

static int ground_signals_take(struct fx_ground *ground)
{
	sigset_t set;

	signals_list(&set);
	sigprocmask(SIG_BLOCK, &set, &ground->old_mask);
	/* A pipe that nobody reads must be an error and not a signal. */
	signal(SIGPIPE, SIG_IGN);
	ground->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (ground->signal_fd < 0) {
		int r = -errno;

		sigprocmask(SIG_SETMASK, &ground->old_mask, NULL);
		return r;
	}
	ground->signal_watch = (struct fx_watch){.ready = signal_ready, .opaque = ground};
	return fx_poller_add(&ground->poller, ground->signal_fd, &ground->signal_watch);
}

int fx_ground_listen(struct fx_ground *ground,
		     void (*signal)(void *opaque, const struct signalfd_siginfo *info),
		     void *opaque)
{
	int r;

	ground->signal = signal;
	ground->opaque = opaque;
	r = fx_owner_listen(&ground->owner);
	return r < 0 ? r : ground_signals_take(ground);
}

/* What came while all was being completed asked for what is done now. */
static void signals_give_back(struct fx_ground *ground)
{
	static const struct timespec at_once;
	sigset_t set;

	signals_list(&set);
	while (sigtimedwait(&set, NULL, &at_once) > 0)
		;
	sigprocmask(SIG_SETMASK, &ground->old_mask, NULL);
}

void fx_ground_destroy(struct fx_ground *ground)
{
	fx_owner_destroy(&ground->owner);
	fx_poller_destroy(&ground->poller);
	if (ground->signal_fd >= 0) {
		close(ground->signal_fd);
		signals_give_back(ground);
	}
	ground->signal_fd = -1;
}
