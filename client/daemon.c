/* SPDX-License-Identifier: MIT */
#include "client/daemon.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "client/commands.h"
#include "client/link.h"
#include "manager/session/daemon.h"
#include "manager/settings/report.h"
#include "protocol/activation.h"
#include "protocol/place.h"
#include "protocol/socket.h"

static const char *daemon_why(int error)
{
	switch (error) {
	case -EADDRINUSE:
		return "a manager is listening there already";
	case -EACCES:
		return "not this user's alone";
	default:
		return strerror(-error);
	}
}

static int daemon_failure(const char *command, const char *what, int error)
{
	fx_report_as(command, "%s: %s", what, daemon_why(error));
	return FX_EXIT_FAILURE;
}

/* Says where it listens, once it does, to the process that waits at `tell`. */
static int daemon_serve(const char *command, const char *socket, int listener,
			const struct fx_options *options, int tell)
{
	struct fx_daemon *daemon;
	const char *what;
	int r = fx_daemon_create(socket, listener, &options->config, &daemon, &what);

	if (r < 0)
		return daemon_failure(command, what, r);
	if (options->config.verbose)
		fx_report("listening at %s", socket);
	fx_activation_ready();
	if (tell >= 0) {
		int null = open("/dev/null", O_RDWR | O_CLOEXEC);

		for (int fd = STDIN_FILENO; null >= 0 && fd <= STDERR_FILENO; fd++)
			dup2(null, fd);
		if (null >= 0)
			close(null);
		while (write(tell, "", 1) < 0 && errno == EINTR)
			;
		close(tell);
	}
	fx_daemon_run(daemon);
	return FX_EXIT_OK;
}

/* Whether the daemon at the other end of `from` listens: it says so, or it is gone. */
static int daemon_hear(int from)
{
	char byte;
	ssize_t n;

	do {
		n = read(from, &byte, 1);
	} while (n < 0 && errno == EINTR);
	return n == 1 ? FX_EXIT_OK : FX_EXIT_FAILURE;
}

static int serve_behind(const char *command, const char *socket, const struct fx_options *options)
{
	int ends[2];
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return daemon_failure(command, "cannot start", -errno);
	pid = fork();
	if (pid < 0)
		return daemon_failure(command, "cannot start", -errno);
	if (pid > 0) {
		close(ends[1]);
		return daemon_hear(ends[0]);
	}
	close(ends[0]);
	setsid();
	/* No directory is to be kept busy. */
	if (chdir("/") < 0)
		return daemon_failure(command, "/", -errno);
	return daemon_serve(command, socket, -1, options, ends[1]);
}

int fx_daemon_main(const char *command, const char *socket, bool foreground,
		   const struct fx_options *options)
{
	char usual[FX_SOCKET_PATH_SIZE], absolute[FX_OUTPUT_PATH_MAX];
	int listener = fx_activation_take(), r = 0;

	if (listener < 0 && listener != -ENOENT)
		return daemon_failure(command, "the socket that was passed", listener);
	if (!socket) {
		r = fx_place_find(usual);
		socket = usual;
		/* A place that somebody chose is theirs to guard. */
		if (r == 0 && listener < 0 && !getenv("FXTRACE_SOCKET"))
			r = fx_place_make(usual,
					  fx_policy_is_open(&options->config.policy) ? 0711 : 0700);
	}
	if (r == 0 && socket[0] != '/' && getcwd(absolute, sizeof(absolute) / 2)) {
		size_t n = strlen(absolute);

		snprintf(absolute + n, sizeof(absolute) - n, "/%s", socket);
		socket = absolute;
	}
	if (r < 0) {
		fx_report_as(command,
			     "%s: %s; --socket PATH or XDG_RUNTIME_DIR names another place", socket,
			     daemon_why(r));
		return FX_EXIT_FAILURE;
	}
	if (foreground || listener >= 0)
		return daemon_serve(command, socket, listener < 0 ? -1 : listener, options, -1);
	return serve_behind(command, socket, options);
}

/* --- Stopping it ------------------------------------------------------------------------------- */

/* The manager itself: its pidfd, or a negative number after a line that says why not. */
static int daemon_find(struct fx_link *link, pid_t *ret_pid)
{
	struct fx_msg_request request;
	struct fx_msg_status status;
	uid_t user;
	int r = fx_link_call(link, FX_MSG_GET_STATUS, &request, sizeof(request), -1, FX_MSG_STATUS,
			     &status, sizeof(status));

	if (r)
		return -1;
	r = fx_socket_peer(link->fd, ret_pid, &user);
	/* The process that made the socket may be another one, which must not be ended. */
	if (r == 0 && *ret_pid != (pid_t)status.pid) {
		fx_report_as(link->command,
			     "the manager's socket was made by process %d, such as systemd, which "
			     "would start another: end the service there",
			     (int)*ret_pid);
		return -1;
	}
	if (r == 0)
		r = fx_socket_peer_pidfd(link->fd, *ret_pid);
	if (r < 0)
		daemon_failure(link->command, "the manager", r);
	return r;
}

int fx_daemon_stop(const char *command, const char *socket)
{
	struct pollfd ended = {.events = POLLIN};
	struct fx_link link;
	int status = fx_link_open(&link, command, socket);
	pid_t pid;

	ended.fd = status == 0 ? daemon_find(&link, &pid) : -1;
	fx_link_close(&link);
	if (ended.fd < 0)
		return FX_EXIT_FAILURE;
	if (syscall(SYS_pidfd_send_signal, ended.fd, SIGTERM, NULL, 0) < 0)
		status = daemon_failure(command, "the manager", -errno);
	/* It completes the archive first. */
	while (status == 0 && poll(&ended, 1, -1) < 0 && errno == EINTR)
		;
	if (status == 0)
		printf("manager %d has ended\n", (int)pid);
	close(ended.fd);
	return status;
}
