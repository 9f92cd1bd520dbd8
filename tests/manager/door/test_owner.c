/* SPDX-License-Identifier: MIT */
/* The page that says whether the manager lives. */
#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "base/atomic.h"
#include "base/syscall.h"
#include "manager/door/owner.h"
#include "protocol/socket.h"

/* The provider's view: read-only, and it cannot be otherwise. */
static const struct fx_common *view_of(int fd)
{
	void *page = mmap(NULL, FX_PAGE, PROT_READ, MAP_SHARED, fd, 0);

	cr_assert_neq(page, MAP_FAILED);
	cr_assert_eq(mmap(NULL, FX_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0), MAP_FAILED);
	return page;
}

/* The descriptor that comes along with a message. */
static int receive_fd(int from)
{
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	char byte;
	struct iovec part = {&byte, 1};
	struct msghdr m = {.msg_iov = &part,
			   .msg_iovlen = 1,
			   .msg_control = &control,
			   .msg_controllen = sizeof(control)};
	int fd;

	cr_assert_eq(recvmsg(from, &m, 0), 1);
	__builtin_memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof(fd));
	return fd;
}

/* A process that owns a page and sends it, then waits to be killed. */
static _Noreturn void be_manager(int to)
{
	struct fx_owner owner;

	if (fx_owner_init(&owner) < 0 || fx_owner_listen(&owner) < 0)
		_exit(1);
	fx_socket_send(to, "x", 1, &owner.fd, 1);
	for (;;)
		pause();
}

Test(owner, a_manager_that_is_killed_is_seen_to_be, .timeout = 60)
{
	const struct fx_common *page;
	int pair[2], status;
	pid_t pid;

	cr_assert_eq(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
	pid = fork();
	if (pid == 0)
		be_manager(pair[1]);
	page = view_of(receive_fd(pair[0]));
	cr_assert_eq(fx_load_acquire(&page->owner), (uint32_t)pid);
	kill(pid, SIGKILL);
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert(fx_load_acquire(&page->owner) & FX_OWNER_DIED);
}

Test(owner, an_orderly_end_looks_the_same)
{
	const struct fx_common *page;
	struct fx_owner owner;

	cr_assert_eq(fx_owner_init(&owner), 0);
	page = view_of(owner.fd);
	cr_assert_eq(page->owner, (uint32_t)fx_gettid());
	fx_owner_destroy(&owner);
	cr_assert(page->owner & FX_OWNER_DIED);
}

Test(owner, the_doorbell_is_heard, .timeout = 60)
{
	const struct fx_common *page;
	struct fx_owner owner;
	struct pollfd wait;
	int tries = 0;

	cr_assert_eq(fx_owner_init(&owner), 0);
	cr_assert_eq(fx_owner_listen(&owner), 0);
	page = view_of(owner.fd);
	wait = (struct pollfd){.fd = owner.bell_fd, .events = POLLIN};
	/* A ring is lost while the listener has not come to wait. */
	do {
		fx_syscall3(SYS_futex, &page->doorbell, FUTEX_WAKE, 1);
	} while (poll(&wait, 1, 50) == 0 && ++tries < 100);
	cr_assert_lt(tries, 100);
	fx_owner_destroy(&owner);
}
