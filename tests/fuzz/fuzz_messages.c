/* SPDX-License-Identifier: MIT */
/*
 * The daemon's socket. The input says who connects, what is sent in which pieces and with which
 * descriptors, when it is read, who vanishes and who dies, what registered providers record, and how
 * time passes between.
 *
 * What must hold: the daemon ends when it is told, every archive that it was given is in order, and no
 * descriptor is left.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "manager/session/daemon-internal.h"
#include "tests/fuzz/alone.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/honest.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/verdict.h"

#define STEPS_MAX    300u
#define ENDS_MAX     8u
#define PIDS	     5u
#define FIRST_PID    300
#define PARTIES_MAX  6u
#define ARCHIVES_MAX 16u
#define DEATHS_MAX   64u

/* One of ours at the other end of a connection. */
struct end {
	int fd; /* 0: none */
	pid_t pid;
	uid_t uid;
};

/* A provider that was admitted. */
struct party {
	struct honest good;
	void *buffer, *control;
	size_t buffer_size, control_size;
};

struct peer {
	pid_t pid;
	uid_t uid;
};

struct world {
	struct input in;
	unsigned steps;
	struct fx_daemon *daemon;
	char socket[64];
	struct end ends[ENDS_MAX];
	struct peer waiting[SOMAXCONN]; /* connected, not yet accepted; a ring */
	unsigned wait_first, wait_count;
	struct peer peers[1024]; /* by the daemon's descriptors */
	struct party parties[PARTIES_MAX];
	unsigned party_count;
	struct {
		pid_t pid;
		int fd; /* an eventfd that stands for the pidfd */
	} deaths[DEATHS_MAX];
	unsigned death_count;
	int archives[ARCHIVES_MAX];
	unsigned archive_count;
};

static struct world w;

/* --- Who is there ---------------------------------------------------------------------------- */

static int on_accept(int listener)
{
	int fd = fx_socket_accept(listener);

	if (fd < 0)
		return fd;
	if (!w.wait_count || fd >= (int)(sizeof(w.peers) / sizeof(w.peers[0])))
		abort();
	w.peers[fd] = w.waiting[w.wait_first];
	w.wait_first = (w.wait_first + 1) % SOMAXCONN;
	w.wait_count--;
	return fd;
}

static int on_peer(int fd, pid_t *ret_pid, uid_t *ret_uid)
{
	*ret_pid = w.peers[fd].pid;
	*ret_uid = w.peers[fd].uid;
	return 0;
}

static int on_pidfd(int fd, pid_t pid)
{
	int event;

	(void)fd;
	if (w.death_count == DEATHS_MAX)
		return -ESRCH;
	event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	w.deaths[w.death_count].pid = pid;
	w.deaths[w.death_count].fd = dup(event);
	if (event < 0 || w.deaths[w.death_count++].fd < 0)
		abort();
	return event;
}

static void process_die(pid_t pid)
{
	for (unsigned i = 0; i < w.death_count; i++) {
		if (w.deaths[i].pid == pid)
			eventfd_write(w.deaths[i].fd, 1);
	}
}

static pid_t pid_choose(void)
{
	return FIRST_PID + (pid_t)input_below(&w.in, PIDS);
}

static struct end *end_choose(void)
{
	return &w.ends[input_below(&w.in, ENDS_MAX)];
}

static void end_close(struct end *e)
{
	if (e->fd)
		close(e->fd);
	e->fd = 0;
}

static void end_connect(struct end *e)
{
	uint8_t how = input_u8(&w.in);
	int fd;

	end_close(e);
	if (w.wait_count == SOMAXCONN)
		return;
	fd = fx_socket_connect(w.socket);
	if (fd < 0)
		return;
	e->fd = fd;
	w.waiting[(w.wait_first + w.wait_count++) % SOMAXCONN] = (struct peer){
	    .pid = how / 16 == 15 ? 0 : FIRST_PID + how % PIDS,
	    .uid = how / 16 == 14 ? geteuid() + 1 : geteuid(),
	};
}

/* --- Messages -------------------------------------------------------------------------------- */

/* A descriptor to pass, of a file that may be an archive or may not. */
static int descriptor_make(uint8_t kind)
{
	int fds[2], fd;

	switch (kind % 8) {
	case 0:
		return open("/dev/null", O_WRONLY | O_CLOEXEC);
	case 1:
		return open("/dev/full", O_WRONLY | O_CLOEXEC);
	case 2:
		return open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	case 3:
		if (pipe2(fds, O_CLOEXEC) < 0)
			abort();
		close(fds[0]);
		return fds[1];
	case 4: /* one that cannot be written to */
		fd = memfd_create("sealed", MFD_CLOEXEC | MFD_ALLOW_SEALING);
		fcntl(fd, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_WRITE);
		return fd;
	case 5:
		return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	default:
		fd = memfd_create("archive", MFD_CLOEXEC);
		if (w.archive_count < ARCHIVES_MAX)
			w.archives[w.archive_count++] = dup(fd);
		return fd;
	}
}

static size_t size_of(unsigned type)
{
	switch (type) {
#define CASE(sym, nr, type, fds, help)                                                             \
	case nr:                                                                                   \
		return sizeof(struct type);
		FX_MESSAGES(CASE)
#undef CASE
	default:
		return 64;
	}
}

static const uint8_t types[] = {
    FX_MSG_REGISTER,   FX_MSG_GET_STATUS,    FX_MSG_GET_PROVIDERS, FX_MSG_GET_CATEGORIES,
    FX_MSG_INITIALIZE, FX_MSG_START,	     FX_MSG_STOP,	   FX_MSG_TERMINATE,
    FX_MSG_SNAPSHOT,   FX_MSG_WATCH_ALERT,   FX_MSG_REGISTERED,	   FX_MSG_RESULT,
    FX_MSG_STATUS,     FX_MSG_MANAGER_READY, FX_MSG_ALERT,	   0xff,
    FX_MSG_CHOOSE,     FX_MSG_NOTE,
};

/* A path whose neighbours cannot be made: the file of the session is the descriptor. */
static void path_put(char path[FX_OUTPUT_PATH_MAX])
{
	static const char *const paths[] = {"/dev/null/a.fxt", "/dev/null/a.fxt.gz",
					    "/dev/null/a.fxt.zst", "-"};
	uint8_t which = input_u8(&w.in);

	if (which == 255) {
		memset(path, 'x', FX_OUTPUT_PATH_MAX); /* without an end */
		memcpy(path, "/dev/null/", 10);
		return;
	}
	strcpy(path, paths[which % 4]);
}

/* A request that makes sense. */
static void message_fill(union fx_message_any *m, unsigned type)
{
	memset(m, 0, sizeof(*m));
	m->GET_STATUS.header = fx_message_header((enum fx_message_type)type);
	switch (type) {
	case FX_MSG_REGISTER:
		input_take(&w.in, m->REGISTER.name, 2);
		break;
	case FX_MSG_INITIALIZE:
		m->INITIALIZE.mode = FX_MODE_ONESHOT + input_u8(&w.in) % 3;
		m->INITIALIZE.categories = FX_CAT_FUNCTION;
		m->INITIALIZE.trigger_count = 2;
		m->INITIALIZE.triggers[0] = (struct fx_trigger){FX_TRIGGER_STOP, "a"};
		m->INITIALIZE.triggers[1] = (struct fx_trigger){FX_TRIGGER_SNAPSHOT, "b"};
		break;
	case FX_MSG_START:
		m->START.disposition = FX_CLEAR_ENTIRE + input_u8(&w.in) % 3;
		break;
	case FX_MSG_CHOOSE:
		strcpy(m->CHOOSE.functions, input_u8(&w.in) & 1 ? "-a\n" : "+b\n#16\n");
		break;
	case FX_MSG_NOTE:
		m->NOTE.kind = FX_NOTE_STANDSTILL + input_u8(&w.in) % 2;
		m->NOTE.pid = (uint32_t)getpid();
		m->NOTE.tid = 1 + input_u8(&w.in);
		input_take(&w.in, m->NOTE.text, input_u8(&w.in));
		break;
	case FX_MSG_STOP:
	case FX_MSG_TERMINATE:
		m->STOP.write_results = input_u8(&w.in) & 1;
		break;
	default:
		break;
	}
}

/* Bytes of the input over some of it. */
static void message_patch(union fx_message_any *m, unsigned count)
{
	while (count--) {
		size_t at = input_u16(&w.in) % sizeof(*m), length = input_u8(&w.in) % 16;

		if (length > sizeof(*m) - at)
			length = sizeof(*m) - at;
		input_take(&w.in, (uint8_t *)m + at, length);
	}
}

static size_t size_choose(size_t right)
{
	uint8_t how = input_u8(&w.in);

	switch (how) {
	case 255:
		return 0;
	case 254:
		return right - 1;
	case 253:
		return right + 8;
	case 252:
		return input_u16(&w.in) % (2 * sizeof(union fx_message_any));
	default:
		return right;
	}
}

static void send_bytes(int fd, const void *data, size_t size, const int *fds, size_t count)
{
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(20 * sizeof(int))];
	} control = {0};
	struct iovec part = {(void *)data, size};
	struct msghdr h = {.msg_iov = &part, .msg_iovlen = 1};

	if (count) {
		h.msg_control = &control;
		h.msg_controllen = CMSG_SPACE(count * sizeof(int));
		control.align.cmsg_level = SOL_SOCKET;
		control.align.cmsg_type = SCM_RIGHTS;
		control.align.cmsg_len = CMSG_LEN(count * sizeof(int));
		memcpy(CMSG_DATA(&control.align), fds, count * sizeof(int));
	}
	/* What a daemon that does not read yet has no room for is lost. */
	(void)!sendmsg(fd, &h, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void message_send(struct end *e)
{
	static union {
		union fx_message_any message;
		uint8_t room[2 * sizeof(union fx_message_any)];
	} m;
	uint8_t how = input_u8(&w.in), passed = input_u8(&w.in);
	unsigned type = types[how % sizeof(types)],
		 count = passed % 8 < 6 ? passed % 8 % 2 : passed % 20;
	size_t size;
	int fds[20];

	message_fill(&m.message, type);
	message_patch(&m.message, how / 16 % 4);
	if (type == FX_MSG_INITIALIZE)
		path_put(m.message.INITIALIZE.output);
	if (type == FX_MSG_SNAPSHOT)
		path_put(m.message.SNAPSHOT.output);
	size = size_choose(size_of(type));
	if (type == FX_MSG_INITIALIZE || type == FX_MSG_SNAPSHOT)
		count = count ? count : how < 0x80;
	for (unsigned i = 0; i < count; i++)
		fds[i] = descriptor_make(i ? 0 : passed / 8 % 8 ? passed / 8 : 7);
	if (e->fd)
		send_bytes(e->fd, &m, size, fds, count);
	for (unsigned i = 0; i < count; i++)
		close(fds[i]);
}

/* --- Answers --------------------------------------------------------------------------------- */

static void party_enter(const struct fx_msg_registered *m, const int fds[FX_FD_COUNT])
{
	struct party *p = &w.parties[w.party_count];

	if (m->status || w.party_count == PARTIES_MAX)
		return;
	p->control_size = m->control_size;
	p->buffer_size = m->buffer_size;
	p->control = alone_memory_map(fds[FX_FD_CONTROL], false);
	p->buffer = alone_memory_map(fds[FX_FD_BUFFER], true);
	honest_attach(&p->good, p->control, p->buffer, FIRST_PID + 50);
	w.party_count++;
}

static bool answer_receive(struct end *e)
{
	static union fx_message_any m;
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(20 * sizeof(int))];
	} control;
	struct iovec part = {&m, sizeof(m)};
	struct msghdr h = {.msg_iov = &part,
			   .msg_iovlen = 1,
			   .msg_control = &control,
			   .msg_controllen = sizeof(control)};
	ssize_t n = e->fd ? recvmsg(e->fd, &h, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) : 0;
	struct cmsghdr *c = n > 0 ? CMSG_FIRSTHDR(&h) : NULL;
	int fds[20];
	size_t count = 0;

	if (n <= 0)
		return false;
	if ((size_t)n != size_of(m.GET_STATUS.header.type))
		abort();
	if (c) {
		count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		memcpy(fds, CMSG_DATA(c), count * sizeof(int));
	}
	if (count && (count != FX_FD_COUNT || m.REGISTERED.header.type != FX_MSG_REGISTERED))
		abort();
	if (count)
		party_enter(&m.REGISTERED, fds);
	while (count)
		close(fds[--count]);
	return true;
}

/* --- Providers that were admitted ------------------------------------------------------------ */

static void party_record(void)
{
	struct party *p = &w.parties[input_below(&w.in, PARTIES_MAX)];
	unsigned count = input_u8(&w.in);

	if (p->buffer && (uint32_t)p->good.fake.control->state)
		honest_record(&p->good, count);
}

static void party_post(void)
{
	struct party *p = &w.parties[input_below(&w.in, PARTIES_MAX)];
	uint8_t what = input_u8(&w.in);
	struct fx_packet packet = {.request = FX_PACKET_ALERT, .data16 = 'a' + what % 4};
	struct fx_buffer_header *h = p->buffer;
	uint64_t at;

	if (!h)
		return;
	if (what > 240)
		packet.request = what;
	at = h->packet_head;
	h->packets[at % FX_PACKETS].packet = packet;
	__atomic_store_n(&h->packets[at % FX_PACKETS].seq, at + 1, __ATOMIC_RELEASE);
	__atomic_store_n(&h->packet_head, at + 1, __ATOMIC_RELEASE);
}

static void party_notice(void)
{
	struct party *p = &w.parties[input_below(&w.in, PARTIES_MAX)];
	struct fx_buffer_header *h = p->buffer;

	if (!h)
		return;
	honest_release(&p->good);
	h->epoch_started = p->good.fake.control->state >> 32;
}

/* --- One input ------------------------------------------------------------------------------- */

static void step(void)
{
	switch (input_u8(&w.in) % 12) {
	case 0:
		end_connect(end_choose());
		break;
	case 1:
	case 2:
	case 3:
		message_send(end_choose());
		break;
	case 4:
		end_close(end_choose());
		break;
	case 5:
	case 6:
		answer_receive(end_choose());
		break;
	case 7:
		process_die(pid_choose());
		break;
	case 8:
		party_record();
		break;
	case 9:
		alone_advance(input_u8(&w.in) * UINT64_C(30000000));
		break;
	case 10:
		party_post();
		break;
	default:
		party_notice();
	}
}

/* The daemon waits. */
static void on_wait(void)
{
	if (input_is_over(&w.in) || w.steps++ >= STEPS_MAX)
		w.daemon->ending = true;
	else
		step();
}

static void begin(const uint8_t *data, size_t size)
{
	static const struct fx_session_config defaults = {
	    .output = "-",
	    .buffer_size = 16384,
	    .mode = FX_MODE_STREAMING,
	    .follow = true,
	    .categories = FX_CAT_FUNCTION,
	};
	const char *what;

	alone_reset();
	memset(&w, 0, sizeof(w));
	w.in = (struct input){data, data + size};
	snprintf(w.socket, sizeof(w.socket), "/tmp/fxtrace-fuzz.%d", (int)getpid());
	alone_hooks = (struct alone_hooks){
	    .wait = on_wait, .accept = on_accept, .peer = on_peer, .pidfd = on_pidfd};
	if (fx_daemon_create(w.socket, -1, &defaults, &w.daemon, &what) < 0)
		abort();
}

static void archive_judge(int fd)
{
	struct stat st;

	/* One that no session has begun is empty. */
	if (fstat(fd, &st) == 0 && st.st_size)
		verdict_read(fd, 0);
	close(fd);
}

static void end(void)
{
	for (unsigned i = 0; i < ENDS_MAX; i++) {
		while (answer_receive(&w.ends[i]))
			;
		end_close(&w.ends[i]);
	}
	for (unsigned i = 0; i < w.party_count; i++) {
		alone_munmap(w.parties[i].buffer, w.parties[i].buffer_size);
		alone_munmap(w.parties[i].control, w.parties[i].control_size);
	}
	for (unsigned i = 0; i < w.death_count; i++)
		close(w.deaths[i].fd);
	for (unsigned i = 0; i < w.archive_count; i++)
		archive_judge(w.archives[i]);
}

/* The lowest descriptors that are free: two of them tell a leak, whichever is closed later. */
static int lowest_free(void)
{
	int fd = dup(STDERR_FILENO);

	close(fd);
	return fd;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool opened;
	int before;

	if (!opened)
		(void)alone_stderr(); /* stays open */
	opened = true;
	before = lowest_free();
	begin(data, size);
	fx_daemon_run(w.daemon);
	end();
	alone_memory_check();
	if (lowest_free() != before)
		abort();
	return 0;
}
