/* SPDX-License-Identifier: MIT */
/*
 * Opens files by their names in descriptors of directories, moves what they lie in, and says of each descriptor that it has written to
 * where /proc says that it leads.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void use(int fd)
{
	char link[40], path[PATH_MAX] = "";

	if (fd < 0)
		exit(1);
	/* The tracer has looked at the descriptor by then, and not later. */
	if (write(fd, "x", 1) != 1)
		exit(2);
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	if (readlink(link, path, sizeof(path) - 1) < 0)
		exit(3);
	dprintf(STDOUT_FILENO, "%s\n", path);
	close(fd);
}

static int made(int directory, const char *name)
{
	return openat(directory, name, O_RDWR | O_CREAT | O_NOFOLLOW, 0600);
}

/* A directory's descriptor, which the tracer knows. */
static int opened(int above, const char *name)
{
	int fd = openat(above, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
	struct stat st;

	if (fd < 0 || fstatat(fd, ".", &st, 0) < 0)
		exit(4);
	return fd;
}

int main(void)
{
	int above, inner, fd;
	pid_t child;

	mkdir("above", 0700);
	mkdir("above/inner", 0700);
	above = opened(AT_FDCWD, "above");
	inner = opened(above, "inner");
	/* Many, so that some are found without being asked for, however slow the machine is. */
	for (int i = 0; i < 300; i++) {
		char name[16];

		snprintf(name, sizeof(name), "file%d", i);
		use(made(i % 2 ? inner : above, name));
	}
	/* What is moved right behind a use whose path was just asked for. */
	use(made(inner, "before"));
	rename("above/inner", "above/moved");
	use(made(inner, "by-path"));
	use(made(inner, "once-more"));
	renameat(above, "moved", above, "again");
	use(made(inner, "by-descriptor"));
	rename("above", "below");
	use(made(inner, "with-its-parent"));
	use(made(above, "the-parent"));
	/* The file itself, before it is used. */
	fd = made(above, "old-name");
	renameat(above, "old-name", above, "new-name");
	use(fd);
	fd = made(above, "removed");
	unlinkat(above, "removed", 0);
	use(fd);
	/* A link is followed. */
	symlinkat("target", above, "link");
	use(openat(above, "link", O_RDWR | O_CREAT, 0600));
	use(openat(above, "again/inside", O_RDWR | O_CREAT | O_NOFOLLOW, 0600));
	mkfifoat(above, "queue", 0600);
	fd = openat(above, "queue", O_RDWR | O_NOFOLLOW);
	if (fd < 0 || write(fd, "x", 1) != 1)
		return 5;
	close(fd);
	/* A number means something else. */
	close(inner);
	if (mkdir("other", 0700) < 0 || opened(AT_FDCWD, "other") != inner)
		return 6;
	use(made(inner, "in-another"));
	child = fork();
	if (child == 0) {
		use(made(inner, "in-a-child"));
		_exit(0);
	}
	waitpid(child, NULL, 0);
	for (int i = 0; i < 4; i++)
		use(open(i % 2 ? "/dev/null" : "/dev/zero", O_RDWR));
	return 0;
}
