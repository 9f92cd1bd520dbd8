/* SPDX-License-Identifier: MIT */
/* calls: system calls of which each has a known result, by the instruction itself; its child makes one and ends. */
#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void)
{
	char bytes[8];
	int status, ends[2];
	pid_t child;

	syscall(SYS_getppid);
	syscall(SYS_close, 100);
	syscall(SYS_openat, AT_FDCWD, "/nowhere", O_RDONLY | O_CLOEXEC, 0);
	int fd = (int)syscall(SYS_openat, AT_FDCWD, "/dev/zero", O_RDONLY, 0);
	for (int i = 0; i < 100; i++)
		syscall(SYS_read, fd, bytes, sizeof(bytes));
	syscall(SYS_lseek, fd, 0, 7);
	syscall(SYS_pipe2, ends, O_NONBLOCK);
	syscall(SYS_read, ends[0], bytes, 1);
	syscall(SYS_write, ends[1], "said", 4);
	syscall(SYS_read, ends[0], bytes, sizeof(bytes));
	syscall(SYS_socket, 1, 1, 77);
	child = fork();
	if (child == 0) {
		syscall(SYS_getuid);
		syscall(SYS_exit_group, 3);
	}
	syscall(SYS_wait4, child, &status, 0, 0);
	syscall(SYS_madvise, 0x1000, 4096, 9999);
	syscall(SYS_exit_group, status == 3 << 8 ? 0 : 1);
}
