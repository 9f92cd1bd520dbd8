/* SPDX-License-Identifier: MIT */
/*
 * Counts by calls: lseek(fd, N) for N = 0, 1, 2, ..., so that who traces it for a while must show a part without a gap. At SIGUSR1 it loads
 * the library that it is given, whose step() counts on likewise; at SIGTERM it ends, with the last number on standard output.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#ifdef LIBRARY

off_t step(int fd, off_t number);
off_t step(int fd, off_t number)
{
	return lseek(fd, number, SEEK_SET);
}

#else

static volatile sig_atomic_t load, end;

static void come(int number)
{
	if (number == SIGUSR1)
		load = 1;
	else
		end = 1;
}

int main(int argc, char **argv)
{
	int fd = open(argv[0], O_RDONLY);
	off_t (*step)(int, off_t) = NULL;
	off_t number;

	signal(SIGUSR1, come);
	signal(SIGTERM, come);
	puts("runs");
	fflush(stdout);
	for (number = 0; !end; number++) {
		if (load && !step && argc > 1) {
			step = (off_t(*)(int, off_t))dlsym(dlopen(argv[1], RTLD_NOW), "step");
			puts("loaded");
			fflush(stdout);
		}
		if ((step ? step(fd, number) : lseek(fd, number, SEEK_SET)) != number)
			abort();
		usleep(50);
	}
	printf("%ld\n", (long)number);
	return 0;
}

#endif
