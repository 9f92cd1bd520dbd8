/* SPDX-License-Identifier: MIT */
#include "client/hosts.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fxtrace/reader.h>

#include "client/commands.h"
#include "client/usage.h"
#include "manager/settings/report.h"

/* What is run there behind ssh: standard input is a line of life. When it ends, as it does when this process is killed, too, the recording is
 * told to end, and its archive still comes. */
#define HOSTS_SCRIPT_BEGIN "exec 3<&0; "
#define HOSTS_SCRIPT_END                                                                           \
	" </dev/null 3<&- & p=$!; { cat <&3 >/dev/null; kill -TERM $p 2>/dev/null; sleep 1; "      \
	"kill -TERM $p 2>/dev/null; } >/dev/null 2>&1 & c=$!; exec 3<&-; wait $p; s=$?; "          \
	"kill $c 2>/dev/null; exit $s"

enum { HOSTS_SSH_WORDS = 32, HOSTS_LINE = 512 };

struct host {
	char *name;
	char *archive, *messages; /* files; owned */
	pid_t pid;		  /* of ssh; 0: it has ended */
	int life;		  /* what it reads */
	int status;
	bool has_recorded;
};

typedef FX_VECTOR(struct host) host_list;

/* --- The command there ------------------------------------------------------------------------- */

/* 'it'\''s' */
static char *hosts_quoted(const char *prefix, const char *word)
{
	size_t length = strlen(prefix) + strlen(word);
	char *quoted = malloc(4 * length + 3), *to = quoted;

	if (!quoted)
		return NULL;
	*to++ = '\'';
	for (int part = 0; part < 2; part++) {
		for (const char *from = part ? word : prefix; *from; from++) {
			if (*from == '\'') {
				memcpy(to, "'\\''", 4);
				to += 4;
			} else {
				*to++ = *from;
			}
		}
	}
	*to++ = '\'';
	*to = '\0';
	return quoted;
}

static void hosts_add(struct fx_hosts *hosts, const char *prefix, const char *word)
{
	char *quoted = hosts_quoted(prefix, word);

	if (!quoted || fx_vector_reserve(&hosts->words, 1) < 0) {
		free(quoted);
		fprintf(stderr, "fxtrace record: %s\n", strerror(ENOMEM));
		exit(FX_EXIT_FAILURE);
	}
	hosts->words.items[hosts->words.count++] = quoted;
}

void fx_hosts_take(struct fx_hosts *hosts, const struct argp_option *table, int key,
		   const char *value)
{
	char prefix[80];

	for (; table->name; table++) {
		if (table->key != key)
			continue;
		snprintf(prefix, sizeof(prefix), "--%s%s", table->name, value ? "=" : "");
		hosts_add(hosts, prefix, value ? value : "");
		return;
	}
}

void fx_hosts_release(struct fx_hosts *hosts)
{
	for (size_t i = 0; i < hosts->words.count; i++)
		free(hosts->words.items[i]);
	fx_vector_free(&hosts->words);
}

/* The whole of it; NULL: no memory. */
static char *hosts_script(struct fx_hosts *hosts, char **program)
{
	char *script = NULL;
	size_t size;
	FILE *f;

	if (program)
		hosts_add(hosts, "", "--");
	for (; program && *program; program++)
		hosts_add(hosts, "", *program);
	f = open_memstream(&script, &size);
	if (!f)
		return NULL;
	fputs(HOSTS_SCRIPT_BEGIN "fxtrace record -o -", f);
	for (size_t i = 0; i < hosts->words.count; i++)
		fprintf(f, " %s", hosts->words.items[i]);
	fputs(HOSTS_SCRIPT_END, f);
	if (fclose(f) != 0) {
		free(script);
		return NULL;
	}
	return script;
}

/* --- Hosts ------------------------------------------------------------------------------------- */

/* ssh, or the words of FXTRACE_SSH. */
static void host_become_ssh(const struct host *host, char *script)
{
	const char *words = getenv("FXTRACE_SSH");
	char *copy = strdup(words && *words ? words : "ssh -o BatchMode=yes"), *next;
	char *argv[HOSTS_SSH_WORDS + 4];
	int argc = 0;

	for (char *word = copy ? strtok_r(copy, " ", &next) : NULL; word && argc < HOSTS_SSH_WORDS;
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

/* Its ssh is in a group of its own: ^C is for us, who end it in order. 0 or -errno. */
static int host_start(struct host *host, char *script)
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

static void host_end(struct host *host)
{
	if (host->life >= 0)
		close(host->life);
	host->life = -1;
}

/* The last line that was said there, which is the reason if there is one. */
static void host_last_line(const struct host *host, char *ret)
{
	char line[HOSTS_LINE];
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

/* Whether it has recorded something; else a line says why not. */
static bool host_has_recorded(const struct host *host, const char *command)
{
	char why[HOSTS_LINE];

	if (host_has_event(host->archive))
		return true;
	host_last_line(host, why);
	fx_report_as(command, "%s: left out: %s", host->name,
		     host->status && *why ? why : "nothing was recorded there");
	return false;
}

/* --- All of them ------------------------------------------------------------------------------- */

static char *hosts_path(const char *folder, const char *name, const char *tail)
{
	char *path = NULL, *c;

	if (asprintf(&path, "%s/%s%s", folder, name, tail) < 0)
		return NULL;
	for (c = path + strlen(folder) + 1; *c; c++) {
		if (*c == '/')
			*c = '_';
	}
	return path;
}

/* Splits the comma list. 0, -ENOMEM, or -EINVAL: a name is empty, an option of ssh's, or there twice. */
static int hosts_read(const char *folder, char *list, host_list *ret)
{
	char *next = list, *name;

	while ((name = strsep(&next, ","))) {
		struct host host = {.name = name, .life = -1};

		if (!*name || *name == '-')
			return -EINVAL;
		for (size_t i = 0; i < ret->count; i++) {
			if (strcmp(ret->items[i].name, name) == 0)
				return -EINVAL;
		}
		host.archive = hosts_path(folder, name, ".fxt");
		host.messages = hosts_path(folder, name, ".messages");
		if (!host.archive || !host.messages || fx_vector_reserve(ret, 1) < 0)
			return -ENOMEM;
		ret->items[ret->count++] = host;
	}
	return 0;
}

static bool hosts_reap(host_list *hosts)
{
	bool any = false;

	for (size_t i = 0; i < hosts->count; i++) {
		struct host *host = &hosts->items[i];

		if (host->pid && waitpid(host->pid, &host->status, WNOHANG) == host->pid) {
			host->pid = 0;
			host_end(host);
		}
		any |= host->pid != 0;
	}
	return any;
}

/* A first signal ends the recordings, a second one what brings them. */
static void hosts_wait(host_list *hosts, const sigset_t *set)
{
	bool told = false;
	int number;

	while (hosts_reap(hosts)) {
		if (sigwait(set, &number) != 0 || number == SIGCHLD)
			continue;
		for (size_t i = 0; i < hosts->count; i++) {
			host_end(&hosts->items[i]);
			if (told && hosts->items[i].pid)
				kill(hosts->items[i].pid, SIGTERM);
		}
		told = true;
	}
}

/* What came becomes one archive. The status. */
static int hosts_merge(host_list *hosts, const char *command, const char *output)
{
	const char **argv = calloc(hosts->count + 6, sizeof(*argv));
	int argc = 0, status = FX_EXIT_FAILURE;
	pid_t pid;

	if (!argv)
		return FX_EXIT_FAILURE;
	argv[argc++] = "fxtrace merge";
	argv[argc++] = "-o";
	argv[argc++] = output;
	argv[argc++] = "--";
	for (size_t i = 0; i < hosts->count; i++) {
		struct host *host = &hosts->items[i];

		host->has_recorded = host_has_recorded(host, command);
		if (host->has_recorded)
			argv[argc++] = host->archive;
	}
	if (argc > 4) {
		fflush(NULL);
		pid = fork();
		if (pid == 0)
			exit(fx_usage_flush(command, fx_cmd_merge(argc, (char **)argv)));
		while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
		status = pid > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : FX_EXIT_FAILURE;
	}
	free(argv);
	return status;
}

/* How the first program that did not end well has ended. */
static int hosts_status(const host_list *hosts)
{
	for (size_t i = 0; i < hosts->count; i++) {
		const struct host *host = &hosts->items[i];

		if (host->has_recorded && WIFEXITED(host->status) && WEXITSTATUS(host->status) != 0)
			return WEXITSTATUS(host->status);
	}
	return 0;
}

/* What is in the one archive is not needed any more. */
static void hosts_forget(const host_list *hosts)
{
	for (size_t i = 0; i < hosts->count; i++)
		unlink(hosts->items[i].archive);
}

static int hosts_run(host_list *hosts, char *script, const char *command, const char *output)
{
	sigset_t set;
	int status;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	for (size_t i = 0; i < hosts->count; i++) {
		int r = host_start(&hosts->items[i], script);

		if (r < 0)
			fx_report_as(command, "%s: %s", hosts->items[i].name, strerror(-r));
	}
	hosts_wait(hosts, &set);
	status = hosts_merge(hosts, command, output);
	if (status)
		return status;
	hosts_forget(hosts);
	return hosts_status(hosts);
}

int fx_hosts_record(struct fx_hosts *hosts, const char *command, const char *output, char **program)
{
	char folder[PATH_MAX], *list = strdup(hosts->list);
	char *script = hosts_script(hosts, program);
	host_list all = {0};
	int status = FX_EXIT_FAILURE, r;

	snprintf(folder, sizeof(folder), "%s.hosts-XXXXXX", output);
	if (!list || !script || !mkdtemp(folder)) {
		fx_report_as(command, "%s: %s", output, strerror(list && script ? errno : ENOMEM));
		free(list);
		free(script);
		return status;
	}
	r = hosts_read(folder, list, &all);
	if (r == 0)
		status = hosts_run(&all, script, command, output);
	for (size_t i = 0; i < all.count; i++) {
		/* What could not be merged is kept. */
		if (!all.items[i].has_recorded)
			unlink(all.items[i].archive);
		unlink(all.items[i].messages);
		free(all.items[i].archive);
		free(all.items[i].messages);
	}
	if (rmdir(folder) < 0)
		fx_report_as(command, "what the hosts have recorded is kept in %s", folder);
	fx_vector_free(&all);
	free(list);
	free(script);
	if (r == -EINVAL)
		fx_usage_error(command, "--hosts: not a comma list of hosts, each there once",
			       hosts->list);
	return status;
}
