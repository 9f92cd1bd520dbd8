/* SPDX-License-Identifier: MIT */
/* refused [bpf] ERROR COMMAND...: becomes the command, to which perf_event_open(), or bpf(), is refused with that error. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int is_bpf = argc > 1 && strcmp(argv[1], "bpf") == 0;
	struct sock_filter code[] = {
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)(is_bpf ? SYS_bpf : SYS_perf_event_open),
		     0, 1),
	    BPF_STMT(BPF_RET | BPF_K,
		     SECCOMP_RET_ERRNO |
			 (unsigned)(argc > 1 + is_bpf ? atoi(argv[1 + is_bpf]) : 0)),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(code) / sizeof(code[0]), code};

	argv += is_bpf;
	if (argc < 3 + is_bpf || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		return 99;
	execvp(argv[2], argv + 2);
	perror(argv[2]);
	return 127;
}
