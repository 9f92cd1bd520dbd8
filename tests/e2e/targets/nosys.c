/* SPDX-License-Identifier: MIT */
/*
 * nosys KERNEL PROGRAM [ARG...]: runs it as on an older kernel, as far as a filter of system calls can make one: what
 * came later answers as it did before it came.
 *
 *	5.4	what is supported
 *	old	what has a fallback beside it: no pidfds, no membarrier, no statx, no clone3
 *	bare	no memfd_create: nothing can be traced
 *	deaf	madvise() says yes to anything, and does nothing (emulators)
 *	mute	tells no thread where libc keeps its number
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NEWEST_OF_5_4	435 /* clone3 */
#define GET_AUXV	0x41555856
#define PEERPIDFD	77
#define PIDFD_INFO	0xff0b /* of any size */
#define GET_TID_ADDRESS 40
#define NOEXEC_AND_EXEC 0x18u

static struct sock_filter code[256];
static unsigned short count;

static void add(uint16_t op, uint32_t k, uint8_t jump_true, uint8_t jump_false)
{
	if (count == sizeof code / sizeof code[0])
		exit(99);
	code[count++] = (struct sock_filter){op, jump_true, jump_false, k};
}

static void load(size_t offset)
{
	add(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0);
}

static void answer(int error)
{
	add(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ((uint32_t)error & SECCOMP_RET_DATA), 0, 0);
}

static void answers(long number, int error)
{
	load(offsetof(struct seccomp_data, nr));
	add(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)number, 0, 1);
	answer(error);
}

/* One that does not exist. */
static void lacks(long number)
{
	answers(number, ENOSYS);
}

/* One whose argument `i` may not have this value, or any of these bits. */
static void refuses(long number, unsigned i, uint16_t compare, uint32_t value, int error)
{
	load(offsetof(struct seccomp_data, nr));
	add(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)number, 0, 3);
	load(offsetof(struct seccomp_data, args) + 8 * i);
	add(BPF_JMP | compare | BPF_K, value, 0, 1);
	answer(error);
}

/* One whose argument `i` may not end with these 16 bits. */
static void refuses_low_half(long number, unsigned i, uint32_t value, int error)
{
	load(offsetof(struct seccomp_data, nr));
	add(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)number, 0, 4);
	load(offsetof(struct seccomp_data, args) + 8 * i);
	add(BPF_ALU | BPF_AND | BPF_K, 0xffff, 0, 0);
	add(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1);
	answer(error);
}

static void kernel_5_4(void)
{
	load(offsetof(struct seccomp_data, nr));
	add(BPF_JMP | BPF_JGT | BPF_K, NEWEST_OF_5_4, 0, 1);
	answer(ENOSYS);
	refuses(SYS_prctl, 0, BPF_JEQ, GET_AUXV, EINVAL);
	refuses(SYS_getsockopt, 2, BPF_JEQ, PEERPIDFD, ENOPROTOOPT);
	refuses(SYS_memfd_create, 1, BPF_JSET, NOEXEC_AND_EXEC, EINVAL);
	refuses_low_half(SYS_ioctl, 1, PIDFD_INFO, ENOTTY);
}

static void older_than_that(void)
{
	static const long numbers[] = {SYS_pidfd_send_signal, SYS_pidfd_open, SYS_clone3,
				       SYS_membarrier,	      SYS_statx,      SYS_rseq,
				       SYS_io_uring_setup};

	for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
		lacks(numbers[i]);
}

int main(int argc, char **argv)
{
	struct sock_fprog program = {.filter = code};

	if (argc < 3)
		return 2;
	kernel_5_4();
	if (strcmp(argv[1], "deaf") == 0)
		answers(SYS_madvise, 0);
	else if (strcmp(argv[1], "5.4") != 0)
		older_than_that();
	if (strcmp(argv[1], "mute") == 0) {
		refuses(SYS_prctl, 0, BPF_JEQ, GET_TID_ADDRESS, EINVAL);
		lacks(SYS_get_robust_list);
	}
	if (strcmp(argv[1], "bare") == 0)
		lacks(SYS_memfd_create);
	add(BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
	program.len = count;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
		perror("nosys: seccomp");
		return 77;
	}
	execvp(argv[2], argv + 2);
	perror(argv[2]);
	return 127;
}
