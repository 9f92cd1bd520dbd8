/* SPDX-License-Identifier: MIT */
/*
 * kept_up CALLS [ARCHIVE]: makes that many calls of a function, in portions, each of which has to have come into the archive before
 * the next begins; without ARCHIVE it waits for nothing. So the manager keeps up, however slow the machine is. Prints the page
 * faults that the calls took, the KiB that the process has resident in the end, and the portions.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#define PORTION	   10000L
#define CALL_BYTES 24L
/* What stands in a chunk that goes on is taken some time later. */
#define CHUNK_BYTES 16384L

#define APART __attribute__((no_instrument_function))

static __attribute__((noinline)) void called(void)
{
	__asm__ volatile("");
}

APART static void await(const char *archive, long size)
{
	const struct timespec moment = {.tv_nsec = 1000000};
	struct stat st;

	while (stat(archive, &st) < 0 || st.st_size < size)
		nanosleep(&moment, NULL);
}

APART static long faults(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_minflt;
}

/* From the kernel's count of pages, one by one. */
APART static long resident(void)
{
	FILE *f = fopen("/proc/self/smaps_rollup", "r");
	char line[256];
	long kib = -1;

	while (f && kib < 0 && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "Rss: %ld", &kib) != 1)
			kib = -1;
	}
	if (f)
		fclose(f);
	return kib;
}

APART int main(int argc, char **argv)
{
	long calls = atol(argv[1]), before = faults(), portions = 0;

	for (long made = 0; made < calls; made += PORTION, portions++) {
		for (long i = 0; i < PORTION; i++)
			called();
		if (argc > 2)
			await(argv[2], (made + PORTION) * CALL_BYTES - CHUNK_BYTES);
	}
	before = faults() - before;
	printf("%ld %ld %ld\n", before, resident(), portions);
	return 0;
}
