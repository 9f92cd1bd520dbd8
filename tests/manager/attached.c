/* SPDX-License-Identifier: MIT */
#include "tests/manager/attached.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <criterion/criterion.h>

static void *map(int fd, uint64_t size, int protection)
{
	void *p = mmap(NULL, size, protection, MAP_SHARED | MAP_NORESERVE, fd, 0);

	cr_assert_neq(p, MAP_FAILED);
	close(fd);
	return p;
}

void engine_attach(const struct manager_process *m, const char *name)
{
	static const struct fx_builtin none = {.next = 1};
	struct fx_msg_register request = client_request(name);
	struct client_answer answer;
	const struct fx_control *control;
	const struct fx_common *common;
	int fd = client_connect(m);
	void *buffer;

	cr_assert_eq(send(fd, &request, sizeof(request), 0), (ssize_t)sizeof(request));
	cr_assert(client_receive(fd, &answer));
	close(fd);
	cr_assert_eq(answer.message.status, 0, "%s", strerror(-answer.message.status));
	cr_assert_eq(answer.fd_count, FX_FD_COUNT);
	control = map(answer.fds[FX_FD_CONTROL], answer.message.control_size, PROT_READ);
	common = map(answer.fds[FX_FD_COMMON], FX_PAGE, PROT_READ);
	buffer = map(answer.fds[FX_FD_BUFFER], answer.message.buffer_size, PROT_READ | PROT_WRITE);
	cr_assert_eq(
	    fx_engine_attach(getpid(), control, common, buffer, answer.message.buffer_size, &none),
	    0);
}

struct fx_thread *engine_await(uint32_t categories)
{
	struct fx_thread *t = NULL;

	for (unsigned tries = 0; !t && tries < 2000; tries++) {
		t = fx_thread_on(categories);
		if (!t)
			usleep(10000);
	}
	cr_assert_not_null(t, "tracing does not start");
	return t;
}
