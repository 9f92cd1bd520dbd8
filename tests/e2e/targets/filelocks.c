/* SPDX-License-Identifier: MIT */
/*
 * Processes that take turns with locks of one file, and say whose turn it was before: what they need for that lies in memory that all have,
 * and is touched by who has the lock alone.
 *
 *	filelocks SEED PROCESSES THREADS ROUNDS KIND FILE [kill]
 *
 * KIND: process, open or flock. Each thread writes log.PID.TID: "got BEGIN END PID TID", from whom it has it (0 0: nobody had it before); a
 * process that did not come to give it back counts. "free BEGIN END", or "closes" where what had it was closed. `kill': one process after another is killed, at any moment. Locks are given back by a
 * close() as well: of whatever descriptor of the file if they are a process's.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SLOTS = 3, SLOT = 10 };

struct turn {
	int pid, tid;
};

struct slot {
	struct turn holder, last;
};

static struct slot *slots;
static const char *file;
static char kind;
static int rounds, thread_count;
static unsigned seed;

static long long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

/* Of one slot, or of all. */
static void lock(int fd, int type, int first, int count, int waits)
{
	struct flock l = {.l_type = (short)type,
			  .l_whence = SEEK_SET,
			  .l_start = first * SLOT,
			  .l_len = count * SLOT};
	int how = type == F_UNLCK ? LOCK_UN : type == F_RDLCK ? LOCK_SH : LOCK_EX;
	int r;

	if (kind == 'f')
		r = flock(fd, how);
	else if (kind == 'o')
		r = fcntl(fd, waits ? F_OFD_SETLKW : F_OFD_SETLK, &l);
	else
		r = fcntl(fd, waits ? F_SETLKW : F_SETLK, &l);
	if (r < 0)
		abort();
}

/* Also by closing what led to the file, in one way or another. Returns what leads there now. (dup2() leaves two of what is not a process's.) */
static int unlock(int fd, int first, int count, unsigned how)
{
	int other;

	how %= 8;
	switch (kind != 'p' && how == 3 ? 2 : how) {
	case 1:
		close(fd);
		return open(file, O_RDWR);
	case 2:
		fclose(fdopen(fd, "r+"));
		return open(file, O_RDWR);
	case 3:
		other = open(file, O_RDWR);
		dup2(other, fd);
		close(other);
		return fd;
	case 4: /* another one of the same file */
		close(open(file, O_RDONLY));
		if (kind != 'p')
			lock(fd, F_UNLCK, first, count, 0);
		return fd;
	default:
		lock(fd, F_UNLCK, first, count, 0);
		return fd;
	}
}

static void rest(unsigned *random, unsigned most)
{
	usleep(rand_r(random) % most);
}

static void *take_turns(void *number)
{
	unsigned random = seed * 1000003u + (unsigned)(long)number;
	struct turn me = {getpid(), (int)syscall(SYS_gettid)};
	int fd = open(file, O_RDWR | O_CREAT, 0600), log;
	char text[200];

	snprintf(text, sizeof(text), "log.%d.%d", me.pid, me.tid);
	log = open(text, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
	for (int i = 0; i < rounds; i++) {
		int first = kind == 'f' ? 0 : (int)(rand_r(&random) % SLOTS);
		int count =
		    kind == 'f' ? SLOTS : 1 + (int)(rand_r(&random) % (unsigned)(SLOTS - first));
		int reads = rand_r(&random) % 8 == 0;
		struct turn from[SLOTS];
		long long begin = now(), end;
		unsigned how;
		int length = 0;

		lock(fd, reads ? F_RDLCK : F_WRLCK, first, count, 1);
		end = now();
		for (int k = first; k < first + count; k++) {
			from[k] = slots[k].holder.pid ? slots[k].holder : slots[k].last;
			if (!reads)
				slots[k].holder = me;
		}
		length = snprintf(text, sizeof(text), "%s %lld %lld %d %d", reads ? "reads" : "got",
				  begin, end, first, count);
		for (int k = first; k < first + count; k++)
			length += snprintf(text + length, sizeof(text) - (size_t)length, " %d/%d",
					   from[k].pid, from[k].tid);
		text[length++] = '\n';
		if (write(log, text, (size_t)length) != length)
			abort();
		rest(&random, 1500);
		for (int k = first; !reads && k < first + count; k++) {
			slots[k].last = me;
			slots[k].holder = (struct turn){0, 0};
		}
		begin = now();
		how = (unsigned)rand_r(&random) % 8;
		fd = unlock(fd, first, count, how);
		end = now();
		length = snprintf(text, sizeof(text), "%s %lld %lld %d %d\n",
				  kind != 'p' && how >= 1 && how <= 3 ? "closes" : "free", begin,
				  end, first, count);
		if (write(log, text, (size_t)length) != length)
			abort();
		rest(&random, 1500);
	}
	return NULL;
}

static void process(int number)
{
	pthread_t threads[64];

	for (long t = 1; t < thread_count; t++)
		pthread_create(&threads[t], NULL, take_turns, (void *)(number * 64 + t));
	take_turns((void *)(number * 64l));
	for (int t = 1; t < thread_count; t++)
		pthread_join(threads[t], NULL);
	exit(0);
}

int main(int argc, char **argv)
{
	int count;
	pid_t pids[64];

	if (argc < 7)
		return 2;
	seed = (unsigned)strtoul(argv[1], NULL, 0);
	count = atoi(argv[2]);
	thread_count = atoi(argv[3]);
	rounds = atoi(argv[4]);
	kind = argv[5][0];
	file = argv[6];
	slots = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	for (int i = 0; i < count; i++) {
		pids[i] = fork();
		if (pids[i] == 0)
			process(i);
	}
	for (int i = 0; argc > 7 && i < count - 2; i++) {
		rest(&seed, 60000);
		kill(pids[i], SIGKILL);
	}
	while (wait(NULL) > 0)
		;
	return 0;
}
