/* SPDX-License-Identifier: MIT */
#include "client/accompany.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "client/commands.h"
#include "manager/process/kernel-rights.h"
#include "manager/session/program.h"
#include "manager/settings/report.h"
#include "manager/settings/wanted.h"

/* How long the begin waits until the provider has registered, and how often it looks. */
#define BEGIN_PATIENCE_MS 10000
#define LOOK_MS		  5

/* How long a stop waits for what the kernel has said to be recorded. */
#define END_PATIENCE_MS 20000

static struct fx_companion companion_of(const struct fx_session_config *config, const char *socket)
{
	const char *words = config->words;

	return (struct fx_companion){
	    .hz = config->sample_hz,
	    .switches = config->kernel,
	    .calls = config->kernel_calls,
	    .machine = config->kernel_machine,
	    .categories = words,
	    .probes = fx_words_ask_probes(words) ? words : NULL,
	    .socket = socket,
	};
}

/* Of the processes that are traced already it needs the right to see all. */
static bool accompany_everyone(const struct fx_remote *remote, struct fx_companion *companion)
{
	int right = fx_kernel_right(FX_KERNEL_OF_MACHINE);

	companion->everyone = right == 0;
	if (right < 0)
		fx_report_as(
		    remote->command,
		    "what the kernel says of processes that run already is not recorded: %s",
		    fx_kernel_cure(FX_KERNEL_OF_MACHINE, right));
	return right == 0;
}

void fx_accompany(const struct fx_remote *remote, const struct fx_options *options,
		  const char *socket, pid_t program, char *const *command,
		  struct fx_companion *companion)
{
	*companion = companion_of(&options->config, socket);
	companion->command = command;
	if (program && fx_program_obstacle(command[0]) != FX_LOADABLE)
		companion->calls = true;
	if (fx_companion_is_wanted(companion) && (accompany_everyone(remote, companion) || program))
		fx_companion_start(companion, program);
}

/* --- Of a session that goes on ------------------------------------------------------------------ */

static void kernel_provider_see(void *opaque, const struct fx_provider_entry *entry)
{
	bool *is_there = opaque;

	*is_there |= entry->is_kernel && !entry->gone;
}

/* A stop is to find it. */
static int accompany_await(struct fx_link *link)
{
	bool is_there = false;
	int r = 0;

	for (unsigned i = 0; r == 0 && !is_there && i < BEGIN_PATIENCE_MS / LOOK_MS; i++) {
		r = fx_remote_each_provider(link, false, kernel_provider_see, &is_there);
		if (r == 0 && !is_there)
			poll(NULL, 0, LOOK_MS);
	}
	return r;
}

int fx_accompany_session(const struct fx_remote *remote, const struct fx_options *options,
			 struct fx_link *link)
{
	struct fx_companion companion;
	char socket[FX_OUTPUT_PATH_MAX];
	bool is_there = false;
	int r = fx_remote_socket(remote, socket, sizeof(socket));

	if (r == 0)
		r = fx_remote_each_provider(link, false, kernel_provider_see, &is_there);

	if (r)
		return FX_EXIT_FAILURE;
	if (is_there) {
		fx_report_as(remote->command, "the kernel's events are recorded already%s",
			     fx_words_ask_probes(options->config.words)
				 ? ", and no probes (sdt:) are added to them: `fxtrace stop', then "
				   "`fxtrace start' with all that is to be recorded"
				 : "");
		return FX_EXIT_FAILURE;
	}
	companion = companion_of(&options->config, socket);
	companion.stays = true;
	if (!accompany_everyone(remote, &companion))
		return FX_EXIT_FAILURE;
	fx_companion_start(&companion, 0);
	fx_companion_report(&companion);
	return companion.began ? accompany_await(link) : FX_EXIT_FAILURE;
}

/* Whether it is one that ends with the session: one that waits for the next does not, and a number that is in another pid namespace, or another
 * process's by now, is left alone. */
static bool is_of_session(uint32_t pid)
{
	char path[40], words[4096], *word = words;
	FILE *file;
	size_t size;
	bool is = false;

	snprintf(path, sizeof(path), "/proc/%u/cmdline", pid);
	file = fopen(path, "re");
	size = file ? fread(words, 1, sizeof(words) - 1, file) : 0;
	if (file)
		fclose(file);
	words[size] = 0;
	if (strcmp(words, FX_COMPANION_NAME) != 0)
		return false;
	for (; word < words + size && !is; word += strlen(word) + 1)
		is = strcmp(word, FX_COMPANION_SESSION) == 0;
	return is;
}

static void kernel_provider_end(void *opaque, const struct fx_provider_entry *entry)
{
	struct pollfd one = {.events = POLLIN};

	(void)opaque;
	if (!entry->is_kernel || entry->gone)
		return;
	one.fd = (int)syscall(SYS_pidfd_open, entry->pid, 0);
	if (one.fd < 0)
		return;
	/* Whoever may not end it leaves it to see by itself that tracing is over. */
	if (is_of_session(entry->pid) &&
	    syscall(SYS_pidfd_send_signal, one.fd, SIGTERM, NULL, 0) == 0)
		poll(&one, 1, END_PATIENCE_MS);
	close(one.fd);
}

int fx_accompany_end(struct fx_link *link)
{
	return fx_remote_each_provider(link, false, kernel_provider_end, NULL);
}
