/* SPDX-License-Identifier: MIT */
#include "symbols/reader.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "symbols/elf-load.h"
#include "symbols/file-open.h"
#include "symbols/recipes/recipes.h"

/* Beside what the table takes: the file's own tables, libdw, and what is mapped already. */
#define READER_MEMORY (UINT64_C(256) << 20)

/* --- The reader -------------------------------------------------------------------------------- */

static int reader_problem(enum fx_symbol_problem_kind kind)
{
	return (int)kind + 1;
}

static void reader_limit(int resource, uint64_t value)
{
	struct rlimit old, new;

	if (getrlimit((__rlimit_resource_t)resource, &old) < 0)
		return;
	new.rlim_max = old.rlim_max < value ? old.rlim_max : value;
	new.rlim_cur = new.rlim_max;
	setrlimit((__rlimit_resource_t)resource, &new);
}

static bool reader_become(const struct fx_view *view, uint64_t limit)
{
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	reader_limit(RLIMIT_AS, 4 * limit + READER_MEMORY);
#endif
	reader_limit(RLIMIT_CPU, FX_LOAD_CPU_SECONDS);
	reader_limit(RLIMIT_FSIZE, 2 * limit);
	reader_limit(RLIMIT_CORE, 0);
	if (view->drop && (setgroups((size_t)view->group_count, view->groups) < 0 ||
			   setresgid(view->group, view->group, view->group) < 0 ||
			   setresuid(view->user, view->user, view->user) < 0))
		return false;
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	return true;
}

static bool may(const struct stat *st, uid_t user, mode_t owner, mode_t others)
{
	return st->st_mode & (st->st_uid == user ? owner : others);
}

/* Whether a user who is not ours may read an open file, as far as groups do not matter. */
static bool user_may_read(int fd, uid_t user)
{
	char link[64], path[FX_JOB_PATH_MAX];
	struct stat st;
	ssize_t n;

	if (fstat(fd, &st) < 0 || !may(&st, user, S_IRUSR, S_IROTH))
		return false;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	if (n <= 0 || path[0] != '/')
		return false;
	path[n] = 0;
	for (char *slash = strrchr(path, '/'); slash && slash != path; slash = strrchr(path, '/')) {
		*slash = 0;
		if (stat(path, &st) < 0 || !may(&st, user, S_IXUSR, S_IXOTH))
			return false;
	}
	return true;
}

/* The file that the job's path names in its view; 0, or a problem plus one. */
static int open_named(const struct fx_job *job, int root, int *ret_fd)
{
	struct stat st;
	char plain[FX_JOB_PATH_MAX];
	int failed, fd;

	if (!job->has_root) {
		failed = fx_file_open(job->path, NULL, ret_fd);
	} else {
		memcpy(plain, job->path, sizeof(plain));
		fd = fx_file_open_below(root, plain, 0);
		if (fd < 0) {
			plain[fx_path_length(plain)] = 0;
			fd = fx_file_open_below(root, plain, 0);
		}
		failed = fd >= 0 ? 0
			 : errno == ENOENT || errno == ENOTDIR
			     ? reader_problem(FX_SYMBOL_FILE_MISSING)
			     : reader_problem(FX_SYMBOL_FILE_UNREADABLE);
		*ret_fd = fd;
		if (!failed && (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)))
			failed = reader_problem(FX_SYMBOL_FILE_UNREADABLE);
	}
	if (!failed && job->view.check && !user_may_read(*ret_fd, job->view.user))
		failed = reader_problem(FX_SYMBOL_FILE_UNREADABLE);
	return failed;
}

_Noreturn static void answer_write(int fd, int failed, const struct fx_symtab *table)
{
	struct fx_job_answer answer = {.failed = (uint64_t)failed};
	bool ok;

	if (!failed) {
		answer.was_stored = table->was_stored;
		fx_flat_describe(table, &answer.flat);
	}
	ok = fx_flat_write_all(fd, &answer, sizeof(answer)) && (failed || fx_flat_write(fd, table));
	_exit(ok ? 0 : 1);
}

static void recipes_write(int fd, int failed, const struct fx_recipes *recipes)
{
	const struct fx_job_recipes answer = {
	    .failed = (uint64_t)failed,
	    .size = recipes->size,
	    .matched = recipes->matched,
	    .left_out = recipes->left_out,
	    .unknown = recipes->unknown,
	    .is_cut = recipes->is_cut,
	};
	bool ok = fx_flat_write_all(fd, &answer, sizeof(answer)) &&
		  fx_flat_write_all(fd, recipes->table, recipes->size);

	_exit(ok ? 0 : 1);
}

static int map_load(const struct fx_job *job, int root, struct fx_symtab *ret)
{
	int fd, failed = fx_jit_map_open(job->has_root ? root : -1, job->path, &job->map, &fd);

	if (failed)
		return failed;
	if (job->view.check && !user_may_read(fd, job->view.user))
		return reader_problem(FX_SYMBOL_FILE_UNREADABLE);
	return fx_jit_map_read(fd, &job->map, job->limit, ret);
}

static void reader_main(const struct fx_job *job, const int fds[FX_JOB_FDS])
{
	struct fx_recipes recipes = {0};
	struct fx_symtab table = {0};
	char debug[96];
	struct fx_elf_source source = {
	    .fd = job->has_file ? fds[FX_JOB_FILE] : -1,
	    .path = job->path,
	    .build_id = job->build_id_size ? job->build_id : NULL,
	    .build_id_size = job->build_id_size,
	    .limit = job->limit,
	    .wants_sources = job->wants_sources,
	    .wants_lines = job->wants_lines,
	    .store = job->store[0] && !job->patterns[0] ? job->store : NULL,
	};
	int failed =
	    reader_become(&job->view, job->limit) ? 0 : reader_problem(FX_SYMBOL_FILE_UNREADABLE);

	if (job->is_map) {
		if (!failed)
			failed = map_load(job, fds[FX_JOB_FILE], &table);
		answer_write(fds[FX_JOB_TABLE], failed, &table);
	}
	if (!failed && !job->has_file)
		failed = open_named(job, fds[FX_JOB_FILE], (int *)&source.fd);
	if (job->has_root) {
		snprintf(debug, sizeof(debug),
			 ":.debug:/usr/lib/debug:/proc/self/fd/%d/usr/lib/debug", fds[FX_JOB_FILE]);
		source.debug_path = debug;
	}
	if (job->patterns[0]) {
		if (!failed)
			failed = fx_recipes_read(&source, job->patterns, &recipes);
		recipes_write(fds[FX_JOB_TABLE], failed, &recipes);
	}
	if (!failed)
		failed = fx_elf_load(&source, &table);
	answer_write(fds[FX_JOB_TABLE], failed, &table);
}

/* --- Starter and watcher ------------------------------------------------------------------------ */

/* The signals that end a job, as they are by default. */
static void reader_signals_reset(void)
{
	sigset_t none;

	for (int i = 1; i < NSIG; i++)
		signal(i, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Waits until the reader has ended, or must. Its status; SIGXCPU: its time was up; SIGHUP: nobody asks for it any more. */
static int watcher_wait(pid_t reader, const sigset_t *children, int ended)
{
	struct pollfd what[] = {
	    {.fd = signalfd(-1, children, SFD_CLOEXEC), .events = POLLIN},
	    {.fd = ended}, /* what becomes of it is told without being asked for */
	};
	int n = poll(what, 2, FX_LOAD_SECONDS * 1000), status = 0;

	if (n <= 0 || what[1].revents)
		kill(reader, SIGKILL);
	waitpid(reader, &status, 0);
	if (n <= 0)
		return SIGXCPU;
	return what[1].revents ? SIGHUP : status;
}

/* Waits for the reader, and says how it ended. */
static void watcher_main(const struct fx_job *job, const int fds[FX_JOB_FDS])
{
	sigset_t children;
	pid_t reader;
	int status;

	reader_signals_reset();
	sigemptyset(&children);
	sigaddset(&children, SIGCHLD);
	sigprocmask(SIG_BLOCK, &children, NULL);
	reader = fork();
	if (reader == 0) {
		reader_signals_reset();
		close(fds[FX_JOB_ENDED]);
		reader_main(job, fds);
	}
	if (reader < 0)
		_exit(1);
	status = watcher_wait(reader, &children, fds[FX_JOB_ENDED]);
	fx_flat_write_all(fds[FX_JOB_ENDED], &status, sizeof(status));
	_exit(0);
}

/* False: nobody sends jobs any more. */
static bool job_take(int socket, struct fx_job *job, int fds[FX_JOB_FDS])
{
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(FX_JOB_FDS * sizeof(int))];
	} control;
	struct iovec iov = {.iov_base = job, .iov_len = sizeof(*job)};
	struct msghdr message = {.msg_iov = &iov,
				 .msg_iovlen = 1,
				 .msg_control = &control,
				 .msg_controllen = sizeof(control)};
	struct cmsghdr *header;
	ssize_t n;

	fds[0] = fds[1] = fds[2] = -1;
	do
		n = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		return false;
	header = CMSG_FIRSTHDR(&message);
	if (header && header->cmsg_type == SCM_RIGHTS)
		memcpy(fds, CMSG_DATA(header), header->cmsg_len - CMSG_LEN(0));
	return n == sizeof(*job);
}

/* Whatever the caller has open is none of ours: pipes would have no end. */
static void reader_close_from(int first)
{
	struct rlimit files;
	DIR *open_ones = opendir("/proc/self/fd");
	struct dirent *entry;

	while (open_ones && (entry = readdir(open_ones))) {
		int fd = atoi(entry->d_name);

		if (fd >= first && fd != dirfd(open_ones))
			close(fd);
	}
	if (open_ones)
		closedir(open_ones);
	else if (getrlimit(RLIMIT_NOFILE, &files) == 0)
		for (rlim_t fd = (rlim_t)first; fd < files.rlim_cur && fd < 65536; fd++)
			close((int)fd);
}

void fx_reader_detach(int socket)
{
	int null;

	if (socket != 3)
		dup2(socket, 3);
	null = open("/dev/null", O_RDWR);
	for (int i = 0; null >= 0 && i < 3; i++)
		dup2(null, i);
	reader_close_from(4);
}

_Noreturn void fx_reader_serve(void)
{
	static struct fx_job job;
	int fds[FX_JOB_FDS];

	setsid();
	reader_signals_reset();
	/* Watchers are not waited for. */
	signal(SIGCHLD, SIG_IGN);
	while (job_take(3, &job, fds)) {
		if (fork() == 0) {
			close(3);
			watcher_main(&job, fds);
		}
		for (int i = 0; i < FX_JOB_FDS; i++)
			if (fds[i] >= 0)
				close(fds[i]);
	}
	_exit(0);
}
