/* SPDX-License-Identifier: MIT */
#include "tests/manager/client.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "manager/session/single.h"
#include "tests/manager/clock_wish.h"
#include "tests/manager/records.h"

struct fx_session_config client_config(void)
{
	return (struct fx_session_config){
	    .clock = test_clock_wish(),
	    .output = archive_path(),
	    .buffer_size = 256 << 10,
	    .mode = FX_MODE_STREAMING,
	    .follow = true,
	    .categories = FX_CAT_FUNCTION,
	};
}

static _Noreturn void be_manager(const struct fx_session_config *config, int fd, pid_t parent)
{
	struct fx_session_result result;
	struct fx_single *single;
	const char *what;
	char path[128] = "";

	if (fx_single_create(config, &single, &what) < 0 || fx_single_begin(single, &what) < 0)
		_exit(10);
	snprintf(path, sizeof(path), "%s", fx_single_socket(single));
	if (send(fd, path, sizeof(path), 0) < 0)
		_exit(11);
	fx_single_run_private(single, fd, parent);
	fx_single_finish(single, &result);
	_exit(result.output_error ? 1 : 0);
}

struct manager_process manager_start(const struct fx_session_config *config)
{
	struct manager_process m;
	pid_t parent = getpid();
	int pair[2];

	cr_assert_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	m.pid = fork();
	if (m.pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(pair[0]);
		be_manager(config, pair[1], parent);
	}
	close(pair[1]);
	m.fd = pair[0];
	cr_assert_eq(recv(m.fd, m.socket, sizeof(m.socket), 0), (ssize_t)sizeof(m.socket));
	return m;
}

int manager_wait(struct manager_process *m)
{
	int status;

	cr_assert_eq(waitpid(m->pid, &status, 0), m->pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

unsigned manager_descriptors(const struct manager_process *m)
{
	char path[64];
	unsigned count = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)m->pid);
	dir = opendir(path);
	cr_assert_not_null(dir);
	while (readdir(dir))
		count++;
	closedir(dir);
	return count;
}

int client_connect(const struct manager_process *m)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%.107s", m->socket);
	cr_assert_eq(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

struct fx_msg_register client_request(const char *name)
{
	struct fx_msg_register request = {
	    .header = {FX_MESSAGE_MAGIC, FX_MESSAGE_VERSION, FX_MSG_REGISTER},
	    .pid = 1, /* not believed */
	    .cause = FX_REGISTER_START,
	};

	snprintf(request.name, sizeof(request.name), "%s", name);
	return request;
}

bool client_receive(int fd, struct client_answer *ret)
{
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(8 * sizeof(int))];
	} control;
	struct iovec part = {&ret->message, sizeof(ret->message)};
	struct msghdr m = {.msg_iov = &part,
			   .msg_iovlen = 1,
			   .msg_control = &control,
			   .msg_controllen = sizeof(control)};
	struct cmsghdr *c;

	memset(ret, 0, sizeof(*ret));
	if (recvmsg(fd, &m, MSG_CMSG_CLOEXEC) != sizeof(ret->message))
		return false;
	c = CMSG_FIRSTHDR(&m);
	if (!c)
		return true;
	ret->fd_count = (unsigned)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
	cr_assert_leq(ret->fd_count, FX_FD_COUNT);
	memcpy(ret->fds, CMSG_DATA(c), ret->fd_count * sizeof(int));
	return true;
}

void client_register(int fd, const char *name, struct fake_provider *ret)
{
	struct fx_msg_register request = client_request(name);
	struct client_answer answer;
	const struct fx_control *control;
	void *buffer;

	cr_assert_eq(send(fd, &request, sizeof(request), 0), (ssize_t)sizeof(request));
	cr_assert(client_receive(fd, &answer));
	cr_assert_eq(answer.message.status, 0, "%s", strerror(-answer.message.status));
	cr_assert_eq(answer.fd_count, FX_FD_COUNT);
	control = mmap(NULL, answer.message.control_size, PROT_READ, MAP_SHARED,
		       answer.fds[FX_FD_CONTROL], 0);
	buffer = mmap(NULL, answer.message.buffer_size, PROT_READ | PROT_WRITE, MAP_SHARED,
		      answer.fds[FX_FD_BUFFER], 0);
	cr_assert_neq(control, MAP_FAILED);
	cr_assert_neq(buffer, MAP_FAILED);
	for (unsigned i = 0; i < FX_FD_COUNT; i++)
		close(answer.fds[i]);
	close(fd);
	cr_assert_eq(control->magic, FX_CONTROL_MAGIC);
	fp_attach(ret, control, buffer);
}
