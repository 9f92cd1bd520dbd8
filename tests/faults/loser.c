/* SPDX-License-Identifier: MIT */
/*
 * loser HOW N: loses records to handlers of SIGUSR1, which a fault lets run in the middle of one.
 *
 *	nest	N calls, and handlers that interrupt one another
 *	leave	N times the manager is told of something, out of which a handler jumps
 *	first	N threads, whose handlers call a function before the thread can record
 *	hold	some threads whose handlers wait while the first thread makes N calls
 */
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HIDDEN	__attribute__((no_instrument_function))
#define HOLDERS 2 /* as many as the smallest buffer has chunks */

static sigjmp_buf back;
static bool may_leave, calls, holds;
static sem_t held, go_on;
static __thread bool is_holder;

__attribute__((noinline)) static void work(void)
{
	__asm__ volatile("");
}

HIDDEN static void on_signal(int number)
{
	(void)number;
	if (calls)
		work();
	if (may_leave)
		siglongjmp(back, 1);
	if (holds && is_holder) {
		is_holder = false;
		sem_post(&held);
		sem_wait(&go_on);
	}
}

HIDDEN static void *first(void *unused)
{
	work();
	return unused;
}

HIDDEN static void *hold(void *unused)
{
	is_holder = true;
	work();
	return unused;
}

HIDDEN static void leave_one(void)
{
	may_leave = true;
	if (!sigsetjmp(back, 1))
		kill(getpid(), SIGURG);
	may_leave = false;
	kill(getpid(), SIGURG); /* finds what was left */
}

HIDDEN static void make_threads(int count)
{
	pthread_t thread;

	for (int i = 0; i < count; i++) {
		pthread_create(&thread, NULL, first, NULL);
		pthread_join(thread, NULL);
	}
}

HIDDEN static void work_while_held(int count)
{
	pthread_t threads[HOLDERS];

	for (int i = 0; i < HOLDERS; i++)
		pthread_create(&threads[i], NULL, hold, NULL);
	for (int i = 0; i < HOLDERS; i++)
		sem_wait(&held);
	for (int i = 0; i < count; i++)
		work();
	for (int i = 0; i < HOLDERS; i++)
		sem_post(&go_on);
	for (int i = 0; i < HOLDERS; i++)
		pthread_join(threads[i], NULL);
}

HIDDEN int main(int argc, char **argv)
{
	const char *how = argc == 3 ? argv[1] : "";
	int count = argc == 3 ? atoi(argv[2]) : 0;
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_NODEFER};

	sem_init(&held, 0, 0);
	sem_init(&go_on, 0, 0);
	work(); /* the first thread can record */
	calls = strcmp(how, "nest") == 0 || strcmp(how, "first") == 0;
	holds = strcmp(how, "hold") == 0;
	sigaction(SIGUSR1, &action, NULL);
	for (int i = 0; i < count && strcmp(how, "nest") == 0; i++)
		work();
	for (volatile int i = 0; i < count && strcmp(how, "leave") == 0; i++)
		leave_one();
	if (strcmp(how, "first") == 0)
		make_threads(count);
	if (holds)
		work_while_held(count);
	signal(SIGUSR1, SIG_IGN);
	return 0;
}
