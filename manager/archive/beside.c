/* SPDX-License-Identifier: MIT */
#include "manager/archive/beside.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* How many names are tried. */
#define BESIDE_TRIES 100u

/* --- Names of its own -------------------------------------------------------------------------- */

/* What a signal takes away. More than these stay behind if one ends the process. */
static struct {
	volatile sig_atomic_t used;
	int dir;
	pid_t pid;
	char name[sizeof(((struct fx_beside *)0)->own)];
} beside_names[64];

#define BESIDE_NAMES (sizeof(beside_names) / sizeof(beside_names[0]))

static void beside_signal(int signal)
{
	for (size_t i = 0; i < BESIDE_NAMES; i++) {
		if (beside_names[i].used && beside_names[i].pid == getpid())
			unlinkat(beside_names[i].dir, beside_names[i].name, 0);
	}
	raise(signal);
}

/* Signals that end the process, unless it has other plans with them. */
static void beside_watch_signals(void)
{
	static const int signals[] = {SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGTERM, SIGXCPU, SIGXFSZ};
	struct sigaction old,
	    new = {.sa_handler = beside_signal, .sa_flags = (int)SA_RESETHAND | SA_NODEFER};

	sigemptyset(&new.sa_mask);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		if (sigaction(signals[i], NULL, &old) == 0 && !(old.sa_flags & SA_SIGINFO) &&
		    old.sa_handler == SIG_DFL)
			sigaction(signals[i], &new, NULL);
	}
}

static void beside_note_name(const struct fx_beside *beside)
{
	for (size_t i = 0; i < BESIDE_NAMES; i++) {
		if (beside_names[i].used)
			continue;
		beside_names[i].dir = beside->dir;
		beside_names[i].pid = getpid();
		memcpy(beside_names[i].name, beside->own, sizeof(beside->own));
		beside_names[i].used = 1;
		return;
	}
}

static void beside_forget_name(const struct fx_beside *beside)
{
	for (size_t i = 0; i < BESIDE_NAMES; i++) {
		if (beside_names[i].used && beside_names[i].dir == beside->dir &&
		    strcmp(beside_names[i].name, beside->own) == 0)
			beside_names[i].used = 0;
	}
}

static void beside_next_name(struct fx_beside *beside)
{
	static unsigned count;

	snprintf(beside->own, sizeof(beside->own), ".fxtrace-%ld-%u.tmp", (long)getpid(), count++);
}

/* Gives the file a name of its own that nobody has: `make` takes the one that is tried, and returns -EEXIST if it is
 * somebody's. 0 or -errno. */
static int beside_try_names(struct fx_beside *beside, int (*make)(struct fx_beside *beside))
{
	int r = -EEXIST;

	beside_watch_signals();
	for (unsigned i = 0; i < BESIDE_TRIES && r == -EEXIST; i++) {
		beside_next_name(beside);
		beside_note_name(beside);
		r = make(beside);
		if (r < 0)
			beside_forget_name(beside);
	}
	if (r < 0)
		beside->own[0] = 0;
	return r;
}

/* --- Making ------------------------------------------------------------------------------------ */

/* Without a name. It can get one by the folder of this process's descriptors alone. */
static int beside_make_nameless(struct fx_beside *beside)
{
	char path[32];

	beside->fd = openat(beside->dir, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, beside->mode);
	if (beside->fd < 0)
		return -errno;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", beside->fd);
	if (access(path, F_OK) == 0)
		return 0;
	close(beside->fd);
	return -EOPNOTSUPP;
}

/* Under the name of its own. 0 or -errno. */
static int beside_create(struct fx_beside *beside)
{
	beside->fd = openat(beside->dir, beside->own,
			    O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, beside->mode);
	return beside->fd < 0 ? -errno : 0;
}

/* Whether a file of ours can take the place of `old`: one of its user, which has this name alone. */
static bool beside_can_replace(int old)
{
	struct stat st;

	return fstat(old, &st) == 0 && st.st_nlink == 1 && st.st_uid == geteuid();
}

static void beside_free(struct fx_beside *beside)
{
	if (beside->old >= 0)
		close(beside->old);
	if (beside->held >= 0)
		close(beside->held);
	if (beside->dir >= 0)
		close(beside->dir);
	free(beside->name);
	free(beside);
}

int fx_beside_make(int dir, const char *name, mode_t mode, int old, struct fx_beside **ret)
{
	struct fx_beside *beside;
	int r;

	if (old >= 0 && !beside_can_replace(old))
		return 1;
	beside = calloc(1, sizeof(*beside));
	if (!beside)
		return -ENOMEM;
	beside->old = beside->held = -1;
	beside->mode = mode;
	beside->name = strdup(name);
	beside->dir = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (beside->dir < 0)
		beside->dir = fcntl(dir, F_DUPFD_CLOEXEC, 3);
	r = beside->dir < 0 ? -errno : beside->name ? 0 : -ENOMEM;
	if (r == 0)
		r = beside_make_nameless(beside);
	if (r < 0 && r != -ENOMEM && r != -EACCES && r != -EROFS && r != -EMFILE)
		r = beside_try_names(beside, beside_create);
	if (r < 0) {
		beside_free(beside);
		return old >= 0 && (r == -EACCES || r == -EPERM || r == -EROFS) ? 1 : r;
	}
	beside->held = fcntl(beside->fd, F_DUPFD_CLOEXEC, 3);
	if (beside->held < 0) {
		r = -errno;
		close(beside->fd);
		fx_beside_drop(beside);
		return r;
	}
	beside->old = old;
	*ret = beside;
	return 0;
}

/* --- Keeping ----------------------------------------------------------------------------------- */

/* Gives what has no name this one. 0 or -errno. */
static int beside_link(const struct fx_beside *beside, const char *name)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", beside->held);
	return linkat(AT_FDCWD, path, beside->dir, name, AT_SYMLINK_FOLLOW) < 0 ? -errno : 0;
}

static int beside_link_own(struct fx_beside *beside)
{
	return beside_link(beside, beside->own);
}

static bool beside_stands(const struct fx_beside *beside)
{
	struct stat old, st;

	return fstat(beside->old, &old) == 0 &&
	       fstatat(beside->dir, beside->name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       st.st_dev == old.st_dev && st.st_ino == old.st_ino;
}

static int beside_replace(struct fx_beside *beside)
{
	int r = beside->own[0] ? 0 : beside_try_names(beside, beside_link_own);

	if (r < 0)
		return r;
	if (renameat(beside->dir, beside->own, beside->dir, beside->name) < 0)
		return -errno;
	beside_forget_name(beside);
	beside->own[0] = 0;
	return 0;
}

/* The name of what is new, which nobody has taken meanwhile. */
static int beside_appear(struct fx_beside *beside)
{
	struct stat st;

	if (!beside->own[0])
		return beside_link(beside, beside->name);
	if (linkat(beside->dir, beside->own, beside->dir, beside->name, 0) == 0)
		return 0; /* and the other name is dropped */
	if (errno == EEXIST)
		return -EEXIST;
	/* A file system that knows no second names. */
	if (fstatat(beside->dir, beside->name, &st, AT_SYMLINK_NOFOLLOW) == 0)
		return -EEXIST;
	return beside_replace(beside);
}

/* Where it cannot take the place of what is there, a file that is mounted, that becomes its copy. */
static int beside_copy(const struct fx_beside *beside)
{
	char piece[1 << 16];
	off_t at = 0;
	ssize_t n;

	if (ftruncate(beside->old, 0) < 0 || lseek(beside->old, 0, SEEK_SET) < 0)
		return -errno;
	while ((n = pread(beside->held, piece, sizeof(piece), at)) > 0) {
		n = pwrite(beside->old, piece, (size_t)n, at);
		if (n < 0)
			break;
		at += n;
	}
	return n < 0 ? -errno : 0;
}

int fx_beside_keep(struct fx_beside *beside)
{
	int r;

	if (beside->old >= 0 && beside_stands(beside)) {
		r = beside_replace(beside);
		if (r == -EBUSY)
			r = beside_copy(beside);
	} else {
		r = beside_appear(beside);
	}
	fx_beside_drop(beside);
	return r;
}

void fx_beside_drop(struct fx_beside *beside)
{
	if (!beside)
		return;
	if (beside->own[0]) {
		unlinkat(beside->dir, beside->own, 0);
		beside_forget_name(beside);
	}
	beside_free(beside);
}
