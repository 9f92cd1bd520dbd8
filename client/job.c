/* SPDX-License-Identifier: MIT */
#include "client/job.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- Ranks ------------------------------------------------------------------------------------ */

/* The digits at *at as a number, behind which *at stands then. False: there are none, or too many. */
static bool job_number(const char **at, uint64_t *ret)
{
	char *end;

	if (!isdigit((unsigned char)**at))
		return false;
	errno = 0;
	*ret = strtoull(*at, &end, 10);
	*at = end;
	return errno == 0;
}

bool fx_job_rank(uint64_t *ret)
{
	static const char *const variables[] = {
#define FX_JOB_VARIABLE(of, name) JOB_VARIABLE_##of(name)
#define JOB_VARIABLE_RANK(name)	  name,
#define JOB_VARIABLE_JOB(name)
#include "manager/settings/job.def"
#undef JOB_VARIABLE_RANK
#undef JOB_VARIABLE_JOB
	};

	for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
		const char *value = getenv(variables[i]);

		if (value && job_number(&value, ret) && !*value)
			return true;
	}
	return false;
}

/* Takes a rank or a range, and the comma behind it. */
static bool job_take_range(const char **at, uint64_t *ret_first, uint64_t *ret_last)
{
	if (!job_number(at, ret_first))
		return false;
	*ret_last = *ret_first;
	if (**at == '-') {
		++*at;
		if (!job_number(at, ret_last) || *ret_last < *ret_first)
			return false;
	}
	if (**at == ',')
		return *++*at != '\0';
	return **at == '\0';
}

bool fx_job_ranks_parse(const char *list)
{
	uint64_t first, last;

	do {
		if (!job_take_range(&list, &first, &last))
			return false;
	} while (*list);
	return true;
}

bool fx_job_ranks_have(const char *list, uint64_t rank)
{
	uint64_t first, last;

	while (*list && job_take_range(&list, &first, &last)) {
		if (first <= rank && rank <= last)
			return true;
	}
	return false;
}

/* --- Names ------------------------------------------------------------------------------------ */

struct job_text {
	char *text;
	size_t length, size;
};

static void job_put(struct job_text *t, const char *from, size_t length)
{
	if (t->size - t->length > length)
		memcpy(t->text + t->length, from, length);
	else
		length = t->size - t->length; /* fx_job_name() looks at it in the end */
	t->length += length;
}

/* What is part of a name of a file, and of no other folder. */
static void job_put_word(struct job_text *t, const char *word)
{
	for (; *word; word++) {
		const char c = *word == '/' || iscntrl((unsigned char)*word) ? '_' : *word;

		job_put(t, &c, 1);
	}
}

static const char *job_put_host(struct job_text *t)
{
	char host[HOST_NAME_MAX + 1] = "";

	if (gethostname(host, sizeof(host) - 1) < 0 || !*host)
		return "%h: this host has no name";
	job_put_word(t, host);
	return NULL;
}

/* A job that Slurm has begun anew does not write over what it wrote before. */
static void job_put_restart(struct job_text *t)
{
	const char *count = getenv("SLURM_RESTART_COUNT");

	if (!count || !isdigit((unsigned char)*count) || strcmp(count, "0") == 0)
		return;
	job_put(t, ".", 1);
	job_put_word(t, count);
}

static const char *job_put_job(struct job_text *t)
{
	static const char *const variables[] = {
#define JOB_VARIABLE_JOB(name) name,
#define JOB_VARIABLE_RANK(name)
#include "manager/settings/job.def"
#undef JOB_VARIABLE_JOB
#undef JOB_VARIABLE_RANK
#undef FX_JOB_VARIABLE
	};

	for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
		const char *value = getenv(variables[i]);

		if (value && *value) {
			job_put_word(t, value);
			job_put_restart(t);
			return NULL;
		}
	}
	return "%j: this is no job of Slurm, PBS or LSF (SLURM_JOB_ID, PBS_JOBID and LSB_JOBID are "
	       "not set)";
}

static const char *job_put_program(struct job_text *t, const struct fx_job_run *run)
{
	const char *name;

	if (!run->program)
		return "%n: there is no program to run";
	name = strrchr(run->program, '/');
	job_put_word(t, name && name[1] ? name + 1 : run->program);
	return NULL;
}

static const char *job_put_number(struct job_text *t, uint64_t number)
{
	char digits[24];

	snprintf(digits, sizeof(digits), "%llu", (unsigned long long)number);
	job_put_word(t, digits);
	return NULL;
}

static const char *job_put_rank(struct job_text *t)
{
	uint64_t rank;

	if (!fx_job_rank(&rank))
		return "%r: " FX_JOB_NO_RANK;
	return job_put_number(t, rank);
}

static const char *job_put_sign(struct job_text *t, char sign, const struct fx_job_run *run)
{
	switch (sign) {
	case 'h':
		return job_put_host(t);
	case 'j':
		return job_put_job(t);
	case 'n':
		return job_put_program(t, run);
	case 'p':
		return job_put_number(t, (uint64_t)run->pid);
	case 'r':
		return job_put_rank(t);
	case '%':
		job_put(t, "%", 1);
		return NULL;
	default:
		return "behind % stands h (host), j (job), n (name of the program), p (process "
		       "id), r (rank) or %";
	}
}

/* What cannot be made, the one that opens the file will tell. */
static void job_make_folders(char *name)
{
	for (char *at = strchr(name + 1, '/'); at; at = strchr(at + 1, '/')) {
		*at = '\0';
		mkdir(name, 0777);
		*at = '/';
	}
}

const char *fx_job_name(const char *pattern, const struct fx_job_run *run, char *ret, size_t size)
{
	struct job_text t = {.text = ret, .size = size};
	bool has_signs = false;

	for (; *pattern; pattern++) {
		const char *wrong = NULL;

		if (*pattern == '%') {
			has_signs = true;
			wrong = job_put_sign(&t, *++pattern, run);
		} else {
			job_put(&t, pattern, 1);
		}
		if (wrong)
			return wrong;
	}
	if (t.length >= size)
		return "its name becomes too long";
	ret[t.length] = '\0';
	if (has_signs && t.length)
		job_make_folders(ret);
	return NULL;
}
