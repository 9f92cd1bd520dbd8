/* SPDX-License-Identifier: MIT */
#include "symbols/loader.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/recipe.h"
#include "symbols/flat.h"
#include "symbols/reader.h"

struct fx_load {
	int ended, table;
	uint64_t limit; /* bytes of the table */
};

static int loader_problem(enum fx_symbol_problem_kind kind)
{
	return (int)kind + 1;
}

/* The starter is no child of ours: a program that waits for its children does not meet it. */
static bool starter_fork(int socket)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		fx_reader_detach(socket);
		pid = fork();
		if (pid == 0)
			fx_reader_serve();
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
	if (!starter_fork(pair[1])) {
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

static bool job_send(int socket, const struct fx_job *job, const int *fds, size_t count)
{
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(FX_JOB_FDS * sizeof(int))];
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
	return fx_load_begin_recipes(loader, source, view, "", ret);
}

int fx_load_begin_recipes(struct fx_loader *loader, const struct fx_elf_source *source,
			  const struct fx_view *view, const char *patterns, struct fx_load **ret)
{
	struct fx_load *load = calloc(1, sizeof(*load));
	struct fx_job *job = calloc(1, sizeof(*job));
	int pipes[2] = {-1, -1}, fds[FX_JOB_FDS] = {-1, -1, -1}, r = -ENOMEM;

	if (!load || !job || strlen(source->path) >= sizeof(job->path) ||
	    strlen(patterns) >= sizeof(job->patterns) ||
	    (source->store && strlen(source->store) >= sizeof(job->store)))
		goto out;
	strcpy(job->path, source->path);
	strcpy(job->patterns, patterns);
	job->limit = load->limit = source->limit;
	job->wants_sources = source->wants_sources;
	job->wants_lines = source->wants_lines;
	if (source->store)
		strcpy(job->store, source->store);
	job->is_map = source->map != NULL;
	if (source->map)
		job->map = *source->map;
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
	fds[FX_JOB_ENDED] = pipes[1];
	fds[FX_JOB_TABLE] = load->table;
	fds[FX_JOB_FILE] = job->has_file ? source->fd : job->has_root ? view->root : -1;
	r = job_send(loader->socket, job, fds, fds[FX_JOB_FILE] >= 0 ? FX_JOB_FDS : FX_JOB_FILE)
		? 0
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

/* Copies the table, which the reader could still change. */
static int table_take(int fd, uint64_t limit, struct fx_symtab *ret)
{
	struct fx_job_answer answer;
	int failed;

	if (!fx_flat_read_all(fd, &answer, sizeof(answer), 0))
		return loader_problem(FX_SYMBOL_FILE_DAMAGED);
	if (answer.failed)
		return answer.failed <= (uint64_t)loader_problem(FX_SYMBOL_FILE_CRASHED)
			   ? (int)answer.failed
			   : loader_problem(FX_SYMBOL_FILE_DAMAGED);
	failed = fx_flat_read(fd, sizeof(answer), &answer.flat, limit, ret);
	if (!failed)
		ret->was_stored = answer.was_stored != 0;
	return failed;
}

/* Copies the table of recipes. */
static int recipes_take(int fd, struct fx_recipes *ret)
{
	struct fx_job_recipes answer;
	struct fx_recipes recipes;

	if (!fx_flat_read_all(fd, &answer, sizeof(answer), 0))
		return loader_problem(FX_SYMBOL_FILE_DAMAGED);
	if (answer.failed)
		return answer.failed <= (uint64_t)loader_problem(FX_SYMBOL_FILE_CRASHED)
			   ? (int)answer.failed
			   : loader_problem(FX_SYMBOL_FILE_DAMAGED);
	if (answer.size > FX_RECIPE_TABLE_MAX || answer.size % 8)
		return loader_problem(FX_SYMBOL_FILE_TOO_LARGE);
	recipes = (struct fx_recipes){
	    .table = answer.size ? malloc(answer.size) : NULL,
	    .size = (uint32_t)answer.size,
	    .matched = (uint32_t)answer.matched,
	    .left_out = (uint32_t)answer.left_out,
	    .unknown = (uint32_t)answer.unknown,
	    .is_cut = answer.is_cut != 0,
	};
	if (answer.size && !recipes.table)
		return loader_problem(FX_SYMBOL_FILE_NO_MEMORY);
	if (!answer.size || fx_flat_read_all(fd, recipes.table, recipes.size, sizeof(answer))) {
		*ret = recipes;
		return 0;
	}
	fx_recipes_clear(&recipes);
	return loader_problem(FX_SYMBOL_FILE_DAMAGED);
}

/* Whether the reader has ended; *ret_failed is 0 if it has answered. */
static bool load_is_over(const struct fx_load *load, int *ret_failed)
{
	struct pollfd end = {.fd = load->ended, .events = POLLIN};
	int status;

	if (poll(&end, 1, 0) <= 0)
		return false;
	if (read(load->ended, &status, sizeof(status)) != sizeof(status))
		*ret_failed = loader_problem(FX_SYMBOL_FILE_CRASHED);
	else if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		*ret_failed = 0;
	else if (WIFSIGNALED(status) &&
		 (WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGKILL))
		*ret_failed = loader_problem(FX_SYMBOL_FILE_TOO_SLOW);
	else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXFSZ)
		*ret_failed = loader_problem(FX_SYMBOL_FILE_TOO_LARGE);
	else
		*ret_failed = loader_problem(FX_SYMBOL_FILE_CRASHED);
	return true;
}

bool fx_load_end(struct fx_load *load, int *ret_failed, struct fx_symtab *ret)
{
	if (!load_is_over(load, ret_failed))
		return false;
	if (!*ret_failed)
		*ret_failed = table_take(load->table, load->limit, ret);
	fx_load_forget(load);
	return true;
}

bool fx_load_end_recipes(struct fx_load *load, int *ret_failed, struct fx_recipes *ret)
{
	if (!load_is_over(load, ret_failed))
		return false;
	if (!*ret_failed)
		*ret_failed = recipes_take(load->table, ret);
	fx_load_forget(load);
	return true;
}
