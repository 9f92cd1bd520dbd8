/* SPDX-License-Identifier: MIT */
/* The daemon's sessions. Requests that are none, and buffers that lie. */
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "protocol/socket.h"
#include "tests/manager/session/stage.h"

TestSuite(daemon, .init = stage_begin, .fini = stage_finish, .timeout = 60);

/* --- Messages that are none ------------------------------------------------------------------ */

Test(daemon, malformed_requests_are_refused_and_harm_nobody)
{
	char bytes[sizeof(struct fx_msg_initialize)] = {0};
	struct fx_msg_header *header = (struct fx_msg_header *)bytes;
	struct fx_msg_result result;

	for (unsigned type = FX_MSG_RESULT; type < FX_MSG_NOTE + 4; type++) {
		int fd = client_connect(&m);

		*header =
		    (struct fx_msg_header){FX_MESSAGE_MAGIC, FX_MESSAGE_VERSION, (uint16_t)type};
		cr_assert_eq(write(fd, bytes, sizeof(*header) + 1), (ssize_t)sizeof(*header) + 1);
		control_receive(fd, FX_MSG_RESULT, &result, sizeof(result));
		cr_assert_neq(result.status, 0, "type %u", type);
		close(fd);
	}
	cr_assert_eq(control_status(link_fd).state, FX_SESSION_READY);
}

/* --- Requests and buffers at random ---------------------------------------------------------- */

static uint64_t dice = 88172645463325252u;

static uint64_t roll(void)
{
	dice ^= dice << 13;
	dice ^= dice >> 7;
	dice ^= dice << 17;
	return dice;
}

/* Mostly small numbers: they get further. */
static void randomize(void *data, size_t size)
{
	uint8_t *bytes = data;

	for (size_t i = 0; i < size; i++)
		bytes[i] = roll() % 8 == 0 ? (uint8_t)roll() : roll() % 4 == 0 ? 1 : 0;
}

static size_t size_of_request(unsigned type)
{
	switch (type) {
#define CASE(sym, nr, type, fds, help)                                                             \
	case nr:                                                                                   \
		return sizeof(struct type);
		FX_MESSAGES(CASE)
#undef CASE
	default:
		return sizeof(struct fx_msg_header);
	}
}

/* One session's worth, whatever it comes to, over a connection that does not listen. */
static void send_at_random(void)
{
	int fd = client_connect(&m), null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	for (unsigned i = 0; i < 40; i++) {
		union fx_message_any message;
		unsigned type = FX_MSG_RESULT + (unsigned)(roll() % 16);
		size_t size = size_of_request(type);

		/* Lists of words at random are rarely taken. */
		memset(&message, 0, sizeof(message));
		randomize(&message, offsetof(struct fx_msg_initialize, words) + 8);
		if (roll() % 4)
			memset(message.INITIALIZE.words, 0, 8);
		message.INITIALIZE.header =
		    (struct fx_msg_header){FX_MESSAGE_MAGIC, FX_MESSAGE_VERSION, (uint16_t)type};
		/* The names of files would be taken at their word. */
		if (type == FX_MSG_INITIALIZE) {
			strcpy(message.INITIALIZE.output, "/dev/null");
			message.INITIALIZE.trigger_count = 0;
		}
		if (type == FX_MSG_SNAPSHOT)
			strcpy(message.SNAPSHOT.output, "/dev/null");
		fx_socket_send(fd, &message, size - (roll() % 16 == 0), &null, roll() % 4 != 0);
	}
	close(null);
	close(fd);
}

/* All that other connections have said is done: they have been accepted, as this one, and are closed. */
static void await_silence(unsigned descriptors)
{
	int fd = client_connect(&m);

	control_status(fd);
	close(fd);
	for (unsigned i = 0; i < 1000 && manager_descriptors(&m) > descriptors; i++)
		usleep(10000);
}

/* Descriptors of the provider that stays, and of the memory that is ready for the next one. */
#define KEPT (2 + 2)

Test(daemon, requests_at_random)
{
	unsigned before;

	/* Of connections that have said nothing the oldest is closed when there are many. */
	control_status(link_fd);
	before = manager_descriptors(&m);
	provide();
	for (unsigned i = 0; i < 500; i++)
		send_at_random();
	await_silence(before + KEPT);
	control_await(link_fd, FX_SESSION_READY);
	initialize(FX_MODE_STREAMING);
	cr_assert_eq(control_start(link_fd, FX_CLEAR_ENTIRE), 0);
	live_and_die();
	terminate();
	cr_assert_eq(events("name"), 1);
	cr_assert_leq(manager_descriptors(&m), before + KEPT);
}

/* Writes nonsense all over what the manager reads; the other provider is told when to begin. */
static void lie(void)
{
	provide();
	for (;;) {
		uint64_t size = p.layout.total_size / 8, at = roll() % size;

		if (roll() % 2)
			at = roll() % 64; /* the header */
		else if (roll() % 2)
			at = p.layout.table_offset / 8 + roll() % 64;
		((uint64_t *)p.header)[at] = roll() % 2 ? roll() : roll() % 64;
	}
}

Test(daemon, a_provider_that_lies_loses_its_own_events_alone)
{
	for (unsigned i = 0; i < 12; i++) {
		pid_t liar = fork();

		if (liar == 0) {
			dice += i;
			lie();
		}
		usleep(10000);
		initialize((enum fx_buffering_mode)(FX_MODE_ONESHOT + i % 3));
		cr_assert_eq(control_start(link_fd, FX_CLEAR_ENTIRE), 0);
		live_and_die();
		cr_assert_eq(control_stop(link_fd, true), 0);
		cr_assert_eq(control_start(link_fd, FX_CLEAR_NONDURABLE), 0);
		live_and_die();
		terminate();
		cr_assert_eq(events("name"), 2, "session %u", i);
		kill(liar, SIGKILL);
		cr_assert_eq(waitpid(liar, NULL, 0), liar);
	}
}
