/* SPDX-License-Identifier: MIT */
/*
 * Processes that make, become and end one another in every way, and say so on stdout, each line in one write:
 *
 *	creates PARENT CHILD
 *	becomes PID PID		by exec
 *	ends CHILD PARENT	the parent was told
 *	kills SENDER CHILD	which died of it
 */
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS 4
#define ROUNDS	12

static char *const nothing[] = {"true", NULL};

static void say(const char *what, pid_t from, pid_t to)
{
	dprintf(STDOUT_FILENO, "%s %d %d\n", what, (int)from, (int)to);
}

/* Waits in another way each time, with and without asking for the status. */
static void await(pid_t child, int way)
{
	siginfo_t info;
	int status;

	switch (way % 6) {
	case 0:
		waitpid(child, NULL, 0);
		break;
	case 1:
		waitpid(child, &status, 0);
		break;
	case 2:
		wait4(child, NULL, 0, NULL);
		break;
	case 3:
		waitid(P_PID, (id_t)child, NULL, WEXITED);
		break;
	case 4: /* a look does not end it */
		waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT);
		waitid(P_PID, (id_t)child, &info, WEXITED);
		break;
	default:
		while (waitpid(child, &status, WNOHANG) == 0)
			usleep(500);
	}
	say("ends", child, getpid());
}

static pid_t made(pid_t child)
{
	say("creates", getpid(), child);
	return child;
}

static void exits(int way)
{
	pid_t child = fork();

	if (child == 0)
		_exit(7);
	await(made(child), way);
}

static void forks_and_execs(int way)
{
	pid_t child = fork();

	if (child == 0) {
		execv("/does/not/exist", nothing);
		say("becomes", getpid(), getpid());
		execvp("true", nothing);
		_exit(127);
	}
	await(made(child), way);
}

static void vforks_and_execs(int way)
{
	pid_t child = vfork();

	if (child == 0) {
		execv("/bin/true", nothing);
		_exit(127);
	}
	await(made(child), way);
}

static void spawns(int way)
{
	pid_t child;

	posix_spawnp(&child, "true", NULL, NULL, nothing, environ);
	await(made(child), way);
}

/* A child that waits to be killed, and is awake before this returns. */
static pid_t victim_make(void)
{
	pid_t child;
	int fds[2];
	char c = 0;

	if (pipe(fds) < 0)
		abort();
	child = fork();
	while (child == 0) {
		if (c == 0)
			c = (char)write(fds[1], "x", 1);
		pause();
	}
	if (read(fds[0], &c, 1) != 1)
		abort();
	close(fds[0]);
	close(fds[1]);
	return made(child);
}

static void is_killed(int way)
{
	pid_t child = victim_make();

	kill(child, way % 2 ? SIGKILL : SIGTERM);
	say("kills", getpid(), child);
	await(child, way);
}

/* A child with a child; the elder kills the younger by the hand of a third. */
static void grandchildren(int way)
{
	pid_t child = fork();

	if (child == 0) {
		pid_t victim = victim_make(), killer = fork();

		if (killer == 0) {
			kill(victim, SIGKILL);
			say("kills", getpid(), victim);
			_exit(0);
		}
		made(killer);
		await(victim, way);
		await(killer, way + 1);
		exit(0);
	}
	await(made(child), way);
}

static void *play(void *arg)
{
	static void (*const games[])(int) = {exits,  forks_and_execs, vforks_and_execs,
					     spawns, is_killed,	      grandchildren};

	for (int i = 0; i < ROUNDS; i++)
		games[(i + (int)(size_t)arg) % 6](i);
	return NULL;
}

int main(void)
{
	pthread_t t[THREADS];

	for (size_t i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, play, (void *)i);
	for (size_t i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	return 0;
}
