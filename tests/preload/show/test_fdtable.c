/* SPDX-License-Identifier: MIT */
/* The table of descriptors without a buffer: what is forgotten, kept and added up. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "preload/show/fdtable.h"

/* In place of the engine's and the namer's. */
static void fill(int fd, uint32_t string)
{
	struct fx_fd *entry = &fx_fd_table.entries[fd];

	entry->word = entry->word >> 32 << 32 | string;
	entry->read = 10;
	entry->written = 20;
}

TestSuite(fdtable, .init = fx_fd_table_init);

Test(fdtable, knows_and_forgets)
{
	uint32_t age;

	fill(3, 77);
	cr_assert_eq(fx_fd_known(3).string, 77);
	age = fx_fd_age(3);
	fx_fd_forget(3);
	cr_assert_eq(fx_fd_known(3).string, 0);
	cr_assert_eq(fx_fd_age(3), age + 1);
	cr_assert_eq(fx_fd_table.entries[3].read + fx_fd_table.entries[3].written, 0);
}

Test(fdtable, renamed_keeps_totals)
{
	uint32_t age;
	uint64_t word;

	fill(4, 78);
	age = fx_fd_age(4);
	word = fx_fd_table.entries[4].word;
	fx_fd_renamed(4);
	cr_assert_eq(fx_fd_age(4), age);
	cr_assert_neq(fx_fd_table.entries[4].word >> 32, word >> 32);
	cr_assert_eq(fx_fd_known(4).string, 0);
	cr_assert_eq(fx_fd_table.entries[4].read, 10);
	cr_assert_eq(fx_fd_table.entries[4].written, 20);
}

Test(fdtable, numbers_beyond)
{
	const int beyond[] = {-1, (int)FX_FDS, INT32_MIN, INT32_MAX};

	for (unsigned i = 0; i < FX_ARRAY_LEN(beyond); i++) {
		fx_fd_forget(beyond[i]);
		fx_fd_renamed(beyond[i]);
		cr_assert_eq(fx_fd_known(beyond[i]).string, 0);
		cr_assert_eq(fx_fd_look(beyond[i], 1).string, 0);
	}
	fx_fd_forget_range(0, UINT32_MAX);
}

/* Asked once, and again when the number is another descriptor's. */
Test(fdtable, channels)
{
	int file = open("/dev/null", O_RDWR), sockets[2], pipes[2], channel;

	cr_assert_eq(pipe(pipes), 0);
	cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
	channel = pipes[0];
	cr_assert(fx_fd_is_channel(channel) && fx_fd_is_channel(sockets[1]));
	cr_assert_not(fx_fd_is_channel(file));
	cr_assert_eq(dup2(file, channel), channel);
	cr_assert(fx_fd_is_channel(channel), "nobody has said that it is another one");
	fx_fd_forget(channel);
	cr_assert_not(fx_fd_is_channel(channel));
	cr_assert_eq(dup2(sockets[0], channel), channel);
	fx_fd_forget(channel);
	cr_assert(fx_fd_is_channel(channel));
	cr_assert_not(fx_fd_is_channel(-1));
	cr_assert_not(fx_fd_is_channel((int)FX_FDS_ASKED));
	cr_assert_not(fx_fd_is_channel(INT32_MAX));
}

Test(fdtable, what_is_shown)
{
	fill(5, 79 | FX_FD_UNSETTLED);
	cr_assert_eq(fx_fd_known(5).string, 79);
	fill(5, FX_FD_NAMELESS);
	cr_assert_eq(fx_fd_known(5).string, 0);
	cr_assert_eq(fx_fd_look(5, 1).string, 0);
	fill(5, 80);
	cr_assert_eq(fx_fd_look(5, 1).string, 80);
	cr_assert_eq(fx_fd_add(&fx_fd_table.entries[5].read, 5), 15);
}

/* What was opened here, and has neither a copy nor a mapping. */
Test(fdtable, single)
{
	cr_assert_not(fx_fd_is_single(5), "it was there before");
	fx_fd_forget(5);
	cr_assert(fx_fd_is_single(5));
	fx_fd_renamed(5);
	cr_assert(fx_fd_is_single(5));
	fx_fd_copied(5, 6);
	cr_assert_not(fx_fd_is_single(5) || fx_fd_is_single(6));
	fx_fd_renamed(6);
	cr_assert_not(fx_fd_is_single(6));
	fx_fd_forget(6);
	cr_assert(fx_fd_is_single(6));
	cr_assert_not(fx_fd_is_single(5));
	fx_fd_doubled(6);
	cr_assert_not(fx_fd_is_single(6));
	cr_assert_not(fx_fd_is_single(-1));
}
