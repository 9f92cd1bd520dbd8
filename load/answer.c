/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "load/answer.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include "lists/spill.h"

struct fx_answer {
	FILE *file;
	char *line;
	size_t room;
	char *fields[FX_ANSWER_FIELDS_MAX];
	int error;
};

static int answer_fill(struct fx_answer *answer, struct fx_clickhouse *server,
		       const char *statement)
{
	int fd = fx_spill_file(), r;

	if (fd < 0)
		return fd;
	answer->file = fdopen(fd, "r+");
	if (!answer->file) {
		close(fd);
		return -ENOMEM;
	}
	r = fx_clickhouse_ask_to(server, answer->file, statement);
	if (r < 0)
		return r;
	return fflush(answer->file) == 0 && fseeko(answer->file, 0, SEEK_SET) == 0 ? 0 : -errno;
}

int fx_answer_open(struct fx_clickhouse *server, struct fx_answer **ret, const char *format, ...)
{
	struct fx_answer *answer = calloc(1, sizeof(*answer));
	char *statement;
	va_list args;
	int r;

	*ret = NULL;
	va_start(args, format);
	r = answer ? vasprintf(&statement, format, args) : -1;
	va_end(args);
	if (r < 0) {
		free(answer);
		return -ENOMEM;
	}
	r = answer_fill(answer, server, statement);
	free(statement);
	if (r < 0)
		fx_answer_close(answer);
	else
		*ret = answer;
	return r;
}

void fx_answer_close(struct fx_answer *answer)
{
	if (!answer)
		return;
	if (answer->file)
		fclose(answer->file);
	free(answer->line);
	free(answer);
}

char **fx_answer_next(struct fx_answer *answer)
{
	char *at;

	if (answer->error < 0)
		return NULL;
	if (getline(&answer->line, &answer->room, answer->file) < 0) {
		if (!feof(answer->file))
			answer->error = errno ? -errno : -EIO;
		return NULL;
	}
	at = answer->line;
	fx_clickhouse_row(&at, answer->fields, FX_ANSWER_FIELDS_MAX);
	return answer->fields;
}

int fx_answer_error(const struct fx_answer *answer)
{
	return answer->error;
}
