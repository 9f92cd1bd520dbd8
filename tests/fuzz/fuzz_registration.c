/* SPDX-License-Identifier: MIT */
/*
 * What a manager answers to a process that registers, as libfxtrace reads it: the message, how many
 * descriptors come with it and of what size, and what the control page says.
 *
 * What must hold: either the process is registered, with everything that it will touch in place, or it
 * runs on as before; no descriptor is left.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "engine/provider/engine.h"
#include "preload/attach/attach.h"
#include "preload/host/variables.h"
#include "preload/host/modules.h"
#include "preload/strings.h"
#include "protocol/socket.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/input.h"

/* Nothing but the answer is looked at. */
void fx_modules_write(void)
{
}

void fx_modules_collect(const char *program)
{
	(void)program;
}

/* Nor who answers. */
const char *fx_environ_value(const char *name)
{
	(void)name;
	return NULL;
}

/* Without the seal none would be mapped. */
static int memory_make(uint64_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0 || ftruncate(fd, (off_t)size) < 0 || fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK) < 0)
		abort();
	return fd;
}

/* The size that it should have, or another. */
static uint64_t size_choose(struct input *in, uint64_t right)
{
	uint8_t how = input_u8(in);

	switch (how) {
	case 255:
		return 0;
	case 254:
		return right - FX_PAGE;
	case 253:
		return right + FX_PAGE;
	case 252:
		return input_u16(in);
	case 251:
		return input_u64(in);
	default:
		return right;
	}
}

static void patch(struct input *in, void *data, size_t size)
{
	for (unsigned patches = input_u8(in) % 4; patches--;) {
		size_t at = input_u16(in) % size, length = input_u8(in) % 32;

		if (length > size - at)
			length = size - at;
		input_take(in, (uint8_t *)data + at, length);
	}
}

static void control_write(struct input *in, int fd, const struct fx_layout *layout)
{
	struct fx_control c = {
	    .magic = FX_CONTROL_MAGIC,
	    .version = FX_LAYOUT_VERSION,
	    .buffering_mode = FX_MODE_STREAMING,
	    .tick_step = 1,
	    .layout = *layout,
	};

	patch(in, &c, sizeof(c));
	if (pwrite(fd, &c, sizeof(c), 0) < 0)
		abort();
}

/* Bytes of the longest answer: more than there should be. */
#define MESSAGE_MAX 64u

struct answer {
	union {
		struct fx_msg_registered message;
		char room[MESSAGE_MAX];
	};
	int fds[4];
	size_t fd_count;
};

static void answer_make(struct input *in, struct answer *ret)
{
	struct fx_layout layout;
	uint64_t control, file;
	uint8_t how = input_u8(in);

	if (fx_layout_compute(&layout, 16384, (enum fx_buffering_mode)(1 + how % 3)) < 0)
		abort();
	control = fx_control_size(&layout);
	*ret = (struct answer){.message = {
				   .header = fx_message_header(FX_MSG_REGISTERED),
				   .control_size = size_choose(in, control),
				   .buffer_size = size_choose(in, layout.total_size),
			       }};
	patch(in, &ret->message, sizeof(ret->message));
	file = size_choose(in, control);
	ret->fds[FX_FD_CONTROL] = memory_make(file % (1u << 20));
	ret->fds[FX_FD_COMMON] = memory_make(size_choose(in, FX_PAGE) % (1u << 20));
	ret->fds[FX_FD_BUFFER] = memory_make(size_choose(in, layout.total_size) % (1u << 28));
	ret->fds[3] = dup(ret->fds[0]);
	ret->fd_count = how < 0xc0 ? FX_FD_COUNT : how % 5;
	if (file >= sizeof(struct fx_control))
		control_write(in, ret->fds[FX_FD_CONTROL], &layout);
}

static void answer_send(int fd, const struct answer *a, size_t size)
{
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(sizeof(a->fds))];
	} control = {0};
	struct iovec part = {(void *)&a->message, size};
	struct msghdr h = {.msg_iov = &part, .msg_iovlen = 1};

	if (a->fd_count) {
		h.msg_control = &control;
		h.msg_controllen = CMSG_SPACE(a->fd_count * sizeof(int));
		control.align.cmsg_level = SOL_SOCKET;
		control.align.cmsg_type = SCM_RIGHTS;
		control.align.cmsg_len = CMSG_LEN(a->fd_count * sizeof(int));
		memcpy(CMSG_DATA(&control.align), a->fds, a->fd_count * sizeof(int));
	}
	if (sendmsg(fd, &h, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		abort();
}

/* Touches all that an attached process may. */
static void buffer_touch(void)
{
	const struct fx_layout *l = &fx_engine.layout;
	uint8_t *at = (uint8_t *)fx_engine.header;
	uint64_t half = (uint64_t)l->chunks_per_half * l->chunk_size;

	at[l->total_size - 1] = 1;
	at[l->threads_offset + (uint64_t)l->thread_count * sizeof(struct fx_thread_slot) - 1] = 1;
	at[l->table_offset + 8ull * l->halves * l->chunks_per_half - 1] = 1;
	if (l->durable_size)
		at[l->durable_offset + l->durable_size - 1] = 1;
	for (uint32_t i = 0; i < l->halves; i++)
		at[l->rolling_offset[i] + half - 1] = 1;
	if (fx_load_relaxed(&fx_engine.page->saved[l->halves * l->chunks_per_half - 1]) ||
	    fx_load_relaxed(&fx_engine.common->owner))
		at[0] = 1;
	munmap(at, l->total_size);
	fx_engine_detach();
}

/* A control page that the process was attached with is kept for a while; not over a million of them. */
static void control_unmap(uint64_t size)
{
	static const struct fx_control *newest;
	static uint64_t newest_size;

	if (newest && newest != fx_engine.page)
		munmap((void *)newest, newest_size);
	newest = fx_engine.page;
	newest_size = size;
}

static int lowest_free(void)
{
	int fd = dup(STDERR_FILENO);

	close(fd);
	return fd;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, data + size};
	struct answer answer;
	int before = lowest_free(), pair[2];

	answer_make(&in, &answer);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		abort();
	answer_send(pair[1], &answer, size_choose(&in, sizeof(answer.message)) % MESSAGE_MAX);
	for (size_t i = 0; i < sizeof(answer.fds) / sizeof(answer.fds[0]); i++)
		close(answer.fds[i]);
	shutdown(pair[1], SHUT_WR);
	if (fx_attach_over(pair[0], FX_REGISTER_START) == 0) {
		buffer_touch();
		control_unmap(answer.message.control_size);
	}
	close(pair[1]);
	if (lowest_free() != before)
		abort();
	return 0;
}
