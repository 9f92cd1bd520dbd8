/* SPDX-License-Identifier: MIT */
/*
 * liar LIE: two providers below a manager. One keeps the rules: it records ROUND events named "honest"
 * before the other comes, and as many when that is gone. The other records two events named "before",
 * tells one lie, and ends. Where a lie is one only after the manager has looked, it waits for that.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/clock.h"
#include "format/encode.h"
#include "protocol/messages.h"
#include "tests/engine/fake_provider.h"

#define ROUND 500u

/* Longer than the manager leaves anything unlooked at, in microseconds. */
#define UNTIL_LOOKED_AT 800000

/* Indices of strings, the same in both. */
#define CATEGORY 1u
#define NAME	 2u

struct provider {
	struct fake_provider fake;
	struct fake_chunk chunk;
	int fds[FX_FD_COUNT];
};

static _Noreturn void give_up(const char *what)
{
	fprintf(stderr, "liar: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* --- Registering ----------------------------------------------------------------------------- */

static int manager_connect(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	const char *path = getenv("FXTRACE_SOCKET");
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	if (!path || strlen(path) >= sizeof(address.sun_path))
		give_up("FXTRACE_SOCKET");
	strcpy(address.sun_path, path);
	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		give_up("connect");
	return fd;
}

/* Sends `size` bytes of a request; returns the status of the answer. */
static int registration_ask(const struct fx_msg_register *request, size_t size,
			    struct fx_msg_registered *ret, int fds[FX_FD_COUNT])
{
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(FX_FD_COUNT * sizeof(int))];
	} control;
	struct iovec part = {ret, sizeof(*ret)};
	struct msghdr m = {.msg_iov = &part,
			   .msg_iovlen = 1,
			   .msg_control = &control,
			   .msg_controllen = sizeof(control)};
	struct cmsghdr *c;
	int fd = manager_connect();

	if (send(fd, request, size, 0) != (ssize_t)size || recvmsg(fd, &m, 0) != sizeof(*ret))
		give_up("no answer");
	close(fd);
	c = CMSG_FIRSTHDR(&m);
	if (c)
		memcpy(fds, CMSG_DATA(c), FX_FD_COUNT * sizeof(int));
	return ret->status;
}

static struct fx_msg_register request_of(const char *name)
{
	struct fx_msg_register request = {
	    .header = {FX_MESSAGE_MAGIC, FX_MESSAGE_VERSION, FX_MSG_REGISTER}};

	strcpy(request.name, name);
	return request;
}

static void provider_enter(struct provider *p, const char *name, const char *event)
{
	const struct fx_msg_register request = request_of(name);
	struct fx_msg_registered answer;
	void *control, *buffer;

	errno = 0;
	if (registration_ask(&request, sizeof(request), &answer, p->fds) != 0)
		give_up("refused");
	control = mmap(NULL, answer.control_size, PROT_READ, MAP_SHARED, p->fds[FX_FD_CONTROL], 0);
	buffer = mmap(NULL, answer.buffer_size, PROT_READ | PROT_WRITE, MAP_SHARED,
		      p->fds[FX_FD_BUFFER], 0);
	if (control == MAP_FAILED || buffer == MAP_FAILED)
		give_up("mmap");
	fp_attach(&p->fake, control, buffer);
	fp_durable_string(&p->fake, CATEGORY, "cat");
	fp_durable_string(&p->fake, NAME, event);
}

static uint64_t now(const struct provider *p)
{
	return fx_ticks((enum fx_clock_kind)p->fake.control->clock_kind);
}

static void record(struct provider *p, unsigned count)
{
	while (count--) {
		uint64_t start = now(p);

		if (p->chunk.words && (p->chunk.used + 3) * 8 > p->fake.layout.chunk_size) {
			fp_release(&p->chunk);
			p->chunk.words = NULL;
		}
		if (!p->chunk.words)
			p->chunk = fp_claim(&p->fake, (uint32_t)getpid());
		fp_complete(&p->chunk, CATEGORY, NAME, start, now(p));
	}
}

/* --- Lies ------------------------------------------------------------------------------------ */

static void wait_for_look(void)
{
	usleep(UNTIL_LOOKED_AT);
}

static void put(struct provider *p, uint64_t a, uint64_t b, uint64_t c)
{
	const uint64_t words[3] = {a, b, c};
	uint32_t count = a >> 4 & 0xfff;

	fp_put(&p->chunk, words, count && count < 3 ? count : 3);
}

/* Says that all is written, of a chunk that is full of words. */
static void too_many_claims(struct provider *p)
{
	p->fake.header->rolling_state = UINT32_MAX;
}

static void fewer_claims(struct provider *p)
{
	wait_for_look();
	p->fake.header->rolling_state = 0;
}

static void endless_wraps(struct provider *p)
{
	for (uint64_t wrap = 1; wrap < 1000000; wrap++)
		fx_store_release(&p->fake.header->rolling_state, wrap << 32);
}

static void chunk_of_another_serial(struct provider *p)
{
	*fp_table(&p->fake, 0) = FX_CHUNK_WORD(77, FX_CHUNK_RELEASED, 24);
}

static void chunk_longer_than_it_is(struct provider *p)
{
	*fp_table(&p->fake, 0) = FX_CHUNK_WORD(0, FX_CHUNK_RELEASED, 0xfffff8);
}

static void record_longer_than_its_chunk(struct provider *p)
{
	/* An event of 4095 words in a chunk that is given back. */
	put(p, 4 | 0xfff0, 1, 2);
	fp_release(&p->chunk);
}

static void record_without_size(struct provider *p)
{
	put(p, 4, 1, 2);
	fp_release(&p->chunk);
}

static void arguments_that_are_not_there(struct provider *p)
{
	for (unsigned type = 0; type < 16; type++)
		put(p, 4 | 3 << 4 | type << 16 | 15 << 20 | 1 << 24 | 1ull << 32 | 2ull << 48,
		    now(p), UINT64_MAX);
}

static void forged_metadata(struct provider *p)
{
	/* the magic record, a provider's info, section and event, initialization */
	put(p, 0x0016547846040010, 0, 0);
	put(p, 0 | 1 << 4 | 1 << 16 | 1ull << 20, 0, 0);
	put(p, 0 | 1 << 4 | 2 << 16 | 1ull << 20, 0, 0);
	put(p, 0 | 1 << 4 | 3 << 16 | 1ull << 20, 0, 0);
	put(p, 1 | 2 << 4, 1, 0);
}

static void forged_names(struct provider *p)
{
	/* of the process and of another thread, with inline texts of 4 bytes */
	put(p, 7 | 3 << 4 | 1 << 16 | 0x8004ull << 24, (uint64_t)getppid(), 0x656d616e);
	put(p, 7 | 3 << 4 | 2 << 16 | 0x8004ull << 24, (uint64_t)getppid(), 0x656d616e);
	/* the process's second string, changed by a chunk */
	put(p, 2 | 2 << 4 | NAME << 16 | 4ull << 32, 0x656d616e, 0);
}

/* A string of 40000 bytes fits into no record but a large one, which strings are not. */
static void long_strings(struct provider *p)
{
	uint64_t *to = fp_durable(&p->fake) + p->fake.durable_used / 8;
	const uint64_t words = 1 + 40000 / 8;

	memset(to + 1, 'x', 40000);
	fx_store_release(to, 15 | words << 4 | 2ull << 36);
	to += words;
	/* and one that says of 4095 words that they are 32767 bytes */
	memset(to + 1, 'x', 4094 * 8);
	fx_store_release(to, 2 | 4095 << 4 | 9 << 16 | 0x7fffull << 32);
}

static void durable_without_size(struct provider *p)
{
	fx_store_release(fp_durable(&p->fake) + p->fake.durable_used / 8, 2);
}

static void durable_that_changes(struct provider *p)
{
	uint64_t *claim = fp_durable_claim(&p->fake, 2);

	wait_for_look();
	fx_store_release(claim, 2 | 4095 << 4);
	p->fake.durable_used = p->fake.layout.durable_size - 8;
	fx_store_release(claim, 15 | 0xffffffffull << 4);
}

static void claims_without_end(struct provider *p)
{
	for (unsigned i = 0; i <= p->fake.layout.thread_count; i++)
		fp_durable_claim(&p->fake, 1);
}

static void post(struct provider *p, struct fx_packet packet)
{
	struct fx_buffer_header *h = p->fake.header;
	uint64_t at = h->packet_head;

	h->packets[at % FX_PACKETS].packet = packet;
	fx_store_release(&h->packets[at % FX_PACKETS].seq, at + 1);
	fx_store_release(&h->packet_head, at + 1);
}

static void packet_of_another_version(struct provider *p)
{
	post(p, (struct fx_packet){.request = FX_PACKET_STARTED, .data32 = FX_FIFO_VERSION + 1});
	wait_for_look();
}

static void packet_that_does_not_exist(struct provider *p)
{
	post(p, (struct fx_packet){.request = 77});
	wait_for_look();
}

/* States in an order in which they cannot be: started in another epoch, stopped, a half to be saved
 * that never was, started again and again. */
static void states_out_of_order(struct provider *p)
{
	const struct fx_packet started = {
	    .request = FX_PACKET_STARTED, .data32 = FX_FIFO_VERSION, .data64 = UINT64_MAX};

	p->fake.header->epoch_started = UINT64_MAX;
	post(p, (struct fx_packet){.request = FX_PACKET_STOPPED, .data64 = 99});
	post(p, (struct fx_packet){.request = FX_PACKET_SAVE_BUFFER, .data32 = 1u << 31});
	for (unsigned i = 0; i < 1000; i++)
		post(p, started);
	wait_for_look();
}

static void memory_that_shrinks(struct provider *p)
{
	for (unsigned i = 0; i < FX_FD_COUNT; i++) {
		int fd = p->fds[i];

		if (ftruncate(fd, 0) == 0 || ftruncate(fd, 1 << 30) == 0)
			give_up("memory that may change its size");
		/* Of its own buffer it may do so: that is to write zeroes. */
		if (i != FX_FD_BUFFER &&
		    fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4096) == 0)
			give_up("a page of the manager's that may be emptied");
	}
}

static void frames_and_losses(struct provider *p)
{
	struct fx_thread_slot *slot = fp_slot(&p->fake, 0, 0x7fffffff, "\033[31mred");

	memset(slot->frames, 0xff, sizeof(slot->frames));
	slot->incarnation = UINT32_MAX;
	slot->dropped = slot->too_deep = UINT64_MAX;
	memset(slot->lost, 0xff, sizeof(slot->lost));
	p->fake.header->dropped_unslotted = UINT64_MAX - 3;
}

/* One call behind another, and one around the first that ends within the second. */
static void calls_that_cross(struct provider *p)
{
	const uint64_t from = now(p);
	enum { CROSSING = NAME + 1 };
	const uint64_t times[3][2] = {{1, 2}, {3, 5}, {0, 4}};

	fp_durable_string(&p->fake, CROSSING, "crossing");
	for (unsigned i = 0; i < 3; i++)
		fp_complete(&p->chunk, CATEGORY, CROSSING, from + 1000 * times[i][0],
			    from + 1000 * times[i][1]);
}

/* No lie, but what it takes hours or another kind of program to lose. */
static void rare_losses(struct provider *p)
{
	struct fx_thread_slot *slot = fp_slot(&p->fake, 0, (uint32_t)getpid(), "liar");

	slot->lost[FX_LOSS_LARGE] = 2;
	slot->lost[FX_LOSS_WORN] = 3;
	slot->dropped = 5;
}

static pid_t honest; /* of the liar's view */

static void put_tie(struct provider *p, enum fx_tie_kind kind, int32_t value, uint64_t time)
{
	const uint64_t words[FX_TIE_WORDS] = {
	    FXT_PUT(RECORD_TYPE, FXT_RECORD_KERNEL_OBJECT) | FXT_PUT(RECORD_SIZE, FX_TIE_WORDS) |
		FXT_PUT(KERNEL_OBJECT_TYPE, FXT_OBJECT_PROCESS) | FXT_PUT(KERNEL_OBJECT_NARGS, 3),
	    (uint64_t)honest,
	    FXT_PUT(ARG_TYPE, FXT_ARG_UINT64) | FXT_PUT(ARG_SIZE, 2),
	    time,
	    FXT_PUT(ARG_TYPE, FXT_ARG_INT32) | FXT_PUT(ARG_SIZE, 1) |
		FXT_PUT(ARG_VALUE32_VALUE, (uint32_t)kind),
	    FXT_PUT(ARG_TYPE, FXT_ARG_INT32) | FXT_PUT(ARG_SIZE, 1) |
		FXT_PUT(ARG_VALUE32_VALUE, (uint32_t)value)};

	fp_put(&p->chunk, words, FX_TIE_WORDS);
}

/* Says of the honest one, which goes on, that it has made it, and was told of its end with the status 77. */
static void anothers_child(struct provider *p)
{
	put_tie(p, FX_TIE_CREATES, 0, 1);
	put_tie(p, FX_TIE_CREATES, FX_TIE_VALUE_REGISTERS, 1);
	put_tie(p, FX_TIE_REAPS, 77 << 8, now(p));
}

/* What is sent in place of a registration. */
static void expect_refusal(const struct fx_msg_register *request, size_t size, int status)
{
	struct fx_msg_registered answer;
	int fds[FX_FD_COUNT];

	errno = 0;
	if (registration_ask(request, size, &answer, fds) != status)
		give_up("registered against the rules");
}

static void registrations(struct provider *p)
{
	struct fx_msg_register request = request_of("nobody");

	(void)p;
	expect_refusal(&request, 8, -EMSGSIZE);
	request.header.version++;
	expect_refusal(&request, sizeof(request), -EPROTONOSUPPORT);
	request.header.magic++;
	expect_refusal(&request, sizeof(request), -EBADMSG);
}

static const struct {
	const char *name;
	void (*tell)(struct provider *p);
} lies[] = {
    {"too-many-claims", too_many_claims},
    {"fewer-claims", fewer_claims},
    {"endless-wraps", endless_wraps},
    {"chunk-of-another-serial", chunk_of_another_serial},
    {"chunk-longer-than-it-is", chunk_longer_than_it_is},
    {"record-longer-than-its-chunk", record_longer_than_its_chunk},
    {"record-without-size", record_without_size},
    {"arguments-that-are-not-there", arguments_that_are_not_there},
    {"forged-metadata", forged_metadata},
    {"forged-names", forged_names},
    {"long-strings", long_strings},
    {"durable-without-size", durable_without_size},
    {"durable-that-changes", durable_that_changes},
    {"claims-without-end", claims_without_end},
    {"packet-of-another-version", packet_of_another_version},
    {"packet-that-does-not-exist", packet_that_does_not_exist},
    {"states-out-of-order", states_out_of_order},
    {"memory-that-shrinks", memory_that_shrinks},
    {"frames-and-losses", frames_and_losses},
    {"calls-that-cross", calls_that_cross},
    {"anothers-child", anothers_child},
    {"rare-losses", rare_losses},
    {"registrations", registrations},
};

/* --- The two --------------------------------------------------------------------------------- */

static void say(int fd)
{
	if (write(fd, "", 1) != 1)
		give_up("write");
}

static void hear(int fd)
{
	char c;

	if (read(fd, &c, 1) != 1)
		give_up("read");
}

static _Noreturn void be_honest(int from, int to)
{
	static struct provider p;

	provider_enter(&p, "honest", "honest");
	record(&p, ROUND);
	say(to);
	hear(from);
	record(&p, ROUND);
	exit(0);
}

static _Noreturn void be_liar(void (*tell)(struct provider *p))
{
	static struct provider p;

	provider_enter(&p, "liar", "before");
	record(&p, 2);
	tell(&p);
	exit(0);
}

static void reap(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) != pid || status != 0)
		exit(1);
}

/* A connection of who has ended since, and whose number the honest one has now: what comes by it is not the honest one's
 * next program. Status 77: the next number cannot be chosen. */
static void play_number(void)
{
	const struct fx_msg_bring message = {
	    .header = {FX_MESSAGE_MAGIC, FX_MESSAGE_VERSION, FX_MSG_BRING}, .name = "liar"};
	int there[2], back[2], go[2];
	pid_t before;
	FILE *last;

	if (pipe(there) < 0 || pipe(back) < 0 || pipe(go) < 0)
		give_up("pipe");
	before = fork();
	if (before == 0) {
		int fd = manager_connect();

		if (fork() == 0) {
			hear(go[0]);
			if (send(fd, &message, sizeof(message), 0) != sizeof(message))
				give_up("send");
		}
		_exit(0);
	}
	reap(before);
	last = fopen("/proc/sys/kernel/ns_last_pid", "w");
	if (!last || fprintf(last, "%d", (int)before - 1) < 0 || fclose(last) != 0)
		exit(77);
	honest = fork();
	if (honest == 0)
		be_honest(there[0], back[1]);
	hear(back[0]);
	say(go[1]);
	wait_for_look();
	say(there[1]);
	reap(honest);
	exit(honest == before ? 0 : 77);
}

static void play(void (*tell)(struct provider *p))
{
	int there[2], back[2];
	pid_t liar;

	if (pipe(there) < 0 || pipe(back) < 0)
		give_up("pipe");
	honest = fork();
	if (honest == 0)
		be_honest(there[0], back[1]);
	close(back[1]);
	hear(back[0]);
	liar = fork();
	if (liar == 0)
		be_liar(tell);
	reap(liar);
	say(there[1]);
	reap(honest);
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "--number") == 0)
		play_number();
	for (size_t i = 0; argc == 2 && i < sizeof(lies) / sizeof(lies[0]); i++) {
		if (strcmp(argv[1], lies[i].name) == 0) {
			play(lies[i].tell);
			return 0;
		}
	}
	if (argc != 1)
		return 2;
	for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++)
		puts(lies[i].name);
	return 0;
}
