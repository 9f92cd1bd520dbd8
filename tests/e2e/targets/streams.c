/* SPDX-License-Identifier: MIT */
/*
 * Processes write to one channel and read from it by turns, by stdio and by calls of their own, and say which bytes when: one writes
 * some, then one reads these and no more. What stdio itself does in between they do not see.
 *
 *	streams KIND SEED WRITERS READERS TURNS
 *
 * KIND: pipe, fifo, stream, tcp. Printed: "W TID BEGIN END FROM TO" and "R TID BEGIN END FROM TO": between these times (CLOCK_BOOTTIME) the
 * thread has written or read these bytes of the channel. The last turn of each writer is written as it ends, and another process
 * that popen() starts writes what the last reader reads.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

enum { PARTIES = 64, LARGEST = 20000 };

/* The only thing that processes share beside the channel. */
static struct {
	unsigned turn; /* twice as many as there are: of the writer, of the reader */
	unsigned long long offset;
} * shared;

static char bytes[LARGEST + 2];
static int log_fd;
static int has_room; /* for as many bytes, one by one */
static unsigned seed;

static unsigned next(void)
{
	seed = seed * 1103515245u + 12345u;
	return seed >> 16 & 0x7fff;
}

static long long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

static void await(unsigned turn)
{
	while (__atomic_load_n(&shared->turn, __ATOMIC_ACQUIRE) != turn)
		usleep(50);
}

static void over(unsigned turn)
{
	__atomic_store_n(&shared->turn, turn + 1, __ATOMIC_RELEASE);
}

static void say(char what, long long begin, long long end, unsigned long long from, size_t size)
{
	char line[200];
	int length = snprintf(line, sizeof(line), "%c %ld %lld %lld %llu %llu\n", what,
			      (long)syscall(SYS_gettid), begin, end, from, from + size);

	if (write(log_fd, line, length) != length)
		abort();
}

static void is(int good)
{
	if (!good)
		abort();
}

/* One way of many to write them: the last byte alone is the end of a line. */
static void put(FILE *f, int how, size_t size)
{
	switch (how) {
	case 0:
		is(fwrite(bytes, 1, size, f) == size);
		break;
	case 1:
		is(fprintf(f, "%.*s\n", (int)size - 1, bytes) == (int)size);
		break;
	case 2:
		for (size_t i = 0; i < size; i++)
			is(putc(bytes[i], f) != EOF);
		break;
	case 3:
		bytes[size] = 0;
		is(fputs(bytes, f) >= 0);
		bytes[size] = 'x';
		break;
	case 4:
		is(write(fileno(f), bytes, size) == (ssize_t)size);
		return;
	default:
		for (size_t i = 0; i < size; i++)
			is(putc_unlocked(bytes[i], f) != EOF);
		break;
	}
	is(fflush(f) == 0);
}

static void get(FILE *f, int how, size_t size)
{
	static char got[LARGEST + 2];
	char *line = NULL;
	size_t room = 0;

	switch (how) {
	case 0:
		is(fread(got, 1, size, f) == size);
		break;
	case 1:
		is(fgets(got, sizeof(got), f) && strlen(got) == size);
		break;
	case 2:
		is(getline(&line, &room, f) == (ssize_t)size);
		free(line);
		break;
	case 3:
		for (size_t i = 0; i < size; i++)
			is(getc(f) != EOF);
		break;
	case 4:
		for (size_t left = size; left;) {
			ssize_t n = read(fileno(f), got, left);

			is(n > 0);
			left -= n;
		}
		break;
	default:
		is(fscanf(f, "%20000[^\n]", got) == 1 && getc(f) == '\n');
		break;
	}
}

static void party(int writes, unsigned at, unsigned count, unsigned turns, int fd)
{
	FILE *f = fdopen(fd, writes ? "w" : "r");
	long long begin;
	size_t size;

	if (writes && at % 3 == 1)
		setvbuf(f, NULL, at % 2 && has_room ? _IONBF : _IOLBF, 0);
	for (unsigned turn = 0; turn < turns; turn++) {
		unsigned who = next(), reader = next(), how = next() % 6, by = next() % 6;

		size = next() % 4 ? next() % 200 + 2 : next() % (LARGEST - 2) + 2;
		if ((writes ? who : reader) % count != at)
			continue;
		await(2 * turn + !writes);
		bytes[size - 1] = '\n';
		begin = now();
		writes ? put(f, how, size) : get(f, by, size);
		say(writes ? 'W' : 'R', begin, now(), shared->offset, size);
		bytes[size - 1] = 'x';
		if (!writes)
			shared->offset += size;
		over(2 * turn + !writes);
	}
	/* What is left is written by exit(), or by fclose(). */
	if (writes) {
		unsigned long long from;

		await(2 * (turns + at));
		from = shared->offset; /* before anybody can have read them */
		begin = now();
		fprintf(f, "%s", "as it ends\n");
		say('W', begin, begin + 1000000000000ll, from, 11);
		if (at % 2)
			fclose(f);
		exit(0);
	}
	fclose(f);
	_exit(0);
}

static void channel(const char *kind, int fds[2])
{
	if (!strcmp(kind, "pipe")) {
		is(pipe(fds) == 0);
	} else if (!strcmp(kind, "fifo")) {
		unlink("a-fifo");
		is(mkfifo("a-fifo", 0600) == 0);
		fds[0] = open("a-fifo", O_RDWR);
		fds[1] = open("a-fifo", O_WRONLY);
	} else if (!strcmp(kind, "stream")) {
		is(socketpair(AF_UNIX, SOCK_STREAM, 0, fds) == 0);
	} else {
		struct sockaddr_in a = {.sin_family = AF_INET,
					.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
		socklen_t length = sizeof(a);
		int s = socket(AF_INET, SOCK_STREAM, 0);

		is(bind(s, (void *)&a, length) == 0 && listen(s, 1) == 0 &&
		   getsockname(s, (void *)&a, &length) == 0);
		fds[1] = socket(AF_INET, SOCK_STREAM, 0);
		is(connect(fds[1], (void *)&a, length) == 0);
		fds[0] = accept(s, NULL, NULL);
		close(s);
	}
}

/* What a child writes that libc has started, and as it ends. */
static void child(const char *self)
{
	unsigned long long from = shared->offset;
	char command[300], line[100];
	long long begin = now();
	FILE *f;

	snprintf(command, sizeof(command), "exec %s child %d", self, log_fd);
	f = popen(command, "r");
	is(f && fgets(line, sizeof(line), f));
	say('R', begin, now(), from, strlen(line));
	is(pclose(f) == 0);
}

int main(int argc, char **argv)
{
	unsigned writers, readers, turns;
	char last[11];
	int fds[2];

	if (argc == 3) {
		log_fd = atoi(argv[2]);
		printf("the pid is %d\n", (int)getpid());
		say('C', now(), 0, 0, 0);
		return 0;
	}
	is(argc == 6);
	log_fd = dup(1);
	seed = atoi(argv[2]);
	writers = atoi(argv[3]);
	readers = atoi(argv[4]);
	turns = atoi(argv[5]);
	shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	memset(bytes, 'x', sizeof(bytes));
	has_room = !strcmp(argv[1], "pipe") || !strcmp(argv[1], "fifo");
	channel(argv[1], fds);
	for (unsigned i = 0; i < writers; i++)
		if (fork() == 0)
			party(1, i, writers, turns, fds[1]);
	for (unsigned i = 0; i < readers; i++)
		if (fork() == 0)
			party(0, i, readers, turns, fds[0]);
	close(fds[1]);
	await(2 * turns);
	for (unsigned i = 0; i < writers; i++) {
		long long begin = now();

		for (size_t got = 0; got < sizeof(last);) {
			ssize_t n = read(fds[0], last, sizeof(last) - got);

			is(n > 0);
			got += n;
		}
		say('R', begin, now(), shared->offset, sizeof(last));
		shared->offset += sizeof(last);
		__atomic_store_n(&shared->turn, 2 * (turns + i + 1), __ATOMIC_RELEASE);
	}
	while (wait(NULL) > 0)
		;
	child(argv[0]);
	return 0;
}
