/* SPDX-License-Identifier: MIT */
#include "symbols/store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "symbols/flat.h"

/* The layout of all that follows; another number is another file. */
#define STORE_MAGIC "fxtrace symbols 3"

/* How files of the store end, and those that are being written. */
#define SUFFIX	   ".symbols"
#define NEW_SUFFIX ".new"

#define NAME_ROOM (2 * FX_BUILD_ID_MAX + 64)

/* What was being written so long ago has nobody who writes it. */
#define LEFT_SECONDS 3600

/* A use makes a file young again that is older than this. */
#define YOUNG_SECONDS 3600

struct store_head {
	char magic[24];
	struct fx_store_key key;
	struct fx_flat_head flat;
	uint64_t sum;	   /* of the parts, */
	uint64_t head_sum; /* and of what stands before this */
};

/* --- Where ------------------------------------------------------------------------------------ */

static bool is_own_folder(const char *path)
{
	struct stat st;

	return path[0] == '/' && stat(path, &st) == 0 && S_ISDIR(st.st_mode) &&
	       st.st_uid == geteuid() && !(st.st_mode & S_IWOTH);
}

/* Whether a folder is this user's, or can be made in one that is. */
static bool is_or_becomes_own_folder(const char *path)
{
	char nearest[FX_STORE_PATH_MAX];
	char *slash;

	if (snprintf(nearest, sizeof(nearest), "%s", path) >= (int)sizeof(nearest))
		return false;
	while (access(nearest, F_OK) < 0 && errno == ENOENT && (slash = strrchr(nearest, '/')) &&
	       slash != nearest)
		*slash = 0;
	return is_own_folder(nearest);
}

bool fx_store_folder(const char *asked, char ret[FX_STORE_PATH_MAX])
{
	const char *caches = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	int n = -1;

	if (geteuid() != getuid() || getauxval(AT_SECURE))
		return false;
	if (asked)
		n = strcmp(asked, "no") ? snprintf(ret, FX_STORE_PATH_MAX, "%s", asked) : -1;
	else if (caches && is_or_becomes_own_folder(caches))
		n = snprintf(ret, FX_STORE_PATH_MAX, "%s/fxtrace", caches);
	else if (!(caches && caches[0]) && home && is_own_folder(home))
		n = snprintf(ret, FX_STORE_PATH_MAX, "%s/.cache/fxtrace", home);
	return n > 0 && n < (int)FX_STORE_PATH_MAX && ret[0] == '/';
}

/* The folder, if nobody else can write into it; -1. */
static int folder_open(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd >= 0 &&
	    (fstat(fd, &st) < 0 || st.st_uid != geteuid() || (st.st_mode & (S_IWGRP | S_IWOTH)))) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* The same; it is made, and what it lies in. */
static int folder_make(const char *path)
{
	char above[FX_STORE_PATH_MAX];

	snprintf(above, sizeof(above), "%s", path);
	for (char *slash = above; (slash = strchr(slash + 1, '/'));) {
		*slash = 0;
		mkdir(above, 0700);
		*slash = '/';
	}
	mkdir(path, 0700);
	return folder_open(path);
}

/* --- One file --------------------------------------------------------------------------------- */

/* A number of the rest, for files of one build-id. */
static void name_make(const struct fx_store_key *key, char ret[NAME_ROOM])
{
	const struct {
		struct fx_store_file debug;
		uint64_t size, wants_sources, wants_lines;
	} rest = {key->debug, key->size, key->wants_sources, key->wants_lines};
	size_t at = 0;

	for (size_t i = 0; i < key->build_id_size; i++)
		at += (size_t)snprintf(ret + at, 3, "%02x", key->build_id[i]);
	snprintf(ret + at, NAME_ROOM - at, "-%016" PRIx64 SUFFIX,
		 fx_flat_sum_of(&rest, sizeof(rest)));
}

static uint64_t head_sum(const struct store_head *head)
{
	return fx_flat_sum_of(head, offsetof(struct store_head, head_sum));
}

static void head_make(const struct fx_store_key *key, struct store_head *ret)
{
	memset(ret, 0, sizeof(*ret));
	memcpy(ret->magic, STORE_MAGIC, sizeof(STORE_MAGIC));
	ret->key = *key;
}

/* Whether a file is what it says it is, and of that key. */
static bool head_is_right(const struct store_head *head, const struct fx_store_key *key,
			  uint64_t size)
{
	struct store_head right;

	head_make(key, &right);
	return head->head_sum == head_sum(head) &&
	       memcmp(head->magic, right.magic, sizeof(right.magic)) == 0 &&
	       memcmp(&head->key, key, sizeof(*key)) == 0 &&
	       size == sizeof(*head) + fx_flat_size(&head->flat);
}

static bool stored_read(int fd, const struct fx_store_key *key, uint64_t limit,
			struct fx_symtab *ret)
{
	struct store_head head;
	struct stat st;

	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid() ||
	    (st.st_mode & (S_IWGRP | S_IWOTH)) || st.st_size < (off_t)sizeof(head) ||
	    !fx_flat_read_all(fd, &head, sizeof(head), 0) ||
	    !head_is_right(&head, key, (uint64_t)st.st_size) ||
	    fx_flat_read(fd, sizeof(head), &head.flat, limit, ret))
		return false;
	if (fx_flat_sum(ret) == head.sum)
		return true;
	fx_symtab_clear(ret);
	return false;
}

bool fx_store_get(const char *folder, const struct fx_store_key *key, uint64_t limit,
		  struct fx_symtab *ret)
{
	char name[NAME_ROOM];
	int at = folder_open(folder), fd;
	bool found = false;
	struct stat st;

	if (at < 0)
		return false;
	name_make(key, name);
	fd = openat(at, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	close(at);
	if (fd < 0)
		return false;
	found = stored_read(fd, key, limit, ret);
	if (found && fstat(fd, &st) == 0 && st.st_mtime + YOUNG_SECONDS < time(NULL))
		futimens(fd, NULL);
	close(fd);
	return found;
}

/* --- All of them ------------------------------------------------------------------------------ */

struct stored {
	char name[NAME_ROOM + sizeof(NEW_SUFFIX) + 16];
	uint64_t size;
	time_t used;
};

static int stored_compare(const void *left, const void *right)
{
	const struct stored *a = left, *b = right;

	return a->used < b->used ? -1 : a->used > b->used;
}

static bool ends_in(const char *name, const char *suffix)
{
	size_t length = strlen(name), size = strlen(suffix);

	return length > size && strcmp(name + length - size, suffix) == 0;
}

/* A file of the store; what nobody writes any more is removed. */
static bool stored_look(int folder, const char *name, struct stored *ret)
{
	bool is_new = ends_in(name, NEW_SUFFIX);
	struct stat st;

	if ((!is_new && !ends_in(name, SUFFIX)) || strlen(name) >= sizeof(ret->name) ||
	    fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode))
		return false;
	if (is_new) {
		if (st.st_mtime + LEFT_SECONDS < time(NULL))
			unlinkat(folder, name, 0);
		return false;
	}
	strcpy(ret->name, name);
	ret->size = (uint64_t)st.st_size;
	ret->used = st.st_mtime;
	return true;
}

/* Which there are, and no more than twice as many as there may be. How many. */
static size_t stored_list(int folder, struct stored *ret)
{
	int again = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = again >= 0 ? fdopendir(again) : NULL;
	struct dirent *entry;
	size_t count = 0;

	if (!dir && again >= 0)
		close(again);
	while (dir && count < 2 * FX_STORE_ALL_FILES && (entry = readdir(dir)))
		count += stored_look(folder, entry->d_name, &ret[count]);
	if (dir)
		closedir(dir);
	return count;
}

/* Removes the oldest until there is room for one more of that size. */
static void store_make_room(int folder, uint64_t wanted)
{
	struct stored *list = calloc(2 * FX_STORE_ALL_FILES, sizeof(*list));
	size_t count = list ? stored_list(folder, list) : 0;
	uint64_t sum = wanted;

	qsort(list, count, sizeof(*list), stored_compare);
	for (size_t i = 0; i < count; i++)
		sum += list[i].size;
	for (size_t i = 0;
	     i < count && (sum > FX_STORE_ALL_BYTES || count - i >= FX_STORE_ALL_FILES); i++) {
		unlinkat(folder, list[i].name, 0);
		sum -= list[i].size;
	}
	free(list);
}

static bool stored_write(int fd, const struct fx_store_key *key, const struct fx_symtab *table)
{
	struct store_head head;

	head_make(key, &head);
	fx_flat_describe(table, &head.flat);
	head.sum = fx_flat_sum(table);
	head.head_sum = head_sum(&head);
	return fx_flat_write_all(fd, &head, sizeof(head)) && fx_flat_write(fd, table);
}

void fx_store_put(const char *folder, const struct fx_store_key *key, const struct fx_symtab *table,
		  uint64_t took_ns)
{
	char name[NAME_ROOM], fresh[NAME_ROOM + sizeof(NEW_SUFFIX) + 16];
	struct fx_flat_head head;
	uint64_t size;
	int at, fd;

	fx_flat_describe(table, &head);
	size = sizeof(struct store_head) + fx_flat_size(&head);
	if ((took_ns < FX_STORE_NS && size < FX_STORE_BYTES) || size > FX_STORE_ALL_BYTES / 2)
		return;
	at = folder_make(folder);
	if (at < 0)
		return;
	store_make_room(at, size);
	name_make(key, name);
	snprintf(fresh, sizeof(fresh), "%s.%d" NEW_SUFFIX, name, (int)getpid());
	unlinkat(at, fresh, 0);
	fd = openat(at, fresh, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd >= 0 && (!stored_write(fd, key, table) || renameat(at, fresh, at, name) < 0))
		unlinkat(at, fresh, 0);
	if (fd >= 0)
		close(fd);
	close(at);
}
