/* SPDX-License-Identifier: MIT */
#include "attach/chain.h"

#include <cpuid.h>
#include <elf.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "attach/memory.h"
#include "base/fault.h"

/* struct rt_sigframe of the kernel, as far as rt_sigreturn(2) reads it. */
struct chain_frame {
	uint64_t back; /* where the call before it returns to */
	uint64_t flags, link;
	uint64_t alternate_sp;
	uint32_t alternate_flags, unused;
	uint64_t alternate_size;
	uint64_t r8, r9, r10, r11, r12, r13, r14, r15;
	uint64_t rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp, rip, eflags;
	uint16_t cs, gs, fs, ss;
	uint64_t error, trap, old_mask, cr2;
	uint64_t xstate;
	uint64_t reserved[8];
	uint64_t blocked;
	uint64_t pad;
};
_Static_assert(offsetof(struct chain_frame, r8) == 48 && offsetof(struct chain_frame, rip) == 176 &&
		   offsetof(struct chain_frame, xstate) == 232 &&
		   offsetof(struct chain_frame, blocked) == 304 &&
		   sizeof(struct chain_frame) == 320,
	       "the kernel's");

#define FLAG_XSTATE 1u /* UC_FP_XSTATE */
#define FLAG_SS	    2u /* UC_SIGCONTEXT_SS */
#define FLAG_STRICT 4u /* UC_STRICT_RESTORE_SS */

/* No such stack: the thread keeps the one that it has for signals. */
#define NO_CHANGE 0x7fu

#define USER_CS	    0x33
#define USER_SS	    0x2b
#define CALM_FLAGS  0x202
#define ALL_SIGNALS UINT64_MAX

/* In the first 512 bytes there is room for software: what the kernel finds there in a frame. */
#define SOFTWARE    464u
#define SW_MAGIC1   0x46505853u
#define SW_MAGIC2   0x46505845u
#define XSTATE_HEAD 512u
#define TILES                                                                                      \
	(UINT64_C(3)                                                                               \
	 << 17) /* AMX: no frame has room for them unless the thread has asked for that */

/* --- What the thread has ------------------------------------------------------------------------- */

/* Bytes of the area for these parts, as the processor says. */
static uint32_t xstate_bytes(uint64_t parts)
{
	uint32_t size = XSTATE_HEAD + 64, a, b, c, d;

	for (unsigned i = 2; i < 63; i++) {
		if (!(parts >> i & 1) || !__get_cpuid_count(0xd, i, &a, &b, &c, &d) || (c & 1))
			continue;
		size = b + a > size ? b + a : size;
	}
	return size;
}

/* What ptrace() gives is made to what the kernel would have put into a frame. */
static int xstate_prepare(struct fx_chain_state *state, size_t size)
{
	uint64_t parts, used;
	struct {
		uint32_t magic, extended;
		uint64_t parts;
		uint32_t size, unused[7];
	} software = {.magic = SW_MAGIC1};
	const uint32_t end = SW_MAGIC2;

	if (size < XSTATE_HEAD + 64)
		return -ENOTSUP;
	memcpy(&parts, state->xstate + SOFTWARE, sizeof(parts));
	memcpy(&used, state->xstate + XSTATE_HEAD, sizeof(used));
	if (used & TILES)
		return -EAGAIN;
	software.parts = parts & ~TILES;
	software.size = xstate_bytes(software.parts);
	software.extended = software.size + (uint32_t)sizeof(end);
	if (software.size > size || software.extended > sizeof(state->xstate))
		return -ENOTSUP;
	memcpy(state->xstate + SOFTWARE, &software, sizeof(software));
	memcpy(state->xstate + software.size, &end, sizeof(end));
	state->xstate_size = software.extended;
	return 0;
}

int fx_chain_keep(const struct fx_held *held, struct fx_chain_state *ret)
{
	struct iovec iov = {ret->xstate, sizeof(ret->xstate) - 64};

	if (ptrace(PTRACE_GETSIGMASK, held->tid, (void *)sizeof(ret->blocked), &ret->blocked) < 0 ||
	    ptrace(PTRACE_GETREGSET, held->tid, (void *)NT_X86_XSTATE, &iov) < 0)
		return -errno;
	return xstate_prepare(ret, iov.iov_len);
}

uint64_t fx_chain_bytes(const struct fx_chain_state *state, unsigned calls)
{
	return (calls + 2ull) * sizeof(struct chain_frame) + state->xstate_size + 128;
}

/* --- Frames -------------------------------------------------------------------------------------- */

static struct chain_frame frame_begin(const struct fx_target *target)
{
	return (struct chain_frame){
	    .back = target->sigreturn,
	    .flags = FLAG_SS | FLAG_STRICT,
	    .alternate_flags = NO_CHANGE,
	    .eflags = CALM_FLAGS,
	    .cs = USER_CS,
	    .ss = USER_SS,
	    .blocked = ALL_SIGNALS,
	};
}

static struct chain_frame frame_of_call(const struct fx_target *target,
					const struct fx_chain_call *call, uint64_t stack)
{
	struct chain_frame f = frame_begin(target);

	f.rip = call->at;
	f.rsp = stack;
	f.rax = call->number;
	f.rdi = call->args[0];
	f.rsi = call->args[1];
	f.rdx = call->args[2];
	f.rcx = f.r10 = call->args[3]; /* a function's fourth, and a system call's */
	f.r8 = call->args[4];
	f.r9 = call->args[5];
	return f;
}

static struct chain_frame frame_of_thread(const struct fx_target *target,
					  const struct fx_chain_state *state, uint64_t xstate)
{
	const struct user_regs_struct *r = &state->registers;
	struct chain_frame f = frame_begin(target);

	f.flags |= FLAG_XSTATE;
	f.xstate = xstate;
	f.blocked = state->blocked;
	f.r8 = r->r8;
	f.r9 = r->r9;
	f.r10 = r->r10;
	f.r11 = r->r11;
	f.r12 = r->r12;
	f.r13 = r->r13;
	f.r14 = r->r14;
	f.r15 = r->r15;
	f.rdi = r->rdi;
	f.rsi = r->rsi;
	f.rbp = r->rbp;
	f.rbx = r->rbx;
	f.rdx = r->rdx;
	f.rax = r->rax;
	f.rcx = r->rcx;
	f.rsp = r->rsp;
	f.rip = r->rip;
	f.eflags = r->eflags;
	f.cs = (uint16_t)r->cs;
	f.ss = (uint16_t)r->ss;
	return f;
}

/* Runs to the end of the chain, from the frame at `first` to that at `last`. Before the first has blocked them, handlers of signals may run;
 * what they call has other stacks. */
static int chain_follow(struct fx_held *held, uint64_t first, uint64_t last, bool first_is_call,
			unsigned ms, int64_t *ret)
{
	struct user_regs_struct now = {0};
	enum fx_stop stop;
	bool is_last = false, is_first = first_is_call, begins = false;

	for (;;) {
		stop = fx_held_run(held, ms);
		if (stop == FX_STOP_GONE)
			return -ESRCH;
		if (stop == FX_STOP_NOT)
			return -ETIMEDOUT;
		if (!fx_held_registers(held, &now))
			return -ESRCH;
		if (stop == FX_STOP_ENTRY) {
			bool returns = now.orig_rax == SYS_rt_sigreturn;

			begins = !returns && now.rsp == first + sizeof(struct chain_frame);
			is_last = returns && now.rsp == last + sizeof(uint64_t);
		} else if (stop == FX_STOP_EXIT && is_last) {
			return 0;
		} else if (stop == FX_STOP_EXIT && is_first && begins) {
			*ret = (int64_t)now.rax;
			is_first = false;
		}
	}
}

int fx_chain_make(const struct fx_target *target, struct fx_held *held,
		  const struct fx_chain_state *state, uint64_t end,
		  const struct fx_chain_call *calls, unsigned count, unsigned ms, int64_t *ret)
{
	uint64_t xstate = (end - state->xstate_size) & ~UINT64_C(63);
	/* Where a function begins its stack is 8 beyond a multiple of 16. */
	uint64_t at = ((xstate - (count + 1) * sizeof(struct chain_frame)) & ~UINT64_C(15)) - 8;
	struct chain_frame frames[FX_CHAIN_CALLS + 1];
	struct user_regs_struct begin = state->registers;

	*ret = 0;
	if (count > FX_CHAIN_CALLS)
		return -EINVAL;
	for (unsigned i = 0; i < count; i++)
		frames[i] = frame_of_call(target, &calls[i], at + (i + 1) * sizeof(frames[0]));
	frames[count] = frame_of_thread(target, state, xstate);
	if (!fx_memory_write(target->pid, xstate, state->xstate, state->xstate_size) ||
	    !fx_memory_write(target->pid, at, frames, (count + 1) * sizeof(frames[0])))
		return -EFAULT;
	FX_FAULT(late_written);
	begin.rip = target->sigreturn;
	begin.rsp = at + sizeof(uint64_t);
	begin.orig_rax = UINT64_MAX; /* no system call: none is taken up again */
	if (!fx_held_set_registers(held, &begin))
		return -ESRCH;
	FX_FAULT(late_set);
	return chain_follow(held, at, at + count * sizeof(frames[0]),
			    calls[0].at == target->syscall, ms, ret);
}
