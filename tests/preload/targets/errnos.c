/* SPDX-License-Identifier: MIT */
/*
 * Prints result and errno of wrapped calls, good and bad, with pointers that the kernel refuses among
 * them. errno is set to a value of its own before each call: what a call leaves alone must stay.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define UNTOUCHED 99
#define BAD(type) ((type)(bad_address))

/* Not constants: the compiler knows that these arguments are wrong. */
static void *volatile bad_address = (void *)8;
static volatile int bad_fd = -1;

#define TRY(call)                                                                                  \
	do {                                                                                       \
		long ret_;                                                                         \
                                                                                                   \
		errno = UNTOUCHED;                                                                 \
		ret_ = (long)(call);                                                               \
		printf("%s: %ld %d\n", #call, ret_, errno);                                        \
	} while (0)

static void try_open(void)
{
	char long_path[5000];

	memset(long_path, 'x', sizeof long_path);
	long_path[sizeof long_path - 1] = 0;
	TRY(open("/dev/null", O_RDONLY) >= 0);
	TRY(open("/does/not/exist", O_RDWR | O_CLOEXEC));
	TRY(open(BAD(char *), O_RDONLY));
	TRY(open(BAD(char *), O_TMPFILE, 0)); /* refused before the path is read */
	TRY(open(long_path, O_RDONLY));
	TRY(open64("/", O_WRONLY));
	TRY(openat(bad_fd, "relative", O_RDONLY));
	TRY(openat(AT_FDCWD, BAD(char *), O_RDONLY));
	TRY(creat("/", 0600));
	TRY(creat(BAD(char *), 0600));
}

static void try_read_and_write(int fd)
{
	struct iovec iov = {BAD(void *), 4};
	char c;

	TRY(read(bad_fd, &c, 1));
	TRY(read(fd, &c, 1));
	TRY(read(fd, BAD(void *), 1));
	TRY(pread(bad_fd, &c, 1, 0));
	TRY(pread64(fd, &c, 1, -1));
	TRY(write(bad_fd, &c, 1));
	TRY(write(fd, &c, 1));
	TRY(pwrite(bad_fd, &c, 1, 1));
	TRY(pwrite64(bad_fd, &c, 1, 1));
	TRY(readv(fd, &iov, 1));
	TRY(readv(fd, BAD(struct iovec *), 1));
	TRY(writev(bad_fd, &iov, 1));
	TRY(preadv(bad_fd, &iov, 1, 0));
	TRY(pwritev(bad_fd, &iov, 1, 0));
	TRY(fsync(bad_fd));
	TRY(fdatasync(bad_fd));
	TRY(close(bad_fd));
	TRY(dup(bad_fd));
	TRY(dup2(bad_fd, 9));
	TRY(dup3(bad_fd, 9, O_CLOEXEC));
	TRY(dup3(fd, fd, 0));
	TRY(pipe(BAD(int *)));
	TRY(pipe2(BAD(int *), O_CLOEXEC));
}

static void try_waiting(int fd)
{
	struct timespec none = {0, 0}, bad = {0, -1};
	struct timeval zero = {0, 0};
	struct pollfd p = {.fd = fd, .events = POLLIN};
	fd_set set;

	FD_ZERO(&set);
	FD_SET(fd, &set);
	TRY(poll(&p, 1, 0));
	TRY(poll(BAD(struct pollfd *), 1, 0));
	TRY(ppoll(&p, 1, &none, NULL));
	TRY(ppoll(&p, 1, &bad, NULL));
	TRY(select(fd + 1, &set, NULL, NULL, &zero));
	TRY(select(-1, NULL, NULL, NULL, &zero));
	TRY(pselect(fd + 1, &set, NULL, NULL, &none, NULL));
	TRY(epoll_wait(bad_fd, BAD(struct epoll_event *), 1, 0));
	TRY(epoll_pwait(bad_fd, BAD(struct epoll_event *), 1, 0, NULL));
	TRY(nanosleep(&none, NULL));
	TRY(nanosleep(&bad, NULL));
	TRY(nanosleep(BAD(struct timespec *), NULL));
	TRY(clock_nanosleep(CLOCK_MONOTONIC, 0, &none, NULL));
	TRY(clock_nanosleep(CLOCK_MONOTONIC, 0, &bad, NULL));
	TRY(clock_nanosleep(1000, 0, &none, NULL));
	TRY(usleep(0));
	TRY(sleep(0));
}

static void try_sockets(int fd)
{
	struct sockaddr_un name = {.sun_family = AF_UNIX, .sun_path = "/does/not/exist"};
	struct sockaddr_un taken = {.sun_family = AF_UNIX, .sun_path = "/"};
	struct sockaddr *good = (struct sockaddr *)&name, *bad = BAD(struct sockaddr *);
	int s = socket(AF_UNIX, SOCK_STREAM, 0);
	char c = 0;

	TRY(socket(-1, SOCK_STREAM, 0));
	TRY(connect(s, good, sizeof name));
	TRY(connect(s, bad, sizeof name));
	TRY(connect(bad_fd, bad, sizeof name));
	TRY(connect(fd, good, sizeof name));
	TRY(bind(s, (struct sockaddr *)&taken, sizeof taken));
	TRY(bind(s, bad, sizeof name));
	TRY(bind(s, good, 1));
	TRY(listen(bad_fd, 1));
	TRY(accept(bad_fd, NULL, NULL));
	TRY(accept4(s, bad, BAD(socklen_t *), 0));
	TRY(send(s, &c, 1, MSG_NOSIGNAL));
	TRY(sendto(s, &c, 1, MSG_NOSIGNAL, good, sizeof name));
	TRY(sendto(bad_fd, &c, 1, MSG_NOSIGNAL, bad, sizeof name));
	TRY(sendmsg(s, BAD(struct msghdr *), 0));
	TRY(recv(s, &c, 1, MSG_DONTWAIT));
	TRY(recvfrom(s, &c, 1, 0, bad, BAD(socklen_t *)));
	TRY(recvmsg(s, BAD(struct msghdr *), 0));
	TRY(shutdown(s, SHUT_RDWR));
	TRY(shutdown(bad_fd, 17));
	close(s);
}

static void try_processes(void)
{
	char *argv[] = {"nothing", NULL};
	pid_t pid;
	int status;

	TRY(execv("/does/not/exist", argv));
	TRY(execve("/does/not/exist", BAD(char **), NULL));
	TRY(execve(BAD(char *), argv, NULL));
	TRY(execve("/proc/self/exe", argv, BAD(char **)));
	TRY(execve("/proc/self/exe", BAD(char **), NULL));
	TRY(execvp("does-not-exist", argv));
	TRY(execvpe("does-not-exist", argv, argv));
	TRY(execl("/does/not/exist", "a", "b", NULL));
	TRY(execlp("does-not-exist", "a", NULL));
	TRY(execle("/does/not/exist", "a", NULL, argv));
	TRY(execv("/", argv));
	TRY(fexecve(bad_fd, argv, argv));
	TRY(posix_spawn(&pid, "/does/not/exist", NULL, NULL, argv, NULL));
	TRY(posix_spawnp(NULL, "does-not-exist", NULL, NULL, argv, argv));
	TRY(wait(&status));
	TRY(waitpid(1, &status, WNOHANG));
	TRY(waitpid(-1, NULL, 0x40000000));
	TRY(wait3(&status, 0, NULL));
	TRY(wait4(-1, &status, 0, NULL));
	TRY(waitid(P_ALL, 0, NULL, WEXITED));
	TRY(kill(0, 0));
	TRY(kill(0, 1000));
	TRY(kill(0x7fffffff, SIGTERM));
}

static void try_memory(void)
{
	volatile size_t huge = (size_t)-1 / 2, many = (size_t)1 << 33;
	void *p = NULL;

	TRY(malloc(huge) != NULL);
	TRY(calloc(many, many) != NULL);
	TRY(realloc(NULL, huge) != NULL);
	TRY(reallocarray(NULL, many, many) != NULL);
	TRY(posix_memalign(&p, 3, 16));
	TRY(posix_memalign(&p, 64, 16));
	TRY((size_t)p % 64);
	TRY((free(p), 0));
	TRY(aligned_alloc(4096, huge) != NULL);
	TRY((free(NULL), 0));
	TRY((p = malloc(0)) != NULL);
	TRY(realloc(p, 0) != NULL);
}

int main(void)
{
	int fd = open("/dev/null", O_RDWR);

	setvbuf(stdout, NULL, _IOFBF, 1 << 16);
	try_open();
	try_read_and_write(fd);
	try_waiting(fd);
	try_sockets(fd);
	try_processes();
	try_memory();
	return 0;
}
