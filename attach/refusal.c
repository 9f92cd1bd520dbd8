/* SPDX-License-Identifier: MIT */
#include "attach/refusal.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "attach/proc.h"

int fx_target_refuse(char *why, const char *text)
{
	snprintf(why, FX_TARGET_WHY, "%s", text);
	return -ENOTSUP;
}

static bool has_several_numbers(pid_t pid)
{
	char text[512];
	const char *first;

	if (!fx_proc_status(pid, "NSpid:", text, sizeof(text)))
		return false;
	first = text + strspn(text, " \t");
	first += strspn(first, "0123456789");
	return strpbrk(first, "0123456789") != NULL;
}

static bool any_thread_has(pid_t pid, const char *name)
{
	char path[64];
	const struct dirent *entry;
	bool found = false;
	DIR *folder;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	folder = opendir(path);
	while (folder && !found && (entry = readdir(folder)))
		found = entry->d_name[0] != '.' &&
			fx_proc_status_number((pid_t)strtol(entry->d_name, NULL, 10), name) != 0;
	if (folder)
		closedir(folder);
	return found;
}

/* The program's file: of this machine and of 64 bits. */
static int file_check(pid_t pid, char *why)
{
	FILE *file = fx_proc_open(pid, "exe");
	Elf64_Ehdr e = {0};

	if (!file) {
		int error = errno;

		snprintf(why, FX_TARGET_WHY, "%s",
			 error == EACCES || error == EPERM
			     ? "it may not be looked into: it is another user's, or a set-user-ID "
			       "program, or kernel.yama.ptrace_scope keeps it from all but its "
			       "parents; root may"
			     : "it is no program, but the kernel's, or has ended");
		return error == EACCES ? -EPERM : -error;
	}
	if (fread(&e, sizeof(e), 1, file) != 1)
		e.e_machine = EM_NONE;
	fclose(file);
	if (e.e_ident[EI_CLASS] == ELFCLASS64 && e.e_machine == EM_X86_64)
		return 0;
	snprintf(why, FX_TARGET_WHY, "its program is not of 64 bits for x86-64");
	return -ENOTSUP;
}

/* Its own program is what this process runs. */
static bool is_ourselves(pid_t pid)
{
	char path[64];
	struct stat own, its;

	return stat("/proc/self/exe", &own) == 0 &&
	       stat(fx_proc_path(pid, "exe", path, sizeof(path)), &its) == 0 &&
	       own.st_ino == its.st_ino && own.st_dev == its.st_dev;
}

static int status_check(pid_t pid, char *why)
{
	char text[512] = "";
	uint64_t value = 0;
	long number;

	if (is_ourselves(pid))
		return fx_target_refuse(why, "it is fxtrace itself");
	fx_proc_status(pid, "State:", text, sizeof(text));
	if (strpbrk(text, "ZX"))
		return fx_target_refuse(why, "it has ended");
	number = fx_proc_status_number(pid, "TracerPid:");
	if (number) {
		snprintf(why, FX_TARGET_WHY,
			 "process %ld traces it already, a debugger or the like", number);
		return -ENOTSUP;
	}
	if (strstr(text, "T (stopped)"))
		return fx_target_refuse(why, "it is stopped; SIGCONT lets it go on");
	if (has_several_numbers(pid))
		return fx_target_refuse(
		    why, "it lives in another PID namespace, as those of containers do: "
			 "attach from inside");
	if (any_thread_has(pid, "Seccomp:"))
		return fx_target_refuse(why,
					"it is under a seccomp filter, which need not allow what "
					"libfxtrace.so asks the kernel for");
	if (fx_proc_status(pid, "x86_Thread_features:", text, sizeof(text)) &&
	    strstr(text, "shstk"))
		return fx_target_refuse(why,
					"it has a shadow stack, which lets no call be made in it");
	if (fx_proc_auxv(pid, AT_SECURE, &value) && value)
		return fx_target_refuse(
		    why, "it is a set-user-ID program, or has capabilities of its file");
	return 0;
}

int fx_target_may_be(pid_t pid, char *why)
{
	int r = file_check(pid, why);

	return r == 0 ? status_check(pid, why) : r;
}
