/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/wanted.h"

enum { PART_MAX = 512 };

static bool wanted_number(const char *text, int base, uint64_t *ret)
{
	char *end;

	/* strtoull() takes signs and blanks, too. */
	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*ret = strtoull(text, &end, base);
	return errno == 0 && *end == 0;
}

/* "1234:" in front; what is behind it. */
static const char *wanted_pid(const char *text, uint64_t *ret)
{
	size_t digits = strspn(text, "0123456789");
	char number[24];

	*ret = 0;
	if (digits == 0 || digits >= sizeof(number) || text[digits] != ':')
		return text;
	memcpy(number, text, digits);
	number[digits] = 0;
	return wanted_number(number, 10, ret) ? text + digits + 1 : text;
}

bool fx_wanted_parse(struct fx_wanted *wanted, enum fx_wanted_kind kind, const char *text)
{
	const char *behind = text;

	*wanted = (struct fx_wanted){.kind = kind, .text = text};
	if (kind == FX_WANTED_LOCK || kind == FX_WANTED_FD)
		behind = wanted_pid(text, &wanted->pid);
	if (kind == FX_WANTED_FD)
		return wanted_number(behind, 10, &wanted->number) && wanted->number <= INT_MAX;
	if (kind == FX_WANTED_LOCK && strncmp(behind, "0x", 2) == 0)
		return wanted_number(behind, 16, &wanted->number);
	wanted->pattern = behind;
	return *behind != 0;
}

static bool wanted_matches(const struct fx_wanted *wanted, const char *text)
{
	/* Inodes stand in brackets, which a pattern is to be allowed to have as they are. */
	return strcmp(wanted->pattern, text) == 0 || fnmatch(wanted->pattern, text, 0) == 0;
}

static bool wanted_has_pid(const struct fx_wanted *wanted, uint64_t pid)
{
	return wanted->pid == 0 || wanted->pid == pid;
}

bool fx_wanted_lock(const struct fx_wanted *wanted, uint64_t pid, uint64_t address,
		    const char *what, const char *name)
{
	char text[PART_MAX];

	if (wanted->kind != FX_WANTED_LOCK || !wanted_has_pid(wanted, pid))
		return false;
	if (!wanted->pattern)
		return wanted->number == address;
	if (name)
		snprintf(text, sizeof(text), "%s %s", what, name);
	else
		snprintf(text, sizeof(text), "%s 0x%" PRIx64, what, address);
	return (name && wanted_matches(wanted, name)) || wanted_matches(wanted, text);
}

bool fx_wanted_fd(const struct fx_wanted *wanted, uint64_t pid, uint64_t fd)
{
	return wanted->kind == FX_WANTED_FD && wanted_has_pid(wanted, pid) && wanted->number == fd;
}

bool fx_wanted_path(const struct fx_wanted *wanted, const char *path)
{
	const char *last = strrchr(path, '/');

	if (wanted->kind != FX_WANTED_FILE)
		return false;
	return wanted_matches(wanted, path) ||
	       (last && !strchr(wanted->pattern, '/') && wanted_matches(wanted, last + 1));
}

/* A part of a peer's name, of this length. */
static bool wanted_part(const struct fx_wanted *wanted, const char *part, size_t length)
{
	size_t end = strlen(wanted->pattern);
	char text[PART_MAX];

	if (length == 0 || length >= sizeof(text))
		return false;
	memcpy(text, part, length);
	text[length] = 0;
	if (wanted->pattern[0] == ':' && length > end &&
	    strcmp(text + length - end, wanted->pattern) == 0)
		return true;
	return wanted_matches(wanted, text);
}

bool fx_wanted_peer(const struct fx_wanted *wanted, const char *peer)
{
	const char *part = peer, *arrow;
	size_t length;

	if (wanted->kind != FX_WANTED_PEER)
		return false;
	if (wanted_matches(wanted, peer))
		return true;
	while (*part) {
		length = strcspn(part, " ");
		arrow = strstr(part, "->");
		if (arrow && (size_t)(arrow - part) < length)
			length = (size_t)(arrow - part);
		if (wanted_part(wanted, part, length))
			return true;
		part += length;
		part += strncmp(part, "->", 2) == 0 ? 2 : *part == ' ';
	}
	return false;
}

size_t fx_wanted_alike(const struct fx_wanted *wanted, const char *text)
{
	size_t begin = 0, end = 0, length = strlen(text), all = strlen(wanted->pattern);

	while (begin < length && text[begin] == wanted->pattern[begin])
		begin++;
	while (begin + end < length && begin + end < all &&
	       text[length - 1 - end] == wanted->pattern[all - 1 - end])
		end++;
	return begin + end;
}

bool fx_wanted_any(const struct fx_wanted *wanted, size_t count, enum fx_wanted_kind kind)
{
	for (size_t i = 0; i < count; i++) {
		if (wanted[i].kind == kind)
			return true;
	}
	return false;
}
