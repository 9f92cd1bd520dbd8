/* SPDX-License-Identifier: MIT */
#include "manager/process/container-words.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#if __has_include(<linux/openat2.h>)
#include <linux/openat2.h>
#endif
#ifndef RESOLVE_CACHED
#define RESOLVE_CACHED 0x20 /* Linux 5.12 */
#endif

/* So much of an environment, and of a file, is read. */
enum { CONTAINER_ENVIRONMENT_MAX = 1 << 17, CONTAINER_FILE_MAX = 4096 };

struct container_known {
	const char *name;
	char *word; /* FX_CONTAINER_WORD_MAX and the end */
};

/* What is longer is none of these names. */
static void container_set(char *word, const char *text, size_t length)
{
	if (word[0] || length == 0 || length > FX_CONTAINER_WORD_MAX)
		return;
	memcpy(word, text, length);
	word[length] = '\0';
}

/* The value of what begins with this name; NULL: it is another. */
static const char *container_value(const char *text, const char *name)
{
	size_t length = strlen(name);

	return strncmp(text, name, length) == 0 && text[length] == '=' ? text + length + 1 : NULL;
}

/* --- OTEL_RESOURCE_ATTRIBUTES: name=value,name=value, octets of values as %XX where need be ------ */

static int container_digit(char c)
{
	static const char digits[] = "0123456789abcdef";
	const char *at = c ? strchr(digits, c >= 'A' && c <= 'F' ? c - 'A' + 'a' : c) : NULL;

	return at ? (int)(at - digits) : -1;
}

/* The value up to the comma or the end; too long: nothing. */
static void container_decode(const char *value, char *word)
{
	char text[FX_CONTAINER_WORD_MAX + 1] = "";
	size_t length = 0;

	for (; *value && *value != ','; value++) {
		int high = *value == '%' ? container_digit(value[1]) : -1;
		int low = high >= 0 ? container_digit(value[2]) : -1;

		if (length == FX_CONTAINER_WORD_MAX)
			return;
		text[length++] = low >= 0 ? (char)(high * 16 + low) : *value;
		value += low >= 0 ? 2 : 0;
	}
	if (!memchr(text, 0, length))
		container_set(word, text, length);
}

static void container_take(const struct container_known *known, size_t count, const char *text)
{
	for (size_t i = 0; i < count; i++) {
		const char *value = container_value(text, known[i].name);

		if (value)
			container_decode(value, known[i].word);
	}
}

static void container_attributes(const char *list, struct fx_container_words *ret)
{
	char image[FX_CONTAINER_WORD_MAX + 1] = "", tag[FX_CONTAINER_WORD_MAX + 1] = "";
	const struct container_known known[] = {
	    {"k8s.pod.name", ret->pod_name}, {"k8s.namespace.name", ret->pod_namespace},
	    {"container.image.name", image}, {"container.image.tags", tag},
	    {"container.image.tag", tag},
	};
	size_t length;

	for (const char *at = list; at; at = strchr(at, ',')) {
		at += strspn(at, ", ");
		container_take(known, sizeof(known) / sizeof(known[0]), at);
	}
	length = strlen(image);
	if (length > 0 && tag[0] && length + 1 + strlen(tag) < sizeof(image)) {
		image[length] = ':';
		memcpy(image + length + 1, tag, strlen(tag) + 1);
	}
	container_set(ret->image, image, strlen(image));
}

void fx_container_words_variable(const char *variable, struct fx_container_words *ret)
{
	const struct container_known known[] = {
	    {"POD_NAME", ret->pod_name},
	    {"POD_NAMESPACE", ret->pod_namespace},
	    {"CONTAINER_IMAGE", ret->image},
	};
	const char *value = container_value(variable, "OTEL_RESOURCE_ATTRIBUTES");

	if (value)
		container_attributes(value, ret);
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		value = container_value(variable, known[i].name);
		if (value)
			container_set(known[i].word, value, strlen(value));
	}
}

void fx_container_words_line(const char *line, struct fx_container_words *ret)
{
	const char *value = container_value(line, "image"),
		   *end = value ? strrchr(value, '"') : NULL;

	if (end > value && *value == '"')
		container_set(ret->image, value + 1, (size_t)(end - value - 1));
}

/* --- A process -------------------------------------------------------------------------------- */

/* Up to an end of which nobody knows what stands there: the process may say where its environment lies. */
static size_t container_read_all(int fd, char *text, size_t size)
{
	size_t count = 0;
	ssize_t n;

	while (count < size && (n = read(fd, text + count, size - count)) > 0)
		count += (size_t)n;
	return count;
}

static void container_read_environment(pid_t pid, struct fx_container_words *ret)
{
	char path[64], *text = malloc(CONTAINER_ENVIRONMENT_MAX + 1);
	size_t size = 0;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/environ", (int)pid);
	fd = text ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	if (fd >= 0) {
		size = container_read_all(fd, text, CONTAINER_ENVIRONMENT_MAX);
		close(fd);
	}
	for (size_t at = 0; at < size; at += strlen(text + at) + 1) {
		text[size] = '\0';
		fx_container_words_variable(text + at, ret);
	}
	free(text);
}

/* A place in the process's own root, whatever lies there: it is not opened, and no file system is asked for it, as one of FUSE need never
   answer. What is mounted on, as by Podman, is always known without. */
static int container_find_inside(pid_t pid, const char *name)
{
	int root, fd = -1;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/root", (int)pid);
	root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return -1;
#if defined(SYS_openat2) && defined(RESOLVE_IN_ROOT)
	fd = (int)syscall(SYS_openat2, root, name,
			  &(struct open_how){
			      .flags = O_PATH | O_NOFOLLOW | O_CLOEXEC,
			      .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS | RESOLVE_CACHED,
			  },
			  sizeof(struct open_how));
#else
	(void)name;
#endif
	close(root);
	return fd;
}

static FILE *container_open_proc(const char *who, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%s/%s", who, name);
	return fopen(path, "re");
}

/* The number of the mount that a place is on; -1: unknown. */
static int container_mount(int fd)
{
	char name[32], line[128];
	int mount = -1;
	FILE *file;

	snprintf(name, sizeof(name), "fdinfo/%d", fd);
	file = container_open_proc("self", name);
	if (!file)
		return -1;
	while (mount < 0 && fgets(line, sizeof(line), file)) {
		if (strncmp(line, "mnt_id:", 7) == 0)
			mount = atoi(line + 7);
	}
	fclose(file);
	return mount;
}

/* File systems that answer by themselves: not overlay, whose layers may be of any other. */
static bool container_is_type_local(const char *type)
{
	static const char *const types[] = {"tmpfs", "ramfs", "ext2", "ext3",
					    "ext4",  "xfs",   "btrfs"};
	size_t length = strcspn(type, " \n");
	bool is = false;

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		is |= strlen(types[i]) == length && strncmp(type, types[i], length) == 0;
	return is;
}

/* By the process's list of mounts: statfs() would ask the file system itself. */
static bool container_is_local(pid_t pid, int fd)
{
	char who[16], *line = NULL, *type;
	int mount = container_mount(fd);
	bool is = false;
	size_t size = 0;
	FILE *file;

	snprintf(who, sizeof(who), "%d", (int)pid);
	file = mount >= 0 ? container_open_proc(who, "mountinfo") : NULL;
	if (!file)
		return false;
	while (!is && getline(&line, &size, file) > 0) {
		type = atoi(line) == mount ? strstr(line, " - ") : NULL;
		is = type && container_is_type_local(type + 3);
	}
	free(line);
	fclose(file);
	return is;
}

/* What is found is looked at before it is opened: an open() may do something of its own to a device. */
static int container_open_inside(pid_t pid, const char *name)
{
	int place = container_find_inside(pid, name), fd = -1;
	struct stat st;
	char path[64];

	if (place < 0)
		return -1;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", place);
	if (container_is_local(pid, place) && fstat(place, &st) == 0 && S_ISREG(st.st_mode) &&
	    st.st_size <= CONTAINER_FILE_MAX)
		fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	close(place);
	return fd;
}

static void container_read_file(pid_t pid, struct fx_container_words *ret)
{
	char text[CONTAINER_FILE_MAX + 1], *next = text, *line;
	int fd = container_open_inside(pid, "run/.containerenv");

	if (fd < 0)
		return;
	text[container_read_all(fd, text, CONTAINER_FILE_MAX)] = '\0';
	close(fd);
	while ((line = strsep(&next, "\n")))
		fx_container_words_line(line, ret);
}

void fx_container_words_read(pid_t pid, struct fx_container_words *ret)
{
	*ret = (struct fx_container_words){0};
	container_read_environment(pid, ret);
	if (!ret->image[0])
		container_read_file(pid, ret);
}
