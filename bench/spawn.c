/* SPDX-License-Identifier: MIT */
/* spawn COUNT PROGRAM: microseconds from fork to the end of PROGRAM, of the quickest quarter the slowest. */
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/timing.h"

int main(int argc, char **argv)
{
	int count = argc == 3 ? atoi(argv[1]) : 0;
	double *us;

	if (count < 1)
		return 2;
	us = calloc((size_t)count, sizeof *us);
	for (int i = 0; i < count; i++) {
		double start = timing_read(CLOCK_MONOTONIC);
		pid_t child = fork();
		int status;

		if (child == 0) {
			execl(argv[2], argv[2], (char *)NULL);
			_exit(127);
		}
		waitpid(child, &status, 0);
		if (status != 0)
			return 1;
		us[i] = (timing_read(CLOCK_MONOTONIC) - start) / 1000;
	}
	printf("%.1f\n", timing_quantile(us, count, 0.25));
	return 0;
}
