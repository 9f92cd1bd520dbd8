/* SPDX-License-Identifier: MIT */
#include "preload/attach/manager-user.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>

#include "base/syscall.h"
#include "base/vdso.h"
#include "preload/host/variables.h"

#define NOBODY ((uid_t)-1)

/* How the kernel calls users that this user namespace does not have. */
#define UNMAPPED ((uid_t)65534)

static uid_t named = NOBODY;

/* The user of the process as it begins, for as long as nothing has run that could change it; else NOBODY. */
static uid_t first_user = NOBODY;

/* NOBODY if it is no number. */
static uid_t parse_user(const char *text)
{
	unsigned long uid = 0;

	if (!*text)
		return NOBODY;
	for (; *text; text++) {
		if (*text < '0' || *text > '9' || uid >= NOBODY / 10)
			return NOBODY;
		uid = uid * 10 + (unsigned long)(*text - '0');
	}
	return (uid_t)uid;
}

void fx_manager_user_init(const unsigned long *auxv)
{
	const char *value = fx_environ_value(FX_MANAGER_USER);
	unsigned long user;

	first_user = auxv && fx_auxv_find(auxv, AT_EUID, &user) ? (uid_t)user : NOBODY;
	named = value ? parse_user(value) : NOBODY;
}

/* Whether there are users outside of this user namespace. In the first one there are none. */
static bool is_among_some_users(void)
{
	static const char all[] = " 0 0 4294967295\n";
	char map[64], *to = map;
	long fd = fx_syscall4(SYS_openat, AT_FDCWD, "/proc/self/uid_map", O_RDONLY | O_CLOEXEC, 0);
	long n;

	if (fd < 0)
		return false;
	n = fx_syscall3(SYS_read, fd, map, sizeof map);
	fx_syscall1(SYS_close, fd);
	if (n < 0)
		return false;
	/* Of blanks that follow one another one is left. */
	for (const char *from = map; from < map + n; from++)
		if (*from != ' ' || to == map || to[-1] != ' ')
			*to++ = *from;
	return (size_t)(to - map) != sizeof all - 1 || memcmp(map, all, sizeof all - 1) != 0;
}

/* Its user is NOBODY if the kernel does not tell. */
static struct ucred socket_peer(int fd)
{
	struct ucred who = {.uid = NOBODY};
	int size = sizeof who;

	if (fx_syscall6(SYS_getsockopt, fd, SOL_SOCKET, SO_PEERCRED, (long)&who, (long)&size, 0) !=
	    0)
		who.uid = NOBODY;
	return who;
}

static bool is_own_user(uid_t uid)
{
	return uid == (first_user != NOBODY ? first_user : (uid_t)fx_syscall0(SYS_geteuid));
}

void fx_manager_user_began(void)
{
	first_user = NOBODY;
}

bool fx_manager_is_trusted(int fd, bool by_path, bool *own)
{
	struct ucred who = socket_peer(fd);
	bool same = who.uid != NOBODY && (who.uid == 0 || is_own_user(who.uid));

	*own = same && who.uid != UNMAPPED;
	if (who.uid == NOBODY)
		return false;
	if (same || who.uid == named)
		return true;
	/* The user namespace was entered after the path was named, and does not have the manager's user: that its
	 * folder is still there is all that can be known. */
	return who.uid == UNMAPPED && by_path && is_among_some_users();
}

/* The letter of proc(5) for what a process does: behind its name, which may have brackets in it. */
static char state_letter(const char *stat, long length)
{
	while (length > 0 && stat[length - 1] != ')')
		length--;
	return length > 0 && stat[length] == ' ' ? stat[length + 1] : 0;
}

bool fx_manager_is_runnable(int fd)
{
	struct ucred who = socket_peer(fd);
	char path[sizeof "/proc/2147483647/stat"], digits[10], stat[96], *to = path;
	unsigned count = 0;
	long n;

	if (who.uid == NOBODY || who.pid <= 0)
		return false;
	for (unsigned pid = (unsigned)who.pid; pid; pid /= 10)
		digits[count++] = (char)('0' + pid % 10);
	memcpy(to, "/proc/", 6);
	to += 6;
	while (count)
		*to++ = digits[--count];
	memcpy(to, "/stat", sizeof "/stat");
	fd = (int)fx_syscall4(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return false;
	/* Number, name and letter stand in the first 40 bytes; what follows has no brackets. */
	n = fx_syscall3(SYS_read, fd, stat, sizeof stat - 2);
	fx_syscall1(SYS_close, fd);
	if (n <= 0)
		return false;
	stat[n] = stat[n + 1] = 0;
	return state_letter(stat, n) == 'R';
}
