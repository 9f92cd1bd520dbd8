/* SPDX-License-Identifier: MIT */
/*
 * What a program and its libraries do with memory and files of one another, however they are bound.
 * As a library (-DPART): functions that allocate, release and open. As the program: calls those of the
 * library of its first argument, which it loads with RTLD_DEEPBIND if there is a second one.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef PART
char *part_make(void);
void part_drop(char *text);
int part_open(const char *path);
int getppid(void);

char *part_make(void)
{
	char *text = malloc(100000);

	return text ? strcpy(text, "made by the library") : NULL;
}

void part_drop(char *text)
{
	free(realloc(text, 200000));
}

/* A function of libc's that the library has of its own; it is the program's as well. */
int getppid(void)
{
	return 4711;
}

int part_open(const char *path)
{
	int fd = open(path, O_RDONLY);

	return fd < 0 ? -errno : (close(fd), getppid());
}
#else
int main(int argc, char **argv)
{
	void *part = argc > 1 ? dlopen(argv[1], RTLD_NOW | (argc > 2 ? RTLD_DEEPBIND : 0)) : NULL;
	char *(*make)(void) = part ? (char *(*)(void))dlsym(part, "part_make") : NULL;
	void (*drop)(char *) = part ? (void (*)(char *))dlsym(part, "part_drop") : NULL;
	int (*open_it)(const char *) =
	    part ? (int (*)(const char *))dlsym(part, "part_open") : NULL;
	char *theirs, *ours;

	if (!make || !drop || !open_it)
		return 2;
	for (int i = 0; i < 1000; i++) {
		theirs = make();
		ours = strdup("made by the program");
		if (i == 0)
			printf("%s, %s\n", theirs, ours);
		free(theirs);
		drop(ours);
	}
	printf("%d %s\n", open_it("/dev/null") == 4711, strerror(-open_it("/no/such/part")));
	printf("%d\n", open("/no/such/program", O_RDONLY));
	return 3;
}
#endif
