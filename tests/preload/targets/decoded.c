/* SPDX-License-Identifier: MIT */
/* Calls one function of each class, whose arguments a person wants to see by name; decoded.sh looks at the trace. */
#include <aio.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/capability.h>
#include <linux/futex.h>
#include <linux/netlink.h>
#include <linux/seccomp.h>
#include <locale.h>
#include <mqueue.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <pwd.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/signalfd.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

/* Of Linux 5.6 and 5.12, which older headers do not know. They are the same on every machine. */
#ifndef SYS_openat2
#define SYS_openat2 437
#endif
#ifndef SYS_mount_setattr
#define SYS_mount_setattr 442
#endif

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

/* A pointer that nobody may follow; the compiler does not see that. */
static void *volatile nowhere = (void *)8;

/* The sets are overwritten; a program may have them anywhere. */
static void selects(int readable)
{
	fd_set *far = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct timespec second = {1, 0};
	struct timeval left = {0, 1000};
	int fds[2];

	CALL(pipe(fds));
	FD_SET(fds[0], &far[0]);
	FD_SET(readable, &far[0]);
	FD_SET(fds[1], &far[1]);
	CALL(select(fds[1] + 1, &far[0], &far[1], NULL, &left));
	FD_ZERO(&far[0]);
	FD_SET(fds[0], &far[0]);
	left = (struct timeval){0, 1000};
	CALL(select(fds[1] + 1, &far[0], NULL, NULL, &left));
	FD_SET(fds[0], &far[0]);
	FD_SET(fds[1], &far[0]);
	FD_ZERO(&far[1]);
	FD_SET(readable, &far[1]);
	CALL(pselect(fds[1] + 1, NULL, &far[1], &far[0], &second, NULL));
	CALL(select(fds[1] + 1, nowhere, NULL, &far[0], &left));
	CALL(close(fds[0]));
	FD_SET(fds[0], &far[0]);
	CALL(select(fds[1] + 1, &far[0], NULL, NULL, &left));
	CALL(close(fds[1]));
}

/* Each waits in vain, for something that does not come. */
static void deadlines(void)
{
	pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	pthread_cond_t cond = PTHREAD_COND_INITIALIZER, steady;
	pthread_condattr_t attributes;
	struct timespec now, later, *far;
	char message[1];
	sem_t sem;

	far = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	sem_init(&sem, 0, 0);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&steady, &attributes);
	clock_gettime(CLOCK_REALTIME, &now);
	later = now;
	CALL(sem_timedwait(&sem, &later));
	*far = now;
	CALL(sem_timedwait(&sem, far));
	CALL(pthread_mutex_lock(&mutex));
	CALL(pthread_mutex_timedlock(&mutex, &later));
	CALL(pthread_cond_timedwait(&cond, &mutex, &later));
	clock_gettime(CLOCK_MONOTONIC, &later);
	later.tv_sec -= 5;
	CALL(pthread_cond_timedwait(&steady, &mutex, &later));
	CALL(pthread_cond_clockwait(&cond, &mutex, CLOCK_MONOTONIC, &later));
	CALL(sem_clockwait(&sem, CLOCK_MONOTONIC, &later));
	CALL(pthread_mutex_unlock(&mutex));
	/* Nobody has to wait, nor to look at it. */
	CALL(pthread_mutex_timedlock(&mutex, nowhere));
	CALL(pthread_mutex_unlock(&mutex));
	CALL(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &later, NULL));
	CALL(mq_timedreceive(-1, message, 0, NULL, &now));
}

/* A socket that is in the set before it is connected; then its number is another one's. */
static void connected_in_set(void)
{
	struct epoll_event event = {.events = EPOLLOUT, .data.u64 = 0x7700000000000};
	int epoll = epoll_create1(EPOLL_CLOEXEC), listener = socket(AF_UNIX, SOCK_STREAM, 0);
	int client = socket(AF_UNIX, SOCK_STREAM, 0), kept;
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	socklen_t length = sizeof(address);

	if (bind(listener, (struct sockaddr *)&address, sizeof(sa_family_t)) < 0 ||
	    listen(listener, 1) < 0 ||
	    getsockname(listener, (struct sockaddr *)&address, &length) < 0)
		return;
	CALL(epoll_ctl(epoll, EPOLL_CTL_ADD, client, &event));
	CALL(connect(client, (struct sockaddr *)&address, length));
	CALL(epoll_wait(epoll, &event, 1, -1));
	kept = dup(client);
	CALL(dup2(listener, client));
	CALL(epoll_wait(epoll, &event, 1, -1));
	close(kept);
	close(client);
	close(listener);
	close(epoll);
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
	event.data.fd = counter;
	CALL(epoll_ctl(epoll, EPOLL_CTL_MOD, counter, &event));
	CALL(epoll_wait(epoll, &event, 1, -1));
	event = (struct epoll_event){.events = EPOLLIN, .data.u64 = 1234567890123};
	CALL(epoll_ctl(epoll, EPOLL_CTL_MOD, counter, &event));
	CALL(epoll_wait(epoll, &event, 1, -1));
	event.events = EPOLLOUT;
	CALL(epoll_ctl(epoll, EPOLL_CTL_ADD, eventfd(0, 0), &event));
	CALL(epoll_wait(epoll, &event, 1, -1));
	connected_in_set();
	CALL(poll(&p, 1, 0));
	FD_ZERO(&readable);
	FD_SET(counter, &readable);
	CALL(select(counter + 1, &readable, NULL, NULL, NULL));
	selects(counter);
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

static void transfers(void)
{
	struct iovec iov[2] = {{(char[]){"hello"}, 5}, {(char[]){"you"}, 3}};
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = {.header = {CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS}};
	struct msghdr msg = {.msg_iov = iov,
			     .msg_iovlen = 2,
			     .msg_control = &control,
			     .msg_controllen = sizeof control};
	struct sockaddr_in local = {.sin_family = AF_INET,
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct mmsghdr many[2] = {{.msg_hdr = {.msg_iov = &iov[0], .msg_iovlen = 1}},
				  {.msg_hdr = {.msg_iov = &iov[1], .msg_iovlen = 1}}};
	struct linger linger = {1, 5};
	struct ucred who;
	struct pollfd ready[2];
	socklen_t length = sizeof local;
	char byte[1];
	off_t offset = 2;
	int two[2], file, directory, udp = socket(AF_INET, SOCK_DGRAM, 0);

	CALL(socketpair(AF_UNIX, SOCK_STREAM, 0, two));
	CALL(writev(two[0], iov, 2));
	CALL(readv(two[1], iov, 2));
	CALL(readv(two[1], nowhere, 2));
	memcpy(CMSG_DATA(&control.header), &two[0], sizeof(int));
	CALL(sendmsg(two[0], &msg, 0));
	CALL(recvmsg(two[1], &msg, MSG_CMSG_CLOEXEC));
	CALL(sendmsg(two[0], nowhere, MSG_DONTWAIT));
	CALL(sendmmsg(two[0], many, 2, 0));
	ready[0] = (struct pollfd){.fd = two[0], .events = POLLIN};
	ready[1] = (struct pollfd){.fd = two[1], .events = POLLIN};
	CALL(poll(ready, 2, -1));
	CALL(setsockopt(two[0], SOL_SOCKET, SO_LINGER, &linger, sizeof linger));
	length = sizeof who;
	CALL(getsockopt(two[0], SOL_SOCKET, SO_PEERCRED, &who, &length));
	length = sizeof local;
	CALL(bind(udp, (struct sockaddr *)&local, length));
	CALL(getsockname(udp, (struct sockaddr *)&local, &length));
	CALL(sendto(udp, "x", 1, 0, (struct sockaddr *)&local, length));
	CALL(sendto(udp, "y", 1, 0, (struct sockaddr *)&local, length));
	CALL(recvfrom(udp, byte, 1, 0, (struct sockaddr *)&local, &length));
	length = 0; /* there is no room, so nobody looks at the address */
	CALL(recvfrom(udp, byte, 1, 0, nowhere, &length));
	file = open("renamed", O_RDONLY);
	CALL(sendfile(two[0], file, &offset, 3));
	directory = open(".", O_RDONLY | O_DIRECTORY);
	CALL(openat(directory, "renamed", O_RDONLY));
}

static void on_signal(int sig)
{
	(void)sig;
}

static void times_and_signals(void)
{
	const struct timespec times[2] = {{1700000000, 5}, {0, UTIME_OMIT}};
	const struct timeval before[2] = {{1700000000, 7}, {1700000001, 0}};
	struct sigaction action = {.sa_handler = SIG_IGN, .sa_flags = SA_RESTART | SA_NODEFER};
	struct timespec second = {1, 0};
	struct itimerval tick = {.it_value.tv_usec = 1000};
	struct statfs fs;
	struct rlimit limit;
	struct rusage usage;
	struct utsname uts;
	siginfo_t info;
	sigset_t all, two;
	pid_t child;

	CALL(utimensat(AT_FDCWD, "renamed", times, 0));
	CALL(utimes("renamed", before));
	CALL(futimens(-1, NULL));
	sigfillset(&all);
	sigdelset(&all, SIGINT);
	CALL(sigprocmask(SIG_SETMASK, &all, &two));
	CALL(sigprocmask(SIG_SETMASK, &two, NULL));
	sigemptyset(&action.sa_mask);
	sigaddset(&action.sa_mask, SIGHUP);
	CALL(sigaction(SIGTERM, &action, NULL));
	sigemptyset(&two);
	sigaddset(&two, SIGRTMIN + 2);
	CALL(sigprocmask(SIG_BLOCK, &two, NULL));
	CALL(kill(getpid(), SIGRTMIN + 2));
	CALL(sigwaitinfo(&two, &info));
	CALL(signal(SIGALRM, on_signal));
	CALL(setitimer(ITIMER_REAL, &tick, NULL));
	CALL(nanosleep(&second, &second));
	CALL(getrlimit(RLIMIT_NOFILE, &limit));
	CALL(prlimit(0, RLIMIT_NOFILE, NULL, &limit));
	CALL(statfs(".", &fs));
	CALL(uname(&uts));
	CALL(getrusage(RUSAGE_SELF, &usage));
	CALL(sysconf(_SC_NPROCESSORS_ONLN));
	child = fork();
	if (child == 0) {
		sigfillset(&all);
		sigprocmask(SIG_UNBLOCK, &all, NULL);
		for (;;)
			pause();
	}
	CALL(waitpid(child, nowhere, WNOHANG));
	CALL(kill(child, SIGKILL));
	CALL(waitid(P_PID, (id_t)child, &info, WEXITED));
	child = fork();
	if (child == 0)
		_exit(3);
	CALL(wait4(child, NULL, 0, &usage));
}

static void system_calls(void)
{
	struct rlimit none = {0, 0};
	struct sembuf up = {.sem_num = 0, .sem_op = 3};
	struct termios terminal;
	uint32_t word = 0, action = SECCOMP_RET_KILL;
	const uint64_t how[3] = {O_RDONLY | O_CLOEXEC, 0, 0x08 /* RESOLVE_BENEATH */};
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
	CALL(
	    syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &(struct timespec){0, 1000}, NULL, 0));
	CALL(syscall(SYS_futex, &word, FUTEX_WAIT_BITSET_PRIVATE, 0, &(struct timespec){0, 1000},
		     NULL, FUTEX_BITSET_MATCH_ANY));
	CALL(syscall(SYS_futex, &word, FUTEX_WAIT_BITSET_PRIVATE, 0, nowhere, NULL, 1));
	CALL(syscall(SYS_getppid));
	CALL(syscall(SYS_openat2, AT_FDCWD, "renamed", &how, sizeof how));
	CALL(syscall(SYS_openat2, AT_FDCWD, "renamed", nowhere, sizeof how));
	CALL(syscall(SYS_openat, AT_FDCWD, nowhere, O_RDONLY));
	CALL(syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action));
	CALL(syscall(SYS_bpf, BPF_MAP_CREATE, nowhere, 8));
	CALL(syscall(SYS_unshare, 0));
	CALL(syscall(SYS_tgkill, -1, 0, SIGTERM));
	CALL(getppid());
}

/* Not in a header that can be included here. */
int capget(struct __user_cap_header_struct *header, struct __user_cap_data_struct *data);
int capset(struct __user_cap_header_struct *header, const struct __user_cap_data_struct *data);

static void administration(void)
{
	struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct data[2], none[2] = {{.effective = 1 << CAP_KILL}};
	int shm = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0640);
	int msg = msgget(IPC_PRIVATE, IPC_CREAT | 0600);
	int sem = semget(IPC_PRIVATE, 3, IPC_CREAT | 0666);
	struct shmid_ds segment;
	struct msqid_ds queue;
	struct semid_ds set;

	CALL(shmctl(shm, IPC_STAT, &segment));
	segment.shm_perm.mode = 0600;
	CALL(shmctl(shm, IPC_SET, &segment));
	CALL(shmctl(shm, IPC_STAT, nowhere));
	CALL(shmctl(shm, IPC_RMID, NULL));
	CALL(msgctl(msg, IPC_STAT, &queue));
	CALL(msgctl(msg, IPC_RMID, NULL));
	CALL(semctl(sem, 0, IPC_STAT, &set));
	CALL(semctl(sem, 0, IPC_STAT, nowhere));
	CALL(semctl(sem, 0, IPC_RMID));
	CALL(capget(&header, data));
	CALL(capget(nowhere, data));
	CALL(capset(&header, none));
	CALL(prctl(PR_CAPBSET_READ, CAP_SYS_ADMIN, 0, 0, 0));
	CALL(prctl(PR_GET_DUMPABLE));
	/* None of these file systems can be mounted by anyone. */
	CALL(mount("none", "does-not-exist", "no-file-system", MS_NOSUID | MS_RDONLY, "size=1m"));
	CALL(mount("none", "does-not-exist", "no-file-system", MS_BIND, nowhere));
	CALL(syscall(SYS_fsopen, "no-file-system", 1));
	CALL(syscall(SYS_fsconfig, -1, 1, "source", "/dev/none", 0));
	CALL(syscall(SYS_fsconfig, -1, 1, "source", nowhere, 0));
	CALL(syscall(SYS_open_tree, -1, "tree", 1 | AT_RECURSIVE));
	CALL(syscall(SYS_mount_setattr, -1, "tree", AT_RECURSIVE,
		     &(uint64_t[4]){1 | 2, 4, MS_PRIVATE, 0}, 32));
	CALL(syscall(SYS_mount_setattr, -1, "tree", AT_RECURSIVE, nowhere, 32));
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

/* What a person would not want as a number. */
static void numbers(void)
{
	struct sigaction action = {.sa_handler = SIG_IGN};
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR2};
	struct sockaddr_nl netlink = {.nl_family = AF_NETLINK, .nl_groups = 1};
	struct sockaddr_in local = {.sin_family = AF_INET,
				    .sin_port = htons(80),
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct ifreq interface = {.ifr_name = "lo"};
	struct statvfs fs;
	gid_t groups[100];
	char text[100];
	int (*set_mask)(int) = (int (*)(int))dlsym(RTLD_DEFAULT, "sigsetmask"); /* out of use */
	timer_t timer;
	socklen_t length = sizeof text;
	int one = 1, fd = socket(AF_NETLINK, SOCK_RAW, 0), tcp = socket(AF_INET, SOCK_STREAM, 0);

	CALL(sigaction(SIGRTMIN + 3, &action, NULL));
	CALL(sigaction(SIGRTMIN - 1, &action, NULL));
	CALL(set_mask(3));
	CALL(set_mask(0));
	CALL(timer_create(CLOCK_MONOTONIC, &event, &timer));
	CALL(umask(022));
	CALL(umask(022));
	CALL(statvfs(".", &fs));
	CALL(getgroups(0, NULL));
	CALL(getgroups(100, groups));
	CALL(pathconf(".", _PC_NAME_MAX));
	CALL(newlocale(LC_CTYPE_MASK | LC_TIME_MASK, "C", (locale_t)0));
	CALL(getnameinfo((struct sockaddr *)&local, sizeof local, text, sizeof text, nowhere, 0,
			 NI_NUMERICHOST | NI_NUMERICSERV));
	CALL(bind(fd, (struct sockaddr *)&netlink, sizeof netlink));
	CALL(setsockopt(fd, SOL_NETLINK, NETLINK_EXT_ACK, &one, sizeof one));
	CALL(getsockopt(tcp, IPPROTO_TCP, TCP_CONGESTION, text, &length));
	CALL(ioctl(tcp, SIOCGIFFLAGS, &interface));
	setvbuf(stdout, NULL, _IONBF, 0);
	CALL(puts("seen"));
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
	CALL(system("kill -9 $$"));
	CALL(system(NULL));
	CALL(pclose(popen("exit 3", "r")));
	CALL(system(nowhere));
	CALL(popen(nowhere, "r"));
	CALL(dlopen("./does-not-exist.so", RTLD_NOW | RTLD_GLOBAL));
}

int main(void)
{
	files();
	memory();
	events();
	deadlines();
	transfers();
	times_and_signals();
	system_calls();
	administration();
	numbers();
	streams();
	library();
	return 0;
}
