/* SPDX-License-Identifier: MIT */
/* The daemon's sessions. Alerts, notes and snapshots. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "tests/manager/session/stage.h"

TestSuite(daemon, .init = stage_begin, .fini = stage_finish, .timeout = 60);

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
