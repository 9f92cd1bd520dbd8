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
#include "base/utf8.h"
#include "engine/provider/category.h"
#include "engine/provider/engine.h"
#include "engine/provider/record.h"
#include "engine/provider/string.h"
#include "format/encode.h"
#include "kernel/shown.h"
#include "preload/strings.h"
#include "protocol/messages.h"
#include "protocol/socket.h"

#define NAME "fxtrace-kernel"

/* How long the manager's answer is waited for. */
#define ANSWER_MS 10000

/* Weights of scheduling records: of any thread, and of a processor that has none. */
#define WEIGHT_USUAL 0
#define WEIGHT_IDLE  INT32_MIN

/* What a system call returns that fails is a negative errno, from this one on. */
#define MAX_ERRNO 4095

/* Addresses of programs have so many bits. */
#define ADDRESS_BITS 47

/* States of a thread that loses its processor, as the records have them. */
enum { STATE_RUNNABLE = 1, STATE_STOPPED = 2, STATE_WAITS = 3, STATE_ENDS = 5 };

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

/* The strings that the manager knows beforehand are those of programs. */
static int provider_attach(const struct fx_msg_registered *message, const int fds[FX_FD_COUNT])
{
	const void *control = shared_map(fds[FX_FD_CONTROL], message->control_size, PROT_READ);
	const void *common = shared_map(fds[FX_FD_COMMON], (uint64_t)getpagesize(), PROT_READ);
	void *buffer = shared_map(fds[FX_FD_BUFFER], message->buffer_size, PROT_READ | PROT_WRITE);

	if (!control || !common || !buffer)
		return -ENOMEM;
	return fx_engine_attach((int)getpid(), control, common, buffer, message->buffer_size,
				&fx_builtin);
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

/* As much of it as `most' bytes hold, in whole characters. */
static struct text text_up_to(const char *data, size_t length, size_t most)
{
	if (length > most)
		length = most;
	while (length == most && length && fx_utf8_is_continuation((uint8_t)data[length]))
		length--;
	return (struct text){data, length};
}

/* What any chunk has room for, beside all else that a sample is: whole lines, unless one alone is too long. */
static struct text stack_cut(const char *data, size_t length)
{
	size_t most = fx_engine.layout.chunk_size / 2;

	while (length > most) {
		const char *end = memrchr(data, '\n', length);

		if (!end)
			return text_up_to(data, length, most);
		length = (size_t)(end - data);
	}
	return (struct text){data, length};
}

/* The innermost function. */
static struct text text_first_line(const struct text *stack)
{
	const char *end = memchr(stack->data, '\n', stack->length);
	size_t length = end ? (size_t)(end - stack->data) : stack->length;

	return length > FXT_MAX_NAME_LENGTH ? text_up_to(stack->data, length, FXT_MAX_NAME_LENGTH)
					    : (struct text){stack->data, length};
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
	static const uint8_t states[] = {[FX_SWITCH_IN] = STATE_RUNNABLE,
					 [FX_SWITCH_WAITS] = STATE_WAITS,
					 [FX_SWITCH_STOPPED] = STATE_STOPPED,
					 [FX_SWITCH_ENDS] = STATE_ENDS,
					 [FX_SWITCH_PREEMPTED] = STATE_RUNNABLE};
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
	fx_record_commit(t, p, fx_header_context_switch(6, 2, cpu, states[what]), &r);
}

void fx_kernel_wakeup(uint32_t tid, uint64_t ns, uint32_t cpu, uint32_t waker)
{
	struct fx_thread *t = fx_thread_on(FX_CAT_USER);
	struct fx_reservation r;
	uint32_t weight, by;
	uint64_t *p, *out;

	if (!t)
		return;
	weight = fx_string_literal(t, "weight");
	by = fx_string_literal(t, "waker");
	p = fx_record_reserve(t, 6, &r);
	if (!p)
		return;
	p[1] = ns;
	p[2] = tid;
	out = weight_write(p + 3, weight, WEIGHT_USUAL);
	*out++ = FXT_PUT(ARG_TYPE, FXT_ARG_KOID) | FXT_PUT(ARG_SIZE, 2) | FXT_PUT(ARG_NAME, by);
	*out = waker;
	fx_record_commit(t, p, fx_header_thread_wakeup(6, 2, cpu), &r);
}

/* --- System calls ------------------------------------------------------------------------------- */

/* Of a call's record what stands behind its thread. */
struct call_words {
	uint64_t words[4 + 2 * (FX_CALL_ARGS + 3) + FX_CALL_ARGS * (FX_SHOWN_MAX / 8)];
	unsigned count, args;
};

static uint64_t *call_arg(struct call_words *call, uint32_t key, unsigned type, unsigned words,
			  uint64_t upper)
{
	uint64_t *at = &call->words[call->count];

	at[0] = FXT_PUT(ARG_TYPE, type) | FXT_PUT(ARG_SIZE, words) | FXT_PUT(ARG_NAME, key) |
		FXT_PUT(ARG_VALUE32_VALUE, upper);
	call->count += words;
	call->args++;
	return at + 1;
}

/* What can be an address is shown as one, and a number of 32 bits that is negative as such: -1, AT_FDCWD. */
static void call_value(struct call_words *call, uint32_t key, int64_t value)
{
	if (value >= UINT32_MAX - INT16_MAX && value <= UINT32_MAX)
		value = (int32_t)value;
	if (value >= INT32_MIN && value <= INT32_MAX)
		call_arg(call, key, FXT_ARG_INT32, 1, (uint32_t)value);
	else if (value > UINT32_MAX && value >> ADDRESS_BITS == 0)
		*call_arg(call, key, FXT_ARG_POINTER, 2, 0) = (uint64_t)value;
	else
		*call_arg(call, key, FXT_ARG_INT64, 2, 0) = (uint64_t)value;
}

static void call_text(struct call_words *call, const struct fx_thread *t, uint32_t key,
		      const struct text *text)
{
	uint32_t ref = text_ref(t, text);

	text_write(call_arg(call, key, FXT_ARG_STRING, 1 + text_inline_words(ref), ref), ref, text);
}

static void call_argument(struct call_words *call, const struct fx_thread *t,
			  const struct fx_kernel_call *of, unsigned i)
{
	const struct fx_call_arg *how = of->how ? &of->how[i] : NULL;
	uint32_t key = how ? fx_string_literal(t, how->name) : 0;
	uint64_t value = of->args[i];
	char shown[FX_SHOWN_MAX];
	struct text text = {.data = shown};

	if (!key)
		key = FX_STR_arg0 + i;
	switch (how ? fx_shown(how->kind, value, shown, &text.length) : FX_SHOWN_UNKNOWN) {
	case FX_SHOWN_TEXT:
		call_text(call, t, key, &text);
		break;
	case FX_SHOWN_INT:
		call_arg(call, key, FXT_ARG_INT32, 1, (uint32_t)value);
		break;
	case FX_SHOWN_LONG:
		*call_arg(call, key, FXT_ARG_INT64, 2, 0) = value;
		break;
	case FX_SHOWN_POINTER:
		*call_arg(call, key, FXT_ARG_POINTER, 2, 0) = value;
		break;
	case FX_SHOWN_UNKNOWN:
		call_value(call, key, (int64_t)value);
		break;
	}
}

static void call_result(struct call_words *call, const struct fx_thread *t,
			const struct fx_kernel_call *of)
{
	bool failed = of->result < 0 && of->result >= -MAX_ERRNO;
	unsigned name;

	if (of->end == FX_CALL_UNFINISHED)
		call_arg(call, fx_string_literal(t, "unfinished"), FXT_ARG_BOOL, 1, 1);
	if (of->end != FX_CALL_RETURNS)
		return;
	call_value(call, FX_STR_ret, failed ? -1 : of->result);
	if (!failed)
		return;
	name = fx_errno_string((int)-of->result);
	if (name)
		call_arg(call, FX_STR_errno, FXT_ARG_STRING, 1, name);
	else
		call_value(call, FX_STR_errno, -of->result);
}

/* header, time, process, thread, name, arguments, end. */
void fx_kernel_record_call(const struct fx_kernel_call *of)
{
	struct fx_thread *t = fx_thread_on(FX_CAT_USER);
	const struct text text = {of->name, strlen(of->name)};
	struct call_words call = {.count = 0};
	uint32_t name = FX_STR_syscall;
	struct fx_reservation r;
	unsigned words;
	uint64_t *p;

	if (!t)
		return;
	if (text.length)
		name = text_ref(t, &text);
	call.count = (unsigned)(text_write(call.words, name, &text) - call.words);
	if (!text.length)
		call_value(&call, FX_STR_number, of->number);
	for (unsigned i = 0; i < of->count && i < FX_CALL_ARGS; i++)
		call_argument(&call, t, of, i);
	call_result(&call, t, of);
	call.words[call.count++] = of->end_ns;
	words = 4 + call.count;
	p = fx_record_reserve(t, words, &r);
	if (!p)
		return;
	p[1] = of->begin_ns;
	p[2] = of->task.pid;
	p[3] = of->task.tid;
	memcpy(p + 4, call.words, call.count * sizeof(*p));
	fx_record_commit(t, p,
			 fx_header_event(words, FXT_EVENT_DURATION_COMPLETE, call.args,
					 FXT_THREAD_INLINE, FX_STR_syscall, name),
			 &r);
}

/* --- Names -------------------------------------------------------------------------------------- */

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
