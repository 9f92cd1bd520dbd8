/* SPDX-License-Identifier: MIT */
#include "manager/archive/destination.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "manager/archive/beside.h"
#include "manager/settings/report.h"

/* As many as the kernel follows. */
#define LINKS_MAX 40u

/* A file that is removed or made while it is opened is looked for anew. */
#define TRIES_MAX 16u

/* Permissions of what is new, before the umask takes away its bits. */
#define MODE 0600
static mode_t destination_mode = MODE;

/* Those of what was there: these, or else what it has of MODE. */
static bool mode_is_chosen;
static mode_t mode_masked;

void fx_destination_set_mode(mode_t mode)
{
	mode_t mask = umask(0777);

	umask(mask);
	destination_mode = mode;
	mode_masked = mode & ~mask;
	mode_is_chosen = true;
}

/* --- Names ------------------------------------------------------------------------------------ */

static const struct {
	const char *ending;
	enum fx_compression compression;
} endings[] = {
    {".gz", FX_COMPRESSION_GZIP},      {".zst", FX_COMPRESSION_ZSTD},
    {".7z", FX_COMPRESSION_UNKNOWN},   {".br", FX_COMPRESSION_UNKNOWN},
    {".bz", FX_COMPRESSION_UNKNOWN},   {".bz2", FX_COMPRESSION_UNKNOWN},
    {".gzip", FX_COMPRESSION_UNKNOWN}, {".lz", FX_COMPRESSION_UNKNOWN},
    {".lz4", FX_COMPRESSION_UNKNOWN},  {".lzma", FX_COMPRESSION_UNKNOWN},
    {".lzo", FX_COMPRESSION_UNKNOWN},  {".rar", FX_COMPRESSION_UNKNOWN},
    {".sz", FX_COMPRESSION_UNKNOWN},   {".tgz", FX_COMPRESSION_UNKNOWN},
    {".xz", FX_COMPRESSION_UNKNOWN},   {".z", FX_COMPRESSION_UNKNOWN},
    {".zip", FX_COMPRESSION_UNKNOWN},  {".zstd", FX_COMPRESSION_UNKNOWN},
};

enum fx_compression fx_compression_of(const char *path)
{
	size_t length = strlen(path);

	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
		size_t n = strlen(endings[i].ending);

		if (length >= n && strcasecmp(path + length - n, endings[i].ending) == 0)
			return endings[i].compression;
	}
	return FX_COMPRESSION_NONE;
}

/* Of a file that somebody may look for from another directory. NULL without memory. */
static char *absolute_path(const char *path)
{
	char directory[PATH_MAX], *ret;

	if (path[0] == '/' || !getcwd(directory, sizeof(directory)))
		return strdup(path);
	return asprintf(&ret, "%s/%s", directory, path) < 0 ? NULL : ret;
}

/* --- What is wrong ---------------------------------------------------------------------------- */

static char why_text[256];
static int why_error;

/* Notes the words for `error`, and returns it. */
static int fail(int error, const char *text)
{
	why_error = error;
	snprintf(why_text, sizeof(why_text), "%s", text);
	return error;
}

const char *fx_destination_why(int error)
{
	return error == why_error ? why_text : fx_report_why(error);
}

/* --- Locks ------------------------------------------------------------------------------------ */

/* Whether descriptor `fd` of process `pid` holds a lock of the file. */
static bool holds_lock(const char *pid, const char *fd, const struct stat *file)
{
	char path[64], line[256];
	struct stat st;
	bool found = false;
	FILE *info;

	snprintf(path, sizeof(path), "/proc/%.20s/fd/%.20s", pid, fd);
	if (stat(path, &st) < 0 || st.st_dev != file->st_dev || st.st_ino != file->st_ino)
		return false;
	snprintf(path, sizeof(path), "/proc/%.20s/fdinfo/%.20s", pid, fd);
	info = fopen(path, "re");
	while (info && !found && fgets(line, sizeof(line), info))
		found = strstr(line, "OFDLCK") != NULL;
	if (info)
		fclose(info);
	return found;
}

static bool process_holds_lock(const char *pid, const struct stat *file)
{
	char path[64];
	struct dirent *entry;
	bool found = false;
	DIR *fds;

	snprintf(path, sizeof(path), "/proc/%.20s/fd", pid);
	fds = opendir(path);
	while (fds && !found && (entry = readdir(fds)))
		found = isdigit((unsigned char)entry->d_name[0]) &&
			holds_lock(pid, entry->d_name, file);
	if (fds)
		closedir(fds);
	return found;
}

/* "in use by NAME, pid N", as far as we are allowed to see the process. */
static int fail_in_use(const struct stat *file)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	char text[128] = "in use by another process", path[64], name[32] = "";

	while (proc && (entry = readdir(proc))) {
		FILE *comm;

		if (!isdigit((unsigned char)entry->d_name[0]) ||
		    !process_holds_lock(entry->d_name, file))
			continue;
		snprintf(path, sizeof(path), "/proc/%.20s/comm", entry->d_name);
		comm = fopen(path, "re");
		if (comm && !fgets(name, sizeof(name), comm))
			name[0] = 0;
		if (comm)
			fclose(comm);
		name[strcspn(name, "\n")] = 0;
		snprintf(text, sizeof(text), "in use by %s, pid %.20s",
			 name[0] ? name : "a process", entry->d_name);
		break;
	}
	if (proc)
		closedir(proc);
	return fail(-EBUSY, text);
}

/* Where the file system has no locks, there is none. */
static int lock_take(int fd, const struct stat *file)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

	if (!S_ISREG(file->st_mode) || fcntl(fd, F_OFD_SETLK, &lock) == 0)
		return 0;
	return errno == EAGAIN || errno == EACCES ? fail_in_use(file) : 0;
}

/* --- The way to the file ----------------------------------------------------------------------- */

struct walk {
	int dir;	     /* O_PATH */
	char rest[PATH_MAX]; /* from there */
	char name[NAME_MAX + 1];
	unsigned links;
	bool whole; /* it has its name when it is whole */
	struct fx_destination *ret;
};

/* Whether others than its owner may put something into the folder. */
static bool is_shared(const struct stat *dir)
{
	return (dir->st_mode & S_IWOTH) || ((dir->st_mode & S_ISVTX) && (dir->st_mode & S_IWGRP));
}

static bool destination_is_trusted(const struct stat *st)
{
	return st->st_uid == geteuid() || st->st_uid == 0;
}

/* Files that are there before us: 0 or -errno. */
static int check_there(const struct stat *dir, const struct stat *st)
{
	if (!is_shared(dir))
		return 0;
	if (!destination_is_trusted(st))
		return fail(-EPERM, "another user's, in a folder where others may write");
	if (S_ISREG(st->st_mode) && st->st_nlink > 1)
		return fail(-EPERM,
			    "it has another name as well, and lies in a folder where others "
			    "may write");
	return 0;
}

static void step_to(struct walk *w, int dir)
{
	close(w->dir);
	w->dir = dir;
}

/* The next name of the path into w->name. False: there is none. *ret_last: nothing comes behind it. */
static bool next_name(struct walk *w, bool *ret_last)
{
	const char *at = w->rest + strspn(w->rest, "/");
	size_t length = strcspn(at, "/");

	if (length == 0 || length > NAME_MAX)
		return false;
	memcpy(w->name, at, length);
	w->name[length] = 0;
	at += length;
	*ret_last = *at == 0;
	memmove(w->rest, at, strlen(at) + 1);
	return true;
}

/* The link w->name goes in front of the rest. 0 or -errno. */
static int follow(struct walk *w, const struct stat *dir, const struct stat *link)
{
	char target[PATH_MAX], rest[PATH_MAX];
	ssize_t n = readlinkat(w->dir, w->name, target, sizeof(target) - 1);

	if (n < 0)
		return -errno;
	target[n] = 0;
	if (++w->links > LINKS_MAX)
		return -ELOOP;
	if (is_shared(dir) && !destination_is_trusted(link))
		return fail(-EPERM,
			    "the way there is another user's link, in a folder where others "
			    "may write");
	memcpy(rest, w->rest, sizeof(rest));
	if ((size_t)snprintf(w->rest, sizeof(w->rest), "%s%s", target, rest) >= sizeof(w->rest))
		return -ENAMETOOLONG;
	if (target[0] == '/') {
		int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);

		if (root < 0)
			return -errno;
		step_to(w, root);
	}
	return 0;
}

/* Links of /proc lead where no name does, and are nobody's but the kernel's. */
static bool is_proc(int dir)
{
	struct statfs fs;

	return fstatfs(dir, &fs) == 0 && fs.f_type == PROC_SUPER_MAGIC;
}

/* Goes into the folder w->name, or notes where the link of this name leads. 0 or -errno. */
static int destination_enter(struct walk *w)
{
	bool magic = is_proc(w->dir);
	int dir = openat(w->dir, w->name, O_PATH | O_CLOEXEC | (magic ? 0 : O_NOFOLLOW));
	struct stat above, st;

	if (dir < 0)
		return -errno;
	if (fstat(dir, &st) < 0 || fstat(w->dir, &above) < 0) {
		int r = -errno;

		close(dir);
		return r;
	}
	if (S_ISLNK(st.st_mode)) {
		close(dir);
		return follow(w, &above, &st);
	}
	if (!S_ISDIR(st.st_mode)) {
		close(dir);
		return -ENOTDIR;
	}
	step_to(w, dir);
	return 0;
}

/* Opens what is there by the name w->name. 0; 1: a link, which was followed; or -errno. */
static int open_there(struct walk *w)
{
	bool magic = is_proc(w->dir);
	int flags = O_CLOEXEC | (magic ? 0 : O_NOFOLLOW);
	int there = openat(w->dir, w->name, O_PATH | flags);
	struct stat dir, st;
	int r;

	if (there < 0)
		return -errno;
	r = fstat(there, &st) < 0 || fstat(w->dir, &dir) < 0 ? -errno : 0;
	if (r == 0 && S_ISLNK(st.st_mode)) {
		close(there);
		r = follow(w, &dir, &st);
		return r < 0 ? r : 1;
	}
	if (r == 0 && !magic)
		r = check_there(&dir, &st);
	if (r == 0) {
		w->ret->fd = openat(w->dir, w->name, O_WRONLY | O_NOCTTY | flags);
		r = w->ret->fd < 0 ? -errno : 0;
	}
	close(there);
	w->ret->device = st.st_dev;
	w->ret->inode = st.st_ino;
	return r;
}

/* A description that somebody reads or keeps: not a device, which many may write to. */
static bool is_standard(const struct stat *st)
{
	struct stat out;

	return !S_ISCHR(st->st_mode) && fstat(STDOUT_FILENO, &out) == 0 &&
	       out.st_dev == st->st_dev && out.st_ino == st->st_ino;
}

/* What shall be called w->name makes ready, beside what is open for it, if anything is. 0 or -errno. */
static int put_beside(struct walk *w)
{
	struct fx_destination *d = w->ret;
	struct stat st;
	int r;

	if (d->fd >= 0 &&
	    (is_proc(w->dir) || fstat(d->fd, &st) < 0 || !S_ISREG(st.st_mode) || is_standard(&st)))
		return 0;
	r = fx_beside_make(w->dir, w->name, destination_mode, d->fd, &d->beside);
	if (r == 0 && d->fd < 0) {
		d->fd = d->beside->fd;
		if (fstat(d->fd, &st) < 0)
			return -errno;
		d->device = st.st_dev;
		d->inode = st.st_ino;
	}
	return r < 0 ? r : 0;
}

/* The last name of the path, for what is of use only as a whole. As above. */
static int open_last_whole(struct walk *w)
{
	int r = open_there(w);

	return r == 0 || r == -ENOENT ? put_beside(w) : r;
}

/* The last name of the path. As above. */
static int open_last(struct walk *w)
{
	int fd =
	    openat(w->dir, w->name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC,
		   destination_mode);

	int error = -errno, r;

	if (fd >= 0) {
		w->ret->fd = fd;
		w->ret->made = true;
		return 0;
	}
	r = open_there(w);
	/* What could not be made, and why. */
	return r == -ENOENT ? error : r;
}

static int walk_all(struct walk *w)
{
	bool last;
	int r = 1;

	while (r == 1) {
		if (!next_name(w, &last))
			return -(w->rest[0] && strspn(w->rest, "/") != strlen(w->rest)
				     ? ENAMETOOLONG
				     : EISDIR);
		if (last && strcmp(w->name, ".") != 0 && strcmp(w->name, "..") != 0) {
			r = w->whole ? open_last_whole(w) : open_last(w);
		} else {
			r = destination_enter(w);
			r = r < 0 ? r : 1;
		}
	}
	return r;
}

static int walk_to(const char *path, bool whole, struct fx_destination *ret)
{
	struct walk w = {.ret = ret, .whole = whole};
	int r, start;

	if (strlen(path) >= sizeof(w.rest))
		return -ENAMETOOLONG;
	strcpy(w.rest, path);
	start = open(path[0] == '/' ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (start < 0)
		return -errno;
	w.dir = start;
	r = walk_all(&w);
	close(w.dir);
	return r;
}

/* --- Opening ----------------------------------------------------------------------------------- */

bool fx_destination_is_standard(const char *path)
{
	struct stat st;

	return strcmp(path, "-") == 0 || (stat(path, &st) == 0 && is_standard(&st));
}

/* A descriptor of our own: the program's standard output stays the program's. */
static int standard_open(struct fx_destination *ret)
{
	ret->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	ret->standard = true;
	return ret->fd < 0 ? -errno : 0;
}

/* What is open must be what was looked at, and still be there. 0; 1: look again; or -errno. */
static int settle(struct fx_destination *d, bool text)
{
	struct stat st;
	int r;

	if (fstat(d->fd, &st) < 0)
		return -errno;
	if (!d->standard && !d->made && (st.st_dev != d->device || st.st_ino != d->inode))
		return 1;
	d->device = st.st_dev;
	d->inode = st.st_ino;
	if (!d->standard && is_standard(&st)) {
		close(d->fd);
		return standard_open(d);
	}
	if (!text && isatty(d->fd))
		return fail(-ENOTTY,
			    "a terminal, which cannot show it; -o FILE or a pipe can take it");
	r = lock_take(d->fd, &st);
	if (r < 0)
		return r;
	if (d->beside && d->fd == d->beside->fd)
		return 0;
	return fstat(d->fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_nlink == 0 && !d->standard;
}

/* Nothing came of it. */
static void open_undo(const char *path, int error, struct fx_destination *d)
{
	int fd = d->fd;

	/* A process that has the lock of what we have just made goes on with it. */
	if (error < 0 && error != -EBUSY && d->made)
		unlink(path);
	if (d->beside) {
		fd = d->beside->fd;
		fx_beside_drop(d->beside);
		d->beside = NULL;
	}
	if (fd >= 0)
		close(fd);
	d->fd = -1;
}

static int open_once(const char *path, bool text, bool whole, struct fx_destination *ret)
{
	int r;

	*ret = (struct fx_destination){.fd = -1};
	r = strcmp(path, "-") == 0 ? standard_open(ret) : walk_to(path, whole, ret);
	if (r == 0)
		r = settle(ret, text);
	if (r != 0)
		open_undo(path, r, ret);
	else if (ret->beside)
		ret->fd = ret->beside->fd; /* what has the name is locked, and as it is */
	return r;
}

static int destination_open(const char *path, bool text, bool whole, struct fx_destination *ret)
{
	int r = 1;

	why_error = 0;
	for (unsigned i = 0; r == 1 && i < TRIES_MAX; i++) {
		r = open_once(path, text, whole, ret);
		/* Somebody was quicker to make or to remove it. */
		if (r == -EEXIST || (r == -ENOENT && i == 0))
			r = i + 1 < TRIES_MAX ? 1 : r;
	}
	if (r == 1)
		r = -EAGAIN;
	if (r == 0 && !ret->standard) {
		ret->path = absolute_path(path);
		if (!ret->path) {
			open_undo(path, 0, ret);
			return -ENOMEM;
		}
	}
	return r;
}

int fx_destination_open(const char *path, bool text, struct fx_destination *ret)
{
	return destination_open(path, text, false, ret);
}

int fx_destination_open_whole(const char *path, bool text, struct fx_destination *ret)
{
	return destination_open(path, text, true, ret);
}

void fx_destination_begin(const struct fx_destination *d)
{
	int there = d->beside && d->beside->old >= 0 ? d->beside->old : d->fd;
	struct stat st, now;
	mode_t mode;

	if (d->standard || fstat(there, &st) < 0 || fstat(d->fd, &now) < 0 ||
	    !S_ISREG(st.st_mode) || st.st_uid != geteuid())
		return;
	/* A file system without modes keeps its own. */
	mode = mode_is_chosen ? mode_masked : st.st_mode & MODE;
	if ((now.st_mode & 07777) != mode && fchmod(d->fd, mode) < 0)
		return;
}

void fx_destination_remove(const struct fx_destination *d)
{
	struct stat st;

	if (!d->beside && d->path && lstat(d->path, &st) == 0 && S_ISREG(st.st_mode) &&
	    st.st_dev == d->device && st.st_ino == d->inode)
		unlink(d->path);
}

int fx_destination_keep(struct fx_destination *d)
{
	struct fx_beside *beside = d->beside;

	d->beside = NULL;
	return beside ? fx_beside_keep(beside) : 0;
}

void fx_destination_destroy(struct fx_destination *d)
{
	fx_beside_drop(d->beside);
	d->beside = NULL;
	free(d->path);
	d->path = NULL;
}
