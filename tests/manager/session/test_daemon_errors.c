/* SPDX-License-Identifier: MIT */
/* The daemon's sessions. Requests at the wrong time, outputs that die, clients and providers that vanish. */
#include <signal.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "tests/manager/session/stage.h"

TestSuite(daemon, .init = stage_begin, .fini = stage_finish, .timeout = 60);

/* --- Errors ---------------------------------------------------------------------------------- */

Test(daemon, terminate_without_stop)
{
	initialize(FX_MODE_STREAMING);
	cr_assert_eq(control_start(link_fd, FX_RETAIN), 0);
	terminate();
	cr_assert_eq(control_status(link_fd).state, FX_SESSION_READY);
}

Test(daemon, nothing_is_initialized)
{
	cr_assert_eq(control_start(link_fd, FX_RETAIN), FX_CONTROL_NOT_INITIALIZED);
	cr_assert_eq(control_stop(link_fd, true), FX_CONTROL_NOT_INITIALIZED);
	cr_assert_eq(control_terminate(link_fd, NULL), FX_CONTROL_NOT_INITIALIZED);
}

Test(daemon, an_extra_start)
{
	initialize(FX_MODE_STREAMING);
	cr_assert_eq(control_start(link_fd, FX_RETAIN), 0);
	cr_assert_eq(control_start(link_fd, FX_RETAIN), FX_CONTROL_ALREADY_STARTED);
}

Test(daemon, an_extra_stop)
{
	initialize(FX_MODE_STREAMING);
	cr_assert_eq(control_stop(link_fd, true), FX_CONTROL_NOT_STARTED);
	cr_assert_eq(control_start(link_fd, FX_RETAIN), 0);
	cr_assert_eq(control_stop(link_fd, true), 0);
	cr_assert_eq(control_stop(link_fd, true), FX_CONTROL_NOT_STARTED);
}

/* Stopping takes two milliseconds: a busy machine may need several tries to see it. */
static int start_behind_stop(int other)
{
	struct fx_msg_start start = {.disposition = FX_RETAIN};
	struct fx_msg_stop stop = {.write_results = true};
	struct fx_msg_result stopped, started;

	kill(m.pid, SIGSTOP);
	control_send(link_fd, FX_MSG_STOP, &stop, sizeof(stop), -1);
	control_send(other, FX_MSG_START, &start, sizeof(start), -1);
	kill(m.pid, SIGCONT);
	control_receive(link_fd, FX_MSG_RESULT, &stopped, sizeof(stopped));
	control_receive(other, FX_MSG_RESULT, &started, sizeof(started));
	cr_assert_eq(stopped.status, 0);
	return started.status;
}

Test(daemon, start_while_stopping)
{
	int other = client_connect(&m), status = 0;

	initialize(FX_MODE_STREAMING);
	control_status(other);
	for (unsigned i = 0; i < 100 && status != FX_CONTROL_STOPPING; i++) {
		int r = control_start(link_fd, FX_RETAIN);

		cr_assert(r == 0 || r == FX_CONTROL_ALREADY_STARTED);
		status = start_behind_stop(other);
		cr_assert(status == 0 || status == FX_CONTROL_STOPPING ||
			  status == FX_CONTROL_ALREADY_STARTED);
	}
	cr_assert_eq(status, FX_CONTROL_STOPPING);
}

Test(daemon, retry_after_the_output_died)
{
	const struct fx_msg_initialize request = control_request(FX_MODE_STREAMING);

	provide();
	cr_assert_eq(control_initialize(link_fd, &request, "/dev/full"), 0);
	/* The output may be found to be dead before the start. */
	if (control_start(link_fd, FX_CLEAR_ENTIRE) == 0)
		record(NAME, 1);
	control_await(link_fd, FX_SESSION_READY);
	cr_assert(control_status(link_fd).aborted);
	cr_assert(!is_on());
	cr_assert_eq(control_stop(link_fd, true), FX_CONTROL_ABORTED);
	cr_assert_eq(control_terminate(link_fd, NULL), FX_CONTROL_ABORTED);
	cr_assert_eq(control_terminate(link_fd, NULL), FX_CONTROL_NOT_INITIALIZED);
	initialize(FX_MODE_STREAMING);
	cr_assert_eq(control_start(link_fd, FX_CLEAR_ENTIRE), 0);
	record(NAME, 2);
	terminate();
	cr_assert_eq(events("name"), 2);
}

/* --- Clients and providers that vanish ------------------------------------------------------- */

Test(daemon, a_client_that_vanishes_gets_its_archive)
{
	int other = client_connect(&m);

	provide();
	initialize(FX_MODE_CIRCULAR);
	cr_assert_eq(control_start(link_fd, FX_CLEAR_ENTIRE), 0);
	record(NAME, 9);
	close(link_fd);
	link_fd = other;
	control_await(other, FX_SESSION_READY);
	cr_assert(!is_on());
	archive_expect_clean(archive_path());
	cr_assert_eq(events("name"), 9);
}

Test(daemon, a_detached_session_outlives_its_client)
{
	struct fx_msg_initialize request = control_request(FX_MODE_STREAMING);

	request.detached = true;
	provide();
	cr_assert_eq(control_initialize(link_fd, &request, archive_path()), 0);
	cr_assert_eq(control_start(link_fd, FX_CLEAR_ENTIRE), 0);
	close(link_fd);
	link_fd = client_connect(&m);
	usleep(20000);
	cr_assert_eq(control_status(link_fd).state, FX_SESSION_STARTED);
	record(NAME, 1);
	terminate();
	cr_assert_eq(events("name"), 1);
}

Test(daemon, a_provider_destroyed_50_times)
{
	initialize(FX_MODE_STREAMING);
	cr_assert_eq(control_start(link_fd, FX_RETAIN), 0);
	for (unsigned i = 0; i < 50; i++)
		live_and_die();
	terminate();
	cr_assert_eq(events("name"), 50);
	cr_assert_eq(control_status(link_fd).providers, 0);
}

Test(daemon, a_provider_of_another_version_is_aborted_alone)
{
	const struct fx_packet packet = {.request = FX_PACKET_STARTED, .data32 = 99};

	provide();
	initialize(FX_MODE_STREAMING);
	cr_assert_eq(control_start(link_fd, FX_RETAIN), 0);
	post(&packet);
	usleep(200000);
	record(NAME, 1);
	live_and_die();
	terminate();
	cr_assert_eq(events("name"), 1);
}
