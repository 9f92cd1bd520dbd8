/* SPDX-License-Identifier: MIT */
#include "kernel/provider.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "engine/provider/category.h"
#include "engine/provider/engine.h"
#include "engine/provider/record.h"
#include "engine/provider/string.h"
#include "format/encode.h"
#include "protocol/messages.h"
#include "protocol/socket.h"

#define NAME "fxtrace-kernel"

/* How long the manager's answer is waited for. */
#define ANSWER_MS 10000

/* Weights of scheduling records: of any thread, and of a processor that has none. */
#define WEIGHT_USUAL 0
#define WEIGHT_IDLE  INT32_MIN

/* States of a thread that loses its processor, as the records have them. */
enum { STATE_RUNNABLE = 1, STATE_WAITS = 3 };

/* --- Registering ------------------------------------------------------------------------------- */

static int registration_send(int fd)
{
	struct fx_msg_register message = {
	    .header = fx_message_header(FX_MSG_REGISTER),
	    .pid = (uint32_t)getpid(),
	    .cause = FX_REGISTER_KERNEL,
	    .name = NAME,
	};

	return fx_socket_send(fd, &message, sizeof(message), NULL, 0);
}

static int fds_take(struct msghdr *head, int fds[FX_FD_COUNT])
{
	struct cmsghdr *c = CMSG_FIRSTHDR(head);

	if (!c || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS ||
	    c->cmsg_len != CMSG_LEN(FX_FD_COUNT * sizeof(int)))
		return -EPROTO;
	memcpy(fds, CMSG_DATA(c), FX_FD_COUNT * sizeof(int));
	return 0;
}

static int registration_receive(int fd, struct fx_msg_registered *ret, int fds[FX_FD_COUNT])
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(FX_FD_COUNT * sizeof(int))];
	} control;
	struct iovec iov = {ret, sizeof(*ret)};
	struct msghdr head = {.msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = &control,
			      .msg_controllen = sizeof(control)};
	struct pollfd one = {.fd = fd, .events = POLLIN};
	ssize_t n;

	do
		n = poll(&one, 1, ANSWER_MS);
	while (n < 0 && errno == EINTR);
	if (n == 0)
		return -ETIMEDOUT;
	do
		n = recvmsg(fd, &head, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	if (n != sizeof(*ret) || fx_message_check(&ret->header, FX_MSG_REGISTERED) < 0)
		return -EPROTO;
	return ret->status < 0 ? ret->status : fds_take(&head, fds);
}

static void *shared_map(int fd, uint64_t size, int protection)
{
	void *p = mmap(NULL, size, protection, MAP_SHARED, fd, 0);

	if (p == MAP_FAILED)
		return NULL;
	return p;
}

/* There are no strings that the manager knows beforehand. */
static int provider_attach(const struct fx_msg_registered *message, const int fds[FX_FD_COUNT])
{
	static const struct fx_builtin none = {.next = 1};
	const void *control = shared_map(fds[FX_FD_CONTROL], message->control_size, PROT_READ);
	const void *common = shared_map(fds[FX_FD_COMMON], (uint64_t)getpagesize(), PROT_READ);
	void *buffer = shared_map(fds[FX_FD_BUFFER], message->buffer_size, PROT_READ | PROT_WRITE);

	if (!control || !common || !buffer)
		return -ENOMEM;
	return fx_engine_attach((int)getpid(), control, common, buffer, message->buffer_size,
				&none);
}

int fx_kernel_register(const char *path)
{
	struct fx_msg_registered message;
	int fds[FX_FD_COUNT], fd, r;

	fx_clock_init((const void *)getauxval(AT_SYSINFO_EHDR));
	fd = fx_socket_connect(path);
	if (fd < 0)
		return fd;
	r = registration_send(fd);
	if (r == 0)
		r = registration_receive(fd, &message, fds);
	close(fd);
	if (r < 0)
		return r;
	r = provider_attach(&message, fds);
	for (unsigned i = 0; i < FX_FD_COUNT; i++)
		close(fds[i]);
	return r;
}

void fx_kernel_knows(const char *category, const char *description)
{
	fx_category_know(category, description);
}

bool fx_kernel_is_on(void)
{
	return fx_thread_on(FX_CAT_USER) != NULL;
}

void fx_kernel_leave(void)
{
	fx_thread_exit();
}

/* --- Records ------------------------------------------------------------------------------------ */

struct text {
	const char *data;
	size_t length;
};

static uint32_t text_make(uint64_t key, const void *data)
{
	const struct text *text = data;

	(void)key;
	return fx_string_define(text->data, text->length, 0);
}

/* A text's index; or, where all have been given away, how long it is in the record itself. */
static uint32_t text_ref(const struct fx_thread *t, const struct text *text)
{
	uint32_t index = 0;

	if (text->length)
		index = fx_string_of_bytes(t, text->data, text->length, text_make, text);
	return index ? index : fx_ref_inline(text->length);
}

static unsigned text_inline_words(uint32_t ref)
{
	return ref & FXT_STRING_INLINE
		   ? (unsigned)fx_bytes_words(ref & ~(uint32_t)FXT_STRING_INLINE)
		   : 0;
}

static uint64_t *text_write(uint64_t *out, uint32_t ref, const struct text *text)
{
	return ref & FXT_STRING_INLINE ? fx_bytes_write(out, text->data, text->length) : out;
}

/* What any chunk has room for, beside all else that a sample is. */
static struct text stack_cut(const char *data, size_t length)
{
	size_t most = fx_engine.layout.chunk_size / 2;

	while (length > most) {
		const char *end = memrchr(data, '\n', length);

		length = end ? (size_t)(end - data) : most;
	}
	return (struct text){data, length};
}

/* The innermost function. */
static struct text text_first_line(const struct text *stack)
{
	const char *end = memchr(stack->data, '\n', stack->length);
	size_t length = end ? (size_t)(end - stack->data) : stack->length;

	return (struct text){stack->data,
			     length < FXT_MAX_NAME_LENGTH ? length : FXT_MAX_NAME_LENGTH};
}

/* header, time, process, thread, name, stack and its text, period. */
void fx_kernel_sample(struct fx_task thread, uint64_t ns, uint32_t period, const char *stack,
		      size_t length)
{
	struct fx_thread *t = fx_thread_on(FX_CAT_USER);
	struct text whole = stack_cut(stack, length), leaf = text_first_line(&whole);
	uint32_t name, key, span, value, category;
	struct fx_reservation r;
	unsigned words, arg;
	uint64_t *p, *out;

	if (!t)
		return;
	category = fx_string_literal(t, "sample");
	key = fx_string_literal(t, "stack");
	span = fx_string_literal(t, "period_ns");
	name = text_ref(t, &leaf);
	value = text_ref(t, &whole);
	if (!category || !key || !span)
		return; /* the first strings of all have room */
	arg = 1 + text_inline_words(value);
	words = 4 + text_inline_words(name) + arg + 1;
	p = fx_record_reserve(t, words, &r);
	if (!p)
		return;
	p[1] = ns;
	p[2] = thread.pid;
	p[3] = thread.tid;
	out = text_write(p + 4, name, &leaf);
	*out = FXT_PUT(ARG_TYPE, FXT_ARG_STRING) | FXT_PUT(ARG_SIZE, arg) | FXT_PUT(ARG_NAME, key) |
	       FXT_PUT(ARG_STRING_VALUE, value);
	out = text_write(out + 1, value, &whole);
	*out = FXT_PUT(ARG_TYPE, FXT_ARG_UINT32) | FXT_PUT(ARG_SIZE, 1) | FXT_PUT(ARG_NAME, span) |
	       FXT_PUT(ARG_VALUE32_VALUE, period);
	fx_record_commit(
	    t, p, fx_header_event(words, FXT_EVENT_INSTANT, 2, FXT_THREAD_INLINE, category, name),
	    &r);
}

static uint64_t *weight_write(uint64_t *out, uint32_t key, int32_t weight)
{
	*out = FXT_PUT(ARG_TYPE, FXT_ARG_INT32) | FXT_PUT(ARG_SIZE, 1) | FXT_PUT(ARG_NAME, key) |
	       FXT_PUT(ARG_VALUE32_VALUE, (uint32_t)weight);
	return out + 1;
}

/* What the processor did before and does afterwards is not known: nothing. */
void fx_kernel_switch(struct fx_task thread, uint64_t ns, uint32_t cpu, enum fx_kernel_switch what)
{
	struct fx_thread *t = fx_thread_on(FX_CAT_USER);
	unsigned state = what == FX_SWITCH_WAITS ? STATE_WAITS : STATE_RUNNABLE;
	bool in = what == FX_SWITCH_IN;
	struct fx_reservation r;
	uint32_t outgoing, incoming;
	uint64_t *p, *out;

	if (!t)
		return;
	outgoing = fx_string_literal(t, "outgoing_weight");
	incoming = fx_string_literal(t, "incoming_weight");
	p = fx_record_reserve(t, 6, &r);
	if (!p)
		return;
	p[1] = ns;
	p[2] = in ? 0 : thread.tid;
	p[3] = in ? thread.tid : 0;
	out = weight_write(p + 4, outgoing, in ? WEIGHT_IDLE : WEIGHT_USUAL);
	weight_write(out, incoming, in ? WEIGHT_USUAL : WEIGHT_IDLE);
	fx_record_commit(t, p, fx_header_context_switch(6, 2, cpu, in ? STATE_RUNNABLE : state),
			 &r);
}

static void image_name(struct fx_thread *t, uint32_t pid, const struct text *name)
{
	unsigned words = 2 + (unsigned)fx_bytes_words(name->length);
	struct fx_reservation r;
	uint64_t *p = fx_record_reserve(t, words, &r);

	if (!p)
		return;
	p[1] = pid;
	fx_bytes_write(p + 2, name->data, name->length);
	fx_record_commit(
	    t, p,
	    fx_header_kernel_object(words, FXT_OBJECT_PROCESS, fx_ref_inline(name->length), 0), &r);
}

static void task_name(struct fx_thread *t, struct fx_task thread, const struct text *name)
{
	unsigned words = 4 + (unsigned)fx_bytes_words(name->length);
	uint32_t key = fx_string_literal(t, "process");
	struct fx_reservation r;
	uint64_t *p = fx_record_reserve(t, words, &r), *out;

	if (!p)
		return;
	p[1] = thread.tid;
	out = fx_bytes_write(p + 2, name->data, name->length);
	*out++ = FXT_PUT(ARG_TYPE, FXT_ARG_KOID) | FXT_PUT(ARG_SIZE, 2) | FXT_PUT(ARG_NAME, key);
	*out = thread.pid;
	fx_record_commit(
	    t, p, fx_header_kernel_object(words, FXT_OBJECT_THREAD, fx_ref_inline(name->length), 1),
	    &r);
}

void fx_kernel_name(struct fx_task thread, const char *name, bool is_new_program)
{
	struct fx_thread *t = fx_thread_on(FX_CAT_USER);
	const struct text text = {name, strlen(name)};

	if (!t || !text.length)
		return;
	if (is_new_program && thread.pid == thread.tid)
		image_name(t, thread.pid, &text);
	task_name(t, thread, &text);
}

void fx_kernel_lost(uint64_t count)
{
	struct fx_thread *t = fx_thread_on(FX_CAT_USER);

	while (t && count--)
		fx_record_drop(t, FX_LOSS_KERNEL);
}
