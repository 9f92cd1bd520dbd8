/* SPDX-License-Identifier: MIT */
#include "preload/attach/bring.h"

#include <errno.h>
#include <linux/memfd.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>

#include "base/clock.h"
#include "base/fault.h"
#include "base/syscall.h"
#include "engine/provider/engine.h"
#include "preload/attach/attach.h"
#include "preload/host/modules.h"

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif

/* A start or a stop changes the configuration while it is copied; not so often. */
#define TRIES 8

static bool is_within_limit(uint64_t size)
{
	struct rlimit limit;

	return fx_syscall4(SYS_prlimit64, 0, RLIMIT_FSIZE, 0, &limit) == 0 &&
	       (limit.rlim_cur == RLIM_INFINITY || size <= limit.rlim_cur);
}

/*
 * Shared memory counts as a file, and beyond the limit of those there is a signal, to this thread. All are blocked, so it is taken
 * away before it comes. Where the program had blocked it itself, there may have been one already, which is not told from ours:
 * then the limit is asked for.
 */
static long memory_size(long fd, uint64_t size, uint64_t blocked)
{
	const struct timespec none = {0};
	const uint64_t signal = 1ull << (SIGXFSZ - 1);
	long r;

	if ((blocked & signal) && !is_within_limit(size))
		return -EFBIG;
	r = fx_syscall2(SYS_ftruncate, fd, size);
	if (r == -EFBIG && !(blocked & signal))
		fx_syscall4(SYS_rt_sigtimedwait, &signal, 0, &none, sizeof signal);
	return r;
}

/* A descriptor, or -errno. `blocked`: signals that were before all were. */
static int memory_make(uint64_t size, uint64_t blocked)
{
	unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
	char name[] =
	    "fxtrace-child"; /* on the stack: it is on no page that is touched otherwise */
	long fd, r;

	fd = fx_syscall2(SYS_memfd_create, name, flags | MFD_NOEXEC_SEAL);
	if (fd == -EINVAL) /* before Linux 6.3 */
		fd = fx_syscall2(SYS_memfd_create, name, flags);
	if (fx_syscall_failed(fd))
		return (int)fd;
	r = memory_size(fd, size, blocked); /* the manager seals it */
	if (r != 0) {
		fx_syscall1(SYS_close, fd);
		return (int)r;
	}
	return (int)fd;
}

/* What the parent's page says. False if it never stood still. */
static bool configuration_copy(struct fx_control *to, const struct fx_control *from)
{
	for (unsigned i = 0; i < TRIES; i++) {
		/* acquire: the configuration stands before the state does. Pairs with the manager's release. */
		uint64_t state = fx_load_acquire(&from->state);

		memcpy(to, from,
		       offsetof(struct fx_control, stack_duration) + sizeof from->stack_duration);
		fx_fence();
		if (fx_load_relaxed(&from->state) == state)
			return true;
	}
	return false;
}

/* The categories that are wanted: words, and an empty one. */
static void categories_copy(struct fx_control *to, const struct fx_control *from)
{
	const char *list = (const char *)from + from->categories_offset;
	size_t length = 0, word;

	do {
		word = strnlen(list + length, FX_WANTED_SIZE - length);
		length += word + 1;
	} while (word && length < FX_WANTED_SIZE);
	if (length > 1) /* the memory is new: there the empty one stands already */
		memcpy((char *)to + to->categories_offset, list, length);
}

/* The recipes, which may grow meanwhile: as far as they are counted. */
static void recipes_copy(struct fx_control *to, const struct fx_control *from)
{
	const struct fx_recipe_book *book = fx_recipe_book_of(from);
	struct fx_recipe_book *copy = (struct fx_recipe_book *)fx_recipe_book_of(to);
	uint32_t serial =
	    fx_load_acquire(&book->serial); /* both pair with the manager's releases */
	uint32_t count = fx_load_acquire(&book->count), used = fx_load_relaxed(&book->used);

	if (used > FX_RECIPE_SPACE || used < sizeof *book || count > FX_RECIPE_MODULES)
		return;
	memcpy(copy, book, used);
	copy->serial = serial ? serial : 1; /* a child waits for nothing */
	copy->count = count;
}

/* Chunks that the session does not use are marked. */
static void share_copy(struct fx_control *to, const struct fx_control *from)
{
	const struct fx_layout *l = &fx_engine.layout;

	for (uint32_t i = l->chunks_per_half; i--;) {
		if (fx_load_relaxed(&from->saved[i]) != FX_SAVED_BEYOND)
			return;
		to->saved[i] = FX_SAVED_BEYOND;
		if (l->halves == 2)
			to->saved[l->chunks_per_half + i] = FX_SAVED_BEYOND;
	}
}

/* A page as the parent's, for a buffer of which all is free. */
static int bring_control_fill(struct fx_control *to, const struct fx_control *from)
{
	const struct fx_layout *l = &fx_engine.layout;

	if (!configuration_copy(to, from))
		return -EAGAIN;
	to->wraps_saved = to->space_word = 0;
	to->provider_id = 0; /* the manager's to give */
	if (to->serial_limit)
		to->serial_limit = (uint64_t)l->halves * l->chunks_per_half;
	to->builtin_id = from->builtin_id;
	to->recipes_offset = from->recipes_offset;
	to->stash_offset = from->stash_offset;
	if (to->recipes_offset)
		recipes_copy(to, from);
	to->half_enough = from->half_enough;
	to->patch = from->patch;
	if (to->categories_offset)
		categories_copy(to, from);
	share_copy(to, from);
	return 0;
}

/* The message, with the memory; it lies in the socket until the manager takes it. */
static int bring_tell(int fd, const struct fx_msg_bring *message, int memory)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = {0};
	struct iovec iov = {(void *)message, fx_attach_message_bytes(sizeof *message)};
	struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
	long r;

	if (memory >= 0) {
		msg.msg_control = &control;
		msg.msg_controllen = sizeof control;
	}
	control.align.cmsg_level = SOL_SOCKET;
	control.align.cmsg_type = SCM_RIGHTS;
	control.align.cmsg_len = CMSG_LEN(sizeof memory);
	memcpy(CMSG_DATA(&control.align), &memory, sizeof memory);
	do
		r = fx_syscall3(SYS_sendmsg, fd, &msg, MSG_DONTWAIT | MSG_NOSIGNAL);
	while (r == -EINTR);
	return r == (long)iov.iov_len ? 0 : r < 0 ? (int)r : -EPROTO;
}

/* The memory's descriptor is closed. */
static int manager_tell(const struct fx_msg_bring *message, int memory)
{
	int fd = fx_attach_connect(false), r;

	if (fd < 0) {
		fx_syscall1(SYS_close, memory);
		return fd;
	}
	FX_FAULT(bring_connected);
	r = bring_tell(fd, message, memory);
	/* More descriptors are under way than this user may have: at least it is counted. */
	if (r == -ETOOMANYREFS)
		bring_tell(fd, message, -1);
	fx_attach_close((const int[]){memory, fd}, 2);
	return r;
}

/* Puts the new page where the parent's was: what a fork has interrupted may look there. */
static int control_move(struct fx_control *control, uint64_t size)
{
	long p = fx_syscall6(SYS_mremap, (long)control, (long)size, (long)size,
			     MREMAP_MAYMOVE | MREMAP_FIXED, (long)fx_engine.page, 0);

	if (fx_syscall_failed(p)) {
		fx_syscall2(SYS_munmap, control, size);
		return (int)p;
	}
	return (int)fx_syscall3(SYS_mprotect, p, size, PROT_READ);
}

/* The kernel itself is asked: its shared object is two pages that few children come to. */
static uint64_t boottime_asked(void)
{
	struct timespec now;

	return fx_syscall2(SYS_clock_gettime, CLOCK_BOOTTIME, &now) == 0
		   ? (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec
		   : fx_boottime_ns();
}

/* The descriptor is closed. */
static int bring_mapped(int memory, struct fx_control *control, struct fx_msg_bring *message)
{
	void *buffer = (char *)control + message->control_size;
	int r = bring_control_fill(control, fx_engine.page);

	FX_FAULT(bring_made);
	message->born_ns = boottime_asked();
	if (r == 0)
		r = manager_tell(message, memory);
	else
		fx_syscall1(SYS_close, memory);
	FX_FAULT(bring_told);
	if (r == 0)
		r = control_move(control, message->control_size);
	else
		fx_syscall2(SYS_munmap, control, message->control_size);
	if (r == 0)
		r = fx_attach_engine((int)message->pid, fx_engine.page, message->control_size,
				     fx_common(), buffer, message->buffer_size);
	if (r != 0)
		fx_syscall2(SYS_munmap, buffer, message->buffer_size);
	return r;
}

static int bring(uint64_t blocked)
{
	struct fx_msg_bring message = {
	    .header = {FX_MESSAGE_MAGIC, FX_MESSAGE_VERSION, FX_MSG_BRING},
	    .pid = (uint32_t)fx_attach_take_pid(),
	    .parent_pid = (uint32_t)fx_engine.pid, /* still its maker's */
	    .control_size =
		fx_control_size_with(&fx_engine.layout, fx_engine.page->recipes_offset != 0),
	    .buffer_size = fx_engine.layout.total_size,
	    .wish = *fx_attach_wish(),
	};
	uint64_t size = message.control_size + message.buffer_size;
	int memory = memory_make(size, blocked), r;
	long p;

	if (memory < 0)
		return memory == -EMFILE ? memory : -ENOSYS;
	fx_attach_name(message.name);
	p = fx_syscall6(SYS_mmap, 0, (long)size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
			memory, 0);
	if (!fx_syscall_failed(p))
		fx_syscall3(SYS_madvise, p, size, MADV_DONTDUMP);
	if (fx_syscall_failed(p)) {
		fx_syscall1(SYS_close, memory);
		return -ENOSYS; /* the manager is to hear that its address space has no room, as of any other's */
	}
	r = bring_mapped(memory, (struct fx_control *)p, &message);
	if (r == 0)
		fx_modules_write();
	return r;
}

/* A handler that forked in the middle of it would leave two children with one memory. */
int fx_bring(void)
{
	const uint64_t all = UINT64_MAX;
	struct rlimit limit;
	uint64_t before;
	int r;

	fx_syscall4(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, sizeof(all));
	r = bring(before);
	if (r == -EMFILE && fx_attach_raise(&limit)) {
		r = bring(before);
		fx_attach_lower(&limit);
	}
	fx_syscall4(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof(all));
	return r;
}
