/* SPDX-License-Identifier: MIT */
/* The daemon's sessions. Sessions in turn: configurations, starts and stops, and what a buffer keeps between them. */
#include <unistd.h>

#include <criterion/criterion.h>

#include "base/atomic.h"
#include "tests/manager/clock_wish.h"
#include "tests/manager/session/stage.h"

TestSuite(daemon, .init = stage_begin, .fini = stage_finish, .timeout = 60);

Test(daemon, a_second_initialize_does_not_hang)
{
	const struct fx_msg_initialize request = control_request(FX_MODE_STREAMING);
	int other = client_connect(&m);

	initialize(FX_MODE_STREAMING);
	cr_assert_eq(control_initialize(other, &request, "/dev/null"),
		     FX_CONTROL_ALREADY_INITIALIZED);
	cr_assert_eq(control_initialize(link_fd, &request, "/dev/null"),
		     FX_CONTROL_ALREADY_INITIALIZED);
	terminate();
	cr_assert_eq(control_initialize(other, &request, "/dev/null"), 0);
}

Test(daemon, large_buffers)
{
	struct fx_msg_initialize request = control_request(FX_MODE_STREAMING);

	request.buffer_size = FX_BUFFER_MAX;
	cr_assert_eq(control_initialize(link_fd, &request, archive_path()), 0);
	provide();
	cr_assert_gt(p.layout.total_size, FX_BUFFER_MAX - (1 << 20));
	cr_assert_eq(control_start(link_fd, FX_CLEAR_ENTIRE), 0);
	record(NAME, 3);
	terminate();
	cr_assert_eq(events("name"), 3);
}

Test(daemon, sizes_at_the_edges)
{
	static const uint64_t good[] = {FX_BUFFER_MIN, 2 * FX_BUFFER_MIN, FX_BUFFER_MAX};
	static const uint64_t bad[] = {1,
				       FX_BUFFER_MIN - 1,
				       FX_BUFFER_MIN + 1,
				       FX_BUFFER_MAX - 1,
				       FX_BUFFER_MAX + 1,
				       FX_BUFFER_MAX + FX_BUFFER_STEP,
				       UINT64_MAX};
	struct fx_msg_initialize request = control_request(FX_MODE_STREAMING);

	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		request.buffer_size = bad[i];
		cr_assert_eq(control_initialize(link_fd, &request, "/dev/null"),
			     FX_CONTROL_BAD_SIZE);
		request.buffer_size = 0;
		request.spec_count = 1;
		request.specs[0] = (struct fx_provider_spec){.size = bad[i], .name = "provider"};
		cr_assert_eq(control_initialize(link_fd, &request, "/dev/null"),
			     FX_CONTROL_BAD_SIZE);
		request.spec_count = 0;
	}
	for (unsigned i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		request.buffer_size = good[i];
		cr_assert_eq(control_initialize(link_fd, &request, archive_path()), 0);
		provide();
		cr_assert_geq(p.layout.total_size, good[i] / 2);
		cr_assert_eq(control_start(link_fd, FX_CLEAR_ENTIRE), 0);
		record(NAME, 3);
		terminate();
		cr_assert_eq(events("name"), 3);
	}
}

Test(daemon, bad_configurations_are_refused)
{
	struct fx_msg_initialize request = control_request(FX_MODE_STREAMING);

	request.mode = 4;
	cr_assert_eq(control_initialize(link_fd, &request, "/dev/null"), FX_CONTROL_BAD_REQUEST);
	request = control_request(FX_MODE_STREAMING);
	request.spec_count = UINT32_MAX;
	cr_assert_eq(control_initialize(link_fd, &request, "/dev/null"), FX_CONTROL_BAD_REQUEST);
	request = control_request(FX_MODE_STREAMING);
	request.trigger_count = FX_TRIGGERS + 1;
	cr_assert_eq(control_initialize(link_fd, &request, "/dev/null"), FX_CONTROL_BAD_REQUEST);
	request = control_request(FX_MODE_STREAMING);
	request.categories = UINT32_MAX;
	cr_assert_eq(control_initialize(link_fd, &request, "/dev/null"), FX_CONTROL_BAD_REQUEST);
	cr_assert_eq(control_status(link_fd).state, FX_SESSION_READY);
}

Test(daemon, initialize_without_providers)
{
	initialize(FX_MODE_ONESHOT);
	cr_assert_eq(control_start(link_fd, FX_CLEAR_ENTIRE), 0);
	cr_assert_eq(control_stop(link_fd, true), 0);
	terminate();
}

static void two_cycles(enum fx_buffering_mode mode)
{
	uint64_t first;

	provide();
	initialize(mode);
	cr_assert_eq(epoch(), 0);
	cr_assert_eq(control_start(link_fd, FX_CLEAR_ENTIRE), 0);
	first = epoch();
	cr_assert(first);
	record(NAME, 7);
	cr_assert_eq(control_stop(link_fd, true), 0);
	cr_assert(!is_on());
	cr_assert_eq(control_start(link_fd, FX_CLEAR_NONDURABLE), 0);
	cr_assert_eq(epoch(), first + 1);
	record(OTHER, 4);
	cr_assert_eq(control_stop(link_fd, true), 0);
	terminate();
	cr_assert_eq(events("name"), 7);
	cr_assert_eq(events("other"), 4);
}

Test(daemon, two_start_stop_cycles_streaming)
{
	two_cycles(FX_MODE_STREAMING);
}

Test(daemon, two_start_stop_cycles_oneshot)
{
	two_cycles(FX_MODE_ONESHOT);
}

Test(daemon, two_start_stop_cycles_circular)
{
	two_cycles(FX_MODE_CIRCULAR);
}

Test(daemon, two_start_stop_cycles_without_providers)
{
	initialize(FX_MODE_STREAMING);
	for (unsigned i = 0; i < 2; i++) {
		cr_assert_eq(control_start(link_fd, FX_RETAIN), 0);
		cr_assert_eq(control_stop(link_fd, true), 0);
	}
	terminate();
}

Test(daemon, two_start_stop_cycles_with_a_provider_added_after_the_session_starts)
{
	initialize(FX_MODE_STREAMING);
	cr_assert_eq(control_start(link_fd, FX_RETAIN), 0);
	provide();
	cr_assert(is_on());
	record(NAME, 2);
	cr_assert_eq(control_stop(link_fd, true), 0);
	cr_assert_eq(control_start(link_fd, FX_CLEAR_ENTIRE), 0);
	record(NAME, 3);
	terminate();
	cr_assert_eq(events("name"), 5);
}

Test(daemon, a_provider_added_while_stopped_is_started_with_the_others)
{
	initialize(FX_MODE_STREAMING);
	cr_assert_eq(control_start(link_fd, FX_RETAIN), 0);
	cr_assert_eq(control_stop(link_fd, true), 0);
	provide();
	cr_assert(!is_on());
	cr_assert_eq(control_start(link_fd, FX_RETAIN), 0);
	cr_assert(is_on());
}

Test(daemon, sessions_of_every_mode_share_a_buffer)
{
	const enum fx_buffering_mode modes[] = {FX_MODE_CIRCULAR, FX_MODE_STREAMING,
						FX_MODE_ONESHOT, FX_MODE_CIRCULAR};

	provide();
	for (unsigned i = 0; i < 4; i++) {
		initialize(modes[i]);
		cr_assert_eq(control_start(link_fd, FX_CLEAR_ENTIRE), 0);
		record(NAME, i + 1);
		terminate();
		cr_assert_eq(events("name"), i + 1, "session %u", i);
	}
}

Test(daemon, what_was_lost_in_one_session_is_not_counted_in_the_next)
{
	struct fx_thread_slot *slot;
	struct fx_msg_result result;

	provide();
	slot = fp_slot(&p, 0, 4001, "worker");
	initialize(FX_MODE_STREAMING);
	cr_assert_eq(control_start(link_fd, FX_CLEAR_ENTIRE), 0);
	record(NAME, 1);
	slot->dropped_first = slot->dropped_last = fx_ticks(test_clock_kind());
	slot->dropped = 10;
	cr_assert_eq(control_terminate(link_fd, &result), 0);
	cr_assert_eq(result.dropped, 10);
	initialize(FX_MODE_STREAMING);
	cr_assert_eq(control_start(link_fd, FX_CLEAR_ENTIRE), 0);
	record(NAME, 1);
	slot->dropped = 12;
	slot->dropped_last = fx_ticks(test_clock_kind());
	cr_assert_eq(control_terminate(link_fd, &result), 0);
	cr_assert_eq(result.dropped, 2);
	archive_expect_clean(archive_path());
}

static void await_control(uint64_t state)
{
	for (unsigned tries = 0; fx_load_acquire(&p.control->state) != state; tries++) {
		cr_assert_lt(tries, 1000, "the control page does not say so");
		usleep(10000);
	}
}

Test(daemon, a_stop_is_said_until_it_is_noticed)
{
	struct fx_packet packet = {.request = FX_PACKET_STOPPED};
	uint64_t first;

	provide();
	initialize(FX_MODE_STREAMING);
	cr_assert_eq(control_start(link_fd, FX_CLEAR_ENTIRE), 0);
	packet.data64 = first = epoch();
	record(NAME, 1);
	cr_assert_eq(control_stop(link_fd, true), 0);
	usleep(100000);
	cr_assert_eq(p.control->state, first << 32 | FX_STATE_STOPPING);
	fx_store_release(&p.header->epoch_stopped, first);
	post(&packet);
	await_control(first << 32);
	/* Nobody has noticed this start, so nobody can notice its stop. */
	cr_assert_eq(control_start(link_fd, FX_CLEAR_ENTIRE), 0);
	cr_assert_eq(control_stop(link_fd, true), 0);
	await_control((first + 1) << 32);
	terminate();
	cr_assert_eq(events("name"), 1);
}

/* --- Dispositions ---------------------------------------------------------------------------- */

static void stop_unsaved_and_start(enum fx_disposition disposition)
{
	provide();
	initialize(FX_MODE_CIRCULAR);
	cr_assert_eq(control_start(link_fd, FX_CLEAR_ENTIRE), 0);
	record(NAME, 6);
	cr_assert_eq(control_stop(link_fd, false), 0);
	cr_assert_eq(control_start(link_fd, disposition), 0);
	record(OTHER, 2);
	terminate();
	cr_assert_eq(events("other"), 2);
}

Test(daemon, retain_keeps_what_was_not_saved)
{
	stop_unsaved_and_start(FX_RETAIN);
	cr_assert_eq(events("name"), 6);
}

Test(daemon, clear_nondurable_forgets_what_was_not_saved)
{
	stop_unsaved_and_start(FX_CLEAR_NONDURABLE);
	cr_assert_eq(events("name"), 0);
}

Test(daemon, clear_entire_forgets_what_was_not_saved_and_keeps_the_names)
{
	stop_unsaved_and_start(FX_CLEAR_ENTIRE);
	cr_assert_eq(events("name"), 0);
}

Test(daemon, a_oneshot_buffer_gets_its_room_again_when_cleared)
{
	uint64_t first;

	provide();
	initialize(FX_MODE_ONESHOT);
	cr_assert_eq(control_start(link_fd, FX_CLEAR_ENTIRE), 0);
	first = p.control->serial_limit;
	cr_assert_eq(first, 2 * p.layout.chunks_per_half);
	record(NAME, 1);
	cr_assert_eq(control_stop(link_fd, true), 0);
	cr_assert_eq(control_start(link_fd, FX_RETAIN), 0);
	cr_assert_eq(p.control->serial_limit, first);
	cr_assert_eq(control_stop(link_fd, true), 0);
	cr_assert_eq(control_start(link_fd, FX_CLEAR_NONDURABLE), 0);
	cr_assert_eq(p.control->serial_limit, first + 1);
}

Test(daemon, calls_open_at_the_stop_are_unfinished_then)
{
	struct fx_thread_slot *slot;
	struct found_event found;

	provide();
	initialize(FX_MODE_STREAMING);
	cr_assert_eq(control_start(link_fd, FX_CLEAR_ENTIRE), 0);
	record(NAME, 1);
	slot = fp_slot(&p, 0, 4001, "worker");
	fp_frame(slot, 0, fx_ticks(test_clock_kind()), 0x401000);
	cr_assert_eq(control_stop(link_fd, true), 0);
	usleep(50000);
	terminate();
	found = archive_find_event(archive_path(), FXT_EVENT_DURATION_COMPLETE, "0x401000");
	cr_assert(found.unfinished);
	cr_assert_lt(found.event.end_time - found.event.timestamp, 50000000u);
}
