/* SPDX-License-Identifier: MIT */
#include "base/loadable.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

#include "base/compiler.h"
#include "base/syscall.h"

/* Interpreters of scripts that are followed, and bounds on what a damaged file can make us read. */
#define SCRIPT_DEPTH	4
#define SEGMENTS_MAX	64u
#define DYNAMICS_MAX	512u
#define SCRIPT_LINE_MAX 256u

#if defined(__x86_64__)
#define OUR_MACHINE EM_X86_64
#else
#define OUR_MACHINE EM_AARCH64
#endif

/* What is read of an ELF file. */
struct elf {
	int fd;
	Elf64_Ehdr header;
	uint64_t dynamic, dynamic_size; /* where in the file; size 0: none */
};

static bool read_at(int fd, void *to, size_t size, uint64_t offset)
{
	return fx_syscall4(SYS_pread64, fd, to, size, offset) == (long)size;
}

static bool read_segment(const struct elf *e, unsigned i, Elf64_Phdr *ret)
{
	return i < e->header.e_phnum && i < SEGMENTS_MAX &&
	       read_at(e->fd, ret, sizeof *ret, e->header.e_phoff + i * sizeof *ret);
}

static void find_dynamic(struct elf *e)
{
	Elf64_Phdr p;

	for (unsigned i = 0; read_segment(e, i, &p); i++) {
		if (p.p_type == PT_DYNAMIC) {
			e->dynamic = p.p_offset;
			e->dynamic_size = p.p_filesz;
		}
	}
}

/* Where in the file an address is loaded from; 0 if nowhere. */
static uint64_t offset_of(const struct elf *e, uint64_t address)
{
	Elf64_Phdr p;

	for (unsigned i = 0; read_segment(e, i, &p); i++)
		if (p.p_type == PT_LOAD && address - p.p_vaddr < p.p_filesz)
			return p.p_offset + (address - p.p_vaddr);
	return 0;
}

static bool read_dynamic(const struct elf *e, unsigned i, Elf64_Dyn *ret)
{
	return i < DYNAMICS_MAX && (i + 1) * sizeof *ret <= e->dynamic_size &&
	       read_at(e->fd, ret, sizeof *ret, e->dynamic + i * sizeof *ret) &&
	       ret->d_tag != DT_NULL;
}

static bool is_sanitizer(const char *name)
{
	static const char names[][24] = {
	    "libasan.so",	"libtsan.so",	    "libhwasan.so",
	    "libclang_rt.asan", "libclang_rt.tsan", "libclang_rt.hwasan",
	};

	for (unsigned i = 0; i < FX_ARRAY_LEN(names); i++)
		if (strncmp(name, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

static bool needs_sanitizer(struct elf *e)
{
	uint64_t strings = 0;
	char name[24];
	Elf64_Dyn d;

	find_dynamic(e);
	for (unsigned i = 0; !strings && read_dynamic(e, i, &d); i++)
		if (d.d_tag == DT_STRTAB)
			strings = offset_of(e, d.d_un.d_ptr);
	for (unsigned i = 0; strings && read_dynamic(e, i, &d); i++)
		if (d.d_tag == DT_NEEDED &&
		    read_at(e->fd, name, sizeof name, strings + d.d_un.d_val) && is_sanitizer(name))
			return true;
	return false;
}

static enum fx_loadable judge_elf(int fd)
{
	struct elf e = {.fd = fd};

	if (!read_at(fd, &e.header, sizeof e.header, 0))
		return FX_LOADABLE;
	if (e.header.e_ident[EI_CLASS] != ELFCLASS64 || e.header.e_machine != OUR_MACHINE)
		return FX_LOADABLE_OTHER_KIND;
	if (e.header.e_phentsize != sizeof(Elf64_Phdr))
		return FX_LOADABLE;
	return needs_sanitizer(&e) ? FX_LOADABLE_SANITIZED : FX_LOADABLE;
}

/* Cuts the interpreter out of "#! INTERPRETER ARGUMENT", in place; NULL if there is none. */
static const char *script_interpreter(char *line)
{
	char *path;

	if (line[0] != '#' || line[1] != '!')
		return NULL;
	path = line + 2 + strspn(line + 2, " \t");
	path[strcspn(path, " \t\n")] = 0;
	return path[0] ? path : NULL;
}

/* Judges an open file, or sets the path of the interpreter to go on with, in `line`. */
static enum fx_loadable judge(int fd, char line[SCRIPT_LINE_MAX], const char **ret_next)
{
	long n = fx_syscall4(SYS_pread64, fd, line, SCRIPT_LINE_MAX - 1, 0);

	line[n > 0 ? n : 0] = 0;
	*ret_next = NULL;
	if (n >= SELFMAG && memcmp(line, ELFMAG, SELFMAG) == 0)
		return judge_elf(fd);
	*ret_next = script_interpreter(line);
	return FX_LOADABLE;
}

/* Opens a regular file; anything else could block or act. -errno on failure. */
static int open_file(int dirfd, const char *path)
{
	struct stat st;

	if (fx_syscall4(SYS_newfstatat, dirfd, path, &st, 0) != 0 || !S_ISREG(st.st_mode))
		return -EACCES;
	return (int)fx_syscall4(SYS_openat, dirfd, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0);
}

/* `depth` interpreters may follow. */
static enum fx_loadable judge_file(int dirfd, const char *path, unsigned depth)
{
	char line[SCRIPT_LINE_MAX];
	enum fx_loadable verdict;
	const char *next;
	int fd = open_file(dirfd, path);

	if (fd < 0)
		return FX_LOADABLE;
	verdict = judge(fd, line, &next);
	fx_syscall1(SYS_close, fd);
	return next && depth ? judge_file(AT_FDCWD, next, depth - 1) : verdict;
}

enum fx_loadable fx_loadable_file(int dirfd, const char *path)
{
	return judge_file(dirfd, path, SCRIPT_DEPTH);
}

enum fx_loadable fx_loadable_fd(int fd)
{
	char line[SCRIPT_LINE_MAX];
	const char *next;
	enum fx_loadable verdict = judge(fd, line, &next);

	return next ? judge_file(AT_FDCWD, next, SCRIPT_DEPTH - 1) : verdict;
}
