/* SPDX-License-Identifier: MIT */
/* Reads a file from the disk, page by page: by the pages of a mapping, then by pread(). Prints how many major faults that was, as the
 * kernel counts them, and where in the file the pages lie. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

enum { PIECES = 40, PIECE = 1 << 16, PAGE = 4096 };

static char piece[PIECE];
static volatile int sum;

static long faults(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_majflt;
}

int main(void)
{
	int fd = open("data", O_RDWR | O_CREAT | O_TRUNC, 0600);
	long before;
	char *p;

	memset(piece, 7, sizeof(piece));
	for (int i = 0; i < PIECES; i++) {
		if (write(fd, piece, sizeof(piece)) != sizeof(piece))
			return 1;
	}
	if (fsync(fd) < 0 || posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) != 0)
		return 1;
	p = mmap(NULL, PIECES * PIECE, PROT_READ, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED || madvise(p, PIECES * PIECE, MADV_RANDOM) < 0)
		return 1;
	before = faults();
	for (int i = 0; i < PIECES; i++)
		sum += p[i * PIECE];
	printf("faults %ld\n", faults() - before);
	for (int i = 0; i < PIECES; i++)
		printf("at %d\n", i * PIECE);
	munmap(p, PIECES * PIECE);
	if (posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) != 0 ||
	    posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM) != 0)
		return 1;
	for (int i = 0; i < PIECES; i++) {
		if (pread(fd, piece, PAGE, i * PIECE) != PAGE)
			return 1;
	}
	fflush(stdout);
	usleep(200000); /* while it has the file open, its name can be found */
	return 0;
}
