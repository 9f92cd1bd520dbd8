/* SPDX-License-Identifier: MIT */
/* What a daemon knows of its providers, named after the conformance list of Fuchsia's trace manager. */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "tests/manager/session/stage.h"

TestSuite(daemon, .init = stage_begin, .fini = stage_finish, .timeout = 60);

/* --- Manager --------------------------------------------------------------------------------- */

Test(daemon, providers_are_listed)
{
	struct fx_msg_get_providers request = {.after = 0};
	struct fx_msg_providers list;

	control_send(link_fd, FX_MSG_GET_PROVIDERS, &request, sizeof(request), -1);
	control_receive(link_fd, FX_MSG_PROVIDERS, &list, sizeof(list));
	cr_assert_eq(list.count, 0);
	client_register(client_connect(&m), "a\033[2Jb\xff", &p);
	control_send(link_fd, FX_MSG_GET_PROVIDERS, &request, sizeof(request), -1);
	control_receive(link_fd, FX_MSG_PROVIDERS, &list, sizeof(list));
	cr_assert_eq(list.count, 1);
	cr_assert_eq(list.entries[0].pid, (uint32_t)getpid());
	cr_assert_str_eq(list.entries[0].name, "a\033[2Jb\xff");
	cr_assert_eq(list.entries[0].mode, 0);
}

Test(daemon, a_provider_registers_before_any_session)
{
	provide();
	cr_assert_eq((uint32_t)p.control->state, 0);
	initialize(FX_MODE_STREAMING);
	cr_assert(!is_on());
	cr_assert_eq(control_start(link_fd, FX_CLEAR_ENTIRE), 0);
	cr_assert(is_on());
	record(NAME, 5);
	terminate();
	cr_assert(!is_on());
	cr_assert_eq(events("name"), 5);
}

/* Asks to be registered under a name of `length` bytes, and waits for nothing. */
static int register_named(size_t length)
{
	struct fx_msg_register request = client_request("");
	int fd = client_connect(&m);

	memset(request.name, 'n', length);
	cr_assert_eq(send(fd, &request, sizeof(request), 0), (ssize_t)sizeof(request));
	return fd;
}

/* Takes what the manager has answered: status and started, which *ret tells. */
static void registered(int fd, struct client_answer *ret)
{
	cr_assert(client_receive(fd, ret));
	for (unsigned i = 0; i < ret->fd_count; i++)
		close(ret->fds[i]);
	close(fd);
}

static uint32_t count_providers(char *ret_name)
{
	struct fx_msg_get_providers request = {0};
	struct fx_msg_providers list;

	control_send(link_fd, FX_MSG_GET_PROVIDERS, &request, sizeof(request), -1);
	control_receive(link_fd, FX_MSG_PROVIDERS, &list, sizeof(list));
	if (list.count)
		memcpy(ret_name, list.entries[0].name, sizeof(list.entries[0].name));
	return list.count;
}

Test(daemon, register_provider_synchronously_returns_status_and_started)
{
	char name[sizeof(((struct fx_provider_entry *)0)->name)] = "";
	struct client_answer answer;

	registered(register_named(100), &answer);
	cr_assert_eq(answer.message.status, 0);
	cr_assert_eq(answer.message.started, 0);
	cr_assert_eq(answer.fd_count, FX_FD_COUNT);
	cr_assert_eq(count_providers(name), 1);
	cr_assert_eq(strlen(name), 100);
	registered(register_named(101), &answer);
	cr_assert_eq(answer.message.status, -ENAMETOOLONG);
	cr_assert_eq(answer.message.started, 0);
	cr_assert_eq(answer.fd_count, 0);
	cr_assert_eq(count_providers(name), 1);
	initialize(FX_MODE_STREAMING);
	registered(register_named(1), &answer);
	cr_assert_eq(answer.message.started, 0, "initialized is not started");
	cr_assert_eq(control_start(link_fd, FX_CLEAR_ENTIRE), 0);
	registered(register_named(1), &answer);
	cr_assert_eq(answer.message.status, 0);
	cr_assert_eq(answer.message.started, 1);
	cr_assert_eq(control_stop(link_fd, false), 0);
	registered(register_named(1), &answer);
	cr_assert_eq(answer.message.started, 0);
	terminate();
}

Test(daemon, register_provider_does_not_wait)
{
	char name[sizeof(((struct fx_provider_entry *)0)->name)];
	struct client_answer answer;
	int fd = register_named(1);

	/* It is registered though nobody has asked for the answer, which keeps. */
	for (unsigned tries = 0; count_providers(name) == 0; tries++) {
		cr_assert_lt(tries, 2000);
		usleep(1000);
	}
	initialize(FX_MODE_STREAMING);
	cr_assert_eq(control_start(link_fd, FX_CLEAR_ENTIRE), 0);
	registered(fd, &answer);
	cr_assert_eq(answer.message.status, 0);
	cr_assert_eq(answer.message.started, 0, "as it was when it registered");
	cr_assert_eq(answer.fd_count, FX_FD_COUNT);
	terminate();
}

Test(daemon, a_silent_provider_is_waited_for_until_the_timeout)
{
	struct fx_msg_start start = {.disposition = FX_RETAIN, .timeout_ms = 100};
	struct fx_msg_result result;

	provide();
	initialize(FX_MODE_STREAMING);
	control_send(link_fd, FX_MSG_START, &start, sizeof(start), -1);
	control_receive(link_fd, FX_MSG_RESULT, &result, sizeof(result));
	cr_assert_eq(result.status, 0);
	cr_assert_eq(result.silent_providers, 1);
	cr_assert_eq(control_status(link_fd).state, FX_SESSION_STARTED);
}
