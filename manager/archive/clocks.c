/* SPDX-License-Identifier: MIT */
#include "manager/archive/clocks.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/clock.h"
#include "manager/archive/archive.h"

#define NS_PER_SECOND 1000000000

/* The closest of some readings counts: the thread may be interrupted within one. */
enum { CLOCKS_TRIES = 5 };

/* --- The machine whose clock it is ------------------------------------------------------------ */

/* 32 hexadecimal digits in groups. False: it is not that. */
static bool clocks_parse_boot(const char *text, uint64_t ret[2])
{
	unsigned digits = 0;

	for (; digits < 32; text++) {
		char digit[2] = {*text, '\0'}, *end;
		unsigned long value;

		if (*text == '-')
			continue;
		value = strtoul(digit, &end, 16);
		if (end == digit)
			return false;
		ret[digits / 16] = ret[digits / 16] << 4 | value;
		digits++;
	}
	return true;
}

static void clocks_find_boot(uint64_t ret[2])
{
	FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
	char line[64];

	if (!file)
		return;
	if (!fgets(line, sizeof(line), file) || !clocks_parse_boot(line, ret))
		ret[0] = ret[1] = 0;
	fclose(file);
}

/* A line is "boottime SECONDS NANOSECONDS". Kernels without time namespaces have no such file. */
static int64_t clocks_find_offset(void)
{
	FILE *file = fopen("/proc/self/timens_offsets", "re");
	int64_t offset = 0;
	char line[128];

	while (file && fgets(line, sizeof(line), file)) {
		char *at = line + strlen("boottime");

		if (strncmp(line, "boottime", strlen("boottime")) != 0)
			continue;
		offset = strtoll(at, &at, 10) * NS_PER_SECOND;
		offset += strtoll(at, NULL, 10);
	}
	if (file)
		fclose(file);
	return offset;
}

static uint64_t clocks_find_pids(void)
{
	char text[64];
	ssize_t n = readlink("/proc/self/ns/pid", text, sizeof(text) - 1);

	if (n <= (ssize_t)strlen("pid:["))
		return 0;
	text[n] = '\0';
	return strtoull(text + strlen("pid:["), NULL, 10);
}

/* --- Readings --------------------------------------------------------------------------------- */

static void clocks_take(struct fx_clock_record *clock)
{
	uint64_t closest = UINT64_MAX;

	for (int i = 0; i < CLOCKS_TRIES; i++) {
		uint64_t before = fx_boottime_ns(), date = fx_clock_ns(CLOCK_REALTIME);
		uint64_t after = fx_boottime_ns();

		if (after - before >= closest)
			continue;
		closest = after - before;
		clock->ns = before + closest / 2;
		clock->realtime = date;
	}
}

static void clocks_write(struct fx_clocks *clocks, struct fx_archive *archive)
{
	struct fx_encoder e;

	clocks->waiting = archive->current == 0;
	if (clocks->waiting)
		return;
	fx_encoder_init(&e, fx_output_reserve(archive->out, FXT_MAX_RECORD_WORDS),
			FXT_MAX_RECORD_WORDS);
	fx_clock_record_encode(&e, &clocks->newest);
	fx_output_commit(archive->out, e.used);
}

void fx_clocks_init(struct fx_clocks *clocks)
{
	*clocks = (struct fx_clocks){.newest.version = FX_CLOCK_RECORD_VERSION, .waiting = true};
	clocks_find_boot(clocks->newest.boot);
	clocks->newest.pids = clocks_find_pids();
	clocks->newest.offset = clocks_find_offset();
	clocks_take(&clocks->newest);
	if (getrandom(&clocks->newest.session, sizeof(clocks->newest.session), 0) < 0)
		clocks->newest.session = clocks->newest.ns ^ clocks->newest.realtime;
}

void fx_clocks_read(struct fx_clocks *clocks, struct fx_archive *archive)
{
	/* The oldest is the one to wait with: it is the one before all events. */
	if (clocks->waiting && archive->current == 0)
		return;
	clocks_take(&clocks->newest);
	clocks_write(clocks, archive);
}

void fx_clocks_catch_up(struct fx_clocks *clocks, struct fx_archive *archive)
{
	if (clocks->waiting)
		clocks_write(clocks, archive);
}
