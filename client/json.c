/* SPDX-License-Identifier: MIT */
#include "client/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/escape.h"
#include "manager/settings/losses.h"

/* Escaped (base/escape.h), in memory that the caller frees; NULL without any. */
static char *json_escaped(const char *text, unsigned flags)
{
	size_t size = strlen(text), room = FX_ESCAPE_WIDTH * size;
	char *ret = malloc(room + 1);

	if (ret)
		ret[fx_escape(ret, room, text, size, flags)] = 0;
	return ret;
}

/* A byte of a clean text. */
static void json_print_byte(unsigned char byte)
{
	if (byte == '"' || byte == '\\')
		printf("\\%c", byte);
	else if (byte < ' ' || byte == 0x7f)
		printf("\\u%04x", byte);
	else
		putchar(byte);
}

void fx_json_print(const char *text)
{
	char *clean = json_escaped(text, 0);

	putchar('"');
	for (const char *at = clean; at && *at; at++)
		json_print_byte((unsigned char)*at);
	putchar('"');
	free(clean);
}

void fx_text_print(const char *text, int width)
{
	char *clean = json_escaped(text, FX_ESCAPE_CONTROLS);

	printf("%-*s", width, clean ? clean : "");
	free(clean);
}

static void json_print_losses(const uint64_t lost[FX_CAUSES])
{
	const char *before = "";

	printf(", \"lost\": {");
	for (unsigned i = 0; i < FX_CAUSES; i++) {
		if (lost[i] == 0)
			continue;
		printf("%s\"%s\": %" PRIu64, before, fx_loss_word(i), lost[i]);
		before = ", ";
	}
	putchar('}');
}

/* Arrows from who wrote to who read, and reads that have none; or of waits for locks. */
static void json_print_messages(const char *what, const struct fx_transfer_counts *counts)
{
	static const char *const words[FX_TRANSFER_LEFT_COUNT] = {
#define FX_TRANSFER_LEFT(name, word, reason) word,
#include "manager/archive/transfer-left.def"
#undef FX_TRANSFER_LEFT
	};
	const char *before = "";

	printf(", \"%s\": {\"arrows\": %" PRIu64 ", \"left_out\": {", what, counts->arrows);
	for (unsigned i = 0; i < FX_TRANSFER_LEFT_COUNT; i++) {
		if (counts->left[i] == 0)
			continue;
		printf("%s\"%s\": %" PRIu64, before, words[i], counts->left[i]);
		before = ", ";
	}
	printf("}}");
}

static void json_print_program(const struct fx_session_result *result)
{
	if (WIFSIGNALED(result->wait_status))
		printf(", \"status\": null, \"signal\": %d", WTERMSIG(result->wait_status));
	else
		printf(", \"status\": %d, \"signal\": null", WEXITSTATUS(result->wait_status));
	printf(", \"still_running\": %" PRIu32, result->left_alive);
}

/* As RESULT has them. */
static void json_print_suppressed(const char *lines)
{
	const char *before = "", *end;
	uint64_t calls, ns, recorded;
	char name[FX_SUPPRESSED_MAX];
	int at;

	printf(", \"suppressed\": [");
	for (; (end = strchr(lines, '\n')); lines = end + 1) {
		if (sscanf(lines, "%" SCNu64 " %" SCNu64 " %" SCNu64 " %n", &calls, &ns, &recorded,
			   &at) != 3 ||
		    lines + at > end)
			break;
		memcpy(name, lines + at, (size_t)(end - lines) - (size_t)at);
		name[end - lines - at] = 0;
		printf("%s{\"name\": ", before);
		fx_json_print(name);
		printf(", \"calls\": %" PRIu64 ", \"ns\": %" PRIu64 ", \"recorded\": %" PRIu64 "}",
		       calls, ns, recorded);
		before = ", ";
	}
	putchar(']');
}

void fx_json_summary(const struct fx_session_config *config, const struct fx_session_result *result,
		     bool circular)
{
	const struct fx_totals *t = &result->totals;
	const struct fx_stream_counts *c = &t->counts;

	printf("{\"output\": ");
	fx_json_print(config->output);
	printf(", \"error\": ");
	if (result->output_error)
		fx_json_print(strerror(-result->output_error));
	else
		printf("null");
	printf(", \"bytes\": %" PRIu64 ", \"processes\": %" PRIu64 ", \"threads\": %" PRIu64
	       ", \"events\": %" PRIu64 ", \"dropped\": %" PRIu64 ", \"too_deep\": %" PRIu64
	       ", \"invalid\": %" PRIu64,
	       t->file_size, t->processes, t->threads, t->events, c->dropped,
	       c->lost[FX_CAUSE_DEEP], c->lost[FX_CAUSE_INVALID]);
	json_print_losses(c->lost);
	json_print_messages("messages", &t->transfers);
	json_print_messages("shared_locks", &t->shares);
	printf(", \"unseen_categories\": ");
	fx_json_print(t->unseen);
	json_print_suppressed(t->suppressed);
	if (circular)
		printf(", \"history_seconds\": %.6f, \"wrapped\": %s", (double)t->history_ns / 1e9,
		       t->wrapped ? "true" : "false");
	if (result->has_status)
		json_print_program(result);
	printf("}\n");
}
