/* SPDX-License-Identifier: MIT */
#include "kernel/provider.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "engine/provider/category.h"
#include "engine/provider/engine.h"
#include "preload/strings.h"
#include "protocol/messages.h"
#include "protocol/socket.h"

#define NAME "fxtrace-kernel"

/* How long the manager's answer is waited for. */
#define ANSWER_MS 10000

static int registration_send(int fd)
{
	struct fx_msg_register message = {
	    .header = fx_message_header(FX_MSG_REGISTER),
	    .pid = (uint32_t)getpid(),
	    .cause = FX_REGISTER_KERNEL,
	    .name = NAME,
	};

	return fx_socket_send(fd, &message, sizeof(message), NULL, 0);
}

static int fds_take(struct msghdr *head, int fds[FX_FD_COUNT])
{
	struct cmsghdr *c = CMSG_FIRSTHDR(head);

	if (!c || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS ||
	    c->cmsg_len != CMSG_LEN(FX_FD_COUNT * sizeof(int)))
		return -EPROTO;
	memcpy(fds, CMSG_DATA(c), FX_FD_COUNT * sizeof(int));
	return 0;
}

static int registration_receive(int fd, struct fx_msg_registered *ret, int fds[FX_FD_COUNT])
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(FX_FD_COUNT * sizeof(int))];
	} control;
	struct iovec iov = {ret, sizeof(*ret)};
	struct msghdr head = {.msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = &control,
			      .msg_controllen = sizeof(control)};
	struct pollfd one = {.fd = fd, .events = POLLIN};
	ssize_t n;

	do
		n = poll(&one, 1, ANSWER_MS);
	while (n < 0 && errno == EINTR);
	if (n == 0)
		return -ETIMEDOUT;
	do
		n = recvmsg(fd, &head, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	if (n != sizeof(*ret) || fx_message_check(&ret->header, FX_MSG_REGISTERED) < 0)
		return -EPROTO;
	return ret->status < 0 ? ret->status : fds_take(&head, fds);
}

static void *shared_map(int fd, uint64_t size, int protection)
{
	void *p = mmap(NULL, size, protection, MAP_SHARED, fd, 0);

	if (p == MAP_FAILED)
		return NULL;
	return p;
}

/* The strings that the manager knows beforehand are those of programs. */
static int provider_attach(const struct fx_msg_registered *message, const int fds[FX_FD_COUNT])
{
	const void *control = shared_map(fds[FX_FD_CONTROL], message->control_size, PROT_READ);
	const void *common = shared_map(fds[FX_FD_COMMON], (uint64_t)getpagesize(), PROT_READ);
	void *buffer = shared_map(fds[FX_FD_BUFFER], message->buffer_size, PROT_READ | PROT_WRITE);

	if (!control || !common || !buffer)
		return -ENOMEM;
	return fx_engine_attach((int)getpid(), control, common, buffer, message->buffer_size,
				&fx_builtin);
}

int fx_kernel_register(const char *path)
{
	struct fx_msg_registered message;
	int fds[FX_FD_COUNT], fd, r;

	fx_clock_init((const void *)getauxval(AT_SYSINFO_EHDR));
	fd = fx_socket_connect(path);
	if (fd < 0)
		return fd;
	r = registration_send(fd);
	if (r == 0)
		r = registration_receive(fd, &message, fds);
	close(fd);
	if (r < 0)
		return r;
	r = provider_attach(&message, fds);
	for (unsigned i = 0; i < FX_FD_COUNT; i++)
		close(fds[i]);
	return r;
}

void fx_kernel_knows(const char *category, const char *description)
{
	fx_category_know(category, description);
}

bool fx_kernel_is_on(void)
{
	return fx_thread_on(FX_CAT_USER) != NULL;
}

void fx_kernel_leave(void)
{
	fx_thread_exit();
}
