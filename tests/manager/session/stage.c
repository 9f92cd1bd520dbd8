/* SPDX-License-Identifier: MIT */
#include "tests/manager/session/stage.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "base/atomic.h"
#include "tests/manager/clock_wish.h"

struct manager_process m;
int link_fd;
struct fake_provider p;

void stage_begin(void)
{
	m = daemon_start();
	link_fd = client_connect(&m);
}

void stage_finish(void)
{
	close(link_fd);
	cr_assert_eq(daemon_stop(&m), 0);
	archive_remove();
}

void provide(void)
{
	client_register(client_connect(&m), "provider", &p);
	fp_durable_string(&p, CATEGORY, "cat");
	fp_durable_string(&p, NAME, "name");
	fp_durable_string(&p, OTHER, "other");
}

uint64_t epoch(void)
{
	return fx_load_acquire(&p.control->state) >> 32;
}

bool is_on(void)
{
	return fx_load_acquire(&p.control->state) & FX_CAT_FUNCTION;
}

void record(unsigned name, unsigned count)
{
	struct fake_chunk c = fp_claim(&p, 4001);
	enum fx_clock_kind kind = test_clock_kind();
	static uint64_t last;

	fx_store_release(&p.header->epoch_started, epoch());
	while (count--) {
		uint64_t now = fx_ticks(kind);

		/* Calls of one thread do not overlap. */
		if (now < last + 20)
			now = last + 20;
		fp_complete(&c, CATEGORY, name, now, now + 10);
		last = now;
	}
	fp_release(&c);
}

void post(const struct fx_packet *packet)
{
	uint64_t position = p.header->packet_head++;
	struct fx_packet_slot *slot = &p.header->packets[position % FX_PACKETS];

	slot->packet = *packet;
	fx_store_release(&slot->seq, position + 1);
}

void post_alert(const char *name)
{
	struct fx_packet packet = {.request = FX_PACKET_ALERT};

	memcpy((char *)&packet + sizeof(packet.request), name, strnlen(name, FX_ALERT_NAME_MAX));
	post(&packet);
}

void initialize(enum fx_buffering_mode mode)
{
	const struct fx_msg_initialize request = control_request(mode);

	cr_assert_eq(control_initialize(link_fd, &request, archive_path()), 0);
}

uint64_t events(const char *name)
{
	return archive_count_events(archive_path(), FXT_EVENT_DURATION_COMPLETE, name);
}

void terminate(void)
{
	cr_assert_eq(control_terminate(link_fd, NULL), 0);
	archive_expect_clean(archive_path());
}

void live_and_die(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		provide();
		record(NAME, 1);
		_exit(0);
	}
	cr_assert_eq(waitpid(pid, NULL, 0), pid);
}
