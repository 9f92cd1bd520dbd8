/* SPDX-License-Identifier: MIT */
#include "client/host.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fxtrace/reader.h>

#include "manager/settings/report.h"

enum { HOST_SSH_WORDS = 32, HOST_LINE = 512 };

/* ssh, or the words of FXTRACE_SSH. */
static void host_become_ssh(const struct fx_host *host, char *script)
{
	const char *words = getenv("FXTRACE_SSH");
	char *copy = strdup(words && *words ? words : "ssh -o BatchMode=yes"), *next;
	char *argv[HOST_SSH_WORDS + 4];
	int argc = 0;

	for (char *word = copy ? strtok_r(copy, " ", &next) : NULL; word && argc < HOST_SSH_WORDS;
	     word = strtok_r(NULL, " ", &next))
		argv[argc++] = word;
	if (argc == 0)
		_exit(127);
	argv[argc++] = (char *)"--";
	argv[argc++] = host->name;
	argv[argc++] = script;
	argv[argc] = NULL;
	execvp(argv[0], argv);
	dprintf(2, "%s: %s\n", argv[0], strerror(errno));
	_exit(127);
}

int fx_host_start(struct fx_host *host, char *script)
{
	int life[2], out = open(host->archive, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	int messages = open(host->messages, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	int r = 0;

	if (out < 0 || messages < 0 || pipe2(life, O_CLOEXEC) < 0)
		return -errno;
	host->pid = fork();
	if (host->pid == 0) {
		sigset_t none;

		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		setpgid(0, 0);
		dup2(life[0], 0);
		dup2(out, 1);
		dup2(messages, 2);
		host_become_ssh(host, script);
	}
	if (host->pid < 0) {
		r = -errno;
		host->pid = 0;
		close(life[1]);
	} else {
		host->life = life[1];
	}
	close(life[0]);
	close(out);
	close(messages);
	return r;
}

void fx_host_end(struct fx_host *host)
{
	if (host->life >= 0)
		close(host->life);
	host->life = -1;
}

bool fx_host_has_said(const struct fx_host *host, const char *line)
{
	char said[HOST_LINE];
	FILE *f = fopen(host->messages, "re");
	bool has = false;

	while (f && !has && fgets(said, sizeof(said), f)) {
		said[strcspn(said, "\r\n")] = '\0';
		has = strcmp(said, line) == 0;
	}
	if (f)
		fclose(f);
	return has;
}

unsigned fx_host_numbers(const struct fx_host *host, const char *beginning, uint64_t *ret_first,
			 uint64_t *ret_last)
{
	const size_t length = strlen(beginning);
	FILE *f = fopen(host->messages, "re");
	char said[HOST_LINE];
	unsigned count = 0;

	while (f && fgets(said, sizeof(said), f)) {
		if (strncmp(said, beginning, length) != 0 || !strchr(said, '\n'))
			continue;
		*ret_last = strtoull(said + length, NULL, 10);
		if (count++ == 0)
			*ret_first = *ret_last;
	}
	if (f)
		fclose(f);
	return count;
}

bool fx_host_has_sent(const struct fx_host *host)
{
	struct stat st;

	return stat(host->archive, &st) == 0 && st.st_size > 0;
}

/* The last line that was said there, which is the reason if there is one. */
static void host_last_line(const struct fx_host *host, char *ret)
{
	char line[HOST_LINE];
	FILE *f = fopen(host->messages, "re");

	*ret = '\0';
	while (f && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\r\n")] = '\0';
		for (char *c = line; *c; c++) {
			if ((unsigned char)*c < ' ' || *c == 0x7f)
				*c = '?';
		}
		if (*line)
			memcpy(ret, line, sizeof(line));
	}
	if (f)
		fclose(f);
}

/* Whether a file has an event. An archive without one may not even tell the date, so it could not be merged. */
static bool host_has_event(const char *path)
{
	const struct fxt_record *record;
	struct fxt_reader *reader;
	bool has = false;

	if (fxt_reader_open_path(path, &reader) < 0)
		return false;
	while (!has && fxt_reader_next(reader, &record) > 0)
		has = record->kind == FXT_KIND_EVENT;
	fxt_reader_close(reader);
	return has;
}

bool fx_host_has_recorded(const struct fx_host *host, const char *command)
{
	char why[HOST_LINE];

	if (host_has_event(host->archive))
		return true;
	host_last_line(host, why);
	fx_report_as(command, "%s: left out: %s", host->name,
		     host->status && *why ? why : "nothing was recorded there");
	return false;
}
