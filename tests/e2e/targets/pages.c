/* SPDX-License-Identifier: MIT */
/* Reads a file from the disk, page by page: by the pages of a mapping, then by pread(). Prints how many major faults that was, as the
 * kernel counts them, whether the file was written past the cache, where in the file the pages lie, and how often it gave up its processor
 * for the disk. Then makes the file "read", and has what it has read open until there is a file "go". */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

enum { PIECES = 40, PIECE = 1 << 16, PAGE = 4096 };

static char piece[PIECE] __attribute__((aligned(PAGE)));
static volatile int sum;

static long faults(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_majflt;
}

static long waits(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_nvcsw;
}

/* Written past the cache, all of it is this thread's requests; else the kernel's own threads may come first. -1 where that cannot be. */
static int file_write(int how)
{
	int fd = open("data", O_RDWR | O_CREAT | O_TRUNC | how, 0600), written = 0;

	while (fd >= 0 && written < PIECES && write(fd, piece, sizeof(piece)) == sizeof(piece))
		written++;
	if (written == PIECES)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

int main(void)
{
	int fd, direct = 1;
	long before, waited;
	char *p;

	memset(piece, 7, sizeof(piece));
	fd = file_write(O_DIRECT);
	if (fd < 0) {
		direct = 0;
		fd = file_write(0);
	}
	if (fd < 0 || fcntl(fd, F_SETFL, 0) < 0 || fsync(fd) < 0 ||
	    posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) != 0)
		return 1;
	p = mmap(NULL, PIECES * PIECE, PROT_READ, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED || madvise(p, PIECES * PIECE, MADV_RANDOM) < 0)
		return 1;
	before = faults();
	waited = -waits();
	for (int i = 0; i < PIECES; i++)
		sum += p[i * PIECE];
	waited += waits();
	printf("faults %ld\ndirect %d\n", faults() - before, direct);
	for (int i = 0; i < PIECES; i++)
		printf("at %d\n", i * PIECE);
	munmap(p, PIECES * PIECE);
	if (posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) != 0 ||
	    posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM) != 0)
		return 1;
	waited -= waits();
	for (int i = 0; i < PIECES; i++) {
		if (pread(fd, piece, PAGE, i * PIECE) != PAGE)
			return 1;
	}
	waited += waits();
	printf("waits %ld\n", waited);
	fflush(stdout);
	close(open("read", O_CREAT | O_WRONLY, 0600));
	while (access("go", F_OK) != 0)
		usleep(10000);
	return 0;
}
