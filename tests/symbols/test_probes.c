/* SPDX-License-Identifier: MIT */
/* Static probes as files list them, this one among them; damaged lists; and the files that a command begins with. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbols/ld-cache.h"
#include "symbols/needed.h"
#include "symbols/probes.h"

/* A note as <sys/sdt.h> has it. */
#define NOTE(address, base, semaphore, texts)                                                      \
	".pushsection .note.stapsdt,\"\",\"note\"\n"                                               \
	".balign 4\n"                                                                              \
	".4byte 8, 892f-891f, 3\n"                                                                 \
	".asciz \"stapsdt\"\n"                                                                     \
	"891: .8byte " address ", " base ", " semaphore "\n" texts "892: .balign 4\n"              \
	".popsection\n"

static uint16_t semaphore __attribute__((used, section(".probes"))) = 7;
extern const char note_base;

__attribute__((noinline, used)) static void marked(void)
{
	__asm__ volatile(
	    "990: nop\n" NOTE("990b", "note_base", "0",
			      ".asciz \"mine\"\n.asciz \"plain\"\n.asciz \"-4@%eax 8@%rsi\"\n"));
}

__asm__(".pushsection .stapsdt.base,\"a\",\"progbits\"\n"
	".globl note_base\nnote_base: .space 1\n"
	".popsection\n");
/* One whose list is damaged, and one that lies nowhere. */
__asm__(NOTE("note_base", "note_base", "0", ".ascii \"endless\"\n")
	    NOTE("0x7000000000000000", "0", "0",
		 ".asciz \"mine\"\n.asciz \"nowhere\"\n.asciz \"\"\n"));

struct seen {
	unsigned count;
	char name[64], arguments[64];
	uint64_t address, offset, semaphore;
};

static int seen_take(void *opaque, const struct fx_probe_seen *probe)
{
	struct seen *seen = opaque;

	seen->count++;
	snprintf(seen->name, sizeof(seen->name), "%s:%s", probe->provider, probe->name);
	snprintf(seen->arguments, sizeof(seen->arguments), "%s", probe->arguments);
	seen->address = probe->address;
	seen->offset = probe->offset;
	seen->semaphore = probe->semaphore;
	return strcmp(probe->name, "nowhere") == 0 ? -EBADMSG : 0;
}

Test(probes, of_this_file)
{
	struct seen seen = {0};
	uint8_t byte = 0;
	int fd = open("/proc/self/exe", O_RDONLY);

	marked();
	semaphore++;
	cr_assert_eq(fx_probes_of_file("/proc/self/exe", seen_take, &seen), 0);
	cr_assert_eq(seen.count, 1);
	cr_expect_str_eq(seen.name, "mine:plain");
	cr_expect_str_eq(seen.arguments, "-4@%eax 8@%rsi");
	cr_expect_eq(seen.semaphore, 0);
	/* It is the instruction that does nothing. */
	cr_assert_eq(pread(fd, &byte, 1, (off_t)seen.offset), 1);
#ifdef __x86_64__
	cr_expect_eq(byte, 0x90);
#else
	cr_expect_eq(byte, 0x1f);
#endif
	close(fd);
}

static int stop_take(void *opaque, const struct fx_probe_seen *probe)
{
	(void)opaque, (void)probe;
	return 42;
}

Test(probes, taken_no_further)
{
	cr_expect_eq(fx_probes_of_file("/proc/self/exe", stop_take, NULL), 42);
}

Test(probes, of_other_files)
{
	struct seen seen = {0};

	cr_expect_eq(fx_probes_of_file("/nowhere", seen_take, &seen), -ENOENT);
	cr_expect_eq(fx_probes_of_file("/etc/passwd", seen_take, &seen), -EINVAL);
	cr_expect_eq(fx_probes_of_file("/dev/null", seen_take, &seen), -EINVAL);
	cr_expect_eq(seen.count, 0);
}

/* Cut off and written over in many places, it is read to some end. */
Test(probes, of_damaged_files)
{
	char path[] = "/tmp/fxtrace-probes.XXXXXX";
	int from = open("/proc/self/exe", O_RDONLY), to = mkstemp(path);
	struct stat st;
	uint8_t *bytes;
	uint32_t random = 1;

	cr_assert(from >= 0 && to >= 0 && fstat(from, &st) == 0);
	bytes = malloc((size_t)st.st_size);
	cr_assert(bytes && read(from, bytes, (size_t)st.st_size) == st.st_size);
	for (unsigned round = 0; round < 60; round++) {
		struct seen seen = {0};
		size_t size = (size_t)st.st_size, at;

		random = random * 1664525u + 1013904223u;
		at = round % 3 ? size - 1 - (random >> 8) % 8192 : (random >> 8) % 1024;
		if (round % 2)
			size = at;
		else
			bytes[at] ^= (uint8_t)(1u << (round & 7));
		cr_assert(ftruncate(to, 0) == 0 && pwrite(to, bytes, size, 0) == (ssize_t)size);
		fx_probes_of_file(path, seen_take, &seen);
		cr_assert_leq(seen.count, 2);
	}
	unlink(path);
	free(bytes);
}

/* --- What a command begins with ------------------------------------------------------------------ */

struct found {
	unsigned files, libc, shell;
	char first[256];
};

static int found_take(void *opaque, const char *path)
{
	struct found *found = opaque;
	const char *name = strrchr(path, '/') + 1;

	if (!found->files++)
		snprintf(found->first, sizeof(found->first), "%s", path);
	found->libc += strcmp(name, "libc.so.6") == 0;
	found->shell +=
	    strcmp(name, "sh") == 0 || strcmp(name, "dash") == 0 || strcmp(name, "bash") == 0;
	return 0;
}

static struct found found_of(char *const *command)
{
	struct found found = {0};

	cr_assert_eq(fx_needed_files(command, found_take, &found), 0);
	return found;
}

Test(needed, libraries)
{
	char program[] = "/proc/self/exe";
	char *command[] = {program, NULL};
	struct found found = found_of(command);

	cr_expect_str_eq(found.first, program);
	cr_expect_eq(found.libc, 1);
	cr_expect_geq(found.files, 3); /* the dynamic linker, too */
}

Test(needed, through_other_programs)
{
	char env[] = "env", plain[] = "sh", quoted[] = "A=1; (sh -c true)|cat";
	char *by_path[] = {env, plain, NULL}, *in_shell[] = {env, quoted, NULL};

	cr_expect_eq(found_of(by_path).shell, 1);
	cr_expect_eq(found_of(in_shell).shell, 1);
	cr_expect_eq(found_of(by_path).libc, found_of(in_shell).libc);
}

Test(needed, scripts)
{
	char path[] = "/tmp/fxtrace-script.XXXXXX";
	static const char *const lines[] = {"#!/bin/sh\n", "#! /usr/bin/env sh\n", "#!/bin/sh -e"};
	char *command[] = {path, NULL};
	int fd = mkstemp(path);

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		cr_assert_eq(ftruncate(fd, 0), 0);
		cr_assert_eq(pwrite(fd, lines[i], strlen(lines[i]), 0), (ssize_t)strlen(lines[i]));
		cr_expect_eq(found_of(command).shell, 1, "%s", lines[i]);
	}
	unlink(path);
}

Test(needed, nothing)
{
	char none[] = "/nowhere/at/all";
	char *command[] = {none, NULL};

	cr_expect_eq(fx_needed_files(command, found_take, NULL), -ENOENT);
}

/* --- The cache of libraries ---------------------------------------------------------------------- */

static unsigned places;

static void place_take(void *opaque, const char *path)
{
	(void)opaque;
	cr_expect_eq(path[0], '/');
	places++;
}

Test(ld_cache, damaged)
{
	char path[] = "/tmp/fxtrace-cache.XXXXXX";
	static const struct {
		char magic[20];
		uint32_t count, rest[6];
		struct {
			uint32_t flags, name, path, system;
			uint64_t processors;
		} entries[2];
		char texts[32];
	} cache = {"glibc-ld.so.cache1.1",
		   2,
		   {0},
		   {{3, 96, 101, 0, 0}, {3, 96, 5000, 0, 0}},
		   "a.so\0/lib/a.so"};
	struct fx_ld_cache read;
	int fd = mkstemp(path);

	cr_assert_eq(write(fd, &cache, sizeof(cache)), sizeof(cache));
	fx_ld_cache_read(&read, path);
	fx_ld_cache_find(&read, "a.so", place_take, NULL);
	cr_expect_eq(places, 1); /* the second stands nowhere */
	fx_ld_cache_clear(&read);
	for (size_t size = 0; size < 60; size++) {
		cr_assert_eq(ftruncate(fd, (off_t)size), 0);
		fx_ld_cache_read(&read, path);
		cr_expect_null(read.bytes);
		fx_ld_cache_clear(&read);
	}
	unlink(path);
}
