/* SPDX-License-Identifier: MIT */
/*
 * titled TITLE FILE WORKER [quiet]: once FILE.go is there, writes TITLE over its arguments, as servers do, with blanks behind it; a
 * child writes WORKER. Both make FILE, and FILE.worker, and call a function until they are told to end;
 * quiet ones do nothing more.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void end(int sig)
{
	(void)sig;
	_exit(0);
}

static void __attribute__((noinline)) turn(void)
{
	usleep(1000);
}

static bool is_quiet;

static void serve(char **argv, int argc, const char *title, const char *file)
{
	size_t room = (size_t)(argv[argc - 1] + strlen(argv[argc - 1]) - argv[0]);

	memset(argv[0], ' ', room);
	memcpy(argv[0], title, strlen(title) < room ? strlen(title) : room);
	close(open(file, O_WRONLY | O_CREAT, 0600));
	while (is_quiet)
		pause();
	for (;;)
		turn();
}

int main(int argc, char **argv)
{
	static char title[100], file[4096], worker[100], beside[4200], go[4200];
	bool is_worker;

	signal(SIGTERM, end);
	snprintf(title, sizeof(title), "%s", argv[1]);
	snprintf(file, sizeof(file), "%s", argv[2]);
	snprintf(worker, sizeof(worker), "%s", argv[3]);
	snprintf(beside, sizeof(beside), "%s.worker", file);
	snprintf(go, sizeof(go), "%s.go", file);
	is_quiet = argc > 4;
	is_worker = fork() == 0;
	while (access(go, F_OK) != 0)
		turn();
	serve(argv, argc, is_worker ? worker : title, is_worker ? beside : file);
}
