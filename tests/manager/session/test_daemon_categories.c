/* SPDX-License-Identifier: MIT */
/* The daemon's sessions. Categories: those that providers know, those that a session asks for. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "base/atomic.h"
#include "tests/manager/session/stage.h"

TestSuite(daemon, .init = stage_begin, .fini = stage_finish, .timeout = 60);

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
