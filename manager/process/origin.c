/* SPDX-License-Identifier: MIT */
#include "manager/process/origin.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/nsfs.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/clock.h"
#include "lists/hashes-lenient.h"
#include "manager/process/kin.h"

/* Of a process that has many threads, all are looked through for no more than this part of the time. */
#define SCAN_SHARE 10u

/* So many in one go: 20 us each. */
#define SCAN_MAX 8192u
#define LOOK_MAX 256u

/* Where the kernel does not say which namespace it is: one that is no other process's. */
#define SPACE_UNKNOWN (UINT64_C(1) << 63)

struct fx_origin_thread {
	UT_hash_handle hh;
	bool lost; /* not in the hash for lack of memory */
	uint32_t told, tid;
};

/* --- What /proc says -------------------------------------------------------------------------- */

struct numbers {
	uint32_t pids[FX_ORIGIN_LEVELS + 1];
	unsigned count;
};

#define STATUS_SIZE 4096

static bool status_read(int folder, const char *path, char ret[STATUS_SIZE])
{
	int fd = openat(folder, path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return false;
	n = read(fd, ret, STATUS_SIZE - 1);
	close(fd);
	ret[n > 0 ? n : 0] = 0;
	return n > 0;
}

/* The numbers of a process or thread: the manager's own first, then those of the namespaces below. */
static bool numbers_find(const char *status, struct numbers *ret)
{
	const char *at = strstr(status, "\nNSpid:");
	char *end;

	ret->count = 0;
	if (!at)
		return false;
	at += strlen("\nNSpid:");
	while (ret->count < sizeof(ret->pids) / sizeof(*ret->pids)) {
		unsigned long number = strtoul(at, &end, 10);

		if (end == at || *at == '\n' || number == 0 || number > INT32_MAX)
			break;
		ret->pids[ret->count++] = (uint32_t)number;
		at = end;
		if (*at == '\n')
			break;
	}
	return ret->count > 0;
}

static bool read_numbers(int folder, const char *path, struct numbers *ret)
{
	char status[STATUS_SIZE];

	return status_read(folder, path, status) && numbers_find(status, ret);
}

static uint64_t inode_at(int folder, const char *path)
{
	struct stat st;

	return fstatat(folder, path, &st, 0) == 0 ? st.st_ino : 0;
}

static uint64_t inode_of(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 ? st.st_ino : 0;
}

static uint64_t own_space;

/* Another namespace's /proc has other processes by the same numbers. */
static void find_own_space(void)
{
	char link[16];
	ssize_t n = readlink("/proc/self", link, sizeof(link) - 1);

	if (n <= 0)
		return;
	link[n] = 0;
	if (strtol(link, NULL, 10) == getpid())
		own_space = inode_at(AT_FDCWD, "/proc/self/ns/pid");
}

/* The namespaces from the process's own outwards to below ours. */
static void spaces_find(struct fx_origin *origin)
{
	int fd = openat(origin->proc, "ns/pid", O_RDONLY | O_CLOEXEC), parent;

	for (unsigned i = origin->levels; i-- > 0;) {
		origin->names[i].space =
		    fd >= 0 ? inode_of(fd) : SPACE_UNKNOWN | (uint64_t)origin->pid << 8 | i;
		parent = fd >= 0 ? ioctl(fd, NS_GET_PARENT) : -1;
		if (fd >= 0)
			close(fd);
		fd = parent;
	}
	if (fd >= 0)
		close(fd);
}

static void names_make(struct fx_origin *origin, const struct numbers *numbers)
{
	unsigned levels = numbers->count - 1;

	origin->names = calloc(levels, sizeof(*origin->names));
	if (!origin->names)
		return;
	for (unsigned i = 0; i < levels; i++)
		origin->names[i].pid = numbers->pids[i + 1];
	origin->levels = levels;
	spaces_find(origin);
}

/* --- Files ------------------------------------------------------------------------------------ */

static struct fx_view_key own_view;

static void find_own_view(void)
{
	struct stat st;

	if (stat("/proc/self/root", &st) == 0) {
		own_view.device = st.st_dev;
		own_view.inode = st.st_ino;
	}
	own_view.mounts = inode_at(AT_FDCWD, "/proc/self/ns/mnt");
}

/* The groups by which it may read files. */
static void groups_find(struct fx_view *view, const char *status)
{
	const char *at = strstr(status, "\nGid:");
	char *end;

	view->group = (gid_t)-1;
	if (at && sscanf(at, "\nGid:\t%*u\t%u", &view->group) != 1)
		view->group = (gid_t)-1;
	at = strstr(status, "\nGroups:");
	for (at = at ? at + strlen("\nGroups:") : NULL;
	     at && *at != '\n' && view->group_count < FX_VIEW_GROUPS; at = end) {
		unsigned long group = strtoul(at, &end, 10);

		while (*end == ' ')
			end++;
		if (end == at)
			break;
		view->groups[view->group_count++] = (gid_t)group;
	}
}

/* The user as which its files are read: its own, unless that is ours, too, or root, which may read all that we may. */
static void view_user(struct fx_origin *origin, const char *folder)
{
	struct fx_view *view = &origin->view;
	char path[80], text[4096];
	ssize_t n;
	int fd;

	if (origin->uid == geteuid())
		return;
	view->user = origin->uid;
	view->key.user = (uint64_t)origin->uid + 1;
	view->check = geteuid() != 0;
	if (view->check)
		return;
	view->drop = true;
	snprintf(path, sizeof(path), "%s/status", folder);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd >= 0 ? read(fd, text, sizeof(text) - 1) : 0;
	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = 0;
	groups_find(view, text);
	if (view->group == (gid_t)-1)
		view->check = true, view->group = 65534; /* nobody's */
}

/* A root may be the same folder as ours by another mount, with other mounts below it: then it has another path. */
static bool is_top(const char *root)
{
	char path[2];

	return readlink(root, path, sizeof(path)) == 1 && path[0] == '/';
}

static void view_open(struct fx_origin *origin)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct fx_view *view = &origin->view;
	char folder[40], path[80];
	struct stat st;
	uint64_t mounts;
	bool is_own;

	pthread_once(&once, find_own_view);
	snprintf(folder, sizeof(folder), "/proc/%u", origin->pid);
	snprintf(path, sizeof(path), "%s/root", folder);
	if (stat(path, &st) < 0)
		return;
	is_own = st.st_ino == own_view.inode && st.st_dev == own_view.device && is_top(path);
	snprintf(path, sizeof(path), "%s/ns/mnt", folder);
	mounts = inode_at(AT_FDCWD, path);
	if (mounts == own_view.mounts && is_own) {
		origin->is_beside = mounts != 0;
		return;
	}
	/* They keep the file system together when the process is gone. */
	view->mounts = open(path, O_RDONLY | O_CLOEXEC);
	snprintf(path, sizeof(path), "%s/root", folder);
	view->root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (view->root < 0)
		return;
	view->key.device = st.st_dev;
	view->key.inode = st.st_ino;
	view->key.mounts = mounts;
}

static void proc_open(struct fx_origin *origin, unsigned long long born_ticks)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	char path[64], status[STATUS_SIZE];
	struct numbers numbers;
	int n;

	pthread_once(&once, find_own_space);
	origin->view.root = origin->view.mounts = -1;
	snprintf(path, sizeof(path), "/proc/%u", origin->pid);
	view_user(origin, path);
	if (!own_space)
		return;
	view_open(origin);
	fx_abouts_read(&origin->abouts, (pid_t)origin->pid, origin->uid, born_ticks);
	n = snprintf(path, sizeof(path), "/proc/%u/status", origin->pid);
	if (!status_read(AT_FDCWD, path, status))
		return;
	origin->unfiltered = strstr(status, "\nSeccomp:\t0\n");
	if (!numbers_find(status, &numbers) || numbers.count < 2) /* it lives where we do */
		return;
	path[n - (int)strlen("/status")] = 0;
	origin->proc = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (origin->proc < 0)
		return;
	names_make(origin, &numbers);
	if (!origin->levels) {
		close(origin->proc);
		origin->proc = -1;
	}
}

/* There are never so many at a time; those that ended are not worth their memory. */
#define THREADS_MAX 16384u

static void threads_forget(struct fx_origin *origin)
{
	struct fx_origin_thread *t, *next;

	HASH_ITER (hh, origin->threads, t, next) {
		HASH_DEL(origin->threads, t);
		free(t);
	}
}

/* --- Life ------------------------------------------------------------------------------------- */

struct fx_origin *fx_origin_take(pid_t pid, uid_t uid, uint32_t own_pid)
{
	struct fx_origin *origin = calloc(1, sizeof(*origin));
	unsigned long long born_ticks;

	if (!origin)
		return NULL;
	*origin = (struct fx_origin){
	    .refs = 1, .pid = (uint32_t)pid, .own_pid = own_pid, .uid = uid, .proc = -1};
	pthread_mutex_init(&origin->lock, NULL);
	origin->parent = (uint32_t)fx_kin_born(pid, &born_ticks);
	proc_open(origin, born_ticks);
	return origin;
}

bool fx_origin_is_unfiltered(const struct fx_origin *origin)
{
	return origin->unfiltered;
}

bool fx_origin_is_orphan(const struct fx_origin *origin)
{
	return !origin->levels &&
	       (origin->own_pid != origin->pid || !origin->abouts.texts[FX_ABOUT_COMMAND] ||
		origin->abouts.is_over);
}

void fx_origin_inherit(struct fx_origin *origin, const struct fx_origin *parent)
{
	struct fx_origin_name *names;

	fx_abouts_inherit(&origin->abouts, &parent->abouts);
	names = parent->levels && origin->own_pid != origin->pid
		    ? calloc(parent->levels, sizeof(*names))
		    : NULL;
	if (!names)
		return;
	for (unsigned i = 0; i < parent->levels; i++)
		names[i].space = parent->names[i].space;
	names[parent->levels - 1].pid = origin->own_pid;
	origin->names = names;
	origin->levels = parent->levels;
}

struct fx_origin *fx_origin_share(struct fx_origin *origin)
{
	if (origin)
		fx_add_relaxed(&origin->refs, 1);
	return origin;
}

void fx_origin_release(struct fx_origin *origin)
{
	/* acq_rel: what others did with it is over; pairs with itself. */
	if (!origin || __atomic_sub_fetch(&origin->refs, 1, __ATOMIC_ACQ_REL))
		return;
	threads_forget(origin);
	pthread_mutex_destroy(&origin->lock);
	if (origin->proc >= 0)
		close(origin->proc);
	if (origin->view.root >= 0)
		close(origin->view.root);
	if (origin->view.mounts >= 0)
		close(origin->view.mounts);
	fx_abouts_free(&origin->abouts);
	free(origin->title.text);
	free(origin->names);
	free(origin);
}

/* --- Numbers ---------------------------------------------------------------------------------- */

const char *fx_origin_program(const struct fx_origin *origin)
{
	return origin->is_beside ? origin->abouts.texts[FX_ABOUT_EXECUTABLE] : NULL;
}

uint32_t fx_origin_first_tid(const struct fx_origin *origin)
{
	if (origin->levels)
		return origin->names[origin->levels - 1].pid;
	return origin->own_pid ? origin->own_pid : origin->pid;
}

uint64_t fx_origin_space(const struct fx_origin *origin)
{
	return origin->levels ? origin->names[origin->levels - 1].space : 0;
}

static void thread_note(struct fx_origin *origin, uint32_t told, uint32_t tid)
{
	struct fx_origin_thread *t;

	HASH_FIND(hh, origin->threads, &told, sizeof(told), t);
	if (!t) {
		t = calloc(1, sizeof(*t));
		if (!t)
			return;
		t->told = told;
		HASH_ADD(hh, origin->threads, told, sizeof(t->told), t);
		if (t->lost) {
			free(t);
			return;
		}
	}
	t->tid = tid;
}

static void scan(struct fx_origin *origin, unsigned max)
{
	int fd = openat(origin->proc, "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	uint64_t began = fx_monotonic_ns();
	DIR *tasks = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *entry;
	struct numbers numbers;
	char path[64];

	if (HASH_COUNT(origin->threads) >= THREADS_MAX)
		threads_forget(origin);
	while (tasks && (entry = readdir(tasks)) && max--) {
		snprintf(path, sizeof(path), "%.20s/status", entry->d_name);
		if (entry->d_name[0] != '.' && read_numbers(fd, path, &numbers) &&
		    numbers.count == origin->levels + 1)
			thread_note(origin, numbers.pids[origin->levels], numbers.pids[0]);
	}
	if (tasks)
		closedir(tasks);
	else if (fd >= 0)
		close(fd);
	origin->next_scan = fx_monotonic_ns();
	origin->next_scan += (origin->next_scan - began) * SCAN_SHARE;
}

static uint32_t thread_find(const struct fx_origin *origin, uint32_t told)
{
	struct fx_origin_thread *t;

	HASH_FIND(hh, origin->threads, &told, sizeof(told), t);
	return t ? t->tid : 0;
}

void fx_origin_forget_tid(struct fx_origin *origin, uint32_t told)
{
	struct fx_origin_thread *t;

	pthread_mutex_lock(&origin->lock);
	HASH_FIND(hh, origin->threads, &told, sizeof(told), t);
	if (t) {
		HASH_DEL(origin->threads, t);
		free(t);
	}
	pthread_mutex_unlock(&origin->lock);
}

void fx_origin_look(struct fx_origin *origin)
{
	if (!origin->levels)
		return;
	pthread_mutex_lock(&origin->lock);
	if (fx_monotonic_ns() >= origin->next_scan)
		scan(origin, LOOK_MAX);
	pthread_mutex_unlock(&origin->lock);
}

uint32_t fx_origin_tid(struct fx_origin *origin, uint32_t told)
{
	uint32_t tid;

	if (told == fx_origin_first_tid(origin))
		return origin->pid;
	if (!origin->levels)
		return told;
	pthread_mutex_lock(&origin->lock);
	tid = thread_find(origin, told);
	if (!tid && fx_monotonic_ns() >= origin->next_scan) {
		scan(origin, SCAN_MAX);
		tid = thread_find(origin, told);
	}
	pthread_mutex_unlock(&origin->lock);
	return tid;
}
