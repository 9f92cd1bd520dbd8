/* SPDX-License-Identifier: MIT */
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "base/loadable.h"

static char directory[] = "/tmp/fxtrace-loadable.XXXXXX";
static char path[64];

static void begin(void)
{
	cr_assert_not_null(mkdtemp(directory));
	snprintf(path, sizeof path, "%s/file", directory);
}

static void end(void)
{
	unlink(path);
	rmdir(directory);
}

TestSuite(loadable, .init = begin, .fini = end);

static void file_write(const void *content, size_t size)
{
	FILE *f = fopen(path, "w");

	cr_assert_not_null(f);
	cr_assert_eq(fwrite(content, 1, size, f), size);
	cr_assert_eq(fclose(f), 0);
}

/* A program that needs one library. */
struct program {
	Elf64_Ehdr header;
	Elf64_Phdr load, dynamic;
	Elf64_Dyn entries[3];
	char strings[64];
};

static struct program program_that_needs(const char *library)
{
	struct program p = {0};
	const uint64_t address = 0x400000;

	memcpy(p.header.e_ident, ELFMAG, SELFMAG);
	p.header.e_ident[EI_CLASS] = ELFCLASS64;
#if defined(__x86_64__)
	p.header.e_machine = EM_X86_64;
#else
	p.header.e_machine = EM_AARCH64;
#endif
	p.header.e_phoff = offsetof(struct program, load);
	p.header.e_phentsize = sizeof(Elf64_Phdr);
	p.header.e_phnum = 2;
	p.load = (Elf64_Phdr){.p_type = PT_LOAD, .p_vaddr = address, .p_filesz = sizeof p};
	p.dynamic = (Elf64_Phdr){.p_type = PT_DYNAMIC,
				 .p_offset = offsetof(struct program, entries),
				 .p_filesz = sizeof p.entries};
	p.entries[0] = (Elf64_Dyn){.d_tag = DT_NEEDED, .d_un.d_val = 1};
	p.entries[1] = (Elf64_Dyn){.d_tag = DT_STRTAB,
				   .d_un.d_ptr = address + offsetof(struct program, strings)};
	strcpy(p.strings + 1, library);
	return p;
}

static enum fx_loadable judge(const struct program *p)
{
	file_write(p, sizeof *p);
	return fx_loadable_file(AT_FDCWD, path);
}

Test(loadable, programs_of_this_machine)
{
	struct program p = program_that_needs("libc.so.6");

	cr_assert_eq(judge(&p), FX_LOADABLE);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	cr_assert_eq(fx_loadable_file(AT_FDCWD, "/proc/self/exe"), FX_LOADABLE);
#endif
}

Test(loadable, sanitizers)
{
	struct program p = program_that_needs("libasan.so.8");

	cr_assert_eq(judge(&p), FX_LOADABLE_SANITIZED);
	p = program_that_needs("libtsan.so.2");
	cr_assert_eq(judge(&p), FX_LOADABLE_SANITIZED);
	p = program_that_needs("libclang_rt.asan-x86_64.so");
	cr_assert_eq(judge(&p), FX_LOADABLE_SANITIZED);
	p = program_that_needs("libasanity.so");
	cr_assert_eq(judge(&p), FX_LOADABLE);
}

Test(loadable, sanitizers_that_are_preloaded)
{
	cr_assert_not(fx_loadable_names_sanitizer(NULL));
	cr_assert_not(fx_loadable_names_sanitizer(""));
	cr_assert_not(fx_loadable_names_sanitizer("libasanity.so:/libasan.so.8/other.so"));
	cr_assert(fx_loadable_names_sanitizer("libasan.so.8"));
	cr_assert(fx_loadable_names_sanitizer(" other.so:/usr/lib/libtsan.so.2 "));
	cr_assert(fx_loadable_names_sanitizer("other.so libclang_rt.asan-x86_64.so"));
}

static enum fx_loadable judge_interpreter(const char *interpreter)
{
	struct program p = program_that_needs("libc.so.6");

	strcpy(p.strings + 16, interpreter);
	p.load = (Elf64_Phdr){.p_type = PT_INTERP,
			      .p_offset = offsetof(struct program, strings) + 16,
			      .p_filesz = strlen(interpreter) + 1};
	return judge(&p);
}

Test(loadable, programs_of_another_libc)
{
	cr_assert_eq(judge_interpreter("/lib/ld-musl-x86_64.so.1"), FX_LOADABLE_OTHER_LIBC);
	cr_assert_eq(judge_interpreter("ld-musl-aarch64.so.1"), FX_LOADABLE_OTHER_LIBC);
	cr_assert_eq(judge_interpreter("/lib/ld64-uClibc.so.1"), FX_LOADABLE_OTHER_LIBC);
	cr_assert_eq(judge_interpreter("/system/bin/linker64"), FX_LOADABLE_OTHER_LIBC);
	cr_assert_eq(judge_interpreter("/lib64/ld-linux-x86-64.so.2"), FX_LOADABLE);
	cr_assert_eq(judge_interpreter("/ld-musl-x/ld-2.36.so"), FX_LOADABLE);
	cr_assert_eq(judge_interpreter(""), FX_LOADABLE);
}

Test(loadable, programs_of_another_kind)
{
	struct program p = program_that_needs("libc.so.6");

	p.header.e_machine = EM_PPC64;
	cr_assert_eq(judge(&p), FX_LOADABLE_OTHER_MACHINE);
	p.header.e_machine = EM_386;
	p.header.e_ident[EI_CLASS] = ELFCLASS32;
	cr_assert_eq(judge(&p), FX_LOADABLE_OTHER_CLASS);
}

Test(loadable, static_programs)
{
	struct program p = program_that_needs("libc.so.6");

	p.header.e_type = ET_DYN;
	cr_assert_eq(judge(&p), FX_LOADABLE, "the dynamic linker is none");
	p.entries[2] = (Elf64_Dyn){.d_tag = DT_FLAGS_1, .d_un.d_val = DF_1_NOW | DF_1_PIE};
	cr_assert_eq(judge(&p), FX_LOADABLE_STATIC);
	p.entries[2] = (Elf64_Dyn){0};
	p.header.e_type = ET_EXEC;
	cr_assert_eq(judge(&p), FX_LOADABLE_STATIC);
	p.load.p_vaddr = 0x58000000;
	cr_assert_eq(judge(&p), FX_LOADABLE_EMULATOR);
	cr_assert(fx_loadable_complains(FX_LOADABLE_EMULATOR));
	p.load.p_type = PT_INTERP;
	cr_assert_eq(judge(&p), FX_LOADABLE);
}

Test(loadable, privileges_of_the_file)
{
	struct program p = program_that_needs("libc.so.6");

	file_write(&p, sizeof p);
	cr_assert_eq(chmod(path, 04755), 0);
	cr_assert_eq(fx_loadable_file(AT_FDCWD, path), FX_LOADABLE, "our own, as we are");
	/* There may be no other user: root of a namespace of its own is the only one there. */
	if (chown(path, 65534, 65534) == 0) {
		cr_assert_eq(chmod(path, 04755), 0);
		cr_assert_eq(fx_loadable_file(AT_FDCWD, path), FX_LOADABLE_SETUID);
		cr_assert_eq(chmod(path, 02755), 0);
		cr_assert_eq(fx_loadable_file(AT_FDCWD, path), FX_LOADABLE_SETUID);
		cr_assert_eq(chmod(path, 02745), 0);
		cr_assert_eq(fx_loadable_file(AT_FDCWD, path), FX_LOADABLE, "mandatory locking");
	}
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	chmod(path, 06755);
	cr_assert_eq(fx_loadable_file(AT_FDCWD, path), FX_LOADABLE, "the kernel gives nothing");
}

Test(loadable, each_obstacle_says_why_and_what_helps)
{
	cr_assert_null(fx_loadable_why(FX_LOADABLE));
	for (enum fx_loadable v = FX_LOADABLE + 1; v < FX_LOADABLE_COUNT; v++) {
		cr_assert_gt(strlen(fx_loadable_why(v)), 10);
		cr_assert_gt(strlen(fx_loadable_cure(v)), 10);
	}
	cr_assert(fx_loadable_complains(FX_LOADABLE_SANITIZED));
	cr_assert_not(fx_loadable_complains(FX_LOADABLE_STATIC));
}

Test(loadable, scripts)
{
	struct program p = program_that_needs("libasan.so.8");
	char script[80], line[128];

	file_write(&p, sizeof p);
	snprintf(script, sizeof script, "%s/script", directory);
	snprintf(line, sizeof line, "#! %s -x\nbody\n", path);
	strcpy(path, script);
	file_write(line, strlen(line));
	cr_assert_eq(fx_loadable_file(AT_FDCWD, path), FX_LOADABLE_SANITIZED);
	file_write("#!", 2);
	cr_assert_eq(fx_loadable_file(AT_FDCWD, path), FX_LOADABLE);
	/* One that names itself. */
	snprintf(line, sizeof line, "#!%s\n", path);
	file_write(line, strlen(line));
	cr_assert_eq(fx_loadable_file(AT_FDCWD, path), FX_LOADABLE);
	snprintf(path, sizeof path, "%s/file", directory);
	unlink(script);
}

Test(loadable, what_cannot_be_judged_is_left_to_exec)
{
	struct program p = program_that_needs("libasan.so.8");
	int fd;

	cr_assert_eq(fx_loadable_file(AT_FDCWD, "/does/not/exist"), FX_LOADABLE);
	cr_assert_eq(fx_loadable_file(AT_FDCWD, "/"), FX_LOADABLE);
	cr_assert_eq(fx_loadable_file(AT_FDCWD, (const char *)8), FX_LOADABLE);
	cr_assert_eq(fx_loadable_fd(-1), FX_LOADABLE);
	cr_assert_eq(mkfifo(path, 0600), 0);
	cr_assert_eq(fx_loadable_file(AT_FDCWD, path), FX_LOADABLE, "and does not block");
	unlink(path);
	file_write("", 0);
	cr_assert_eq(fx_loadable_file(AT_FDCWD, path), FX_LOADABLE);
	file_write(&p, 20);
	cr_assert_eq(fx_loadable_file(AT_FDCWD, path), FX_LOADABLE);

	/* By descriptor; its offset stays. */
	file_write(&p, sizeof p);
	fd = open(path, O_RDONLY);
	cr_assert_eq(fx_loadable_fd(fd), FX_LOADABLE_SANITIZED);
	cr_assert_eq(lseek(fd, 0, SEEK_CUR), 0);
	close(fd);
}

/* Whatever a byte is changed to, the answer comes, and soon. */
Test(loadable, damaged_files)
{
	const struct program good = program_that_needs("libasan.so.8");

	srand(1);
	for (int i = 0; i < 500; i++) {
		struct program p = good;

		for (int k = 0; k < 4; k++)
			((uint8_t *)&p)[4 + rand() % (sizeof p - 4)] = (uint8_t)rand();
		judge(&p);
	}
}
