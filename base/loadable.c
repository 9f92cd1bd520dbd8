/* SPDX-License-Identifier: MIT */
#include "base/loadable.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>

#include "base/compiler.h"
#include "base/syscall.h"

/* Interpreters of scripts that are followed, and bounds on what a damaged file can make us read. */
#define SCRIPT_DEPTH	4
#define SEGMENTS_MAX	64u
#define DYNAMICS_MAX	512u
#define SCRIPT_LINE_MAX 256u
#define INTERPRETER_MAX 128u

#define VALGRIND_ADDRESS 0x58000000u

#if defined(__x86_64__)
#define OUR_MACHINE EM_X86_64
#else
#define OUR_MACHINE EM_AARCH64
#endif

/* A stretch of the file, as it was read last: tables are looked at an entry at a time, and a program of few libraries starts
 * after ten reads instead of sixty. It lies on the program's stack, of which there may be little (tests/preload/narrow.sh). */
struct window {
	uint64_t start;
	size_t size; /* 0: nothing was read yet */
	char bytes[512];
};

/* What is read of an ELF file. */
struct elf {
	int fd;
	struct window tables, names;
	Elf64_Ehdr header;
	uint64_t dynamic, dynamic_size; /* where in the file; size 0: none */
	bool has_interpreter;
	uint64_t first;	 /* the lowest address of what is loaded */
	bool other_libc; /* the interpreter is known to be that of another C library */
};

/* Reads `size` bytes, at most a window's. */
static bool loadable_read_at(int fd, struct window *w, void *to, size_t size, uint64_t offset)
{
	if (offset < w->start || offset - w->start > w->size ||
	    w->size - (offset - w->start) < size) {
		long n = fx_syscall4(SYS_pread64, fd, w->bytes, sizeof w->bytes, offset);

		w->start = offset;
		w->size = n > 0 ? (size_t)n : 0;
		if (w->size < size)
			return false;
	}
	memcpy(to, w->bytes + (offset - w->start), size);
	return true;
}

static bool read_segment(struct elf *e, unsigned i, Elf64_Phdr *ret)
{
	return i < e->header.e_phnum && i < SEGMENTS_MAX &&
	       loadable_read_at(e->fd, &e->tables, ret, sizeof *ret,
				e->header.e_phoff + i * sizeof *ret);
}

static const char *loadable_last_part(const char *path, size_t length)
{
	while (length && path[length - 1] != '/')
		length--;
	return path + length;
}

/* Dynamic linkers that find what this library needs of libc nowhere, and refuse to start the program with it. */
static bool is_other_libc(struct elf *e, const Elf64_Phdr *interpreter)
{
	static const char names[][16] = {"ld-musl-", "ld64-uClibc", "ld-uClibc", "linker64"};
	size_t size = interpreter->p_filesz;
	char path[INTERPRETER_MAX];
	const char *name;

	if (size == 0 || size > sizeof path ||
	    !loadable_read_at(e->fd, &e->names, path, size, interpreter->p_offset))
		return false;
	path[size - 1] = 0;
	name = loadable_last_part(path, size - 1);
	for (unsigned i = 0; i < FX_ARRAY_LEN(names); i++)
		if (strncmp(name, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

static void loadable_read_segments(struct elf *e)
{
	Elf64_Phdr p;

	for (unsigned i = 0; read_segment(e, i, &p); i++) {
		if (p.p_type == PT_INTERP) {
			e->has_interpreter = true;
			e->other_libc = is_other_libc(e, &p);
		}
		if (p.p_type == PT_LOAD && p.p_vaddr < e->first)
			e->first = p.p_vaddr;
		if (p.p_type == PT_DYNAMIC) {
			e->dynamic = p.p_offset;
			e->dynamic_size = p.p_filesz;
		}
	}
}

/* Where in the file an address is loaded from; 0 if nowhere. */
static uint64_t offset_of(struct elf *e, uint64_t address)
{
	Elf64_Phdr p;

	for (unsigned i = 0; read_segment(e, i, &p); i++)
		if (p.p_type == PT_LOAD && address - p.p_vaddr < p.p_filesz)
			return p.p_offset + (address - p.p_vaddr);
	return 0;
}

static bool loadable_read_dynamic(struct elf *e, unsigned i, Elf64_Dyn *ret)
{
	return i < DYNAMICS_MAX && (i + 1) * sizeof *ret <= e->dynamic_size &&
	       loadable_read_at(e->fd, &e->tables, ret, sizeof *ret,
				e->dynamic + i * sizeof *ret) &&
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

bool fx_loadable_names_sanitizer(const char *preload)
{
	static const char separators[] = ": \t\n";
	size_t length;

	if (!preload)
		return false;
	for (preload += strspn(preload, separators); *preload;
	     preload += strspn(preload, separators)) {
		length = strcspn(preload, separators);
		if (is_sanitizer(loadable_last_part(preload, length)))
			return true;
		preload += length;
	}
	return false;
}

static bool needs_sanitizer(struct elf *e)
{
	uint64_t strings = 0;
	char name[24];
	Elf64_Dyn d;

	for (unsigned i = 0; !strings && loadable_read_dynamic(e, i, &d); i++)
		if (d.d_tag == DT_STRTAB)
			strings = offset_of(e, d.d_un.d_ptr);
	for (unsigned i = 0; strings && loadable_read_dynamic(e, i, &d); i++)
		if (d.d_tag == DT_NEEDED &&
		    loadable_read_at(e->fd, &e->names, name, sizeof name, strings + d.d_un.d_val) &&
		    is_sanitizer(name))
			return true;
	return false;
}

/* A program that starts without the dynamic linker. The dynamic linker itself, which can be run with a
 * program as its argument, has no interpreter either, but is no position-independent executable. */
static bool is_static(struct elf *e)
{
	Elf64_Dyn d;

	if (e->has_interpreter)
		return false;
	for (unsigned i = 0; loadable_read_dynamic(e, i, &d); i++)
		if (d.d_tag == DT_FLAGS_1 && (d.d_un.d_val & DF_1_PIE))
			return true;
	return e->header.e_type == ET_EXEC;
}

/* Valgrind's tools, which hand LD_PRELOAD on to the program inside: they are linked to lie where no other program does. */
static bool is_valgrind(const struct elf *e)
{
	return e->header.e_type == ET_EXEC && e->first == VALGRIND_ADDRESS;
}

static enum fx_loadable judge_elf(int fd)
{
	struct elf e = {.fd = fd, .first = UINT64_MAX};

	if (!loadable_read_at(fd, &e.tables, &e.header, sizeof e.header, 0))
		return FX_LOADABLE;
	if (e.header.e_ident[EI_CLASS] != ELFCLASS64)
		return FX_LOADABLE_OTHER_CLASS;
	if (e.header.e_machine != OUR_MACHINE)
		return FX_LOADABLE_OTHER_MACHINE;
	if (e.header.e_phentsize != sizeof(Elf64_Phdr))
		return FX_LOADABLE;
	loadable_read_segments(&e);
	if (is_static(&e))
		return is_valgrind(&e) ? FX_LOADABLE_EMULATOR : FX_LOADABLE_STATIC;
	if (e.other_libc)
		return FX_LOADABLE_OTHER_LIBC;
	return needs_sanitizer(&e) ? FX_LOADABLE_SANITIZED : FX_LOADABLE;
}

/* --- Privileges that its file gives it ---------------------------------------------------------- */

/* The kernel ignores what the file would give. */
static bool gives_none(int fd)
{
	struct statfs fs;

	return fx_syscall6(SYS_prctl, PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0, 0) == 1 ||
	       (fx_syscall2(SYS_fstatfs, fd, &fs) == 0 && (fs.f_flags & ST_NOSUID));
}

/* Then the dynamic linker does not load what the process that starts it names. */
static enum fx_loadable judge_privileges(int fd)
{
	struct stat st;
	char capabilities[64];

	if (fx_syscall2(SYS_fstat, fd, &st) != 0)
		return FX_LOADABLE;
	if (((st.st_mode & S_ISUID) && st.st_uid != (uid_t)fx_syscall0(SYS_geteuid)) ||
	    ((st.st_mode & S_ISGID) && (st.st_mode & S_IXGRP) &&
	     st.st_gid != (gid_t)fx_syscall0(SYS_getegid)))
		return gives_none(fd) ? FX_LOADABLE : FX_LOADABLE_SETUID;
	if (fx_syscall0(SYS_getuid) != 0 && fx_syscall4(SYS_fgetxattr, fd, "security.capability",
							capabilities, sizeof capabilities) > 0)
		return gives_none(fd) ? FX_LOADABLE : FX_LOADABLE_CAPABLE;
	return FX_LOADABLE;
}

/* --- Scripts ----------------------------------------------------------------------------------- */

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
	if (n >= SELFMAG && memcmp(line, ELFMAG, SELFMAG) == 0) {
		enum fx_loadable verdict = judge_elf(fd);

		return verdict == FX_LOADABLE ? judge_privileges(fd) : verdict;
	}
	*ret_next = script_interpreter(line);
	return FX_LOADABLE;
}

int fx_loadable_open(int dirfd, const char *path)
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
	int fd = fx_loadable_open(dirfd, path);

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

/* What the library brings is some 3 MB, of which 1 MB is data; and what is limited like this is small itself. */
#define SPACE_MIN (UINT64_C(16) << 20)
#define DATA_MIN  (UINT64_C(4) << 20)

static bool is_limited_below(int resource, uint64_t least)
{
	struct rlimit limit;

	return fx_syscall4(SYS_prlimit64, 0, resource, 0, &limit) == 0 && limit.rlim_cur < least;
}

enum fx_loadable fx_loadable_here(void)
{
	return is_limited_below(RLIMIT_AS, SPACE_MIN) || is_limited_below(RLIMIT_DATA, DATA_MIN)
		   ? FX_LOADABLE_NARROW
		   : FX_LOADABLE;
}

/* --- What it means ------------------------------------------------------------------------------ */

static const struct {
	bool complains;
	const char *why, *cure;
} obstacles[] = {
    [FX_LOADABLE] = {0},
#define FX_OBSTACLE(id, complains, why, cure) [FX_LOADABLE_##id] = {complains, why, cure},
#include "base/loadable.def"
#undef FX_OBSTACLE
};

bool fx_loadable_complains(enum fx_loadable verdict)
{
	return obstacles[verdict].complains;
}

const char *fx_loadable_why(enum fx_loadable verdict)
{
	return obstacles[verdict].why;
}

const char *fx_loadable_cure(enum fx_loadable verdict)
{
	return obstacles[verdict].cure;
}
