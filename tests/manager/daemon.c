/* SPDX-License-Identifier: MIT */
#include "tests/manager/daemon.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "manager/session/daemon.h"
#include "protocol/socket.h"
#include "tests/manager/records.h"

static _Noreturn void be_daemon(const char *socket, int tell)
{
	const struct fx_session_config config = client_config();
	struct fx_daemon *daemon;
	const char *what;

	if (fx_daemon_create(socket, -1, &config, &daemon, &what) < 0 || write(tell, "x", 1) != 1)
		_exit(10);
	fx_daemon_run(daemon);
	_exit(0);
}

struct manager_process daemon_start(void)
{
	struct manager_process m = {.fd = -1};
	int ready[2];
	char c;

	snprintf(m.socket, sizeof(m.socket), "%.100s.sock", archive_path());
	cr_assert_eq(pipe2(ready, O_CLOEXEC), 0);
	m.pid = fork();
	if (m.pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(ready[0]);
		be_daemon(m.socket, ready[1]);
	}
	close(ready[1]);
	cr_assert_eq(read(ready[0], &c, 1), 1, "the daemon does not start");
	close(ready[0]);
	return m;
}

int daemon_stop(struct manager_process *m)
{
	kill(m->pid, SIGTERM);
	return manager_wait(m);
}

void control_send(int fd, enum fx_message_type type, void *request, size_t size, int passed)
{
	*(struct fx_msg_header *)request = fx_message_header(type);
	cr_assert_eq(fx_socket_send(fd, request, size, &passed, passed >= 0), 0);
}

void control_receive(int fd, enum fx_message_type type, void *ret, size_t size)
{
	struct pollfd wait = {.fd = fd, .events = POLLIN};

	cr_assert_eq(poll(&wait, 1, 20000), 1, "no answer");
	cr_assert_eq(fx_socket_receive(fd, ret, size), 0);
	cr_assert_eq(fx_message_check(ret, type), 0);
}

static int control_ask(int fd, enum fx_message_type type, void *request, size_t size, int passed,
		       struct fx_msg_result *ret)
{
	control_send(fd, type, request, size, passed);
	control_receive(fd, FX_MSG_RESULT, ret, sizeof(*ret));
	return ret->status;
}

struct fx_msg_initialize control_request(enum fx_buffering_mode mode)
{
	return (struct fx_msg_initialize){.mode = mode, .categories = FX_CAT_FUNCTION};
}

int control_initialize(int fd, const struct fx_msg_initialize *request, const char *path)
{
	struct fx_msg_initialize message = *request;
	struct fx_msg_result result;
	int output = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600), status;

	cr_assert_geq(output, 0);
	snprintf(message.output, sizeof(message.output), "%s", path);
	status = control_ask(fd, FX_MSG_INITIALIZE, &message, sizeof(message), output, &result);
	close(output);
	return status;
}

int control_start(int fd, enum fx_disposition disposition)
{
	struct fx_msg_start message = {.disposition = disposition};
	struct fx_msg_result result;

	return control_ask(fd, FX_MSG_START, &message, sizeof(message), -1, &result);
}

int control_stop(int fd, bool results)
{
	struct fx_msg_stop message = {.write_results = results};
	struct fx_msg_result result;

	return control_ask(fd, FX_MSG_STOP, &message, sizeof(message), -1, &result);
}

int control_terminate(int fd, struct fx_msg_result *ret)
{
	struct fx_msg_stop message = {.write_results = true};
	struct fx_msg_result result;

	return control_ask(fd, FX_MSG_TERMINATE, &message, sizeof(message), -1,
			   ret ? ret : &result);
}

struct fx_msg_status control_status(int fd)
{
	struct fx_msg_request request;
	struct fx_msg_status status;

	control_send(fd, FX_MSG_GET_STATUS, &request, sizeof(request), -1);
	control_receive(fd, FX_MSG_STATUS, &status, sizeof(status));
	return status;
}

void control_await(int fd, enum fx_session_state state)
{
	for (unsigned tries = 0; tries < 2000; tries++) {
		if (control_status(fd).state == (uint32_t)state)
			return;
		usleep(10000);
	}
	cr_assert_fail("the session does not get there");
}
