/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "report/bytes.h"

#include <fnmatch.h>
#include <stddef.h>
#include <string.h>

#include "convert/event-args.h"
#include "report/show.h"

enum fx_bytes_way fx_bytes_of_name(const char *name)
{
	static const struct {
		const char *pattern;
		enum fx_bytes_way way;
	} patterns[] = {
	    {"read", FX_BYTES_READ},	   {"readv", FX_BYTES_READ},
	    {"pread*", FX_BYTES_READ},	   {"recv", FX_BYTES_READ},
	    {"recvfrom", FX_BYTES_READ},   {"recvmsg", FX_BYTES_READ},
	    {"recvmmsg", FX_BYTES_READ},   {"write", FX_BYTES_WRITTEN},
	    {"writev", FX_BYTES_WRITTEN},  {"pwrite*", FX_BYTES_WRITTEN},
	    {"send", FX_BYTES_WRITTEN},	   {"sendto", FX_BYTES_WRITTEN},
	    {"sendmsg", FX_BYTES_WRITTEN}, {"sendmmsg", FX_BYTES_WRITTEN},
	    {"dprintf", FX_BYTES_WRITTEN}, {"vmsplice", FX_BYTES_WRITTEN},
	    {"sendfile", FX_BYTES_BOTH},   {"copy_file_range", FX_BYTES_BOTH},
	    {"splice", FX_BYTES_BOTH},	   {"tee", FX_BYTES_BOTH},
	};

	for (size_t i = 0; i < sizeof(patterns) / sizeof(*patterns); i++) {
		if (fnmatch(patterns[i].pattern, name, 0) == 0)
			return patterns[i].way;
	}
	return FX_BYTES_NONE;
}

static bool bytes_have_flag(const struct fxt_string *flags, const char *flag)
{
	return flags && flags->length > 0 &&
	       memmem(flags->data, flags->length, flag, strlen(flag)) != NULL;
}

/* Of messages that are several, the result is their number. */
static bool bytes_are_of_several(const struct fxt_string *name)
{
	return fxt_string_equals(name, "sendmmsg") || fxt_string_equals(name, "recvmmsg");
}

static bool bytes_are_only_seen(const struct fxt_string *name, const struct fxt_string *flags)
{
	return bytes_have_flag(flags, "MSG_PEEK") || bytes_have_flag(flags, "MSG_ERRQUEUE") ||
	       fxt_string_equals(name, "tee");
}

uint64_t fx_bytes_moved(const struct fxt_string *name, enum fx_bytes_way way,
			const struct fx_bytes_said *said)
{
	int64_t bytes = bytes_are_of_several(name) ? said->size : said->ret;
	uint64_t times = way == FX_BYTES_BOTH ? 2 : way != FX_BYTES_NONE;

	if (said->ret <= 0 || bytes <= 0)
		return 0;
	if (way != FX_BYTES_WRITTEN && times > 0 && bytes_are_only_seen(name, said->flags))
		times--;
	return times * (uint64_t)bytes;
}

uint64_t fx_bytes_of_event(const struct fx_event *event, enum fx_bytes_way way)
{
	struct fx_bytes_said said = {.flags = fx_event_string(event, "flags")};

	if (!fx_event_integer(event, "ret", &said.ret))
		return 0;
	if (!fx_event_integer(event, "size", &said.size))
		said.size = 0;
	return fx_bytes_moved(event->name, way, &said);
}
