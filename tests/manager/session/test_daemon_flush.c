/* SPDX-License-Identifier: MIT */
/* The daemon's sessions. Flushes, and the statistics of a stop. */
#include <sys/wait.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "tests/manager/clock_wish.h"
#include "tests/manager/session/stage.h"

TestSuite(daemon, .init = stage_begin, .fini = stage_finish, .timeout = 60);

/* --- Flush and statistics -------------------------------------------------------------------- */

static int flush(void)
{
	struct fx_msg_request request;
	struct fx_msg_result result;

	control_send(link_fd, FX_MSG_FLUSH, &request, sizeof(request), -1);
	control_receive(link_fd, FX_MSG_RESULT, &result, sizeof(result));
	return result.status;
}

Test(daemon, what_was_flushed_is_in_the_file)
{
	struct fake_chunk chunk;
	uint64_t now;

	cr_assert_eq(flush(), FX_CONTROL_NOT_INITIALIZED);
	provide();
	initialize(FX_MODE_STREAMING);
	cr_assert_eq(flush(), FX_CONTROL_NOT_STARTED);
	cr_assert_eq(control_start(link_fd, FX_CLEAR_ENTIRE), 0);
	record(NAME, 3);
	chunk = fp_claim(&p, 4001); /* not given back */
	now = fx_ticks(test_clock_kind());
	fp_complete(&chunk, CATEGORY, OTHER, now, now + 10);
	cr_assert_eq(flush(), 0);
	cr_assert_eq(events("name"), 3);
	cr_assert_eq(events("other"), 1);
	cr_assert_eq(flush(), 0);
	fp_release(&chunk);
	cr_assert_eq(control_stop(link_fd, true), 0);
	cr_assert_eq(flush(), 0);
	terminate();
	cr_assert_eq(events("name"), 3);
	cr_assert_eq(events("other"), 1);
}

Test(daemon, circular_sessions_are_not_flushed)
{
	initialize(FX_MODE_CIRCULAR);
	cr_assert_eq(control_start(link_fd, FX_CLEAR_ENTIRE), 0);
	cr_assert_eq(flush(), FX_CONTROL_CIRCULAR);
}

Test(daemon, a_client_that_vanishes_while_it_flushes_harms_nobody)
{
	struct fx_msg_request request;
	int other = client_connect(&m);

	provide();
	initialize(FX_MODE_STREAMING);
	cr_assert_eq(control_start(link_fd, FX_CLEAR_ENTIRE), 0);
	record(NAME, 3);
	for (unsigned i = 0; i < 20; i++) {
		control_send(other, FX_MSG_FLUSH, &request, sizeof(request), -1);
		close(other);
		other = client_connect(&m);
	}
	for (unsigned tries = 0; flush() == FX_CONTROL_FLUSHING; tries++)
		cr_assert_lt(tries, 1000);
	cr_assert_eq(events("name"), 3);
	terminate();
}

static struct fx_msg_providers of_session(void)
{
	struct fx_msg_get_providers request = {.of_session = 1};
	struct fx_msg_providers list;

	control_send(link_fd, FX_MSG_GET_PROVIDERS, &request, sizeof(request), -1);
	control_receive(link_fd, FX_MSG_PROVIDERS, &list, sizeof(list));
	return list;
}

/* Records, loses five, and dies. */
static void live_lose_and_die(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		struct fx_thread_slot *slot;

		provide();
		slot = fp_slot(&p, 0, 4001, "worker");
		slot->dropped_first = slot->dropped_last = fx_ticks(test_clock_kind());
		slot->dropped = 5;
		record(NAME, 1);
		_exit(0);
	}
	cr_assert_eq(waitpid(pid, NULL, 0), pid);
}

Test(daemon, a_stop_has_statistics_of_each_provider_dead_ones_too)
{
	struct fx_msg_providers list;

	provide();
	fp_slot(&p, 0, 4001, "worker")->dropped = 2; /* before the session */
	initialize(FX_MODE_STREAMING);
	cr_assert_eq(control_start(link_fd, FX_CLEAR_ENTIRE), 0);
	record(NAME, 1);
	fp_slot(&p, 0, 4001, "worker")->dropped = 5;
	live_lose_and_die();
	cr_assert_eq(control_stop(link_fd, true), 0);
	for (unsigned tries = 0; control_status(link_fd).providers > 1; tries++) {
		cr_assert_lt(tries, 1000);
		usleep(10000);
	}
	list = of_session();
	cr_assert_eq(list.count, 2);
	cr_assert_eq(list.entries[0].pid, (uint32_t)getpid());
	cr_assert_eq(list.entries[0].mode, FX_MODE_STREAMING);
	cr_assert_eq(list.entries[0].dropped, 3);
	cr_assert_eq(list.entries[0].wraps, 0);
	cr_assert_eq(list.entries[0].rolling_used, p.layout.chunk_size);
	cr_assert_eq(list.entries[0].gone, 0);
	cr_assert_eq(list.entries[1].dropped, 5);
	cr_assert_eq(list.entries[1].gone, 1);
	cr_assert_str_eq(list.entries[1].name, "provider");
	terminate();
	cr_assert_eq(of_session().count, 0);
}
