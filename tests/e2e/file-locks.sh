#!/bin/bash
# SPDX-License-Identifier: MIT
# Arrows of locks of files: programs say who had the lock before them. No arrow is wrong, also where processes are killed, or one is
# not traced. Half of the cases are others in each run.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

need python3
target filelocks filelocks.c -pthread

RANDOM=${FX_SEED:-$(date +%N | sed 's/^0*//')}
# Whether there are other threads, older libraries do not say: then no close() says that a descriptor's lock goes.
glibc_since 32 || export CLOSES_SAY_NOTHING=1

# locks SEED PROCESSES THREADS ROUNDS KIND [kill]: sets `promised', those that have an arrow (`found'), and `wrong' ones.
locks() {
	rm -f log.* locked
	timeout 200 "$FXTRACE" run -c syscall,process --on-full block -o trace.fxt -- ./filelocks "${@:1:5}" locked "${@:6}" >out 2>said ||
		fail "filelocks $*: $(cat said)"
	expect_clean trace.fxt
	"$FXTRACE" dump --json trace.fxt >dump || fail "filelocks $*: no dump"
	read -r promised found wrong deaths < <(python3 "$FX_SRCDIR/tests/e2e/filelocks_agree.py" dump "$5" 2>differs)
	[ -n "${promised-}" ] || fail "filelocks $*: $(cat differs)"
	[ "$wrong" -eq 0 ] || fail "filelocks $*: $wrong arrows are wrong: $(grep wrong differs | head -n 5)"
	echo "filelocks $*: $found of $promised, $deaths of deaths"
}

rounds=$(scaled 60)
for kind in process open flock; do
	threads=3
	[ $kind != process ] || threads=1
	for case in "1 4 $threads" "$RANDOM $((RANDOM % 6 + 2)) $((threads == 1 ? 1 : RANDOM % 4 + 1))"; do
		# shellcheck disable=SC2086 # three words
		locks $case "$rounds" $kind
		# (A thread that is interrupted between its two words says so too late.)
		[ "$found" -ge $((promised - promised / 20)) ] ||
			fail "filelocks $case $rounds $kind: $found of $promised waits have an arrow: $(tail -n 3 said differs)"
	done
done
total=0
for kind in process open flock; do
	for _ in 1 2; do
		locks $RANDOM $((RANDOM % 4 + 4)) 1 400 $kind kill
		total=$((total + found))
	done
done
[ "$total" -gt 0 ] || fail "with processes that are killed, no wait has an arrow"
# FX_LOCK_ARROWS: as many arrows, of up to 64 processes or threads.
total=0
while [ "$total" -lt "${FX_LOCK_ARROWS:-0}" ]; do
	kinds=(process open flock)
	kind=${kinds[RANDOM % 3]} processes=$((RANDOM % 63 + 2)) threads=1
	[ $kind = process ] || threads=$((RANDOM % (64 / processes) + 1))
	what=
	[ $((RANDOM % 3)) -gt 0 ] || what='kill'
	# shellcheck disable=SC2086 # a word, or none
	locks $RANDOM $processes $threads $((3000 / processes / threads)) $kind $what
	total=$((total + found))
done
[ "$total" -eq 0 ] || echo "filelocks: $total arrows, 0 wrong"


# What both of the programs below wait with.
cat >waiter.h <<'END'
#include <stdio.h>
#include <string.h>

/* Until the kernel says that the process waits for a lock. */
static void await_waiter(int pid)
{
	char line[200], text[20];
	int found = 0;

	snprintf(text, sizeof(text), " %d ", pid);
	while (!found) {
		FILE *f = fopen("/proc/locks", "r");

		while (fgets(line, sizeof(line), f))
			found |= strstr(line, "->") && strstr(line, text);
		fclose(f);
	}
}
END

# Why: from the wait to the process that was slow, also if that ends with its lock.
cat >slow.c <<'END'
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "waiter.h"

int main(int argc, char **argv)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 5, .l_len = 1};
	int is_flock = !strcmp(argv[1], "flock"), dies = argc > 2 && !strcmp(argv[2], "dies");
	int closes = argc > 2 && !strcmp(argv[2], "closes");
	int fd = open("slowly", O_RDWR | O_CREAT, 0600), held[2];
	char byte;

	if (pipe(held))
		abort();
	if (argc > 2 && !strcmp(argv[2], "many")) {
		/* Another process, with another file, closes what it has. */
		if (fork() == 0) {
			fcntl(open("elsewhere", O_RDWR | O_CREAT, 0600), F_SETLK, &lock);
			close_range(3, 100, 0);
			_exit(0);
		}
		wait(NULL);
	}
	if (fork() == 0) {
		fd = open("slowly", O_RDWR);
		prctl(PR_SET_NAME, "holder");
		is_flock ? flock(fd, LOCK_EX) : fcntl(fd, F_SETLK, &lock);
		if (write(held[1], "x", 1) != 1)
			abort();
		await_waiter(getppid());
		usleep(300000);
		if (dies)
			raise(SIGKILL);
		if (closes && close(fd) == 0)
			_exit(0);
		lock.l_type = F_UNLCK;
		is_flock ? flock(fd, LOCK_UN) : fcntl(fd, F_SETLK, &lock);
		_exit(0);
	}
	if (read(held[0], &byte, 1) != 1)
		abort();
	is_flock ? flock(fd, LOCK_EX) : fcntl(fd, F_SETLKW, &lock);
	wait(NULL);
	return 0;
}
END
compile slow -O1 -w slow.c
for way in fcntl flock 'fcntl dies' 'fcntl closes' 'flock dies' 'flock closes' 'fcntl many'; do
	[ "$way" != 'flock closes' ] || [ -z "${CLOSES_SAY_NOTHING-}" ] || continue
	# shellcheck disable=SC2086 # words
	expect_ok "$FXTRACE" run -q -o slow.fxt -- ./slow $way
	expect_ok "$FXTRACE" why --json --min-share 0 --slice "${way% *}:longest" slow.fxt
	cp out why.json
	expect_equal True "$(python3 -c 'import json
rows = json.load(open("why.json"))["why"]["rows"]
print(any(r["thread"] == "holder" and r["call"] == "usleep" and r["self_ns"] > 0.5 * rows[0]["total_ns"] for r in rows))')" \
		"the holder is what a lock was waited for: $way"
	expect_ok "$FXTRACE" dump slow.fxt
	expect_equal "$([[ $way = *dies ]] && echo 1 || echo 0)" "$(grep -c 'flow-begin.*ends with its locks' out)" "arrows from an end: $way"
done

# A lock that several processes have goes with the last of them, which nobody knows: it has no arrow from one that was not that.
cat >keeps.c <<'END'
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "waiter.h"

extern char **environ;

int pidfd_open(pid_t, unsigned) __attribute__((weak));
int pidfd_getfd(int, int, unsigned) __attribute__((weak));

/* Whether a process may take another one's descriptors. */
static int probe(void)
{
	int other = fork(), status;

	if (other == 0)
		pause();
	if (fork() == 0)
		_exit(!pidfd_open || !pidfd_getfd || pidfd_getfd(pidfd_open(other, 0), 0, 0) < 0);
	while (wait(&status) == other)
		;
	kill(other, SIGKILL);
	return status != 0;
}

static int read_fd, reader_tid;

static void *reader(void *unused)
{
	char byte;

	__atomic_store_n(&reader_tid, syscall(SYS_gettid), __ATOMIC_SEQ_CST);
	if (read(read_fd, &byte, 1) != 1)
		abort();
	return unused;
}

/* Until it is in its call. */
static void await_reader(void)
{
	char name[60], text[200];
	FILE *f;

	do {
		snprintf(name, sizeof(name), "/proc/self/task/%d/syscall", __atomic_load_n(&reader_tid, __ATOMIC_SEQ_CST));
		f = fopen(name, "r");
		text[0] = 0;
		if (f) {
			fgets(text, sizeof(text), f);
			fclose(f);
		}
		snprintf(name, sizeof(name), "%d 0x%x ", SYS_read, read_fd);
	} while (strncmp(text, name, strlen(name)));
}

/* Has what it has for some time after the other process has let it go. */
static void keep(int gone, int other_end)
{
	char byte;

	close(other_end);
	if (read(gone, &byte, 1) < 0)
		abort();
	usleep(100000);
	_exit(0);
}

static void pass(int socket, int fd)
{
	char room[CMSG_SPACE(sizeof(int))] = {0}, byte = 0;
	struct iovec bytes = {&byte, 1};
	struct msghdr msg = {.msg_iov = &bytes, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof(room)};
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);

	if (fd < 0) {
		if (recvmsg(socket, &msg, 0) != 1)
			abort();
		return;
	}
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	if (sendmsg(socket, &msg, 0) != 1)
		abort();
}

int main(int argc, char **argv)
{
	const char *way = argv[1], *file = strcmp(way, "reading") ? "kept" : "fifo";
	int dies = !strcmp(argv[2], "dies"), fd = -1, held[2], gone[2], sockets[2], inherited = -1;
	int pidfd;
	pid_t other = 0;
	pthread_t thread;
	char byte;

	if (!strcmp(way, "stays")) {
		keep(0, 999);
	}
	if (!strcmp(way, "probe"))
		return probe();
	mkfifo("fifo", 0600);
	close(open("kept", O_RDWR | O_CREAT, 0600));
	if (!strcmp(way, "inherited"))
		inherited = open("kept", O_RDWR);
	if (pipe(held) || pipe(gone) || socketpair(AF_UNIX, SOCK_STREAM, 0, sockets))
		abort();
	if (!strcmp(way, "sent") && fork() == 0) {
		pass(sockets[1], -1);
		keep(gone[0], gone[1]);
	}
	if (!strcmp(way, "inherited") && fork() == 0)
		keep(gone[0], gone[1]);
	if (!strcmp(way, "getfd")) {
		fd = open("kept", O_RDWR);
		dup2(fd, 50);
		close(fd);
		other = fork();
		if (other == 0)
			keep(gone[0], gone[1]);
		close(50);
	}
	if (fork() == 0) {
		if (other)
			pidfd = pidfd_open(other, 0);
		/* A descriptor that was another one before. */
		close(open("kept", O_RDWR));
		fd = inherited >= 0 ? inherited : other ? pidfd_getfd(pidfd, 50, 0) : open(file, O_RDWR);
		if (!strcmp(way, "reading")) {
			read_fd = fd;
			pthread_create(&thread, NULL, reader, NULL);
			await_reader();
		}
		if (inherited >= 0 && argc > 3)
			fd = dup(fd);
		if (!strcmp(way, "before") && fork() == 0)
			keep(gone[0], gone[1]);
		flock(fd, LOCK_EX);
		if (!strcmp(way, "after") && fork() == 0)
			keep(gone[0], gone[1]);
		if (!strcmp(way, "called") && syscall(57) == 0)
			keep(gone[0], gone[1]);
		if (!strcmp(way, "spawned")) {
			char *const args[] = {argv[0], "stays", "closes", NULL};
			posix_spawn_file_actions_t actions;

			posix_spawn_file_actions_init(&actions);
			posix_spawn_file_actions_adddup2(&actions, gone[0], 0);
			posix_spawn_file_actions_addclose(&actions, gone[1]);
			if (posix_spawn(&(pid_t){0}, argv[0], &actions, NULL, args, environ))
				abort();
		}
		if (!strcmp(way, "sent"))
			pass(sockets[0], fd);
		if (!strcmp(way, "copied"))
			dup(fd);
		if (!strcmp(way, "mapped") && mmap(NULL, 1, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED)
			abort();
		if (write(held[1], "x", 1) != 1)
			abort();
		await_waiter(getppid());
		usleep(50000);
		if (dies)
			raise(SIGKILL);
		close(fd);
		if (write(gone[1], "x", 1) != 1)
			abort();
		usleep(50000);
		if (!strcmp(way, "reading")) {
			/* The thread has had it until now. */
			if (write(open(file, O_WRONLY), "y", 1) != 1)
				abort();
			pthread_join(thread, NULL);
			usleep(50000);
		}
		_exit(0);
	}
	close(gone[1]);
	if (inherited >= 0)
		close(inherited);
	fd = open(file, O_RDWR);
	if (read(held[0], &byte, 1) != 1)
		abort();
	flock(fd, LOCK_EX);
	while (wait(NULL) > 0)
		;
	return 0;
}
END
compile keeps -O1 -w -pthread keeps.c
ways='before after sent spawned inherited'
[ "$(uname -m)" != x86_64 ] || ways+=' called'
! ./keeps probe closes || ways+=' getfd'
for way in $ways 'inherited copied' copied mapped reading; do
	for end in closes dies; do
		# shellcheck disable=SC2086 # words
		expect_ok "$FXTRACE" run -q -o keeps.fxt -- ./keeps ${way% *} "$end" ${way#"${way% *}"}
		expect_ok "$FXTRACE" dump keeps.fxt
		# Whose copies, mappings and threads are its own goes with it.
		case $way in
		copied | mapped | reading) expect_equal 0 "$(grep -c 'flow-begin.*"close"' out)" "arrows from a close that is not the last one: $way, $end" ;;
		*) expect_equal 0 "$(grep -c 'flow-end.*"gets"' out)" "arrows of a lock that others have, too: $way, $end" ;;
		esac
		[ "$way,$end" != reading,dies ] ||
			expect_equal 1 "$(grep -c 'flow-begin.*ends with its locks' out)" "arrows from the end of a process of two threads"
	done
done
