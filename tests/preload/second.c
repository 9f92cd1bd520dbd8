/* SPDX-License-Identifier: MIT */
/*
 * second: a recorder of the -finstrument-functions hooks that stands before ours and jumps on to it, so that one run
 * is recorded twice. Preloaded before libfxtrace.so (or alone), it writes the file SECOND in the format of
 * tests/e2e/hooklog.c: the program's load address in hex on a line, then 16 bytes a hook.
 *
 * It goes another way than ours: which calls are over it learns from libgcc's unwinder, which walks the stack from
 * each hook until it meets an open call. A call that was left without exit gets one when that is seen. The hooks of
 * ours see the registers and the stack that the compiler gave them.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <unwind.h>

#if defined(__x86_64__)

#define FILE_BYTES (UINT64_C(1) << 32) /* a hole, but for what is written */
#define OPEN_MAX   65536u

struct hook {
	uint64_t function; /* address << 1 | exit */
	uint64_t tid;
};

/* An open call, and the stack frame that it is in: the compiler may have put several into one. */
struct open_call {
	uint64_t function, place, site;
	uint64_t cfa;  /* the caller's stack pointer */
	uint64_t code; /* where the code begins that the hook is in */
};

struct thread {
	struct open_call open[OPEN_MAX];
	unsigned depth;
};

static char *file;
static uint64_t next; /* offset of the next hook */
static __thread struct thread *self __attribute__((tls_model("initial-exec")));

void (*second_next_enter)(void *, void *), (*second_next_exit)(void *, void *);
void second_enter(uint64_t function, uint64_t site, uint64_t sp);
void second_exit(uint64_t function, uint64_t site, uint64_t sp);

static int first_object(struct dl_phdr_info *info, size_t size, void *base)
{
	(void)size;
	*(uint64_t *)base = info->dlpi_addr;
	return 1; /* the program itself comes first */
}

static void begin(void)
{
	const char *path = getenv("SECOND") ? getenv("SECOND") : "second.log";
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	uint64_t base = 0;

	if (fd < 0 || ftruncate(fd, (off_t)FILE_BYTES) != 0)
		abort();
	file = mmap(NULL, FILE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
	close(fd);
	if (file == MAP_FAILED)
		abort();
	dl_iterate_phdr(first_object, &base);
	next = (uint64_t)sprintf(file, "%llx\n", (unsigned long long)base);
	*(void **)&second_next_exit = dlsym(RTLD_NEXT, "__cyg_profile_func_exit");
	*(void **)&second_next_enter = dlsym(RTLD_NEXT, "__cyg_profile_func_enter");
}

__attribute__((constructor)) static void begin_early(void)
{
	if (!file)
		begin();
}

__attribute__((destructor)) static void end(void)
{
	uint64_t length = next;

	if (truncate(getenv("SECOND") ? getenv("SECOND") : "second.log", (off_t)length) != 0)
		abort();
}

static void put(uint64_t function, unsigned exit)
{
	struct hook h = {function << 1 | exit, (uint64_t)syscall(SYS_gettid)};
	uint64_t at = __atomic_fetch_add(&next, sizeof h, __ATOMIC_RELAXED);

	if (at + sizeof h > FILE_BYTES)
		abort();
	memcpy(file + at, &h, sizeof h);
}

static struct thread *thread_get(void)
{
	if (!file)
		begin();
	if (!self)
		self = mmap(NULL, sizeof *self, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return self;
}

static void close_down_to(struct thread *t, unsigned depth)
{
	while (t->depth > depth)
		put(t->open[--t->depth].function, 1);
}

/* --- The walk ----------------------------------------------------------------------------------- */

struct walk {
	struct thread *thread;
	uint64_t sp; /* of the function whose hook it is */
	struct open_call call;
	uint64_t code;	/* of the frame before */
	unsigned alive; /* depth of the newest open call that was met */
};

/* The newest open call whose stack frame ends here and still has its return address; 0 none. `code`: in that code, unless
 * 0 (a part of a function may have been moved away from the rest). */
static unsigned depth_of_frame(const struct walk *w, uint64_t cfa, uint64_t code)
{
	uint64_t site = ((const uint64_t *)(uintptr_t)cfa)[-1];

	for (unsigned i = w->thread->depth; i > 0; i--) {
		const struct open_call *c = &w->thread->open[i - 1];

		if (c->cfa == cfa && c->site == site && (!code || c->code == code))
			return i;
	}
	return 0;
}

/* A frame's own stack pointer is where the one before ends. */
static _Unwind_Reason_Code step(struct _Unwind_Context *context, void *data)
{
	struct walk *w = data;
	uint64_t sp = _Unwind_GetCFA(context);
	uint64_t code = _Unwind_GetRegionStart(context);
	uint64_t before = w->code;

	w->code = code;
	if (sp <= w->sp) /* ours, and the function's own */
		return _URC_NO_REASON;
	if (!w->call.cfa) {
		w->call.cfa = sp;
		w->call.code = before;
		w->alive = depth_of_frame(w, sp, before);
	} else {
		w->alive = depth_of_frame(w, sp, 0);
	}
	return w->alive ? _URC_END_OF_STACK : _URC_NO_REASON;
}

static void walk(struct walk *w)
{
	_Unwind_Backtrace(step, w);
}

/* --- The hooks ---------------------------------------------------------------------------------- */

/*
 * Open calls of the same stack frame are callers that this one was inlined into, unless its hook comes again, or is the
 * first of a function that is not: then they were left. A function that is inlined into itself may go round.
 */
static void close_repeated(struct thread *t, const struct walk *w)
{
	unsigned first = t->depth;

	while (first > 0 && t->open[first - 1].cfa == w->call.cfa)
		first--;
	for (unsigned i = first; i < t->depth; i++) {
		if (t->open[i].place == w->call.place &&
		    (w->call.code != w->call.function || i == first))
			close_down_to(t, i);
	}
}

void second_enter(uint64_t function, uint64_t site, uint64_t sp)
{
	struct thread *t = thread_get();
	uint64_t place = ((const uint64_t *)(uintptr_t)sp)[-1];
	struct walk w = {
	    .thread = t, .sp = sp, .call = {.function = function, .place = place, .site = site}};

	walk(&w);
	close_down_to(t, w.alive);
	close_repeated(t, &w);
	put(function, 0);
	if (t->depth == OPEN_MAX)
		abort();
	t->open[t->depth++] = w.call;
}

/* The hook may be the last thing that a function does: then its stack frame is gone. */
void second_exit(uint64_t function, uint64_t site, uint64_t sp)
{
	struct thread *t = thread_get();
	uint64_t place = ((const uint64_t *)(uintptr_t)sp)[-1];
	struct walk w = {.thread = t, .sp = sp};

	walk(&w);
	for (unsigned i = t->depth; i > 0; i--) {
		const struct open_call *c = &t->open[i - 1];

		if (c->function != function ||
		    (place == site ? c->site != site || c->cfa > sp : c->cfa != w.call.cfa))
			continue;
		close_down_to(t, i - 1);
		return;
	}
}

/* The hooks proper: after the log, on to the next with all as it was. */
#define HOOK(name, log, following)                                                                 \
	__asm__(".globl " #name "\n"                                                               \
		".type " #name ", @function\n" #name ":\n"                                         \
		".cfi_startproc\n"                                                                 \
		"push %rdi\n"                                                                      \
		".cfi_adjust_cfa_offset 8\n"                                                       \
		"push %rsi\n"                                                                      \
		".cfi_adjust_cfa_offset 8\n"                                                       \
		"sub $8, %rsp\n"                                                                   \
		".cfi_adjust_cfa_offset 8\n"                                                       \
		"lea 32(%rsp), %rdx\n"                                                             \
		"call " #log "@PLT\n"                                                              \
		"add $8, %rsp\n"                                                                   \
		".cfi_adjust_cfa_offset -8\n"                                                      \
		"pop %rsi\n"                                                                       \
		".cfi_adjust_cfa_offset -8\n"                                                      \
		"pop %rdi\n"                                                                       \
		".cfi_adjust_cfa_offset -8\n"                                                      \
		"mov " #following "@GOTPCREL(%rip), %rax\n"                                        \
		"jmp *(%rax)\n"                                                                    \
		".cfi_endproc\n"                                                                   \
		".size " #name ", .-" #name "\n")

HOOK(__cyg_profile_func_enter, second_enter, second_next_enter);
HOOK(__cyg_profile_func_exit, second_exit, second_next_exit);

#endif
