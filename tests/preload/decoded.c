/* SPDX-License-Identifier: MIT */
/* Calls one function of each class, whose arguments a person wants to see by name; decoded.sh looks at the trace. */
#include <aio.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <mqueue.h>
#include <netdb.h>
#include <poll.h>
#include <pwd.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <termios.h>
#include <unistd.h>

/* The results are in the trace. */
#define CALL(call)                                                                                 \
	do {                                                                                       \
		if ((long)(call) == 0x7fffffffffff)                                                \
			abort();                                                                   \
	} while (0)

static void files(void)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 1, .l_len = 2};
	struct stat st;
	struct statx stx;
	char text[100];
	int fds[2], n;
	int fd = open("file", O_RDWR | O_CREAT | O_TRUNC, 0640);

	CALL(write(fd, "0123456789", 10));
	CALL(stat("file", &st));
	CALL(statx(fd, "", AT_EMPTY_PATH, STATX_SIZE | STATX_MODE, &stx));
	CALL(access("file", R_OK | W_OK));
	CALL(access("file", F_OK));
	CALL(lseek(fd, 5, SEEK_SET));
	CALL(fcntl(fd, F_SETFD, FD_CLOEXEC));
	CALL(fcntl(fd, F_GETFL));
	CALL(fcntl(fd, F_SETLK, &lock));
	CALL(rename("file", "renamed"));
	CALL(rename("does-not-exist", "elsewhere"));
	CALL(symlink("renamed", "link"));
	CALL(readlink("link", text, sizeof text));
	CALL(chmod("renamed", 0600));
	CALL(mkfifo("fifo", 0600));
	CALL(mknod("node", S_IFREG | 0600, 0));
	CALL(unlinkat(AT_FDCWD, "node", 0));
	CALL(pipe(fds));
	CALL(write(fds[1], "12345", 5));
	CALL(ioctl(fds[0], FIONREAD, &n));
	CALL(isatty(fd));
	CALL(close(fds[0]));
	CALL(close(fds[1]));
	CALL(close(fd));
}

static void memory(void)
{
	char *p = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CALL(mprotect(p, 4096, PROT_NONE));
	CALL(madvise(p, 4096, MADV_DONTNEED));
	CALL(munmap(p, 8192));
	CALL(mmap(NULL, 0, PROT_READ, MAP_SHARED, -1, 0));
	CALL(close(memfd_create("named", MFD_CLOEXEC)));
}

static void events(void)
{
	struct itimerspec timer = {.it_value.tv_sec = 1, .it_interval.tv_sec = 2};
	struct epoll_event event = {.events = EPOLLIN | EPOLLET};
	int epoll = epoll_create1(EPOLL_CLOEXEC), counter = eventfd(7, EFD_NONBLOCK);
	int clock = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK),
	    watch = inotify_init1(IN_CLOEXEC);
	struct pollfd p = {.fd = counter, .events = POLLIN | POLLOUT};
	fd_set readable;
	eventfd_t value;
	sigset_t set;
	int two[2], size = 8192, type;
	socklen_t length = sizeof type;

	CALL(epoll_ctl(epoll, EPOLL_CTL_ADD, counter, &event));
	CALL(poll(&p, 1, 0));
	FD_ZERO(&readable);
	FD_SET(counter, &readable);
	CALL(select(counter + 1, &readable, NULL, NULL, NULL));
	CALL(eventfd_read(counter, &value));
	CALL(timerfd_settime(clock, 0, &timer, NULL));
	CALL(inotify_add_watch(watch, ".", IN_CREATE | IN_DELETE));
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGINT);
	CALL(signalfd(-1, &set, SFD_CLOEXEC));
	CALL(sigprocmask(SIG_BLOCK, &set, NULL));
	CALL(signal(SIGUSR2, SIG_IGN));
	CALL(raise(SIGUSR2));
	CALL(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, two));
	CALL(setsockopt(two[0], SOL_SOCKET, SO_SNDBUF, &size, sizeof size));
	CALL(getsockopt(two[0], SOL_SOCKET, SO_TYPE, &type, &length));
}

static void system_calls(void)
{
	struct rlimit none = {0, 0};
	struct sembuf up = {.sem_num = 0, .sem_op = 3};
	struct termios terminal;
	uint32_t word = 0;
	char bytes[8];
	int sem = semget(IPC_PRIVATE, 1, IPC_CREAT | 0600);

	CALL(semop(sem, &up, 1));
	CALL(semctl(sem, 0, SETVAL, 5));
	CALL(semctl(sem, 0, IPC_RMID));
	CALL(mq_open("/fxtrace-does-not-exist", O_RDWR));
	CALL(setrlimit(RLIMIT_CORE, &none));
	CALL(getpriority(PRIO_PROCESS, 0));
	CALL(sched_getscheduler(0));
	CALL(getrandom(bytes, sizeof bytes, GRND_NONBLOCK));
	CALL(tcgetattr(-1, &terminal));
	CALL(prctl(PR_SET_NAME, "decoded", 0, 0, 0));
	CALL(syscall(SYS_futex, &word, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1, NULL, NULL, 0));
	CALL(syscall(SYS_getppid));
	CALL(getppid());
}

/* How much of it goes to the kernel follows from the size of the buffer. */
static void streams(void)
{
	static char buffer[4096];
	char line[10];
	FILE *f = fopen("text", "w");

	setvbuf(f, buffer, _IOFBF, sizeof buffer);
	for (int i = 0; i < 1000; i++)
		fprintf(f, "%08d\n", i);
	for (int i = 0; i < 10000; i++)
		putc('x', f);
	fclose(f);
	f = fopen("text", "r");
	setvbuf(f, buffer, _IOFBF, sizeof buffer);
	for (int i = 0; i < 1000; i++)
		if (!fgets(line, sizeof line, f))
			abort();
	for (int i = 0; i < 10000; i++)
		if (getc(f) != 'x')
			abort();
	fclose(f);
}

static void library(void)
{
	struct addrinfo hints = {.ai_flags = AI_NUMERICHOST}, *found;
	DIR *dir = opendir(".");

	while (readdir(dir))
		;
	CALL(closedir(dir));
	CALL(getpwnam("root"));
	CALL(getaddrinfo("127.0.0.1", "80", &hints, &found));
	CALL(getaddrinfo("no.number", "80", &hints, &found));
	CALL(system("exit 2"));
	CALL(pclose(popen("exit 3", "r")));
	CALL(dlopen("./does-not-exist.so", RTLD_NOW | RTLD_GLOBAL));
}

int main(void)
{
	files();
	memory();
	events();
	system_calls();
	streams();
	library();
	return 0;
}
