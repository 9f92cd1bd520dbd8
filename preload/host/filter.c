/* SPDX-License-Identifier: MIT */
#include "preload/host/filter.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/compiler.h"
#include "base/syscall.h"
#include "engine/provider/engine.h"
#include "preload/host/peek.h"

#ifndef PR_GET_TID_ADDRESS
#define PR_GET_TID_ADDRESS 40
#endif

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#else
#define ARCH AUDIT_ARCH_AARCH64
#endif

/* How many instructions are run for one answer, in all ways that may be gone. */
#define STEPS_MAX 16384u

/* Ways that are left to be gone. The code has no loops: there are as many as decisions on the way here. */
#define WAYS_MAX 12u

/* Registers and memory are numbered through. */
enum { MEMORY = BPF_MEMWORDS, A = MEMORY, X, VALUES };

struct way {
	uint32_t at;
	uint32_t known; /* bit for each value */
	uint32_t values[VALUES];
};

struct question {
	const struct sock_filter *code;
	uint32_t count, number;
	int position;
	uint64_t value;
	struct way ways[WAYS_MAX];
	unsigned left;
};

static bool way_knows(const struct way *w, unsigned value)
{
	return w->known & 1u << value;
}

static void way_set(struct way *w, unsigned value, bool known, uint32_t bits)
{
	w->known = known ? w->known | 1u << value : w->known & ~(1u << value);
	w->values[value] = bits;
}

static void way_copy(struct way *w, unsigned to, unsigned from)
{
	way_set(w, to, way_knows(w, from), w->values[from]);
}

/* A word of struct seccomp_data. */
static void data_load(const struct question *q, struct way *w, uint32_t offset)
{
	const uint32_t args = offsetof(struct seccomp_data, args);

	if (offset == offsetof(struct seccomp_data, nr))
		way_set(w, A, true, q->number);
	else if (offset == offsetof(struct seccomp_data, arch))
		way_set(w, A, true, ARCH);
	else if (offset >= args && (int)((offset - args) / 8) == q->position)
		way_set(w, A, true, (uint32_t)(q->value >> (offset % 8 ? 32 : 0)));
	else
		way_set(w, A, false, 0);
}

/* What is not defined, and what has no result for the kernel either, is not known. */
static bool calculate(uint32_t operation, uint32_t a, uint32_t b, uint32_t *ret)
{
	switch (operation) {
	case BPF_ADD:
		*ret = a + b;
		return true;
	case BPF_SUB:
		*ret = a - b;
		return true;
	case BPF_MUL:
		*ret = a * b;
		return true;
	case BPF_AND:
		*ret = a & b;
		return true;
	case BPF_OR:
		*ret = a | b;
		return true;
	case BPF_XOR:
		*ret = a ^ b;
		return true;
	case BPF_NEG:
		*ret = -a;
		return true;
	case BPF_LSH:
		*ret = a << (b & 31);
		return b < 32;
	case BPF_RSH:
		*ret = a >> (b & 31);
		return b < 32;
	case BPF_DIV:
		*ret = b ? a / b : 0;
		return b;
	}
	return false;
}

static void way_calculate(struct way *w, const struct sock_filter *i)
{
	const bool by_x = BPF_SRC(i->code) == BPF_X;
	uint32_t result = 0;
	bool known = way_knows(w, A) && (!by_x || way_knows(w, X));

	known =
	    calculate(BPF_OP(i->code), w->values[A], by_x ? w->values[X] : i->k, &result) && known;
	way_set(w, A, known, result);
}

static bool is_jump_taken(uint32_t operation, uint32_t a, uint32_t b)
{
	switch (operation) {
	case BPF_JEQ:
		return a == b;
	case BPF_JGT:
		return a > b;
	case BPF_JGE:
		return a >= b;
	default:
		return a & b;
	}
}

/* False: there are too many ways. */
static bool way_jump(struct question *q, struct way *w, const struct sock_filter *i)
{
	const bool by_x = BPF_SRC(i->code) == BPF_X;

	if (BPF_OP(i->code) == BPF_JA) {
		/* The kernel has no jumps beyond the end: nor does it come back from an overflow. */
		w->at = i->k < q->count ? w->at + i->k : q->count;
		return true;
	}
	if (way_knows(w, A) && (!by_x || way_knows(w, X))) {
		w->at += is_jump_taken(BPF_OP(i->code), w->values[A], by_x ? w->values[X] : i->k)
			     ? i->jt
			     : i->jf;
		return true;
	}
	if (i->jt != i->jf) {
		if (q->left == WAYS_MAX)
			return false;
		q->ways[q->left] = *w;
		q->ways[q->left++].at += i->jt;
	}
	w->at += i->jf;
	return true;
}

static enum fx_answer answer_of(uint32_t action)
{
	switch (action & SECCOMP_RET_ACTION_FULL) {
	case SECCOMP_RET_ALLOW:
		return FX_ANSWER_ALLOW;
	case SECCOMP_RET_LOG:
	case SECCOMP_RET_ERRNO:
		return FX_ANSWER_ERROR;
	default:
		return FX_ANSWER_HARM;
	}
}

/* One instruction. True: it is the last, with *ret; or nobody knows. */
static bool way_step(struct question *q, struct way *w, enum fx_answer *ret)
{
	const struct sock_filter *i = &q->code[w->at];

	*ret = FX_ANSWER_HARM;
	if (w->at++ >= q->count)
		return true;
	switch (BPF_CLASS(i->code)) {
	case BPF_LD:
		if (BPF_MODE(i->code) == BPF_ABS)
			data_load(q, w, i->k);
		else if (BPF_MODE(i->code) == BPF_MEM)
			way_copy(w, A, i->k % MEMORY);
		else
			way_set(w, A, true,
				BPF_MODE(i->code) == BPF_IMM ? i->k : sizeof(struct seccomp_data));
		return false;
	case BPF_LDX:
		if (BPF_MODE(i->code) == BPF_MEM)
			way_copy(w, X, i->k % MEMORY);
		else
			way_set(w, X, true,
				BPF_MODE(i->code) == BPF_IMM ? i->k : sizeof(struct seccomp_data));
		return false;
	case BPF_ST:
		way_copy(w, i->k % MEMORY, A);
		return false;
	case BPF_STX:
		way_copy(w, i->k % MEMORY, X);
		return false;
	case BPF_ALU:
		way_calculate(w, i);
		return false;
	case BPF_JMP:
		return !way_jump(q, w, i);
	case BPF_MISC:
		if (BPF_MISCOP(i->code) == BPF_TAX)
			way_copy(w, X, A);
		else
			way_copy(w, A, X);
		return false;
	}
	if (BPF_RVAL(i->code) == BPF_K)
		*ret = answer_of(i->k);
	else if (way_knows(w, A))
		*ret = answer_of(w->values[A]);
	return true;
}

enum fx_answer fx_filter_answer(const struct sock_filter *code, uint32_t count, long number,
				int position, uint64_t value)
{
	struct question q = {.code = code,
			     .count = count,
			     .number = (uint32_t)number,
			     .position = position,
			     .value = value,
			     .left = 1};
	enum fx_answer worst = FX_ANSWER_ALLOW, answer;
	unsigned steps = 0;
	struct way w;

	/* The kernel begins with zeroes. */
	memset(q.ways, 0, sizeof *q.ways);
	q.ways[0].known = UINT32_MAX;
	while (q.left) {
		w = q.ways[--q.left];
		do {
			if (steps++ == STEPS_MAX)
				return FX_ANSWER_HARM;
		} while (!way_step(&q, &w, &answer));
		if (answer > worst)
			worst = answer;
		if (worst == FX_ANSWER_HARM)
			break;
	}
	return worst;
}

static const struct {
	uint16_t groups, number;
	int8_t position;
	uint32_t value;
} asks[] = {
#define SELF				      FX_ASK_SELF
#define WAIT				      FX_ASK_WAIT
#define LOOK				      FX_ASK_LOOK
#define CHILD				      FX_ASK_CHILD
#define START				      FX_ASK_START
#define PAGES				      FX_ASK_PAGES
#define MEET				      FX_ASK_MEET
#define COPY				      FX_ASK_COPY
#define TOGETHER			      FX_ASK_TOGETHER
#define STREAMS				      FX_ASK_STREAMS
#define FX_ASK(groups, call, position, value) {groups, SYS_##call, position, value},
#include "preload/host/asks.def"
#undef FX_ASK
};

uint32_t fx_filter_refuses(const struct sock_fprog *program)
{
	uint32_t refused = 0;

	if (!fx_engine_may(FX_ASK_LOOK))
		return FX_ASK_ALL;
	if (!fx_peek(program, sizeof *program) || !program->len || program->len > BPF_MAXINSNS ||
	    !fx_peek(program->filter, program->len * sizeof *program->filter))
		return 0;
	for (size_t i = 0; i < FX_ARRAY_LEN(asks); i++) {
		enum fx_answer answer = fx_filter_answer(
		    program->filter, program->len, asks[i].number, asks[i].position, asks[i].value);

		/* What is started asks for all of it, not knowing of the filter; it bears errors. */
		if (answer != FX_ANSWER_ALLOW)
			refused |= asks[i].groups & ~FX_ASK_START;
		if (answer == FX_ANSWER_HARM && asks[i].groups != FX_ASK_TOGETHER)
			refused |= FX_ASK_START;
	}
	return refused;
}
