/* SPDX-License-Identifier: MIT */
#include "manager/process/container.h"

#include <stddef.h>
#include <string.h>

#define HEX "0123456789abcdef"

/* A component of the path, or what is left of it. */
struct container_part {
	const char *text;
	size_t length;
};

static void part_strip(struct container_part *part, const char *suffix)
{
	size_t length = strlen(suffix);

	if (part->length > length &&
	    memcmp(part->text + part->length - length, suffix, length) == 0)
		part->length -= length;
}

/* Its last `wanted` bytes are hexadecimal digits, and all of it, or follow a separator. */
static bool part_ends_in_hex(const struct container_part *part, size_t wanted)
{
	const char *from;

	if (part->length < wanted)
		return false;
	from = part->text + part->length - wanted;
	return strspn(from, HEX) >= wanted &&
	       (part->length == wanted || from[-1] == '-' || from[-1] == ':');
}

static bool part_has(const struct container_part *part, const char *word)
{
	return memmem(part->text, part->length, word, strlen(word)) != NULL;
}

static void take_id(struct container_part part, struct fx_container *ret)
{
	part_strip(&part, ".scope");
	if (!part_ends_in_hex(&part, FX_CONTAINER_ID) || part_has(&part, "conmon-"))
		return;
	memcpy(ret->id, part.text + part.length - FX_CONTAINER_ID, FX_CONTAINER_ID);
}

/* 8-4-4-4-12 digits, with - or _ between them. */
static bool is_uuid(const char *text)
{
	for (size_t i = 0; i < FX_CONTAINER_POD; i++) {
		bool is_between = i == 8 || i == 13 || i == 18 || i == 23;

		if (!text[i] || !strchr(is_between ? "-_" : HEX, text[i]))
			return false;
	}
	return true;
}

/* Behind "pod", up to the end, ".slice", or ".slice:RUNTIME:ID". */
static void take_pod(struct container_part part, struct fx_container *ret)
{
	const char *uid = memmem(part.text, part.length, "-pod", 4), *end;
	size_t length;

	if (uid)
		uid += 4;
	else if (part.length > 3 && memcmp(part.text, "pod", 3) == 0)
		uid = part.text + 3;
	else
		return;
	end = memchr(uid, '.', (size_t)(part.text + part.length - uid));
	length = (size_t)((end ? end : part.text + part.length) - uid);
	if (!(length == FX_CONTAINER_POD && is_uuid(uid)) &&
	    !(length == 32 && strspn(uid, HEX) >= length))
		return;
	memset(ret->pod, 0, sizeof(ret->pod));
	for (size_t i = 0; i < length; i++)
		ret->pod[i] = uid[i];
	for (char *at = ret->pod; *at; at++)
		*at = *at == '_' ? '-' : *at;
}

bool fx_container_parse(const char *line, struct fx_container *ret)
{
	const char *path = strchr(line, '/');
	struct fx_container found = {0};

	while (path && *path == '/') {
		struct container_part part = {path + 1, strcspn(path + 1, "/\n")};

		take_pod(part, &found);
		take_id(part, &found);
		path = part.text + part.length;
	}
	if (!found.id[0])
		return false;
	*ret = found;
	return true;
}
