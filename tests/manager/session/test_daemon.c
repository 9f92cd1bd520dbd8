/* SPDX-License-Identifier: MIT */
/* The daemon's sessions, named after the conformance list of Fuchsia's trace manager. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "base/atomic.h"
#include "manager/settings/timebase.h"
#include "protocol/socket.h"
#include "tests/manager/daemon.h"
#include "tests/manager/clock_wish.h"
#include "tests/manager/records.h"

#define CATEGORY 1u
#define NAME	 2u
#define OTHER	 3u

static struct manager_process m;
static int link_fd; /* a client */
static struct fake_provider p;

static void begin(void)
{
	m = daemon_start();
	link_fd = client_connect(&m);
}

static void finish(void)
{
	close(link_fd);
	cr_assert_eq(daemon_stop(&m), 0);
	archive_remove();
}

TestSuite(daemon, .init = begin, .fini = finish, .timeout = 60);

/* --- A provider ------------------------------------------------------------------------------ */

static void provide(void)
{
	client_register(client_connect(&m), "provider", &p);
	fp_durable_string(&p, CATEGORY, "cat");
	fp_durable_string(&p, NAME, "name");
	fp_durable_string(&p, OTHER, "other");
}

static uint64_t epoch(void)
{
	return fx_load_acquire(&p.control->state) >> 32;
}

static bool is_on(void)
{
	return fx_load_acquire(&p.control->state) & FX_CAT_FUNCTION;
}

/* A thread that claims a chunk for each run of tracing, as threads do after a start. */
static void record(unsigned name, unsigned count)
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

static void post(const struct fx_packet *packet)
{
	uint64_t position = p.header->packet_head++;
	struct fx_packet_slot *slot = &p.header->packets[position % FX_PACKETS];

	slot->packet = *packet;
	fx_store_release(&slot->seq, position + 1);
}

static void post_alert(const char *name)
{
	struct fx_packet packet = {.request = FX_PACKET_ALERT};

	memcpy((char *)&packet + sizeof(packet.request), name, strnlen(name, FX_ALERT_NAME_MAX));
	post(&packet);
}

static void initialize(enum fx_buffering_mode mode)
{
	const struct fx_msg_initialize request = control_request(mode);

	cr_assert_eq(control_initialize(link_fd, &request, archive_path()), 0);
}

static uint64_t events(const char *name)
{
	return archive_count_events(archive_path(), FXT_EVENT_DURATION_COMPLETE, name);
}

static void terminate(void)
{
	cr_assert_eq(control_terminate(link_fd, NULL), 0);
	archive_expect_clean(archive_path());
}

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

static void know(struct fake_provider *provider, unsigned index, const char *text, size_t length)
{
	uint32_t words = 1 + (uint32_t)(length + 7) / 8;
	uint64_t *to = fp_durable_claim(provider, words);

	memcpy(to + 1, text, length);
	fx_store_release(to, 2ull | words << 4 | index << 16 | length << 32 | FX_STRING_CATEGORY);
}

static struct fx_msg_categories known_after(const char *after, uint32_t timeout_ms)
{
	struct fx_msg_get_categories request = {.timeout_ms = timeout_ms};
	struct fx_msg_categories list;

	strcpy(request.after, after);
	control_send(link_fd, FX_MSG_GET_CATEGORIES, &request, sizeof(request), -1);
	control_receive(link_fd, FX_MSG_CATEGORIES, &list, sizeof(list));
	cr_assert_leq(list.count, FX_CATEGORIES_PER_MESSAGE);
	for (uint32_t i = 0; i < list.count; i++)
		cr_assert_gt(strcmp(list.entries[i].name, i ? list.entries[i - 1].name : after), 0);
	return list;
}

static const struct fx_category_entry *known(const struct fx_msg_categories *list, const char *name)
{
	for (uint32_t i = 0; i < list->count; i++) {
		if (strcmp(list->entries[i].name, name) == 0)
			return &list->entries[i];
	}
	cr_assert_fail("%s is not there", name);
	return NULL;
}

/* A provider in a process of its own: a process is one. */
static pid_t live_knowing(const char *text, size_t length)
{
	int ready[2];
	char c;
	pid_t pid;

	cr_assert_eq(pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		provide();
		know(&p, 0, text, length);
		cr_assert_eq(write(ready[1], "x", 1), 1);
		pause();
	}
	cr_assert_eq(read(ready[0], &c, 1), 1);
	close(ready[0]);
	close(ready[1]);
	return pid;
}

Test(daemon, known_categories_are_merged_and_listed_once)
{
	struct fx_msg_categories list = known_after("", 1000);
	uint32_t own = list.count;
	pid_t other;

	cr_assert_str_eq(list.entries[0].name, "dl");
	cr_assert_eq(known(&list, "function")->bit, FX_CAT_FUNCTION);
	cr_assert_eq(known(&list, "function")->providers, 0);
	provide();
	know(&p, 0, "render\0draws", 12);
	know(&p, 4, "net", 3);
	know(&p, 0, "net", 3);
	know(&p, 0, "function", 8);
	know(&p, 0, "a\033b", 3);
	other = live_knowing("render\0again", 12);
	list = known_after("", 1000);
	cr_assert_eq(list.count, own + 3);
	cr_assert_eq(list.silent, 0);
	cr_assert_eq(known(&list, "render")->providers, 2);
	cr_assert_eq(known(&list, "render")->bit, 0);
	cr_assert(!strcmp(known(&list, "render")->help, "draws") ||
		  !strcmp(known(&list, "render")->help, "again"));
	cr_assert_eq(known(&list, "net")->providers, 1);
	cr_assert_eq(known(&list, "a_b")->is_default, 0);
	cr_assert_eq(known(&list, "function")->providers, 1);
	cr_assert(known(&list, "function")->is_default);
	/* Who is gone knows nothing. */
	kill(other, SIGKILL);
	waitpid(other, NULL, 0);
	for (unsigned tries = 0; control_status(link_fd).providers > 1; tries++) {
		cr_assert_lt(tries, 1000);
		usleep(10000);
	}
	list = known_after("", 1000);
	cr_assert_eq(known(&list, "render")->providers, 1);
}

Test(daemon, many_known_categories_come_page_by_page)
{
	struct fx_msg_categories list = {.count = FX_CATEGORIES_PER_MESSAGE};
	char name[16] = "";
	unsigned count = 0;

	provide();
	for (unsigned i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "x%u", i);
		know(&p, 0, name, strlen(name));
	}
	name[0] = 0;
	while (list.count == FX_CATEGORIES_PER_MESSAGE) {
		list = known_after(name, 0);
		count += list.count;
		strcpy(name, list.entries[list.count - 1].name);
	}
	cr_assert_geq(count, 109);
	cr_assert_str_eq(name, "x99");
}

Test(daemon, silent_providers_are_skipped_on_timeout)
{
	struct fx_msg_categories list;
	uint64_t before;

	provide();
	know(&p, 0, "render", 6);
	p.header->magic = 0; /* as one that is stopped before it has mapped its buffer */
	before = fx_monotonic_ns();
	list = known_after("r", 300);
	cr_assert_geq(fx_monotonic_ns() - before, 300000000u);
	cr_assert_eq(list.silent, 1);
	cr_assert_str_neq(list.entries[0].name, "render");
	fx_store_release(&p.header->magic, FX_BUFFER_MAGIC);
	before = fx_monotonic_ns();
	list = known_after("r", 10000);
	cr_assert_lt(fx_monotonic_ns() - before, 5000000000u);
	cr_assert_eq(list.silent, 0);
	cr_assert_str_eq(list.entries[0].name, "render");
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

/* --- Categories ------------------------------------------------------------------------------ */

static const char *first_wanted(void)
{
	return (const char *)p.control + p.control->categories_offset;
}

Test(daemon, categories_of_one_provider)
{
	struct fx_msg_initialize request = control_request(FX_MODE_STREAMING);

	strcpy(request.words, "provider/syscall,other/malloc,provider/render");
	cr_assert_eq(control_initialize(link_fd, &request, archive_path()), 0);
	cr_assert_eq(control_start(link_fd, FX_RETAIN), 0);
	provide();
	cr_assert_eq((uint32_t)p.control->state, FX_CAT_FUNCTION | FX_CAT_SYSCALL | FX_CAT_USER);
	cr_assert_str_eq(first_wanted(), "render");
}

Test(daemon, a_start_adds_categories_for_this_time)
{
	struct fx_msg_start start = {.disposition = FX_RETAIN, .categories = FX_CAT_DL};
	struct fx_msg_result result;

	provide();
	initialize(FX_MODE_STREAMING);
	strcpy(start.words, "provider/heap,net");
	control_send(link_fd, FX_MSG_START, &start, sizeof(start), -1);
	control_receive(link_fd, FX_MSG_RESULT, &result, sizeof(result));
	cr_assert_eq(result.status, 0);
	cr_assert_eq((uint32_t)p.control->state,
		     FX_CAT_FUNCTION | FX_CAT_DL | FX_CAT_HEAP | FX_CAT_USER);
	cr_assert_str_eq(first_wanted(), "net");
	cr_assert_eq(control_stop(link_fd, true), 0);
	cr_assert_eq(control_start(link_fd, FX_RETAIN), 0);
	cr_assert_eq((uint32_t)p.control->state, FX_CAT_FUNCTION);
	cr_assert_str_eq(first_wanted(), "");
}

Test(daemon, categories_that_were_asked_for_and_never_seen)
{
	struct fx_msg_initialize request = control_request(FX_MODE_STREAMING);
	struct fx_msg_result result;

	strcpy(request.words, "cat,render,-gone,net*,g*,provider/sub,provider/cat,other/cat");
	provide();
	know(&p, 0, "gpu", 3);
	know(&p, 0, "render", 6);
	cr_assert_eq(control_initialize(link_fd, &request, archive_path()), 0);
	cr_assert_eq(control_start(link_fd, FX_RETAIN), 0);
	record(NAME, 1); /* in category "cat" */
	cr_assert_eq(control_terminate(link_fd, &result), 0);
	cr_assert_eq(result.invalid, 0);
	cr_assert_str_eq(result.unseen, "net*, provider/sub, other/cat");
	initialize(FX_MODE_STREAMING);
	cr_assert_eq(control_terminate(link_fd, &result), 0);
	cr_assert_str_eq(result.unseen, "");
}

Test(daemon, lists_of_categories_that_cannot_be_are_refused)
{
	struct fx_msg_initialize request = control_request(FX_MODE_STREAMING);
	struct fx_msg_start start = {.disposition = FX_RETAIN};
	struct fx_msg_result result;

	strcpy(request.words, "a,,b");
	cr_assert_eq(control_initialize(link_fd, &request, "/dev/null"), FX_CONTROL_BAD_REQUEST);
	memset(request.words, 'a', sizeof(request.words));
	cr_assert_eq(control_initialize(link_fd, &request, "/dev/null"), FX_CONTROL_BAD_REQUEST);
	initialize(FX_MODE_STREAMING);
	strcpy(start.words, "a b");
	control_send(link_fd, FX_MSG_START, &start, sizeof(start), -1);
	control_receive(link_fd, FX_MSG_RESULT, &result, sizeof(result));
	cr_assert_eq(result.status, FX_CONTROL_BAD_REQUEST);
	cr_assert_eq(control_status(link_fd).state, FX_SESSION_INITIALIZED);
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

/* A provider of its own that records once and dies. */
static void live_and_die(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		provide();
		record(NAME, 1);
		_exit(0);
	}
	cr_assert_eq(waitpid(pid, NULL, 0), pid);
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

/* --- Alerts and snapshots -------------------------------------------------------------------- */

static void expect_alert(const char *name)
{
	struct fx_msg_request request;
	struct fx_msg_alert alert;

	control_send(link_fd, FX_MSG_WATCH_ALERT, &request, sizeof(request), -1);
	control_receive(link_fd, FX_MSG_ALERT, &alert, sizeof(alert));
	cr_assert_str_eq(alert.name, name);
}

Test(daemon, alerts_of_1_10_and_14_characters)
{
	provide();
	initialize(FX_MODE_STREAMING);
	cr_assert_eq(control_start(link_fd, FX_RETAIN), 0);
	post_alert("a");
	expect_alert("a");
	post_alert("0123456789");
	expect_alert("0123456789");
	post_alert("0123456789abcd");
	expect_alert("0123456789abcd");
}

Test(daemon, alerts_keep_their_order_and_more_than_16_drop_the_oldest)
{
	char name[8];

	provide();
	initialize(FX_MODE_STREAMING);
	cr_assert_eq(control_start(link_fd, FX_RETAIN), 0);
	for (unsigned i = 0; i < 20; i++) {
		snprintf(name, sizeof(name), "%u", i);
		post_alert(name);
	}
	usleep(300000); /* all are read, none is asked for */
	for (unsigned i = 4; i < 20; i++) {
		snprintf(name, sizeof(name), "%u", i);
		expect_alert(name);
	}
}

/* The manager has no time to look at the ring before it is told to stop. */
Test(daemon, alerts_posted_just_before_a_stop_are_heard)
{
	provide();
	initialize(FX_MODE_STREAMING);
	cr_assert_eq(control_start(link_fd, FX_RETAIN), 0);
	kill(m.pid, SIGSTOP);
	post_alert("late");
	post_alert("later");
	kill(m.pid, SIGCONT);
	cr_assert_eq(control_stop(link_fd, true), 0);
	expect_alert("late");
	expect_alert("later");
}

Test(daemon, alerts_of_a_provider_that_dies_are_heard)
{
	pid_t pid;

	initialize(FX_MODE_STREAMING);
	cr_assert_eq(control_start(link_fd, FX_RETAIN), 0);
	pid = fork();
	if (pid == 0) {
		provide();
		kill(m.pid, SIGSTOP);
		post_alert("last words");
		_exit(0);
	}
	cr_assert_eq(waitpid(pid, NULL, 0), pid);
	kill(m.pid, SIGCONT);
	expect_alert("last words");
}

Test(daemon, an_alert_triggers_a_stop)
{
	struct fx_msg_initialize request = control_request(FX_MODE_CIRCULAR);

	request.trigger_count = 1;
	request.triggers[0] = (struct fx_trigger){.action = FX_TRIGGER_STOP, .alert = "enough"};
	provide();
	cr_assert_eq(control_initialize(link_fd, &request, archive_path()), 0);
	cr_assert_eq(control_start(link_fd, FX_RETAIN), 0);
	record(NAME, 3);
	post_alert("enough!");
	post_alert("enough");
	control_await(link_fd, FX_SESSION_STOPPED);
	terminate();
	cr_assert_eq(events("name"), 3);
}

/* --- Notes ------------------------------------------------------------------------------------ */

static int note(int fd, struct fx_msg_note request)
{
	struct fx_msg_result result;

	control_send(fd, FX_MSG_NOTE, &request, sizeof(request), -1);
	control_receive(fd, FX_MSG_RESULT, &result, sizeof(result));
	return result.status;
}

Test(daemon, notes_of_the_sessions_client_are_events)
{
	struct fx_msg_note sound = {.kind = FX_NOTE_STANDSTILL, .pid = (uint32_t)getpid()}, request;
	int other = client_connect(&m);

	sound.tid = sound.pid;
	strcpy(sound.text, "waits");
	provide();
	cr_assert_eq(note(link_fd, sound), FX_CONTROL_NOT_STARTED);
	initialize(FX_MODE_STREAMING);
	cr_assert_eq(note(link_fd, sound), FX_CONTROL_NOT_STARTED);
	cr_assert_eq(control_start(link_fd, FX_RETAIN), 0);
	record(NAME, 1);
	cr_assert_eq(note(other, sound), FX_CONTROL_BAD_REQUEST);
	request = sound;
	request.kind = FX_NOTE_DEADLOCK + 1;
	cr_assert_eq(note(link_fd, request), FX_CONTROL_BAD_REQUEST);
	request = sound;
	request.tid = 0;
	cr_assert_eq(note(link_fd, request), FX_CONTROL_BAD_REQUEST);
	request = sound;
	request.pid = 0;
	cr_assert_eq(note(link_fd, request), -ESRCH);
	request = sound;
	memset(request.text, '\xff', sizeof(request.text));
	cr_assert_eq(note(link_fd, request), FX_CONTROL_BAD_REQUEST);
	request.text[sizeof(request.text) - 1] = 0;
	request.kind = FX_NOTE_DEADLOCK;
	cr_assert_eq(note(link_fd, request), 0);
	cr_assert_eq(note(link_fd, sound), 0);
	cr_assert_eq(note(link_fd, sound), 0);
	close(other);
	terminate();
	cr_assert_eq(archive_count_events(archive_path(), FXT_EVENT_INSTANT, "standstill"), 2);
	cr_assert_eq(archive_count_events(archive_path(), FXT_EVENT_INSTANT, "deadlock"), 1);
}

/* --- Snapshots -------------------------------------------------------------------------------- */

static int take_snapshot(const char *path, struct fx_msg_result *ret)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	struct fx_msg_snapshot request = {.header = {0}};

	cr_assert_geq(fd, 0);
	snprintf(request.output, sizeof(request.output), "%s", path);
	control_send(link_fd, FX_MSG_SNAPSHOT, &request, sizeof(request), fd);
	close(fd);
	control_receive(link_fd, FX_MSG_RESULT, ret, sizeof(*ret));
	return ret->status;
}

Test(daemon, a_snapshot_leaves_everything_as_it_is)
{
	struct fx_msg_result result;
	char path[256];

	snprintf(path, sizeof(path), "%s.snapshot", archive_path());
	provide();
	initialize(FX_MODE_CIRCULAR);
	cr_assert_eq(control_start(link_fd, FX_RETAIN), 0);
	record(NAME, 3);
	cr_assert_eq(take_snapshot(path, &result), 0);
	cr_assert_eq(result.events, 3);
	archive_expect_clean(path);
	record(NAME, 2);
	cr_assert_eq(take_snapshot(path, &result), 0);
	cr_assert_eq(result.events, 5);
	archive_expect_clean(path);
	unlink(path);
	cr_assert(is_on());
	terminate();
	cr_assert_eq(events("name"), 5);
}

Test(daemon, only_circular_sessions_have_snapshots)
{
	struct fx_msg_result result;

	cr_assert_eq(take_snapshot("/dev/null", &result), FX_CONTROL_NOT_INITIALIZED);
	initialize(FX_MODE_STREAMING);
	cr_assert_eq(control_start(link_fd, FX_RETAIN), 0);
	cr_assert_eq(take_snapshot("/dev/null", &result), FX_CONTROL_NOT_CIRCULAR);
}

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

Test(daemon, requests_at_random)
{
	unsigned before;

	/* Of connections that have said nothing the oldest is closed when there are many. */
	control_status(link_fd);
	before = manager_descriptors(&m);
	provide();
	for (unsigned i = 0; i < 500; i++)
		send_at_random();
	await_silence(before + 2);
	control_await(link_fd, FX_SESSION_READY);
	initialize(FX_MODE_STREAMING);
	cr_assert_eq(control_start(link_fd, FX_CLEAR_ENTIRE), 0);
	live_and_die();
	terminate();
	cr_assert_eq(events("name"), 1);
	cr_assert_leq(manager_descriptors(&m), before + 2);
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
