/* SPDX-License-Identifier: MIT */
#include "symbols/ld-cache.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC "glibc-ld.so.cache1.1"

/* The file is no larger than this, or is none that is believed. */
#define SIZE_MOST (16u << 20)

/* As it stands in the file, where glibc before 2.32 has an older form before it; places of texts are counted from its begin. */
struct cache_head {
	char magic[sizeof(MAGIC) - 1];
	uint32_t count;
	uint32_t text_size;
	uint32_t other[5];
};

struct cache_entry {
	int32_t flags;
	uint32_t name, path;
	uint32_t system;
	uint64_t processors;
};

_Static_assert(sizeof(struct cache_head) == 48 && sizeof(struct cache_entry) == 24,
	       "as glibc has them");

/* What stands before it is taken away. False: it is not there, or says that it has more than there is. */
static bool head_find(struct fx_ld_cache *cache)
{
	char *at = memmem(cache->bytes, cache->size, MAGIC, sizeof(MAGIC) - 1);
	struct cache_head head;

	if (!at || (size_t)(cache->bytes + cache->size - at) < sizeof(head))
		return false;
	cache->size -= (size_t)(at - cache->bytes);
	memmove(cache->bytes, at, cache->size + 1);
	memcpy(&head, cache->bytes, sizeof(head));
	return head.count <= (cache->size - sizeof(head)) / sizeof(struct cache_entry);
}

/* All of it, and a zero behind it; NULL. */
static char *cache_bytes_read(int fd, size_t size)
{
	char *bytes = malloc(size + 1);
	size_t used = 0;

	while (bytes && used < size) {
		ssize_t n = read(fd, bytes + used, size - used);

		if (n <= 0)
			break;
		used += (size_t)n;
	}
	if (bytes && used < size) {
		free(bytes);
		return NULL;
	}
	if (bytes)
		bytes[size] = 0;
	return bytes;
}

void fx_ld_cache_read(struct fx_ld_cache *cache, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;

	*cache = (struct fx_ld_cache){NULL, 0};
	if (fd < 0)
		return;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size <= SIZE_MOST)
		cache->bytes = cache_bytes_read(fd, (size_t)st.st_size);
	close(fd);
	if (!cache->bytes)
		return;
	cache->size = (size_t)st.st_size;
	if (!head_find(cache))
		fx_ld_cache_clear(cache);
}

void fx_ld_cache_clear(struct fx_ld_cache *cache)
{
	free(cache->bytes);
	*cache = (struct fx_ld_cache){NULL, 0};
}

void fx_ld_cache_find(const struct fx_ld_cache *cache, const char *name,
		      void (*take)(void *opaque, const char *path), void *opaque)
{
	struct cache_head head;

	if (!cache->bytes)
		return;
	memcpy(&head, cache->bytes, sizeof(head));
	for (uint32_t i = 0; i < head.count; i++) {
		struct cache_entry entry;

		memcpy(&entry, cache->bytes + sizeof(head) + i * sizeof(entry), sizeof(entry));
		if (entry.name < cache->size && entry.path < cache->size &&
		    strcmp(cache->bytes + entry.name, name) == 0)
			take(opaque, cache->bytes + entry.path);
	}
}
