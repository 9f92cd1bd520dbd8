/* SPDX-License-Identifier: MIT */
#include "symbols/needed.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lists/vector.h"
#include "symbols/ld-cache.h"

/* Programs need a few hundred libraries; what needs more needs them of itself, or is made to. */
#define FILES_MOST 1024u

/* Interpreters of interpreters, as the kernel counts them. */
#define SCRIPTS_MOST 4u

struct needed_file {
	dev_t device;
	ino_t inode;
	char *path;
};

struct needed {
	FX_VECTOR(struct needed_file) files; /* in the order in which they were found */
	struct fx_ld_cache cache;
	bool found; /* by the cache */
};

/* As the dynamic linker passes over what is of another machine. */
static bool is_of_this_machine(const char *path)
{
#if defined(__x86_64__)
	const uint16_t machine = EM_X86_64;
#else
	const uint16_t machine = EM_AARCH64;
#endif
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	Elf64_Ehdr header = {.e_machine = EM_NONE};
	ssize_t n = fd >= 0 ? read(fd, &header, sizeof(header)) : -1;

	if (fd >= 0)
		close(fd);
	return n == sizeof(header) && memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
	       header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_machine == machine;
}

/* One more file to be looked into, unless it is among them. False: it is no file of this machine that can be read. */
static bool needed_add(struct needed *needed, const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0 || !S_ISREG(st.st_mode) || !is_of_this_machine(path))
		return false;
	for (size_t i = 0; i < needed->files.count; i++) {
		if (needed->files.items[i].device == st.st_dev &&
		    needed->files.items[i].inode == st.st_ino)
			return true;
	}
	if (needed->files.count < FILES_MOST && fx_vector_reserve(&needed->files, 1) == 0)
		needed->files.items[needed->files.count++] =
		    (struct needed_file){st.st_dev, st.st_ino, strdup(path)};
	return true;
}

/* --- Libraries ---------------------------------------------------------------------------------- */

/* The folder of a file in place of $ORIGIN, which may stand at the begin alone. */
static int folder_write(char *ret, size_t size, const char *folder, size_t length,
			const char *of_file)
{
	static const char *const words[] = {"$ORIGIN", "${ORIGIN}"};
	const char *slash = strrchr(of_file, '/');

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		size_t word = strlen(words[i]);

		if (length >= word && strncmp(folder, words[i], word) == 0)
			return snprintf(ret, size, "%.*s%.*s", slash ? (int)(slash - of_file) : 1,
					slash ? of_file : ".", (int)(length - word), folder + word);
	}
	return snprintf(ret, size, "%.*s", (int)length, folder);
}

/* In the folders of a list, which colons part. */
static bool library_find_in(struct needed *needed, const char *name, const char *folders,
			    const char *of_file)
{
	while (folders) {
		size_t length = strcspn(folders, ":");
		char path[PATH_MAX];
		int used = folder_write(path, sizeof(path), folders, length, of_file);

		if (length && used > 0 && (size_t)used + strlen(name) + 2 <= sizeof(path)) {
			path[used] = '/';
			strcpy(path + used + 1, name);
			if (needed_add(needed, path))
				return true;
		}
		folders = folders[length] ? folders + length + 1 : NULL;
	}
	return false;
}

static void library_take(void *opaque, const char *path)
{
	struct needed *needed = opaque;

	needed->found |= needed_add(needed, path);
}

/* The folders that a file says its libraries are in; either may be NULL. */
struct run_paths {
	const char *before, *after; /* what LD_LIBRARY_PATH says: DT_RPATH, DT_RUNPATH */
};

static void library_find(struct needed *needed, const char *name, const struct run_paths *paths,
			 const char *of_file)
{
	if (strchr(name, '/')) {
		needed_add(needed, name);
		return;
	}
	if ((!paths->after && library_find_in(needed, name, paths->before, of_file)) ||
	    library_find_in(needed, name, getenv("LD_LIBRARY_PATH"), of_file) ||
	    library_find_in(needed, name, paths->after, of_file))
		return;
	needed->found = false;
	fx_ld_cache_find(&needed->cache, name, library_take, needed);
	if (!needed->found)
		library_find_in(needed, name, "/lib64:/usr/lib64:/lib:/usr/lib", of_file);
}

/* --- Files -------------------------------------------------------------------------------------- */

/* The text of an entry of the dynamic section; NULL. */
static const char *dynamic_text(Elf *elf, const GElf_Shdr *header, const GElf_Dyn *entry)
{
	return elf_strptr(elf, header->sh_link, entry->d_un.d_val);
}

static void dynamic_read(struct needed *needed, Elf *elf, Elf_Scn *section, const GElf_Shdr *header,
			 const char *path)
{
	Elf_Data *data = elf_getdata(section, NULL);
	struct run_paths paths = {NULL, NULL};
	GElf_Dyn entry;

	for (int i = 0; data && gelf_getdyn(data, i, &entry) && entry.d_tag != DT_NULL; i++) {
		if (entry.d_tag == DT_RPATH)
			paths.before = dynamic_text(elf, header, &entry);
		else if (entry.d_tag == DT_RUNPATH)
			paths.after = dynamic_text(elf, header, &entry);
	}
	for (int i = 0; data && gelf_getdyn(data, i, &entry) && entry.d_tag != DT_NULL; i++) {
		const char *name =
		    entry.d_tag == DT_NEEDED ? dynamic_text(elf, header, &entry) : NULL;

		if (name && *name)
			library_find(needed, name, &paths, path);
	}
}

static void interpreter_read(struct needed *needed, Elf *elf)
{
	GElf_Phdr segment;
	size_t count = 0, size;
	const char *file = elf_rawfile(elf, &size);

	if (elf_getphdrnum(elf, &count) != 0)
		return;
	for (size_t i = 0; file && i < count; i++) {
		if (!gelf_getphdr(elf, (int)i, &segment) || segment.p_type != PT_INTERP ||
		    segment.p_offset > size || segment.p_filesz > size - segment.p_offset)
			continue;
		if (segment.p_filesz && !file[segment.p_offset + segment.p_filesz - 1])
			needed_add(needed, file + segment.p_offset);
	}
}

static void elf_read(struct needed *needed, Elf *elf, const char *path)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	if (elf_kind(elf) != ELF_K_ELF)
		return;
	interpreter_read(needed, elf);
	while ((section = elf_nextscn(elf, section))) {
		if (gelf_getshdr(section, &header) && header.sh_type == SHT_DYNAMIC)
			dynamic_read(needed, elf, section, &header, path);
	}
}

static void needed_file_read(struct needed *needed, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	Elf *elf;

	if (fd < 0)
		return;
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (elf)
		elf_read(needed, elf, path);
	elf_end(elf);
	close(fd);
}

/* --- Scripts ------------------------------------------------------------------------------------ */

/* A program by its name, as env(1) finds it. */
static bool path_search(const char *name, char ret[PATH_MAX])
{
	const char *folders = getenv("PATH");

	while (folders) {
		size_t length = strcspn(folders, ":");

		if (snprintf(ret, PATH_MAX, "%.*s/%s", (int)length, folders, name) < PATH_MAX &&
		    access(ret, X_OK) == 0)
			return true;
		folders = folders[length] ? folders + length + 1 : NULL;
	}
	return false;
}

/* The first line of a script: "#!", an interpreter, and perhaps one argument. False: it is none. */
static bool script_read(const char *path, char ret[PATH_MAX])
{
	char line[256], *name, *rest = NULL, *slash;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t n = fd >= 0 ? read(fd, line, sizeof(line) - 1) : -1;

	if (fd >= 0)
		close(fd);
	if (n < 3 || line[0] != '#' || line[1] != '!')
		return false;
	line[n] = 0;
	line[strcspn(line, "\n")] = 0;
	name = strtok_r(line + 2, " \t", &rest);
	if (!name)
		return false;
	snprintf(ret, PATH_MAX, "%s", name);
	slash = strrchr(name, '/');
	if (slash && strcmp(slash, "/env") == 0) {
		name = strtok_r(NULL, " \t", &rest);
		if (name && name[0] != '-' && !strchr(name, '='))
			path_search(name, ret);
	}
	return true;
}

/* --- Commands ----------------------------------------------------------------------------------- */

/* A program that a command names, if it is one. */
static void program_add(struct needed *needed, const char *name)
{
	char path[PATH_MAX], next[PATH_MAX];

	if (strchr(name, '/'))
		snprintf(path, sizeof(path), "%s", name);
	else if (!path_search(name, path))
		return;
	for (unsigned i = 0; i < SCRIPTS_MOST && script_read(path, next); i++)
		memcpy(path, next, sizeof(path));
	needed_add(needed, path);
}

/* An argument, as a whole or word by word, as a shell would part it. */
static void argument_add(struct needed *needed, const char *argument)
{
	char words[4096], *rest = NULL;

	program_add(needed, argument);
	if (!strpbrk(argument, " ;|&") ||
	    snprintf(words, sizeof(words), "%s", argument) >= (int)sizeof(words))
		return;
	for (char *word = strtok_r(words, " \t\n;|&()'\"", &rest); word;
	     word = strtok_r(NULL, " \t\n;|&()'\"", &rest))
		program_add(needed, word);
}

int fx_needed_files(char *const *command, fx_needed_take *take, void *opaque)
{
	struct needed needed = {.cache = {0}};
	int r = 0;

	fx_ld_cache_read(&needed.cache, FX_LD_CACHE);
	program_add(&needed, command[0]);
	if (!needed.files.count)
		r = strchr(command[0], '/') && access(command[0], R_OK) == 0 ? -EINVAL : -ENOENT;
	for (size_t i = 1; r == 0 && command[i]; i++)
		argument_add(&needed, command[i]);
	for (size_t i = 0; r == 0 && i < needed.files.count; i++) {
		const char *file = needed.files.items[i].path;

		if (!file)
			continue;
		needed_file_read(&needed, file);
		/* The list may have moved, its texts have not. */
		r = take(opaque, file);
	}
	for (size_t i = 0; i < needed.files.count; i++)
		free(needed.files.items[i].path);
	fx_vector_free(&needed.files);
	fx_ld_cache_clear(&needed.cache);
	return r;
}
