/* SPDX-License-Identifier: MIT */
#include "manager/process/kin.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

/* Parents that are followed. */
#define GENERATIONS_MAX 256u

/* What /proc says behind the name, which may hold anything; NULL: nothing. */
static const char *stat_read(pid_t pid, char text[512])
{
	char path[32];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	n = read(fd, text, 511);
	close(fd);
	text[n > 0 ? n : 0] = 0;
	return strrchr(text, ')');
}

pid_t fx_kin_parent(pid_t pid)
{
	char text[512];
	const char *end = stat_read(pid, text);
	int parent;

	return end && sscanf(end, ") %*c %d", &parent) == 1 ? parent : 0;
}

pid_t fx_kin_born(pid_t pid, unsigned long long *ret_ticks)
{
	char text[512];
	const char *end = stat_read(pid, text);
	int parent = 0;

	*ret_ticks = 0;
	if (!end || sscanf(end,
			   ") %*c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d "
			   "%*d %*d %llu",
			   &parent, ret_ticks) < 1)
		return 0;
	return parent;
}

bool fx_kin_is_ending(pid_t pid)
{
	const unsigned exiting = 4; /* the kernel's PF_EXITING */
	char text[512];
	const char *end = stat_read(pid, text);
	unsigned flags;

	return !end || sscanf(end, ") %*c %*d %*d %*d %*d %*d %u", &flags) != 1 ||
	       (flags & exiting);
}

bool fx_kin_is_over(pid_t pid)
{
	char text[512], state;
	const char *end = stat_read(pid, text);
	long threads;

	/* A first thread that has ended before the others looks dead too. */
	return !end ||
	       sscanf(end,
		      ") %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %ld",
		      &state, &threads) != 2 ||
	       ((state == 'Z' || state == 'X') && threads <= 1);
}

bool fx_kin_lives(int pidfd)
{
	struct pollfd end = {.fd = pidfd, .events = POLLIN};

	return pidfd >= 0 && poll(&end, 1, 0) == 0;
}

/* The kernel's PID_FS_MAGIC: there each process has an inode of its own. */
#define PIDFS 0x50494446

bool fx_kin_may_be_same(int pidfd, int other)
{
	struct statfs system;
	struct stat mine, others;
	bool lived;

	if (pidfd < 0 || other < 0)
		return true;
	if (fstatfs(pidfd, &system) == 0 && system.f_type == PIDFS && fstat(pidfd, &mine) == 0 &&
	    fstat(other, &others) == 0)
		return mine.st_ino == others.st_ino;
	lived = fx_kin_lives(pidfd);
	/* The first may end between the two looks. */
	return lived == fx_kin_lives(other) || (lived && !fx_kin_lives(pidfd));
}

/* A manager that may not look into a process is told by the kernel that it ended with 0: so of programs that may be run but not
 * read. */
static bool is_hidden(pid_t pid)
{
	char path[32], target[1];

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	return readlink(path, target, sizeof(target)) < 0 && errno == EACCES;
}

bool fx_kin_status(pid_t pid, int *ret)
{
	char text[512];
	const char *end = stat_read(pid, text);

	/* It is the last field. */
	if (!end || strlen(end) < 3 || (end[2] != 'Z' && end[2] != 'X'))
		return false;
	end = strrchr(end, ' ');
	return end && sscanf(end, " %d", ret) == 1 && (*ret || !is_hidden(pid));
}

bool fx_kin_has_user(pid_t pid, uid_t uid)
{
	char path[32], line[256];
	unsigned effective;
	bool found = false;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	f = fopen(path, "re");
	/* A name cannot have a line of its own: the kernel escapes it. */
	while (f && !found && fgets(line, sizeof(line), f))
		found = sscanf(line, "Uid: %*u %u", &effective) == 1;
	if (f)
		fclose(f);
	return found && effective == uid && !fx_kin_is_over(pid);
}

bool fx_kin_descends(pid_t pid, bool (*is_head)(void *opaque, pid_t pid), void *opaque)
{
	for (unsigned i = 0; i < GENERATIONS_MAX; i++) {
		pid = fx_kin_parent(pid);
		if (pid <= 0)
			return false;
		if (is_head(opaque, pid))
			return true;
	}
	return false;
}
