/* SPDX-License-Identifier: MIT */
#include "manager/settings/counter-kept.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "protocol/place.h"

#define KEPT_LINE_MAX 128u

static const char *const kept_words[] = {
#define KEPT_WORD_(symbol, text) #symbol,
    FX_COUNTER_VERDICTS(KEPT_WORD_)
#undef KEPT_WORD_
};

static bool kept_path(char ret[FX_SOCKET_PATH_SIZE])
{
	const char *runtime = fx_place_runtime();
	char usual[FX_SOCKET_PATH_SIZE];
	int n;

	if (!runtime) {
		if (geteuid() == 0)
			snprintf(usual, sizeof(usual), "/run");
		else
			snprintf(usual, sizeof(usual), "/run/user/%u", (unsigned)geteuid());
		runtime = usual;
	}
	n = snprintf(ret, FX_SOCKET_PATH_SIZE, "%s/fxtrace/counter", runtime);
	return n > 0 && n < (int)FX_SOCKET_PATH_SIZE && access(runtime, W_OK) == 0;
}

/* What the line begins with: of this boot, and of these processors. */
static bool kept_begin(char line[KEPT_LINE_MAX])
{
	FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
	char boot[64];
	bool is_read = file && fgets(boot, sizeof(boot), file);
	int n;

	if (file)
		fclose(file);
	if (!is_read)
		return false;
	boot[strcspn(boot, "\n")] = 0;
	n = snprintf(line, KEPT_LINE_MAX, "%s %ld ", boot, sysconf(_SC_NPROCESSORS_ONLN));
	return n > 0 && n < (int)KEPT_LINE_MAX;
}

/* Reads the file if nobody else can have written it. */
static bool kept_read(const char *path, char line[KEPT_LINE_MAX])
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat st;
	ssize_t n = -1;

	if (fd < 0)
		return false;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
	    !(st.st_mode & (S_IWGRP | S_IWOTH)))
		n = read(fd, line, KEPT_LINE_MAX - 1);
	close(fd);
	line[n > 0 ? n : 0] = 0;
	return n > 0;
}

bool fx_counter_recall(enum fx_counter_verdict *ret)
{
	char path[FX_SOCKET_PATH_SIZE], line[KEPT_LINE_MAX], begin[KEPT_LINE_MAX];
	const char *word = line;

	if (!kept_path(path) || !kept_read(path, line) || !kept_begin(begin) ||
	    strncmp(line, begin, strlen(begin)) != 0)
		return false;
	word += strlen(begin);
	for (unsigned i = 0; i < FX_COUNTER_VERDICT_COUNT; i++) {
		size_t length = strlen(kept_words[i]);

		if (strncmp(word, kept_words[i], length) == 0 && strcmp(word + length, "\n") == 0) {
			*ret = (enum fx_counter_verdict)i;
			return true;
		}
	}
	return false;
}

static int kept_create(const char *path)
{
	return open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, S_IRUSR | S_IWUSR);
}

/* Under a name of its own first: others read whole lines alone. */
void fx_counter_keep(enum fx_counter_verdict verdict)
{
	char path[FX_SOCKET_PATH_SIZE], fresh[FX_SOCKET_PATH_SIZE + 16], line[KEPT_LINE_MAX];
	size_t length;
	int fd, n;

	if (!kept_path(path) || !kept_begin(line) || fx_place_check(path) < 0)
		return;
	length = strlen(line);
	n = snprintf(line + length, sizeof(line) - length, "%s\n", kept_words[verdict]);
	if (n < 0 || (size_t)n >= sizeof(line) - length)
		return;
	snprintf(fresh, sizeof(fresh), "%s.%d", path, (int)getpid());
	fd = kept_create(fresh);
	if (fd < 0 && errno == ENOENT && fx_place_make(path, S_IRWXU) == 0)
		fd = kept_create(fresh);
	if (fd < 0)
		return;
	length = strlen(line);
	if (write(fd, line, length) != (ssize_t)length || rename(fresh, path) < 0)
		unlink(fresh);
	close(fd);
}
