/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "client/tail.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

enum { TAIL_WAIT_MS = 50 };

struct tail {
	int from, to;
};

bool fx_tail_is_held(int fd)
{
	struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET};

	return fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

static bool tail_write(int fd, const char *data, size_t size)
{
	while (size > 0) {
		ssize_t n = write(fd, data, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return false;
		data += n;
		size -= (size_t)n;
	}
	return true;
}

/* Passes on what there is. False: nobody reads any more, or reading fails. */
static bool tail_copy(const struct tail *tail)
{
	char data[1 << 16];
	ssize_t n;

	while ((n = read(tail->from, data, sizeof(data))) > 0) {
		if (!tail_write(tail->to, data, (size_t)n))
			return false;
	}
	return n == 0;
}

static void *tail_run(void *arg)
{
	struct tail *tail = arg;
	bool held;

	/* What was written before the lock went is read after that was seen. */
	do {
		held = fx_tail_is_held(tail->from);
		if (!tail_copy(tail))
			break;
		if (held)
			poll(NULL, 0, TAIL_WAIT_MS);
	} while (held);
	close(tail->to);
	free(tail);
	return NULL;
}

int fx_tail_start(int fd)
{
	struct tail *tail = malloc(sizeof(*tail));
	pthread_t thread;
	int fds[2], r;

	if (!tail)
		return -ENOMEM;
	if (pipe2(fds, O_CLOEXEC) < 0) {
		free(tail);
		return -errno;
	}
	*tail = (struct tail){.from = fd, .to = fds[1]};
	r = pthread_create(&thread, NULL, tail_run, tail);
	if (r == 0) {
		pthread_detach(thread);
		return fds[0];
	}
	close(fds[0]);
	close(fds[1]);
	free(tail);
	return -r;
}
