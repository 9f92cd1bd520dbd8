/* SPDX-License-Identifier: MIT */
/* short_lived THREADS: so many, 32 at a time, each of which makes one call and ends. */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#define ABREAST 32

static void *run(void *unused)
{
	getppid();
	return unused;
}

int main(int argc, char **argv)
{
	int left = argc > 1 ? atoi(argv[1]) : 1;
	pthread_t threads[ABREAST];

	while (left > 0) {
		int count = left < ABREAST ? left : ABREAST;

		for (int i = 0; i < count; i++)
			if (pthread_create(&threads[i], NULL, run, NULL) != 0)
				return 1;
		for (int i = 0; i < count; i++)
			pthread_join(threads[i], NULL);
		left -= count;
	}
	return 0;
}
