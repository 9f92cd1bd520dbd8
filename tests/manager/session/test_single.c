/* SPDX-License-Identifier: MIT */
/* A whole session with providers made by hand, honest and other. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "base/atomic.h"
#include "base/clock.h"
#include "manager/settings/timebase.h"
#include "tests/manager/client.h"
#include "tests/manager/clock_wish.h"
#include "tests/manager/records.h"

TestSuite(session, .fini = archive_remove, .timeout = 60);

static uint64_t ticks(void)
{
	static enum fx_clock_kind kind = (enum fx_clock_kind) - 1;

	if ((int)kind == -1)
		kind = test_clock_kind();
	return fx_ticks(kind);
}

#define CATEGORY 1u
#define NAME	 2u

static struct manager_process m;

/* Words to the test from a provider's process. */
static int words_to[2];

static void say(int fd)
{
	cr_assert_eq(write(fd, "x", 1), 1);
}

static void hear(int fd)
{
	struct pollfd wait = {.fd = fd, .events = POLLIN};
	char c;

	cr_assert_eq(poll(&wait, 1, 20000), 1, "no word from the other process");
	cr_assert_eq(read(fd, &c, 1), 1);
}

/* In a child: not to outlive a test that fails. */
static void end_with_parent(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
}

/* A provider in a process of its own: registers, does `work`, says so, and waits to be killed. */
static pid_t provider_start(const char *name, void (*work)(struct fake_provider *p))
{
	pid_t pid;

	cr_assert_eq(pipe(words_to), 0);
	pid = fork();
	if (pid == 0) {
		struct fake_provider p;

		end_with_parent();
		client_register(client_connect(&m), name, &p);
		fp_durable_string(&p, CATEGORY, "cat");
		fp_durable_string(&p, NAME, "name");
		work(&p);
		say(words_to[1]);
		for (;;)
			pause();
	}
	hear(words_to[0]);
	return pid;
}

static void kill_and_reap(pid_t pid)
{
	kill(pid, SIGKILL);
	cr_assert_eq(waitpid(pid, NULL, 0), pid);
}

/* The first provider is the test itself: it keeps the manager until it lets go. */
static struct fake_provider anchor;
static pid_t anchor_pid;

/* The manager watches this process, which does not die: its stand-in does. */
static void begin_with(const struct fx_session_config *config)
{
	int ready[2];

	m = manager_start(config);
	close(m.fd);
	cr_assert_eq(pipe(ready), 0);
	anchor_pid = fork();
	if (anchor_pid == 0) {
		end_with_parent();
		client_register(client_connect(&m), "anchor", &anchor);
		say(ready[1]);
		for (;;)
			pause();
	}
	hear(ready[0]);
}

static void begin(void)
{
	const struct fx_session_config config = client_config();

	begin_with(&config);
}

static void finish(void)
{
	kill_and_reap(anchor_pid);
	cr_assert_eq(manager_wait(&m), 0);
	archive_expect_clean(archive_path());
}

/* --- Honest ones ----------------------------------------------------------------------------- */

static void three_calls(struct fake_provider *p)
{
	struct fake_chunk done = fp_claim(p, 4001), held = fp_claim(p, 4002);
	uint64_t now = ticks();

	fp_complete(&done, CATEGORY, NAME, now, now + 1000);
	fp_complete(&done, CATEGORY, NAME, now + 2000, now + 3000);
	fp_release(&done);
	fp_complete(&held, CATEGORY, NAME, now, now + 1000);
	fp_frame(fp_slot(p, 0, 4002, "worker"), 0, now + 2000, 0x401000);
}

Test(session, what_a_killed_provider_had_written_is_kept)
{
	struct found_event f;
	pid_t pid;

	begin();
	pid = provider_start("victim", three_calls);
	kill_and_reap(pid);
	finish();
	cr_assert_eq(archive_count_events(archive_path(), FXT_EVENT_DURATION_COMPLETE, "name"), 3);
	f = archive_find_event(archive_path(), FXT_EVENT_DURATION_COMPLETE, "0x401000");
	cr_assert(f.unfinished);
	cr_assert_eq(f.pid, (uint64_t)pid, "the kernel's word, not the provider's");
	cr_assert_eq(f.tid, 4002);
	cr_assert_eq(archive_count(archive_path(), FXT_KIND_PROVIDER_INFO), 2);
}

Test(session, a_provider_that_lives_on_is_saved_when_the_session_ends)
{
	pid_t pid;

	begin();
	pid = provider_start("survivor", three_calls);
	kill(m.pid, SIGTERM);
	cr_assert_eq(manager_wait(&m), 0);
	archive_expect_clean(archive_path());
	cr_assert_eq(archive_count_events(archive_path(), FXT_EVENT_DURATION_COMPLETE, "name"), 3);
	kill_and_reap(pid);
	kill_and_reap(anchor_pid);
}

static void twice(struct fake_provider *p)
{
	struct fake_provider second;

	three_calls(p);
	client_register(client_connect(&m), "second image", &second);
	fp_durable_string(&second, CATEGORY, "cat");
	fp_durable_string(&second, NAME, "name");
	three_calls(&second);
}

Test(session, a_process_that_registers_again_is_another_program)
{
	pid_t pid;

	begin();
	pid = provider_start("first image", twice);
	kill_and_reap(pid);
	finish();
	cr_assert_eq(archive_count(archive_path(), FXT_KIND_PROVIDER_INFO), 3);
	cr_assert_eq(archive_count_events(archive_path(), FXT_EVENT_DURATION_COMPLETE, "name"), 6);
}

/* Fills halves by the rules, waiting for the other one to be given back. */
static void many_wraps(struct fake_provider *p)
{
	for (unsigned wrap = 0; wrap < 20; wrap++) {
		for (uint32_t i = 0; i < p->layout.chunks_per_half; i++) {
			struct fake_chunk c = fp_claim(p, 4001);
			uint64_t now = ticks();

			fp_complete(&c, CATEGORY, NAME, now, now + 10);
			fp_release(&c);
		}
		while (__atomic_load_n(&p->control->wraps_saved, __ATOMIC_ACQUIRE) < wrap)
			usleep(100);
		fp_wrap(p);
	}
}

Test(session, halves_are_saved_and_given_back)
{
	struct fx_layout layout;
	pid_t pid;

	cr_assert_eq(fx_layout_compute(&layout, client_config().buffer_size, FX_MODE_STREAMING), 0);
	begin();
	pid = provider_start("busy", many_wraps);
	kill_and_reap(pid);
	finish();
	cr_assert_eq(archive_count_events(archive_path(), FXT_EVENT_DURATION_COMPLETE, "name"),
		     20 * layout.chunks_per_half);
}

Test(session, what_a_provider_may_not_do_with_its_memory)
{
	struct fx_msg_register request = client_request("poker");
	struct client_answer answer;
	int fd;

	begin();
	fd = client_connect(&m);
	cr_assert_eq(send(fd, &request, sizeof(request), 0), (ssize_t)sizeof(request));
	cr_assert(client_receive(fd, &answer));
	cr_assert_eq(answer.fd_count, FX_FD_COUNT);
	for (unsigned i = FX_FD_CONTROL; i <= FX_FD_COMMON; i++)
		cr_assert_eq(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, answer.fds[i], 0),
			     MAP_FAILED);
	for (unsigned i = 0; i < FX_FD_COUNT; i++) {
		cr_assert_lt(ftruncate(answer.fds[i], 0), 0);
		cr_assert_lt(ftruncate(answer.fds[i], 1 << 30), 0);
		cr_assert_lt(fcntl(answer.fds[i], F_ADD_SEALS, F_SEAL_WRITE), 0);
	}
	cr_assert_lt(pwrite(answer.fds[FX_FD_CONTROL], "x", 1, 0), 0);
	/* This process is a provider now and does not die: the manager is told to end. */
	kill(m.pid, SIGTERM);
	cr_assert_eq(manager_wait(&m), 0);
	kill_and_reap(anchor_pid);
}

/* Uses all of its memory: 33 MB, of which 256 KiB are for records. */
static void hog(struct fake_provider *p)
{
	three_calls(p);
	memset((char *)p->header + p->layout.threads_offset, 0xff,
	       p->layout.thread_count * sizeof(struct fx_thread_slot));
	for (unsigned tries = 0; (uint32_t)fx_load_acquire(&p->control->state); tries++) {
		cr_assert_lt(tries, 2000, "it is not stopped");
		usleep(10000);
	}
}

Test(session, who_takes_more_memory_than_there_is_goes)
{
	struct fx_session_config config = client_config();
	pid_t pid, good;

	config.max_memory = 4 << 20;
	begin_with(&config);
	good = provider_start("good", three_calls);
	pid = provider_start("hog", hog);
	kill_and_reap(pid);
	/* What it had is free again. */
	pid = provider_start("another", three_calls);
	kill_and_reap(pid);
	kill_and_reap(good);
	finish();
	cr_assert_geq(archive_count_events(archive_path(), FXT_EVENT_DURATION_COMPLETE, "name"), 6);
}

/* --- Others ---------------------------------------------------------------------------------- */

static void impossible_claims(struct fake_provider *p)
{
	three_calls(p);
	usleep(700000); /* until the manager has looked */
	p->header->rolling_state = UINT64_MAX;
	*fp_table(p, 0) = UINT64_MAX;
	memset(fp_durable(p), 0xff, 4096);
	memset((char *)p->header + p->layout.threads_offset, 0xff, sizeof(struct fx_thread_slot));
}

Test(session, a_liar_harms_only_itself)
{
	pid_t liar, honest;

	begin();
	honest = provider_start("honest", three_calls);
	liar = provider_start("liar", impossible_claims);
	kill_and_reap(liar);
	kill_and_reap(honest);
	finish();
	/* What the liar wrote before it lied counts as well. */
	cr_assert_eq(archive_count_events(archive_path(), FXT_EVENT_DURATION_COMPLETE, "name"), 6);
}

static int32_t status_of(const void *message, size_t size)
{
	struct client_answer answer;
	int fd = client_connect(&m);
	int32_t status;

	cr_assert_eq(send(fd, message, size, 0), (ssize_t)size);
	cr_assert(client_receive(fd, &answer));
	cr_assert_eq(answer.fd_count, 0);
	status = answer.message.status;
	cr_assert_not(client_receive(fd, &answer), "closed after one answer");
	close(fd);
	return status;
}

Test(session, requests_that_are_none)
{
	struct fx_msg_register request;
	char large[4096] = "";

	begin();
	request = client_request("x");
	cr_assert_eq(status_of(&request, 8), -EMSGSIZE);
	cr_assert_eq(status_of(large, sizeof(large)), -EMSGSIZE);
	request.header.magic++;
	cr_assert_eq(status_of(&request, sizeof(request)), -EBADMSG);
	request = client_request("x");
	request.header.version++;
	cr_assert_eq(status_of(&request, sizeof(request)), -EPROTONOSUPPORT);
	request = client_request("x");
	request.header.type = FX_MSG_REGISTERED;
	cr_assert_eq(status_of(&request, sizeof(request)), -EBADMSG);
	finish();
	cr_assert_eq(archive_count(archive_path(), FXT_KIND_PROVIDER_INFO), 1);
}

static void send_with_descriptors(int fd, const void *message, size_t size, unsigned count)
{
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(64 * sizeof(int))];
	} control;
	struct iovec part = {(void *)message, size};
	struct msghdr h = {.msg_iov = &part,
			   .msg_iovlen = 1,
			   .msg_control = &control,
			   .msg_controllen = CMSG_SPACE(count * sizeof(int))};

	control.align.cmsg_level = SOL_SOCKET;
	control.align.cmsg_type = SCM_RIGHTS;
	control.align.cmsg_len = CMSG_LEN(count * sizeof(int));
	for (unsigned i = 0; i < count; i++)
		memset(CMSG_DATA(&control.align) + i * sizeof(int), 0, sizeof(int)); /* stdin */
	cr_assert_eq(sendmsg(fd, &h, 0), (ssize_t)size);
}

Test(session, descriptors_that_nobody_asked_for_are_closed)
{
	struct client_answer answer;
	unsigned before;

	if (getenv("FX_EMULATOR"))
		cr_skip_test("the emulator keeps descriptors for which a message has no room");
	begin();
	/* The first provider's connection is closed by now, or soon. */
	usleep(100000);
	before = manager_descriptors(&m);
	for (unsigned i = 0; i < 20; i++) {
		int fd = client_connect(&m);

		send_with_descriptors(fd, "nonsense", 8, 1 + i * 3);
		cr_assert(client_receive(fd, &answer));
		cr_assert_eq(answer.message.status, -EMSGSIZE);
		/* The answer is sent just before the manager closes its end. */
		cr_assert_not(client_receive(fd, &answer));
		close(fd);
	}
	cr_assert_eq(manager_descriptors(&m), before);
	finish();
}

Test(session, clients_that_say_nothing_keep_nobody_out)
{
	static int silent[600];
	pid_t pid;

	begin();
	for (unsigned i = 0; i < 600; i++)
		silent[i] = client_connect(&m);
	pid = provider_start("late", three_calls);
	kill_and_reap(pid);
	cr_assert_lt(manager_descriptors(&m), 400);
	finish();
	cr_assert_eq(archive_count_events(archive_path(), FXT_EVENT_DURATION_COMPLETE, "name"), 3);
	for (unsigned i = 0; i < 600; i++)
		close(silent[i]);
}

Test(session, a_provider_keeps_one_descriptor_in_the_manager)
{
	unsigned before;
	pid_t pid;

	begin();
	usleep(100000); /* until the first provider's connection is closed */
	before = manager_descriptors(&m);
	pid = provider_start("one", three_calls);
	/* The answer comes before the manager closes what it needed for it. */
	for (unsigned i = 0; i < 1000 && manager_descriptors(&m) > before + 1; i++)
		usleep(1000);
	cr_assert_eq(manager_descriptors(&m), before + 1, "a pidfd");
	kill_and_reap(pid);
	finish();
}
