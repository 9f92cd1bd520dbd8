/* SPDX-License-Identifier: MIT */
#include "kernel/image.h"

#include <elf.h>
#include <fcntl.h>
#include <linux/memfd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kernel/code.h"
#include "lists/hashes.h"

struct image_key {
	uint64_t device, inode; /* both 0: the vDSO */
};

struct fx_image {
	UT_hash_handle hh;
	struct image_key key;
	unsigned uses;
	struct fx_image *older, *newer; /* of those without a use */
	struct timespec changed;	/* the file, */
	off_t size;			/* and how large it was */
	struct fx_code code;
	struct fx_image_facts facts;
	int copy_fd;   /* of the vDSO's: a file of it; -1: there is none, */
	char copy[32]; /* and where that is */
	char path[];
};

static struct fx_image *images;

/* What no process has mapped any more is kept for the next one, as of a build all have the same few files: so many of them. */
#define UNUSED_MOST 64u

static struct {
	struct fx_image *oldest, *newest;
	unsigned count;
} unused;

static void unused_add(struct fx_image *image)
{
	image->older = unused.newest;
	image->newer = NULL;
	if (unused.newest)
		unused.newest->newer = image;
	else
		unused.oldest = image;
	unused.newest = image;
	unused.count++;
}

static void unused_remove(struct fx_image *image)
{
	if (image->older)
		image->older->newer = image->newer;
	else
		unused.oldest = image->newer;
	if (image->newer)
		image->newer->older = image->older;
	else
		unused.newest = image->older;
	image->older = image->newer = NULL;
	unused.count--;
}

static struct fx_image *image_new(const char *path)
{
	size_t size = strlen(path) + 1;
	struct fx_image *image = calloc(1, sizeof(*image) + size);

	if (!image)
		return NULL;
	image->code.fd = -1;
	image->copy_fd = -1;
	image->uses = 1;
	memcpy(image->path, path, size);
	image->facts.path = image->path;
	return image;
}

static void image_free(struct fx_image *image)
{
	fx_code_close(&image->code);
	if (image->copy_fd >= 0)
		close(image->copy_fd);
	free(image);
}

static void image_forget(struct fx_image *image)
{
	HASH_DEL(images, image);
	unused_remove(image);
	image_free(image);
}

static struct fx_image *image_finish(struct fx_image *image)
{
	if (!fx_code_parse(&image->code)) {
		image_free(image);
		return NULL;
	}
	image->facts.table = image->code.table;
	image->facts.build_id = image->code.build_id_size ? image->code.build_id : NULL;
	image->facts.build_id_size = image->code.build_id_size;
	HASH_ADD(hh, images, key, sizeof(image->key), image);
	return image;
}

static struct fx_image *image_find(const struct image_key *key)
{
	struct fx_image *image;

	HASH_FIND(hh, images, key, sizeof(*key), image);
	return image ? fx_image_share(image) : NULL;
}

/* Its symbols are read from a file as any others: from a copy. Its image ends where its last section does. */
static void vdso_copy(struct fx_image *image)
{
	const Elf64_Ehdr *header = (const void *)image->code.own;
	size_t size = header->e_shoff + (size_t)header->e_shnum * header->e_shentsize;
	int fd = (int)syscall(SYS_memfd_create, "vdso", MFD_CLOEXEC);

	if (fd >= 0 && write(fd, image->code.own, size) != (ssize_t)size) {
		close(fd);
		fd = -1;
	}
	image->copy_fd = fd;
	if (fd < 0)
		return;
	snprintf(image->copy, sizeof(image->copy), "/proc/self/fd/%d", fd);
	image->facts.path = image->copy;
	image->facts.is_vdso = true;
}

static struct fx_image *vdso_get(void)
{
	static const struct image_key key = {0, 0};
	struct fx_image *image = image_find(&key);

	if (image || !getauxval(AT_SYSINFO_EHDR))
		return image;
	image = image_new("[vdso]");
	if (!image)
		return NULL;
	image->code.own = (const uint8_t *)getauxval(AT_SYSINFO_EHDR);
	image = image_finish(image);
	if (image)
		vdso_copy(image);
	return image;
}

/* As the process sees it, or, if it has ended, as we do; and only the file that it was. */
static int file_open(uint32_t pid, const char *path, uint64_t inode, struct stat *ret)
{
	char seen[4200];
	int fd;

	snprintf(seen, sizeof(seen), "/proc/%u/root%s", pid, path);
	fd = open(seen, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd >= 0 &&
	    (fstat(fd, ret) < 0 || !S_ISREG(ret->st_mode) || (inode && ret->st_ino != inode))) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* A file that nobody runs may have been written anew. */
static bool is_unchanged(const struct fx_image *image, const struct stat *st)
{
	return image->size == st->st_size && image->changed.tv_sec == st->st_mtim.tv_sec &&
	       image->changed.tv_nsec == st->st_mtim.tv_nsec;
}

/* While it is known its file is open, so that no other can have its inode. */
static struct fx_image *image_recall(uint64_t device, uint64_t inode)
{
	const struct image_key key = {device, inode};
	struct fx_image *image;
	struct stat st;

	HASH_FIND(hh, images, &key, sizeof(key), image);
	if (!image ||
	    (!image->uses && (fstat(image->code.fd, &st) < 0 || !is_unchanged(image, &st))))
		return NULL;
	return fx_image_share(image);
}

struct fx_image *fx_image_get(uint32_t pid, const char *path, uint64_t device, uint64_t inode)
{
	struct image_key key;
	struct fx_image *image;
	struct stat st;
	int fd;

	if (strcmp(path, "[vdso]") == 0)
		return vdso_get();
	image = device && inode ? image_recall(device, inode) : NULL;
	if (image)
		return image;
	fd = path[0] == '/' && path[1] != '/' ? file_open(pid, path, inode, &st) : -1;
	if (fd < 0)
		return NULL;
	key = (struct image_key){st.st_dev, st.st_ino};
	HASH_FIND(hh, images, &key, sizeof(key), image);
	if (image && !image->uses && !is_unchanged(image, &st)) {
		image_forget(image);
		image = NULL;
	}
	if (image) {
		close(fd);
		return fx_image_share(image);
	}
	image = image_new(path);
	if (!image) {
		close(fd);
		return NULL;
	}
	image->key = key;
	image->changed = st.st_mtim;
	image->size = st.st_size;
	image->code.fd = fd;
	return image_finish(image);
}

struct fx_image *fx_image_share(struct fx_image *image)
{
	if (image && !image->uses++)
		unused_remove(image);
	return image;
}

void fx_image_release(struct fx_image *image)
{
	if (!image || --image->uses)
		return;
	unused_add(image);
	if (unused.count > UNUSED_MOST)
		image_forget(unused.oldest);
}

void fx_images_forget(void)
{
	while (unused.oldest)
		image_forget(unused.oldest);
}

int fx_image_file(const struct fx_image *image)
{
	return image->code.fd;
}

const struct fx_image_facts *fx_image_facts(const struct fx_image *image)
{
	return &image->facts;
}

bool fx_image_address(const struct fx_image *image, uint64_t offset, uint64_t *ret)
{
	return fx_code_address(&image->code, offset, ret);
}

bool fx_image_word(struct fx_image *image, uint64_t address, uint64_t *ret)
{
	return fx_code_word(&image->code, address, ret);
}
