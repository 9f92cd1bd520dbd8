/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "manager/archive/host.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/utsname.h>

#include "base/clock.h"
#include "base/escape.h"
#include "format/host-record.h"
#include "manager/archive/archive.h"

static void host_set(char to[FX_HOST_VALUE_MAX], const char *value)
{
	to[fx_escape(to, FX_HOST_VALUE_MAX - 1, value, strlen(value), FX_ESCAPE_CONTROLS)] = '\0';
}

static const struct {
	size_t of; /* member of a record */
	const char *name;
} host_variables[] = {
#define HOST_OF_JOB		  offsetof(struct fx_host_record, job)
#define HOST_OF_RANK		  offsetof(struct fx_host_record, rank)
#define FX_JOB_VARIABLE(of, name) {HOST_OF_##of, name},
#include "manager/settings/job.def"
#undef FX_JOB_VARIABLE
};

/* The manager of a run has the variables of what it runs. */
static void host_find_job(struct fx_host_record *host)
{
	for (size_t i = 0; i < sizeof(host_variables) / sizeof(host_variables[0]); i++) {
		char *to = (char *)host + host_variables[i].of;
		const char *value = getenv(host_variables[i].name);

		if (!*to && value)
			host_set(to, value);
	}
}

static void host_find(struct fx_host_record *host)
{
	struct utsname name;

	*host = (struct fx_host_record){0};
	host_set(host->fxtrace, PACKAGE_VERSION);
	host_find_job(host);
	if (getrandom(host->uuid, sizeof(host->uuid), 0) < 0)
		host->uuid[0] = host->uuid[1] = fx_boottime_ns();
	if (uname(&name) < 0)
		return;
	host_set(host->host, name.nodename);
	host_set(host->system, name.sysname);
	host_set(host->release, name.release);
	host_set(host->build, name.version);
	host_set(host->machine, name.machine);
}

void fx_host_write(struct fx_archive *archive, const char *clock)
{
	struct fx_host_record host;
	struct fx_encoder e;

	host_find(&host);
	host_set(host.clock, clock);
	fx_encoder_init(&e, fx_output_reserve(archive->out, FXT_MAX_RECORD_WORDS),
			FXT_MAX_RECORD_WORDS);
	fx_host_record_encode(&e, &host);
	fx_output_commit(archive->out, e.used);
}
