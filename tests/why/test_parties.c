/* SPDX-License-Identifier: MIT */
/* Who is taken to have the other end of a pipe, by the calls that were seen. */
#include <criterion/criterion.h>
#include <string.h>

#include "why/parties.h"

enum { PIPE = 7, OTHER_PIPE, FILE_TEXT };

enum { READ = 20, WRITE, DUP2, FFLUSH, PUTC, READLINK, CALLS };

static const char *const names[CALLS] = {
    [READ] = "read",	 [WRITE] = "write", [DUP2] = "dup2",
    [FFLUSH] = "fflush", [PUTC] = "putc",   [READLINK] = "readlink",
};

static struct fxt_string text(const char *data, uint32_t serial)
{
	return (struct fxt_string){
	    .data = data, .length = (uint32_t)strlen(data), .serial = serial};
}

/* A call of a thread that is about that file; of dup2, what its number is then. */
struct call {
	struct fx_thread thread;
	struct fxt_string name;
	struct fxt_arg args[2];
	struct fx_event event;
};

static struct fx_event *make(struct call *call, uint32_t thread, unsigned name, uint32_t file,
			     int newfd)
{
	static const char *const files[] = {
	    [PIPE] = "pipe:[123]", [OTHER_PIPE] = "pipe:[124]", [FILE_TEXT] = "/tmp/pipe:[123]"};

	memset(call, 0, sizeof(*call));
	call->thread.number = thread;
	call->name = text(names[name], name);
	call->args[0] = (struct fxt_arg){
	    .type = FXT_ARG_STRING, .name = text("file", 0), .string = text(files[file], file)};
	call->args[1] =
	    (struct fxt_arg){.type = FXT_ARG_INT32, .name = text("newfd", 0), .int32 = newfd};
	call->event = (struct fx_event){
	    .thread = &call->thread, .name = &call->name, .args = call->args, .nargs = 2};
	return &call->event;
}

static void see(struct fx_why_parties *parties, uint32_t thread, unsigned name, uint32_t file,
		int newfd)
{
	struct call call;

	cr_assert_eq(fx_why_parties_see(parties, make(&call, thread, name, file, newfd)), 0);
}

static uint32_t other(struct fx_why_parties *parties, uint32_t thread, unsigned name, uint32_t file)
{
	struct call call;

	return fx_why_parties_other(parties, make(&call, thread, name, file, -1), thread);
}

Test(parties, one_that_writes)
{
	struct fx_why_parties parties = {0};

	see(&parties, 1, WRITE, PIPE, -1);
	see(&parties, 1, PUTC, PIPE, -1);
	see(&parties, 2, READ, PIPE, -1);
	cr_assert_eq(other(&parties, 2, READ, PIPE), 1);
	cr_assert_eq(other(&parties, 1, WRITE, PIPE), 2);
	cr_assert_eq(other(&parties, 2, READ, OTHER_PIPE), FX_WHY_NOBODY);
	cr_assert_eq(other(&parties, 2, READLINK, PIPE), FX_WHY_NOBODY);
	fx_why_parties_free(&parties);
}

Test(parties, what_a_shell_makes_of_it)
{
	struct fx_why_parties parties = {0};

	see(&parties, 1, DUP2, PIPE, 1);
	see(&parties, 2, DUP2, PIPE, 0);
	see(&parties, 3, DUP2, PIPE, 7);
	cr_assert_eq(other(&parties, 2, READ, PIPE), 1);
	cr_assert_eq(other(&parties, 1, WRITE, PIPE), 2);
	fx_why_parties_free(&parties);
}

Test(parties, several_are_nobody)
{
	struct fx_why_parties parties = {0};

	see(&parties, 1, WRITE, PIPE, -1);
	see(&parties, 2, WRITE, PIPE, -1);
	cr_assert_eq(other(&parties, 3, READ, PIPE), FX_WHY_NOBODY);
	/* The one that waits is not at its own other end. */
	cr_assert_eq(other(&parties, 2, READ, PIPE), 1);
	see(&parties, 4, WRITE, PIPE, -1);
	cr_assert_eq(other(&parties, 2, READ, PIPE), FX_WHY_NOBODY);
	fx_why_parties_free(&parties);
}

Test(parties, what_says_nothing)
{
	struct fx_why_parties parties = {0};

	/* Of what was inherited, without bytes. */
	see(&parties, 1, FFLUSH, PIPE, -1);
	see(&parties, 1, READLINK, PIPE, -1);
	see(&parties, 1, WRITE, FILE_TEXT, -1);
	cr_assert_eq(other(&parties, 2, READ, PIPE), FX_WHY_NOBODY);
	cr_assert_eq(other(&parties, 2, READ, FILE_TEXT), FX_WHY_NOBODY);
	fx_why_parties_free(&parties);
}
