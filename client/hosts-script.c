/* SPDX-License-Identifier: MIT */
/* What is run on a host, as ssh's shell there is given it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/commands.h"
#include "client/hosts-internal.h"
#include "client/usage.h"

/* A recording: standard input is a line of life. When it ends, as it does when this process is killed, too, the recording is
 * told to end, and its archive still comes. */
#define HOSTS_SCRIPT_BEGIN "exec 3<&0; "
#define HOSTS_SCRIPT_END                                                                           \
	" </dev/null 3<&- & p=$!; { cat <&3 >/dev/null; kill -TERM $p 2>/dev/null; sleep 1; "      \
	"kill -TERM $p 2>/dev/null; } >/dev/null 2>&1 & c=$!; exec 3<&-; wait $p; s=$?; "          \
	"kill $c 2>/dev/null; exit $s"

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

char *fx_hosts_script(struct fx_hosts *hosts, char **program)
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
