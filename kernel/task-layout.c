/* SPDX-License-Identifier: MIT */
#include "kernel/task-layout.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/btf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Kinds that older headers lack. */
enum { KIND_DECL_TAG = 17, KIND_ENUM64 = 19, KINDS_KNOWN = 20 };

#define NOWHERE UINT32_MAX

struct layout_types {
	const uint8_t *types, *types_end;
	const char *texts;
	uint32_t texts_size;
};

static bool types_open(const uint8_t *bytes, size_t size, struct layout_types *ret)
{
	struct btf_header header;
	size_t rest;

	if (size < sizeof(header))
		return false;
	memcpy(&header, bytes, sizeof(header));
	if (header.magic != BTF_MAGIC || header.hdr_len > size)
		return false;
	rest = size - header.hdr_len;
	bytes += header.hdr_len;
	if (header.type_off > rest || header.type_len > rest - header.type_off ||
	    header.str_off > rest || header.str_len > rest - header.str_off)
		return false;
	*ret = (struct layout_types){
	    .types = bytes + header.type_off,
	    .types_end = bytes + header.type_off + header.type_len,
	    .texts = (const char *)bytes + header.str_off,
	    .texts_size = header.str_len,
	};
	return ret->texts_size && !ret->texts[ret->texts_size - 1];
}

static bool types_is_called(const struct layout_types *types, uint32_t name, const char *wanted)
{
	return name < types->texts_size && strcmp(types->texts + name, wanted) == 0;
}

/* Older headers have four bits for it. */
static uint32_t type_kind(uint32_t info)
{
	return info >> 24 & 0x1f;
}

/* What follows a type, in bytes. */
static size_t type_tail(uint32_t kind, uint32_t count)
{
	switch (kind) {
	case BTF_KIND_INT:
	case BTF_KIND_VAR:
	case KIND_DECL_TAG:
		return 4;
	case BTF_KIND_ARRAY:
		return sizeof(struct btf_array);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return count * sizeof(struct btf_member);
	case BTF_KIND_ENUM:
		return count * sizeof(struct btf_enum);
	case BTF_KIND_FUNC_PROTO:
		return count * sizeof(struct btf_param);
	case BTF_KIND_DATASEC:
	case KIND_ENUM64:
		return (size_t)count * 12;
	default:
		return 0;
	}
}

/* Of one whose members stand there. */
static uint32_t type_member(const struct layout_types *types, const struct btf_type *type,
			    const uint8_t *members, const char *wanted)
{
	struct btf_member member;

	for (unsigned i = 0; i < BTF_INFO_VLEN(type->info); i++) {
		memcpy(&member, members + i * sizeof(member), sizeof(member));
		if (!types_is_called(types, member.name_off, wanted))
			continue;
		return (BTF_INFO_KFLAG(type->info) ? BTF_MEMBER_BIT_OFFSET(member.offset)
						   : member.offset) /
		       8;
	}
	return NOWHERE;
}

/* Where a structure has a member; NOWHERE. */
static uint32_t member_find(const struct layout_types *types, const char *structure,
			    const char *wanted)
{
	const uint8_t *at = types->types;
	struct btf_type type;

	while ((size_t)(types->types_end - at) >= sizeof(type)) {
		uint32_t place = NOWHERE, kind;
		size_t tail;

		memcpy(&type, at, sizeof(type));
		at += sizeof(type);
		kind = type_kind(type.info);
		tail = type_tail(kind, BTF_INFO_VLEN(type.info));
		if (kind >= KINDS_KNOWN || tail > (size_t)(types->types_end - at))
			return NOWHERE;
		if (kind == BTF_KIND_STRUCT && types_is_called(types, type.name_off, structure))
			place = type_member(types, &type, at, wanted);
		if (place != NOWHERE)
			return place;
		at += tail;
	}
	return NOWHERE;
}

/* It is one of the thread's own, or of the thread_info in it. */
static uint32_t cpu_find(const struct layout_types *types)
{
	uint32_t own = member_find(types, "task_struct", "cpu"), info, within;

	if (own != NOWHERE)
		return own;
	info = member_find(types, "task_struct", "thread_info");
	within = member_find(types, "thread_info", "cpu");
	return info == NOWHERE || within == NOWHERE ? NOWHERE : info + within;
}

int fx_task_layout_find(const uint8_t *bytes, size_t size, struct fx_task_layout *ret)
{
	struct layout_types types;

	if (!types_open(bytes, size, &types))
		return -EBADMSG;
	ret->tid = member_find(&types, "task_struct", "pid");
	ret->stack = member_find(&types, "task_struct", "stack");
	ret->cpu = cpu_find(&types);
	return ret->tid == NOWHERE || ret->stack == NOWHERE || ret->cpu == NOWHERE ? -EBADMSG : 0;
}

static ssize_t types_read(int fd, uint8_t *to, size_t size)
{
	size_t had = 0;

	while (had < size) {
		ssize_t r = read(fd, to + had, size - had);

		if (r < 0)
			return -errno;
		if (r == 0)
			break;
		had += (size_t)r;
	}
	return (ssize_t)had;
}

int fx_task_layout_read(struct fx_task_layout *ret)
{
	int fd = open("/sys/kernel/btf/vmlinux", O_RDONLY | O_CLOEXEC), r = -ENOMEM;
	uint8_t *bytes = NULL;
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) == 0 && st.st_size > 0)
		bytes = malloc((size_t)st.st_size);
	if (bytes) {
		ssize_t had = types_read(fd, bytes, (size_t)st.st_size);

		r = had < 0 ? (int)had : fx_task_layout_find(bytes, (size_t)had, ret);
	}
	free(bytes);
	close(fd);
	return r;
}
