/* SPDX-License-Identifier: MIT */
/* Forks so many children, one after another, which end at once. Says how often a fork, and how often an end, had to wait. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* How often this process has given its processor up to wait. */
static long waits(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_nvcsw;
}

int main(int argc, char **argv)
{
	long *in_child = mmap(NULL, sizeof(*in_child), PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	long forks = 0, ends = 0;
	int count = argc > 1 ? atoi(argv[1]) : 1;

	for (int i = 0; i < count; i++) {
		long before = waits();
		struct rusage usage;
		pid_t child = fork();

		if (child == 0) {
			*in_child = waits();
			_exit(0);
		}
		forks += waits() - before;
		wait4(child, NULL, 0, &usage);
		/* The last switch away is none that it comes back from. */
		if (usage.ru_nvcsw > *in_child + 1)
			ends += usage.ru_nvcsw - *in_child - 1;
		usleep(500);
	}
	printf("%ld %ld\n", forks, ends);
	return 0;
}
