/* SPDX-License-Identifier: MIT */
/* What filters answer, as found out before they are installed. */
#include <errno.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "engine/provider/engine.h"
#include "preload/host/filter.h"

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define IF(operation, k, then, otherwise)                                                          \
	BPF_JUMP(BPF_JMP | (operation) | BPF_K, k, then, otherwise)
#define RETURN(action)		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_##action)
#define ANSWER(code, ...)	fx_filter_answer(code, sizeof(code) / sizeof(code)[0], __VA_ARGS__)
#define CALCULATE(operation, k) BPF_STMT(BPF_ALU | (operation) | BPF_K, k)

Test(filter, actions)
{
	static const struct {
		uint32_t action;
		enum fx_answer answer;
	} actions[] = {
	    {SECCOMP_RET_ALLOW, FX_ANSWER_ALLOW},	  {SECCOMP_RET_LOG, FX_ANSWER_ERROR},
	    {SECCOMP_RET_ERRNO | EPERM, FX_ANSWER_ERROR}, {SECCOMP_RET_TRAP, FX_ANSWER_HARM},
	    {SECCOMP_RET_TRACE | 7, FX_ANSWER_HARM},	  {SECCOMP_RET_KILL_THREAD, FX_ANSWER_HARM},
	    {SECCOMP_RET_KILL_PROCESS, FX_ANSWER_HARM},	  {0x7fc00000 /* notify */, FX_ANSWER_HARM},
	};

	for (size_t i = 0; i < sizeof actions / sizeof actions[0]; i++) {
		const struct sock_filter by_k[] = {BPF_STMT(BPF_RET | BPF_K, actions[i].action)};
		const struct sock_filter by_a[] = {BPF_STMT(BPF_LD | BPF_IMM, actions[i].action),
						   BPF_STMT(BPF_RET | BPF_A, 0)};

		cr_expect_eq(ANSWER(by_k, SYS_read, -1, 0), actions[i].answer, "%#x",
			     actions[i].action);
		cr_expect_eq(ANSWER(by_a, SYS_read, -1, 0), actions[i].answer, "%#x",
			     actions[i].action);
	}
}

Test(filter, numbers_and_arguments)
{
	const struct sock_filter code[] = {
	    LOAD(nr),
	    IF(BPF_JEQ, SYS_prctl, 2, 0),
	    IF(BPF_JEQ, SYS_getpid, 3, 0),
	    RETURN(KILL_PROCESS),
	    LOAD(args[0]),
	    IF(BPF_JEQ, PR_GET_NAME, 0, 1),
	    RETURN(ALLOW),
	    RETURN(ERRNO),
	};

	cr_expect_eq(ANSWER(code, SYS_read, -1, 0), FX_ANSWER_HARM);
	cr_expect_eq(ANSWER(code, SYS_getpid, -1, 0), FX_ANSWER_ALLOW);
	cr_expect_eq(ANSWER(code, SYS_prctl, 0, PR_GET_NAME), FX_ANSWER_ALLOW);
	cr_expect_eq(ANSWER(code, SYS_prctl, 0, PR_SET_NAME), FX_ANSWER_ERROR);
	cr_expect_eq(ANSWER(code, SYS_prctl, 1, PR_GET_NAME), FX_ANSWER_ERROR, "the worst");
	cr_expect_eq(ANSWER(code, SYS_prctl, -1, 0), FX_ANSWER_ERROR, "the worst");
}

Test(filter, both_halves_of_an_argument)
{
	const struct sock_filter code[] = {
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1]) + 4),
	    IF(BPF_JEQ, 5, 0, 3),
	    LOAD(args[1]),
	    IF(BPF_JGE, 7, 0, 1),
	    RETURN(ALLOW),
	    RETURN(KILL_THREAD),
	};

	cr_expect_eq(ANSWER(code, SYS_read, 1, (UINT64_C(5) << 32) + 7), FX_ANSWER_ALLOW);
	cr_expect_eq(ANSWER(code, SYS_read, 1, (UINT64_C(5) << 32) + 6), FX_ANSWER_HARM);
	cr_expect_eq(ANSWER(code, SYS_read, 1, 7), FX_ANSWER_HARM);
}

Test(filter, what_is_not_known)
{
	const struct sock_filter by_place[] = {LOAD(instruction_pointer), IF(BPF_JGT, 1000, 0, 1),
					       RETURN(ALLOW), RETURN(TRAP)};
	const struct sock_filter either_way[] = {LOAD(instruction_pointer), IF(BPF_JGT, 1000, 0, 0),
						 RETURN(ALLOW)};
	const struct sock_filter action[] = {LOAD(args[2]), BPF_STMT(BPF_RET | BPF_A, 0)};
	const struct sock_filter beyond[] = {BPF_STMT(BPF_JMP | BPF_JA, UINT32_MAX), RETURN(ALLOW)};
	const struct sock_filter nothing[] = {LOAD(nr)};

	cr_expect_eq(ANSWER(by_place, SYS_read, -1, 0), FX_ANSWER_HARM);
	cr_expect_eq(ANSWER(either_way, SYS_read, -1, 0), FX_ANSWER_ALLOW);
	cr_expect_eq(ANSWER(action, SYS_read, -1, 0), FX_ANSWER_HARM);
	cr_expect_eq(ANSWER(beyond, SYS_read, -1, 0), FX_ANSWER_HARM);
	cr_expect_eq(ANSWER(nothing, SYS_read, -1, 0), FX_ANSWER_HARM);
}

Test(filter, more_ways_than_can_be_gone)
{
	struct sock_filter code[200];
	unsigned n = 0;

	/* Each doubles the ways; all meet again. */
	for (; n < 180; n += 3) {
		code[n] = (struct sock_filter)LOAD(instruction_pointer);
		code[n + 1] = (struct sock_filter)IF(BPF_JSET, 1u << n % 31, 1, 0);
		code[n + 2] = (struct sock_filter)CALCULATE(BPF_ADD, 1);
	}
	code[n++] = (struct sock_filter)RETURN(ALLOW);
	cr_expect_eq(fx_filter_answer(code, n, SYS_read, -1, 0), FX_ANSWER_HARM);
}

Test(filter, calculation)
{
	const struct sock_filter code[] = {
	    BPF_STMT(BPF_LD | BPF_W | BPF_LEN, 0), /* 64 */
	    CALCULATE(BPF_ADD, 36),		   /* 100 */
	    BPF_STMT(BPF_ST, 3),
	    CALCULATE(BPF_DIV, 7), /* 14 */
	    CALCULATE(BPF_LSH, 4), /* 224 */
	    BPF_STMT(BPF_MISC | BPF_TAX, 0),
	    BPF_STMT(BPF_STX, 15),
	    BPF_STMT(BPF_LD | BPF_MEM, 3),
	    BPF_STMT(BPF_ALU | BPF_XOR | BPF_X, 0), /* 132 */
	    CALCULATE(BPF_NEG, 0),
	    CALCULATE(BPF_AND, 0xff), /* 124 */
	    CALCULATE(BPF_RSH, 2),    /* 31 */
	    CALCULATE(BPF_MUL, 3),    /* 93 */
	    CALCULATE(BPF_OR, 2),     /* 95 */
	    CALCULATE(BPF_SUB, 5),    /* 90 */
	    BPF_STMT(BPF_LDX | BPF_W | BPF_IMM, 90),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_X, 0, 0, 3),
	    BPF_STMT(BPF_LDX | BPF_MEM, 15),
	    BPF_STMT(BPF_MISC | BPF_TXA, 0),
	    IF(BPF_JEQ, 224, 1, 0),
	    RETURN(KILL_THREAD),
	    RETURN(ALLOW),
	};
	struct sock_fprog program = {sizeof code / sizeof code[0], (struct sock_filter *)code};
	pid_t child = fork();
	int status;

	/* The kernel has the last word. */
	if (child == 0) {
		prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
		_exit(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0 ? 3 : 4);
	}
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_expect(WIFEXITED(status));
	cr_expect_eq(WEXITSTATUS(status), 3);
	cr_expect_eq(ANSWER(code, SYS_read, -1, 0), FX_ANSWER_ALLOW);
}

/* A filter that answers one call by `action`, and allows the others. */
static uint32_t refused_with(long number, uint32_t action)
{
	struct sock_filter code[] = {LOAD(nr), IF(BPF_JEQ, (uint32_t)number, 0, 1),
				     BPF_STMT(BPF_RET | BPF_K, action), RETURN(ALLOW)};
	struct sock_fprog program = {4, code};

	return fx_filter_refuses(&program);
}

Test(filter, what_is_refused)
{
	const uint32_t kill = SECCOMP_RET_KILL_PROCESS, error = SECCOMP_RET_ERRNO | EPERM;

	cr_expect_eq(refused_with(SYS_ptrace, kill), 0);
	cr_expect_eq(refused_with(SYS_futex, kill), FX_ASK_WAIT | FX_ASK_START);
	cr_expect_eq(refused_with(SYS_futex, error), FX_ASK_WAIT, "programs bear that");
	cr_expect_eq(refused_with(SYS_gettid, kill), FX_ASK_SELF | FX_ASK_CHILD | FX_ASK_START);
	cr_expect_eq(refused_with(SYS_memfd_create, error), FX_ASK_CHILD);
	cr_expect_eq(refused_with(SYS_pread64, kill), FX_ASK_START);
	cr_expect_eq(refused_with(SYS_pread64, error), 0);
	cr_expect_eq(refused_with(SYS_close_range, kill), FX_ASK_TOGETHER,
		     "what is started has a filter, so it does without");
}

Test(filter, what_cannot_be_read)
{
	struct sock_filter code[] = {RETURN(ALLOW)};
	struct sock_fprog program = {1, code};
	void *nowhere = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	cr_expect_eq(fx_filter_refuses(&program), 0);
	cr_expect_eq(fx_filter_refuses(nowhere), 0, "the kernel refuses it");
	program.filter = nowhere;
	cr_expect_eq(fx_filter_refuses(&program), 0);
	program.len = 0;
	cr_expect_eq(fx_filter_refuses(&program), 0);
	program = (struct sock_fprog){1, code};
	fx_engine_confine(FX_ASK_LOOK);
	cr_expect_eq(fx_filter_refuses(&program), FX_ASK_ALL, "nobody may look");
}
