/* SPDX-License-Identifier: MIT */
/* What is known of a process that ends while it is read, and what such a one has of its parent. */
#include <criterion/criterion.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "manager/process/about.h"

static void expect_text(const struct fx_abouts *abouts, enum fx_about about, const char *text)
{
	if (text)
		cr_expect_str_eq(abouts->texts[about], text);
	else
		cr_expect_null(abouts->texts[about]);
}

/* A child of which COMMAND and EXECUTABLE were read (NULL: not), and what it has after its parent's are known. */
static void inherit(bool is_over, const char *command, const char *executable,
		    const char *const wanted[3])
{
	struct fx_abouts child = {.is_over = is_over}, parent = {.is_over = false};

	child.texts[FX_ABOUT_COMMAND] = command ? strdup(command) : NULL;
	child.texts[FX_ABOUT_EXECUTABLE] = executable ? strdup(executable) : NULL;
	parent.texts[FX_ABOUT_COMMAND] = strdup("parent 1");
	parent.texts[FX_ABOUT_EXECUTABLE] = strdup("/parent");
	parent.texts[FX_ABOUT_DIRECTORY] = strdup("/home");
	fx_abouts_inherit(&child, &parent);
	expect_text(&child, FX_ABOUT_COMMAND, wanted[0]);
	expect_text(&child, FX_ABOUT_EXECUTABLE, wanted[1]);
	expect_text(&child, FX_ABOUT_DIRECTORY, wanted[2]);
	fx_abouts_free(&child);
	fx_abouts_free(&parent);
}

Test(about, ended_before_anything_was_read)
{
	inherit(true, NULL, NULL, (const char *[]){"parent 1", "/parent", "/home"});
}

Test(about, ended_while_it_was_read)
{
	inherit(true, "child 2", NULL, (const char *[]){"child 2", "/parent", "/home"});
	inherit(true, "child 2", "/child", (const char *[]){"child 2", "/child", "/home"});
}

Test(about, runs_and_is_nobodys_to_read)
{
	inherit(false, "child 2", NULL, (const char *[]){"child 2", NULL, NULL});
}

Test(about, of_this_process)
{
	struct fx_abouts abouts = {.is_over = true};

	fx_abouts_read(&abouts, getpid(), getuid(), 0);
	cr_expect_not(abouts.is_over);
	cr_expect_not_null(abouts.texts[FX_ABOUT_COMMAND]);
	cr_expect_not_null(abouts.texts[FX_ABOUT_DIRECTORY]);
	fx_abouts_free(&abouts);
}

Test(about, of_one_that_has_ended)
{
	struct fx_abouts abouts = {.is_over = false};
	siginfo_t info;
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	cr_assert_eq(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	fx_abouts_read(&abouts, pid, getuid(), 0);
	cr_expect(abouts.is_over);
	cr_expect_null(abouts.texts[FX_ABOUT_COMMAND]);
	fx_abouts_free(&abouts);
	waitpid(pid, NULL, 0);
}
