/* SPDX-License-Identifier: MIT */
/* The packets that the engine posts: STARTED and STOPPED once for each start, alerts as they come. */
#include <errno.h>
#include <pthread.h>
#include <string.h>

#include <criterion/criterion.h>

#include "tests/engine/produce.h"

static struct fm_manager m;
static uint64_t read_so_far;

static void start(void)
{
	const struct fm_config config = {.size = 1 << 20, .mode = FX_MODE_STREAMING, .stopped = 1};

	fm_start(&m, &config);
	read_so_far = 0;
}

static void stop(void)
{
	fm_destroy(&m);
}

TestSuite(packets, .init = start, .fini = stop, .timeout = 30);

/* The next packet; request 0: there is none. */
static struct fx_packet next(void)
{
	const struct fx_packet_slot *slot = &m.header->packets[read_so_far % FX_PACKETS];

	if (fx_load_acquire(&m.header->packet_head) == read_so_far)
		return (struct fx_packet){0};
	cr_assert_eq(fx_load_acquire(&slot->seq), ++read_so_far);
	return slot->packet;
}

static void expect(unsigned request, uint32_t data32, uint64_t data64)
{
	struct fx_packet p = next();

	cr_assert_eq(p.request, request);
	cr_assert_eq(p.data16, 0);
	cr_assert_eq(p.data32, data32);
	cr_assert_eq(p.data64, data64);
}

static void expect_none(void)
{
	cr_assert_eq(next().request, 0);
}

/* What the hooks ask. */
static bool is_on(void)
{
	return fx_thread_on(FX_CAT_USER) != NULL;
}

Test(packets, started_and_stopped_once_for_each_start)
{
	for (uint32_t epoch = 1; epoch < 4; epoch++) {
		fm_state(&m, epoch, FX_CAT_USER);
		expect_none();
		cr_assert(is_on());
		cr_assert(is_on());
		expect(FX_PACKET_STARTED, FX_FIFO_VERSION, epoch);
		expect_none();
		fm_state(&m, epoch, FX_STATE_STOPPING);
		expect_none();
		cr_assert(!is_on());
		cr_assert(!is_on());
		expect(FX_PACKET_STOPPED, 0, epoch);
		fm_state(&m, epoch, 0);
		cr_assert(!is_on());
		expect_none();
		cr_assert_eq(m.header->epoch_stopped, epoch);
	}
}

Test(packets, whoever_asks_for_another_category_notices_the_stop)
{
	fm_state(&m, 1, FX_CAT_USER);
	cr_assert(is_on());
	fm_state(&m, 1, FX_STATE_STOPPING);
	cr_assert_null(fx_thread_on(FX_CAT_MALLOC));
	expect(FX_PACKET_STARTED, FX_FIFO_VERSION, 1);
	expect(FX_PACKET_STOPPED, 0, 1);
}

Test(packets, what_was_never_started_is_not_stopped)
{
	fm_state(&m, 1, FX_STATE_STOPPING);
	cr_assert(!is_on());
	expect_none();
}

static void *ask(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < 1000; i++)
		is_on();
	fx_thread_exit();
	return NULL;
}

Test(packets, several_threads_say_it_once)
{
	pthread_t threads[8];

	fm_state(&m, 1, FX_CAT_USER);
	cr_assert(is_on());
	fm_state(&m, 1, FX_STATE_STOPPING);
	for (unsigned i = 0; i < 8; i++)
		pthread_create(&threads[i], NULL, ask, NULL);
	for (unsigned i = 0; i < 8; i++)
		pthread_join(threads[i], NULL);
	expect(FX_PACKET_STARTED, FX_FIFO_VERSION, 1);
	expect(FX_PACKET_STOPPED, 0, 1);
	expect_none();
}

static void expect_alert(const char *name)
{
	char bytes[sizeof(struct fx_packet) + 1] = {0};
	struct fx_packet p = next();

	cr_assert_eq(p.request, FX_PACKET_ALERT);
	memcpy(bytes, &p, sizeof p);
	cr_assert_str_eq(bytes + sizeof p.request, name);
}

Test(packets, alerts_of_1_to_14_bytes)
{
	static const char text[] = "0123456789abcd";

	fm_state(&m, 1, FX_CAT_USER);
	cr_assert(is_on());
	expect(FX_PACKET_STARTED, FX_FIFO_VERSION, 1);
	for (size_t length = 1; length <= FX_ALERT_BYTES; length++) {
		char name[FX_ALERT_BYTES + 1] = {0};

		memcpy(name, text, length);
		cr_assert_eq(fx_engine_alert(text, length), 0);
		expect_alert(name);
	}
}

Test(packets, alerts_that_cannot_be)
{
	cr_assert_eq(fx_engine_alert("a", 1), -ESHUTDOWN);
	fm_state(&m, 1, FX_CAT_USER);
	cr_assert_eq(fx_engine_alert("", 0), -EINVAL);
	cr_assert_eq(fx_engine_alert("0123456789abcde", 15), -EINVAL);
	cr_assert_eq(fx_engine_alert("a\0b", 3), -EINVAL);
	expect_none();
	cr_assert_eq(fx_engine_alert("a", 1), 0);
	expect(FX_PACKET_STARTED, FX_FIFO_VERSION, 1);
	expect_alert("a");
	fm_state(&m, 1, FX_STATE_STOPPING);
	cr_assert_eq(fx_engine_alert("b", 1), -ESHUTDOWN);
	expect(FX_PACKET_STOPPED, 0, 1);
	expect_none();
}
