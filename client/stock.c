/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "client/stock.h"

#include <inttypes.h>
#include <stdio.h>

#include "archives/stock.h"
#include "client/archive.h"
#include "client/commands.h"

struct stock_job {
	const char *program, *in, *out_path;
	struct fxt_reader *reader;
	struct fx_stock_result result;
};

static int stock_say(const struct stock_job *job)
{
	const struct fx_stock_result *result = &job->result;

	if (result->fault_count > 0)
		return fx_archive_complain(job->program, job->in, 0, &result->fault);
	if (result->payloads > 0)
		fprintf(stderr, "%s: %s: left out: payloads of large events: %" PRIu64 "\n",
			job->program, job->in, result->payloads);
	if (result->left_out > 0)
		fprintf(stderr,
			"%s: %s: left out: records that stock archives have not: %" PRIu64 "\n",
			job->program, job->in, result->left_out);
	return FX_EXIT_OK;
}

static int stock_write(void *opaque, struct fx_output *out)
{
	struct stock_job *job = opaque;

	return fx_stock_write(job->reader, out, &job->result);
}

static int stock_make(struct stock_job *job)
{
	int r;

	if (!fx_archive_make(job->program, job->out_path, stock_write, job, &r))
		return FX_EXIT_FAILURE;
	if (r < 0)
		return fx_archive_complain(job->program, job->in, r, &job->result.fault);
	return stock_say(job);
}

int fx_stock_convert(const char *program, int fd, const char *in, const char *out)
{
	struct stock_job job = {.program = program, .in = in, .out_path = out};
	struct fxt_fault fault = {.kind = FXT_FAULT_NONE};
	const struct fxt_record *record;
	int status, r = fxt_reader_open_fd(fd, &job.reader);

	if (r < 0)
		return fx_archive_complain(program, in, r, NULL);
	/* The magic number: nothing is written over for what is no archive. */
	fxt_reader_set_fault_handler(job.reader, fx_archive_note_fault, &fault);
	r = fxt_reader_next(job.reader, &record);
	if (r < 0 || fault.kind != FXT_FAULT_NONE)
		status = fx_archive_complain(program, in, r, &fault);
	else
		status = stock_make(&job);
	fxt_reader_close(job.reader);
	return status;
}
