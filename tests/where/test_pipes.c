/* SPDX-License-Identifier: MIT */
/* Which processes have which ends of pipes and sockets. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "where/pipes.h"

/* What a process has of that pipe: 1 reads, 2 writes; 0: none. */
static unsigned ends_of(const struct fx_pipe_ends *ends, pid_t pid, const struct fx_pipe *pipe)
{
	unsigned found = 0;

	for (size_t i = 0; i < ends->items.count; i++) {
		const struct fx_pipe_end *end = &ends->items.items[i];

		if (end->pid == pid && fx_pipe_is(&end->pipe, pipe))
			found |= (end->reads ? 1u : 0) | (end->writes ? 2u : 0);
	}
	return found;
}

Test(pipes, what_is_a_pipe)
{
	struct fx_pipe reads, writes, other;
	int fds[2], more[2], sockets[2], file = open("/dev/null", O_RDWR);

	cr_assert_eq(pipe(fds), 0);
	cr_assert_eq(pipe(more), 0);
	cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
	cr_assert(fx_pipe_of(getpid(), fds[0], &reads));
	cr_assert(fx_pipe_of(getpid(), fds[1], &writes));
	cr_assert(fx_pipe_of(getpid(), more[0], &other));
	cr_assert(fx_pipe_is(&reads, &writes));
	cr_assert_not(fx_pipe_is(&reads, &other));
	cr_assert_not(reads.is_socket);
	cr_assert(fx_pipe_of(getpid(), sockets[0], &other));
	cr_assert(other.is_socket);
	cr_assert_not(fx_pipe_of(getpid(), file, &other));
	cr_assert_not(fx_pipe_of(getpid(), 9999, &other));
}

/* A child that has the one end alone. */
Test(pipes, who_has_which_end)
{
	struct fx_pipe_ends ends;
	struct fx_pipe asked;
	int fds[2], go[2];
	pid_t child;
	char c;

	cr_assert_eq(pipe(fds), 0);
	cr_assert_eq(pipe(go), 0);
	cr_assert(fx_pipe_of(getpid(), fds[0], &asked));
	child = fork();
	if (child == 0) {
		close(fds[1]);
		if (write(go[1], "", 1) != 1)
			_exit(1);
		pause();
		_exit(0);
	}
	cr_assert_gt(child, 0);
	cr_assert_eq(read(go[0], &c, 1), 1);
	cr_assert_eq(fx_pipe_ends_find(&ends), 0);
	cr_assert_eq(ends_of(&ends, getpid(), &asked), 3);
	cr_assert_eq(ends_of(&ends, child, &asked), 1);
	fx_pipe_ends_free(&ends);
	close(fds[0]);
	cr_assert_eq(fx_pipe_ends_find(&ends), 0);
	cr_assert_eq(ends_of(&ends, getpid(), &asked), 2);
	fx_pipe_ends_free(&ends);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}
