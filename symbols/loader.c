/* SPDX-License-Identifier: MIT */
#include "symbols/loader.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "symbols/file_open.h"

/* Of Linux 5.6, whose headers may not be there; without it nothing is read below another root. */
#define OPENAT2 437

struct how {
	uint64_t flags, mode, resolve;
};

#define NO_MAGIC_LINKS 0x02u
#define IN_ROOT	       0x10u

/* Beside what the table takes: the file's own tables, libdw, and what is mapped already. */
#define READER_MEMORY (UINT64_C(256) << 20)

#define JOB_PATH_MAX 4096

/* What the starter is sent; then these descriptors. */
struct job {
	uint64_t build_id_size;
	uint8_t build_id[FX_BUILD_ID_MAX];
	struct fx_view view;
	bool has_file, has_root;
	char path[JOB_PATH_MAX];
};

enum {
	JOB_ENDED, /* a pipe: how the reader ended */
	JOB_TABLE, /* the memfd */
	JOB_FILE,  /* the file, or the root */
	JOB_FDS,
};

/* What stands at the beginning of the memfd; entries and names follow. */
struct answer {
	uint64_t failed; /* as fx_elf_load() returns it */
	uint64_t count, names_size;
};

struct fx_loader {
	int socket;
};

struct fx_load {
	int ended, table;
};

/* --- The reader -------------------------------------------------------------------------------- */

static int loader_problem(enum fx_symbol_problem_kind kind)
{
	return (int)kind + 1;
}

static void limit(int resource, uint64_t value)
{
	struct rlimit old, new;

	if (getrlimit((__rlimit_resource_t)resource, &old) < 0)
		return;
	new.rlim_max = old.rlim_max < value ? old.rlim_max : value;
	new.rlim_cur = new.rlim_max;
	setrlimit((__rlimit_resource_t)resource, &new);
}

static bool loader_become(const struct fx_view *view)
{
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	limit(RLIMIT_AS, 4 * FX_LOAD_BYTES + READER_MEMORY);
#endif
	limit(RLIMIT_CPU, FX_LOAD_CPU_SECONDS);
	limit(RLIMIT_FSIZE, 2 * FX_LOAD_BYTES);
	limit(RLIMIT_CORE, 0);
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
	char link[64], path[JOB_PATH_MAX];
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

static int open_below(int root, const char *path)
{
	struct how how = {
	    .flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY,
	    .resolve = IN_ROOT | NO_MAGIC_LINKS,
	};

	return (int)syscall(OPENAT2, root, path, &how, sizeof(how));
}

/* The file that the job's path names in its view; 0, or a problem plus one. */
static int open_named(const struct job *job, int root, int *ret_fd)
{
	struct stat st;
	char plain[JOB_PATH_MAX];
	int failed, fd;

	if (!job->has_root) {
		failed = fx_file_open(job->path, NULL, ret_fd);
	} else {
		memcpy(plain, job->path, sizeof(plain));
		fd = open_below(root, plain);
		if (fd < 0) {
			plain[fx_path_length(plain)] = 0;
			fd = open_below(root, plain);
		}
		failed = fd >= 0 ? 0
			 : errno == ENOENT || errno == ENOTDIR
			     ? loader_problem(FX_SYMBOL_FILE_MISSING)
			     : loader_problem(FX_SYMBOL_FILE_UNREADABLE);
		*ret_fd = fd;
		if (!failed && (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)))
			failed = loader_problem(FX_SYMBOL_FILE_UNREADABLE);
	}
	if (!failed && job->view.check && !user_may_read(*ret_fd, job->view.user))
		failed = loader_problem(FX_SYMBOL_FILE_UNREADABLE);
	return failed;
}

static bool loader_write_all(int fd, const void *data, size_t size)
{
	const char *at = data;

	while (size) {
		ssize_t n = write(fd, at, size);

		if (n <= 0)
			return false;
		at += n;
		size -= (size_t)n;
	}
	return true;
}

static void answer_write(int fd, int failed, const struct fx_symtab *table)
{
	struct answer answer = {.failed = (uint64_t)failed};
	bool ok;

	if (!failed) {
		answer.count = table->count;
		answer.names_size = table->names_size;
	}
	ok = loader_write_all(fd, &answer, sizeof(answer)) &&
	     loader_write_all(fd, table->entries, answer.count * sizeof(*table->entries)) &&
	     loader_write_all(fd, table->names, answer.names_size);
	_exit(ok ? 0 : 1);
}

static void reader_main(const struct job *job, const int fds[JOB_FDS])
{
	struct fx_symtab table = {0};
	char debug[96];
	struct fx_elf_source source = {
	    .fd = job->has_file ? fds[JOB_FILE] : -1,
	    .path = job->path,
	    .build_id = job->build_id_size ? job->build_id : NULL,
	    .build_id_size = job->build_id_size,
	};
	int failed = loader_become(&job->view) ? 0 : loader_problem(FX_SYMBOL_FILE_UNREADABLE);

	if (!failed && !job->has_file)
		failed = open_named(job, fds[JOB_FILE], (int *)&source.fd);
	if (job->has_root) {
		snprintf(debug, sizeof(debug),
			 ":.debug:/usr/lib/debug:/proc/self/fd/%d/usr/lib/debug", fds[JOB_FILE]);
		source.debug_path = debug;
	}
	if (!failed)
		failed = fx_elf_load(&source, &table);
	answer_write(fds[JOB_TABLE], failed, &table);
}

/* --- Starter and watcher ------------------------------------------------------------------------ */

/* What the signals of those who end a job have for a default. */
static void loader_signals_reset(void)
{
	sigset_t none;

	for (int i = 1; i < NSIG; i++)
		signal(i, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Waits for the reader, and says how it ended. */
static void watcher_main(const struct job *job, const int fds[JOB_FDS])
{
	const struct timespec limit_of_time = {.tv_sec = FX_LOAD_SECONDS};
	sigset_t children;
	int status = 0;
	pid_t reader;

	loader_signals_reset();
	sigemptyset(&children);
	sigaddset(&children, SIGCHLD);
	sigprocmask(SIG_BLOCK, &children, NULL);
	reader = fork();
	if (reader == 0) {
		loader_signals_reset();
		close(fds[JOB_ENDED]);
		reader_main(job, fds);
	}
	if (reader < 0)
		_exit(1);
	if (sigtimedwait(&children, NULL, &limit_of_time) < 0) {
		kill(reader, SIGKILL);
		waitpid(reader, NULL, 0);
		status = SIGXCPU; /* its time was up */
	} else {
		waitpid(reader, &status, 0);
	}
	loader_write_all(fds[JOB_ENDED], &status, sizeof(status));
	_exit(0);
}

/* False: nobody sends jobs any more. */
static bool job_take(int socket, struct job *job, int fds[JOB_FDS])
{
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(JOB_FDS * sizeof(int))];
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
static void loader_close_from(int first)
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

static void starter_main(int socket)
{
	static struct job job;
	int fds[JOB_FDS], null = open("/dev/null", O_RDWR);

	setsid();
	for (int i = 0; null >= 0 && i < 3; i++)
		dup2(null, i);
	if (socket != 3)
		dup2(socket, 3);
	loader_close_from(4);
	loader_signals_reset();
	/* Watchers are not waited for. */
	signal(SIGCHLD, SIG_IGN);
	while (job_take(3, &job, fds)) {
		if (fork() == 0) {
			close(3);
			watcher_main(&job, fds);
		}
		for (int i = 0; i < JOB_FDS; i++)
			if (fds[i] >= 0)
				close(fds[i]);
	}
	_exit(0);
}

/* The starter is nobody's child: whoever waits for children does not meet it. */
static bool starter_fork(int socket, int other)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		close(other);
		pid = fork();
		if (pid == 0)
			starter_main(socket);
		_exit(pid < 0 ? 1 : 0);
	}
	if (pid < 0)
		return false;
	while (waitpid(pid, &status, 0) < 0) {
		/* Another wait of this process may have met it. */
		if (errno != EINTR)
			return errno == ECHILD;
	}
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* --- The caller --------------------------------------------------------------------------------- */

int fx_loader_start(struct fx_loader **ret)
{
	struct fx_loader *loader = calloc(1, sizeof(*loader));
	int pair[2];

	if (!loader)
		return -ENOMEM;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0) {
		free(loader);
		return -errno;
	}
	loader->socket = pair[0];
	if (!starter_fork(pair[1], pair[0])) {
		close(pair[1]);
		fx_loader_stop(loader);
		return -EAGAIN;
	}
	close(pair[1]);
	*ret = loader;
	return 0;
}

void fx_loader_stop(struct fx_loader *loader)
{
	if (!loader)
		return;
	close(loader->socket);
	free(loader);
}

static bool job_send(int socket, const struct job *job, const int *fds, size_t count)
{
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(JOB_FDS * sizeof(int))];
	} control = {.room = {0}};
	struct iovec iov = {.iov_base = (void *)job, .iov_len = sizeof(*job)};
	struct msghdr message = {.msg_iov = &iov,
				 .msg_iovlen = 1,
				 .msg_control = &control,
				 .msg_controllen = CMSG_SPACE(count * sizeof(int))};
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);

	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(count * sizeof(int));
	memcpy(CMSG_DATA(header), fds, count * sizeof(int));
	return sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == sizeof(*job);
}

int fx_load_begin(struct fx_loader *loader, const struct fx_elf_source *source,
		  const struct fx_view *view, struct fx_load **ret)
{
	struct fx_load *load = calloc(1, sizeof(*load));
	struct job *job = calloc(1, sizeof(*job));
	int pipes[2] = {-1, -1}, fds[JOB_FDS] = {-1, -1, -1}, r = -ENOMEM;

	if (!load || !job || strlen(source->path) >= sizeof(job->path))
		goto out;
	strcpy(job->path, source->path);
	job->build_id_size = source->build_id ? source->build_id_size : 0;
	if (job->build_id_size)
		memcpy(job->build_id, source->build_id, job->build_id_size);
	if (view)
		job->view = *view;
	job->has_file = source->fd >= 0;
	job->has_root = !job->has_file && view && view->root >= 0;
	load->table = memfd_create("fxtrace-symbols", MFD_CLOEXEC);
	if (load->table < 0 || pipe2(pipes, O_CLOEXEC) < 0) {
		r = -errno;
		goto out;
	}
	fds[JOB_ENDED] = pipes[1];
	fds[JOB_TABLE] = load->table;
	fds[JOB_FILE] = job->has_file ? source->fd : job->has_root ? view->root : -1;
	r = job_send(loader->socket, job, fds, fds[JOB_FILE] >= 0 ? JOB_FDS : JOB_FILE) ? 0
											: -EAGAIN;
out:
	if (pipes[1] >= 0)
		close(pipes[1]);
	if (r < 0 && pipes[0] >= 0)
		close(pipes[0]);
	if (r < 0 && load && load->table > 0)
		close(load->table);
	free(job);
	if (r < 0) {
		free(load);
		return r;
	}
	load->ended = pipes[0];
	*ret = load;
	return 0;
}

void fx_load_forget(struct fx_load *load)
{
	if (!load)
		return;
	close(load->ended);
	close(load->table);
	free(load);
}

static bool loader_read_at(int fd, void *data, size_t size, off_t at)
{
	char *to = data;

	while (size) {
		ssize_t n = pread(fd, to, size, at);

		if (n <= 0)
			return false;
		to += n;
		at += n;
		size -= (size_t)n;
	}
	return true;
}

/* Whether whatever the table says can be looked up in it. */
static bool loader_is_sound(const struct fx_symtab *table)
{
	if (table->count && (!table->names_size || table->names[table->names_size - 1]))
		return false;
	for (size_t i = 0; i < table->count; i++) {
		const struct fx_symtab_entry *e = &table->entries[i];

		if (e->name >= table->names_size || (e->outer != FX_NO_ENTRY && e->outer >= i) ||
		    (i && e->start <= e[-1].start))
			return false;
	}
	return true;
}

/* Copies the table, which the reader could still change. */
static int table_take(int fd, struct fx_symtab *ret)
{
	struct answer answer;
	struct fx_symtab table = {0};
	size_t bytes;

	if (!loader_read_at(fd, &answer, sizeof(answer), 0))
		return loader_problem(FX_SYMBOL_FILE_DAMAGED);
	if (answer.failed)
		return answer.failed <= (uint64_t)loader_problem(FX_SYMBOL_FILE_CRASHED)
			   ? (int)answer.failed
			   : loader_problem(FX_SYMBOL_FILE_DAMAGED);
	if (answer.count > FX_LOAD_BYTES / sizeof(*table.entries) ||
	    answer.names_size > FX_LOAD_BYTES)
		return loader_problem(FX_SYMBOL_FILE_TOO_LARGE);
	bytes = answer.count * sizeof(*table.entries);
	table.entries = malloc(bytes + 1);
	table.names = malloc(answer.names_size + 1);
	table.shown = calloc(answer.count + 1, sizeof(*table.shown));
	table.count = table.capacity = answer.count;
	table.names_size = table.names_capacity = answer.names_size;
	if (table.entries && table.names && table.shown &&
	    loader_read_at(fd, table.entries, bytes, sizeof(answer)) &&
	    loader_read_at(fd, table.names, table.names_size, (off_t)(sizeof(answer) + bytes)) &&
	    loader_is_sound(&table)) {
		*ret = table;
		return 0;
	}
	fx_symtab_clear(&table);
	return loader_problem(FX_SYMBOL_FILE_DAMAGED);
}

bool fx_load_end(struct fx_load *load, uint64_t ns, int *ret_failed, struct fx_symtab *ret_table)
{
	struct pollfd end = {.fd = load->ended, .events = POLLIN};
	int status;

	if (poll(&end, 1, (int)(ns / 1000000u)) <= 0)
		return false;
	if (read(load->ended, &status, sizeof(status)) != sizeof(status))
		*ret_failed = loader_problem(FX_SYMBOL_FILE_CRASHED);
	else if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		*ret_failed = table_take(load->table, ret_table);
	else if (WIFSIGNALED(status) &&
		 (WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGKILL))
		*ret_failed = loader_problem(FX_SYMBOL_FILE_TOO_SLOW);
	else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXFSZ)
		*ret_failed = loader_problem(FX_SYMBOL_FILE_TOO_LARGE);
	else
		*ret_failed = loader_problem(FX_SYMBOL_FILE_CRASHED);
	fx_load_forget(load);
	return true;
}
