/* SPDX-License-Identifier: MIT */
/* errors: prints results and errno of calls that fail, and errno after calls that succeed. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* An errno that no call sets, so that one which a tracer has touched shows. */
#define MARK 4711

#define SHOW(call)                                                                                 \
	do {                                                                                       \
		errno = MARK;                                                                      \
		long long result_ = (long long)(call);                                             \
		int error_ = errno;                                                                \
		printf("%s = %lld, errno %d\n", #call, result_, error_);                           \
	} while (0)

static void *const bad = (void *)16;
static char byte;
static int good_fd;

static void files(void)
{
	SHOW(open("/no/such/file", O_RDONLY));
	SHOW(open("/", O_WRONLY));
	SHOW(open(bad, O_RDONLY));
	SHOW(open64("/no/such/file", O_RDONLY));
	SHOW(openat(-1, "relative", O_RDONLY));
	SHOW(creat("/no/such/file", 0600));
	SHOW(close(-1));
	SHOW(read(-1, &byte, 1));
	SHOW(read(good_fd, bad, 1));
	SHOW(write(-1, &byte, 1));
	SHOW(pread(-1, &byte, 1, 0));
	SHOW(pwrite(-1, &byte, 1, 0));
	SHOW(readv(-1, NULL, 0));
	SHOW(readv(good_fd, bad, 1));
	SHOW(writev(good_fd, NULL, -1));
	SHOW(fsync(-1));
	SHOW(fdatasync(-1));
	SHOW(dup(-1));
	SHOW(dup2(-1, 5));
	SHOW(pipe(bad));
}

static void waits(void)
{
	struct timespec wrong = {.tv_nsec = -1};
	struct timeval zero = {0};

	SHOW(poll(bad, 1, 0));
	SHOW(poll(NULL, 0, 0));
	SHOW(ppoll(NULL, 0, &wrong, NULL));
	SHOW(select(-1, NULL, NULL, NULL, &zero));
	SHOW(select(0, NULL, NULL, NULL, &zero));
	SHOW(epoll_wait(-1, bad, 1, 0));
	SHOW(nanosleep(&wrong, NULL));
	SHOW(nanosleep(bad, NULL));
	SHOW(clock_nanosleep(CLOCK_MONOTONIC, 0, &wrong, NULL));
	SHOW(usleep(0));
	SHOW(sleep(0));
}

static void sockets(void)
{
	struct sockaddr_in nowhere = {.sin_family = AF_INET, .sin_port = htons(1)};
	struct sockaddr *address = (struct sockaddr *)&nowhere;
	socklen_t length = sizeof(nowhere);

	SHOW(socket(-1, 0, 0));
	SHOW(connect(-1, address, length));
	SHOW(connect(good_fd, address, length));
	SHOW(bind(-1, address, length));
	SHOW(listen(-1, 1));
	SHOW(accept(-1, NULL, NULL));
	SHOW(accept4(-1, address, &length, 0));
	SHOW(send(-1, &byte, 1, 0));
	SHOW(sendto(-1, &byte, 1, 0, bad, 16));
	SHOW(sendmsg(-1, bad, 0));
	SHOW(recv(-1, &byte, 1, 0));
	SHOW(recvfrom(-1, &byte, 1, 0, bad, bad));
	SHOW(recvmsg(-1, bad, 0));
	SHOW(shutdown(-1, 0));
}

static void processes(void)
{
	char *none[] = {NULL};
	pid_t child = -1;

	SHOW(execv("/no/such/program", none));
	SHOW(execve("/no/such/program", none, none));
	SHOW(execve("/etc/passwd", none, none));
	SHOW(execve(bad, none, none));
	SHOW(execvp("no-such-program", none));
	SHOW(execlp("no-such-program", "x", (char *)NULL));
	SHOW(execveat(AT_FDCWD, "/no/such/program", none, none, 0));
	/* Whoever opens it waits for one who writes. */
	mkfifo("errors.fifo", 0700);
	SHOW(execve("errors.fifo", none, none));
	SHOW(execveat(AT_FDCWD, "errors.fifo", none, none, 0));
	unlink("errors.fifo");
	SHOW(posix_spawn(&child, "/no/such/program", NULL, NULL, none, none));
	SHOW(posix_spawnp(&child, "no-such-program", NULL, NULL, none, none));
	SHOW(wait(NULL));
	SHOW(waitpid(1, NULL, 0));
	SHOW(waitpid(-1, NULL, 0x10000));
	SHOW(kill(0x3fffffff, 0));
	SHOW(kill(getpid(), 12345));
	SHOW(kill(getpid(), 0));
}

static void threads(void)
{
	struct timespec past = {.tv_sec = 1};
	pthread_mutex_t mutex;
	pthread_mutexattr_t attr;
	pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
	sem_t semaphore;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ERRORCHECK);
	pthread_mutex_init(&mutex, &attr);
	sem_init(&semaphore, 0, 0);
	SHOW(pthread_mutex_unlock(&mutex));
	SHOW(pthread_mutex_lock(&mutex));
	SHOW(pthread_mutex_lock(&mutex));
	SHOW(pthread_mutex_trylock(&mutex));
	SHOW(pthread_cond_timedwait(&cond, &mutex, &past));
	SHOW(pthread_cond_signal(&cond));
	SHOW(pthread_mutex_unlock(&mutex));
	SHOW(sem_timedwait(&semaphore, &past));
	SHOW(sem_post(&semaphore));
	SHOW(sem_wait(&semaphore));
	SHOW(pthread_join(pthread_self(), NULL));
	SHOW(pthread_setname_np(pthread_self(), "a name that is too long"));
}

static void memory(void)
{
	/* The compiler knows that these fail. */
	void *(*volatile allocate)(size_t) = malloc;
	void *(*volatile clear)(size_t, size_t) = calloc;
	void *(*volatile resize)(void *, size_t) = realloc;
	int (*volatile align)(void **, size_t, size_t) = posix_memalign;
	void *pointer = &byte;

	SHOW(allocate(SIZE_MAX / 2) == NULL);
	SHOW(clear(SIZE_MAX, 2) == NULL);
	SHOW(resize(NULL, SIZE_MAX / 2) == NULL);
	SHOW(align(&pointer, 3, 10));
	SHOW(pointer == &byte);
	SHOW(align(&pointer, 64, 10));
	SHOW((uintptr_t)pointer % 64);
	SHOW((free(pointer), 0));
	SHOW((free(NULL), 0));
	SHOW((free(allocate(10)), 0));
	SHOW(aligned_alloc(64, 128) == NULL);
}

int main(void)
{
	good_fd = open("/dev/null", O_RDWR);
	setvbuf(stdout, NULL, _IONBF, 0);
	files();
	waits();
	sockets();
	processes();
	threads();
	memory();
	return 0;
}
