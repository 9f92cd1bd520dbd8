/* SPDX-License-Identifier: MIT */
#include "manager/door/owner.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/syscall.h"
#include "manager/door/memfd.h"

/* The kernel finds the word by the list's fixed distance from entry to word. */
static struct robust_list robust_entry;
static struct robust_list_head robust_head;

/* Takes the place of libc's list of this thread: nothing here uses robust mutexes. */
static int robust_set(struct fx_owner *owner)
{
	robust_entry.next = &robust_head.list;
	robust_head.list.next = &robust_entry;
	robust_head.futex_offset = (long)((char *)&owner->page->owner - (char *)&robust_entry);
	robust_head.list_op_pending = NULL;
	return (int)fx_syscall2(SYS_set_robust_list, &robust_head, sizeof(robust_head));
}

/* An empty list, so that nothing is touched when the thread ends. */
static void robust_clear(void)
{
	robust_head.list.next = &robust_head.list;
}

int fx_owner_init(struct fx_owner *ret)
{
	struct fx_owner owner = {.fd = -1, .bell_fd = -1};
	int r;

	owner.fd = fx_memfd_create("fxtrace-common", FX_PAGE);
	if (owner.fd < 0)
		return owner.fd;
	r = fx_memfd_map_and_seal(owner.fd, FX_PAGE, FX_MEMFD_OURS, (void **)&owner.page);
	if (r == 0) {
		owner.bell_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		r = owner.bell_fd < 0 ? -errno : 0;
	}
	if (r == 0) {
		fx_store_release(&owner.page->owner, (uint32_t)fx_gettid());
		r = robust_set(&owner);
		if (r == -ENOSYS) {
			owner.page->unguarded = 1;
			r = 0;
		}
	}
	if (r < 0) {
		fx_owner_destroy(&owner);
		return r;
	}
	*ret = owner;
	return 0;
}

static void *bell_main(void *opaque)
{
	const struct timespec look = {.tv_sec = 1};
	struct fx_owner *owner = opaque;

	while (!fx_load_relaxed(&owner->ending)) {
		long r = fx_syscall4(SYS_futex, &owner->page->doorbell, FUTEX_WAIT, 0, &look);

		if (r == 0)
			eventfd_write(owner->bell_fd, 1);
	}
	return NULL;
}

int fx_owner_listen(struct fx_owner *owner)
{
	sigset_t all, before;
	int r;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	r = pthread_create(&owner->bell, NULL, bell_main, owner);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	owner->bell_runs = r == 0;
	return -r;
}

static void bell_stop(struct fx_owner *owner)
{
	fx_store_relaxed(&owner->ending, true);
	/* The word changes, so that a wait that is about to begin ends at once. */
	fx_store_release(&owner->page->doorbell, 1);
	fx_syscall3(SYS_futex, &owner->page->doorbell, FUTEX_WAKE, INT_MAX);
	pthread_join(owner->bell, NULL);
}

void fx_owner_destroy(struct fx_owner *owner)
{
	if (owner->bell_runs)
		bell_stop(owner);
	if (owner->page) {
		robust_clear();
		fx_store_release(&owner->page->owner, FX_OWNER_DIED);
		munmap(owner->page, FX_PAGE);
	}
	if (owner->bell_fd >= 0)
		close(owner->bell_fd);
	if (owner->fd >= 0)
		close(owner->fd);
	memset(owner, 0, sizeof(*owner));
	owner->fd = owner->bell_fd = -1;
}
