/* SPDX-License-Identifier: MIT */
/* Which ends of channels, as descriptors are called, are each other's peers; and where datagrams and messages of queues go. */
#include <string.h>

#include <criterion/criterion.h>

#include "manager/archive/transfer-boxes.h"
#include "manager/archive/transfer-ends.h"
#include "manager/archive/transfer-meets.h"
#include "manager/archive/transfer-queues.h"

static struct fx_transfer_ends ends;

static void setup(void)
{
	fx_transfer_ends_init(&ends);
}

static void teardown(void)
{
	fx_transfer_ends_free(&ends);
}

TestSuite(ends, .init = setup, .fini = teardown);

static struct fx_transfer_end *end_of(const char *name, uint32_t pid)
{
	return fx_transfer_end_get(&ends, name, strlen(name), pid);
}

/* An end that was used then. */
static struct fx_transfer_end *used(const char *name, uint32_t pid, uint64_t first, uint64_t last)
{
	struct fx_transfer_end *end = end_of(name, pid);

	cr_assert(end, "%s", name);
	end->first = first;
	end->last = last;
	return end;
}

static struct fx_transfer_end *box_of(struct fx_transfer_end *from, const char *name,
				      const char *address)
{
	return fx_transfer_box_get(&ends, from, name, strlen(name), address,
				   address ? strlen(address) : 0);
}

static void expect_peers(const struct fx_transfer_end *a, const struct fx_transfer_end *b)
{
	cr_expect(a != b && a->peer == b && b->peer == a);
	cr_expect(!a->is_odd && !a->is_shared && !b->is_odd && !b->is_shared);
}

Test(ends, what_is_no_channel)
{
	static const char *const names[] = {"/var/log/syslog",
					    "/pipe:[1]",
					    "pipe:[1",
					    "pipe:[1] x",
					    "anon_inode:[9]",
					    "anon_inode:[eventfd]",
					    "anon_inode:[eventfd] 5",
					    "anon_inode:[eventfd] 5-6 x",
					    "socket:[4] tcp 0.0.0.0:0",
					    "socket:[4] tcp 0.0.0.0:80 listening",
					    "socket:[4] unix stream /x",
					    "socket:[4] netlink raw",
					    "socket:[4]",
					    "",
					    "]"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		cr_expect(!end_of(names[i], 1), "%s", names[i]);
}

Test(ends, a_pipe_is_its_own_peer)
{
	struct fx_transfer_end *pipe = end_of("pipe:[10]", 1), *fifo = end_of("fifo:[11] /a", 1);

	cr_expect_eq(end_of("pipe:[10]", 2), pipe);
	cr_expect_eq(end_of("fifo:[11] /a", 2), fifo);
	fx_transfer_ends_join(&ends);
	cr_expect(pipe->peer == pipe && !pipe->is_odd);
	cr_expect(fifo->peer == fifo && !fifo->is_odd);
}

Test(ends, an_eventfd_is_its_own_peer)
{
	struct fx_transfer_end *event = end_of("anon_inode:[eventfd] 5-6", 1);
	struct fx_transfer_end *other = end_of("anon_inode:[eventfd] 5-7 semaphore", 1);

	cr_assert(event && other && event != other);
	cr_expect_eq(end_of("anon_inode:[eventfd] 5-6", 2), event);
	cr_expect(!event->is_semaphore && other->is_semaphore);
	fx_transfer_ends_join(&ends);
	cr_expect(event->peer == event && !event->is_odd);
}

/* --- Connections ------------------------------------------------------------------------------ */

#define UNCONNECTED "socket:[1] tcp 0.0.0.0:0"

static struct fx_transfer_end *connects(uint64_t begin, enum fx_connects how)
{
	struct fx_transfer call = {.begin = begin, .end = begin + 5, .tid = (uint32_t)begin};
	struct fx_transfer_end *end =
	    fx_transfer_end_connects(&ends, UNCONNECTED, strlen(UNCONNECTED), 1);

	cr_assert(end);
	fx_transfer_meets_connect(end, &call, how);
	return end;
}

Test(ends, who_connects_is_known_before_the_address)
{
	struct fx_transfer_end *end = connects(10, FX_CONNECTS_DONE), *peer;

	cr_expect_eq(end_of("socket:[1] tcp 127.0.0.1:5->127.0.0.1:80", 1), end);
	peer = end_of("socket:[2] tcp 127.0.0.1:80->127.0.0.1:5", 2);
	peer->accepted = (struct fx_transfer){.begin = 1, .end = 20};
	fx_transfer_ends_join(&ends);
	expect_peers(end, peer);
	cr_expect(end->connected.begin == 10 && end->first == 10 && end->last == 15);
	cr_expect(peer->first == 1 && peer->last == 20);
}

/* A call that fails connects nobody; of two which it was is not known, if the first had not ended. */
Test(ends, several_calls_that_connect)
{
	cr_expect_eq(connects(10, FX_CONNECTS_NOT)->connected.end, 0);
	cr_expect_eq(connects(20, FX_CONNECTS_DONE)->connected.begin, 20);
	cr_expect_eq(connects(30, FX_CONNECTS_BEGUN)->connected.begin, 30);
	cr_expect_eq(connects(40, FX_CONNECTS_DONE)->connected.end, 0);
}

Test(ends, what_listens)
{
	static const char listens[] = "socket:[7] tcp 0.0.0.0:80 listening",
			  not [] = "socket:[7] tcp 0.0.0.0:80";
	struct fx_transfer call = {.begin = 1, .end = 2};
	struct fx_transfer_meets meets = {0};

	fx_transfer_meets_add(&meets, not, strlen(not ), &call, NULL);
	cr_expect_eq(meets.meets.count, 0);
	fx_transfer_meets_add(&meets, listens, strlen(listens), &call, NULL);
	cr_assert_eq(meets.meets.count, 1);
	cr_expect_eq(meets.meets.items[0].listener, 7);
	fx_transfer_meets_free(&meets);
}

/* --- Others ----------------------------------------------------------------------------------- */

/* Inodes of other file systems may be the same. */
Test(ends, a_fifo_of_two_paths)
{
	struct fx_transfer_end *fifo = end_of("fifo:[11] /a", 1);

	end_of("fifo:[11] /b", 1);
	cr_expect(fifo->is_odd);
}

Test(ends, addresses_of_tcp_meet)
{
	struct fx_transfer_end *a = used("socket:[1] tcp 127.0.0.1:5->127.0.0.1:80", 1, 1, 9);
	struct fx_transfer_end *b =
	    used("socket:[2] tcp [::ffff:127.0.0.1]:80->[::ffff:127.0.0.1]:5", 2, 2, 9);
	struct fx_transfer_end *other = used("socket:[3] tcp 127.0.0.1:6->127.0.0.1:80", 1, 1, 9);

	fx_transfer_ends_join(&ends);
	expect_peers(a, b);
	cr_expect(!other->peer);
}

Test(ends, a_port_that_is_used_again)
{
	struct fx_transfer_end *a = used("socket:[1] tcp 127.0.0.1:5->127.0.0.1:80", 1, 1, 9);
	struct fx_transfer_end *b = used("socket:[2] tcp 127.0.0.1:80->127.0.0.1:5", 2, 2, 8);
	struct fx_transfer_end *c = used("socket:[3] tcp 127.0.0.1:5->127.0.0.1:80", 1, 11, 19);
	struct fx_transfer_end *d = used("socket:[4] tcp 127.0.0.1:80->127.0.0.1:5", 2, 12, 18);

	fx_transfer_ends_join(&ends);
	expect_peers(a, b);
	expect_peers(c, d);
}

/* As in two network namespaces. */
Test(ends, a_port_that_is_used_twice_at_once)
{
	struct fx_transfer_end *a = used("socket:[1] tcp 127.0.0.1:5->127.0.0.1:80", 1, 1, 9);
	struct fx_transfer_end *b = used("socket:[2] tcp 127.0.0.1:80->127.0.0.1:5", 2, 2, 8);
	struct fx_transfer_end *c = used("socket:[3] tcp 127.0.0.1:5->127.0.0.1:80", 1, 4, 19);
	struct fx_transfer_end *d = used("socket:[4] tcp 127.0.0.1:80->127.0.0.1:5", 2, 5, 18);

	fx_transfer_ends_join(&ends);
	cr_expect(a->is_shared && b->is_shared && c->is_shared && d->is_shared);
}

Test(ends, sockets_of_a_pair)
{
	struct fx_transfer_end *a = end_of("socket:[1] unix stream->socket:[2]", 1);
	struct fx_transfer_end *b = end_of("socket:[2] unix stream->pid 1", 2);

	fx_transfer_ends_join(&ends);
	expect_peers(a, b);
}

Test(ends, a_unix_connection_is_of_who_connected)
{
	struct fx_transfer_end *a = used("socket:[1] unix stream->/s of pid 7", 3, 1, 9);
	struct fx_transfer_end *b = used("socket:[2] unix stream /s->pid 3", 7, 1, 9);
	struct fx_transfer_end *c = used("socket:[3] unix stream->/s of pid 7", 4, 1, 9);
	struct fx_transfer_end *d = used("socket:[4] unix stream /s->pid 4", 7, 1, 9);

	fx_transfer_ends_join(&ends);
	expect_peers(a, b);
	expect_peers(c, d);
}

/* --- Datagrams -------------------------------------------------------------------------------- */

#define CLIENT "socket:[9] udp 0.0.0.0:0"

Test(ends, datagrams_go_to_who_is_bound)
{
	struct fx_transfer_end *from = end_of(CLIENT, 1);
	struct fx_transfer_end *any = end_of("socket:[1] udp 0.0.0.0:53", 2);
	struct fx_transfer_end *exact = end_of("socket:[2] udp 10.0.0.1:54", 2);
	struct fx_transfer_end *six = end_of("socket:[3] udp [::]:55", 2);
	struct fx_transfer_end *box = box_of(from, CLIENT, "127.0.0.1:53");
	struct fx_transfer_end *box_exact = box_of(from, CLIENT, "10.0.0.1:54");
	struct fx_transfer_end *box_six = box_of(from, CLIENT, "[::ffff:127.0.0.1]:55");

	/* An address that may be another machine's. */
	box_of(from, CLIENT, "10.0.0.1:53");
	cr_expect_eq(box_of(from, "socket:[9] udp 127.0.0.1:7->127.0.0.1:53", NULL), box);
	fx_transfer_ends_join(&ends);
	cr_expect(any->peer == box && !box->is_odd && !any->is_odd);
	cr_expect(exact->peer == box_exact && !box_exact->is_odd);
	cr_expect(six->peer == box_six && !box_six->is_odd);
	cr_expect(!from->peer);
}

Test(ends, datagrams_to_another_address_of_the_loopback)
{
	struct fx_transfer_end *from = end_of(CLIENT, 1);
	struct fx_transfer_end *bound = end_of("socket:[1] udp 127.0.0.2:53", 2);

	box_of(from, CLIENT, "127.0.0.1:53");
	fx_transfer_ends_join(&ends);
	cr_expect(!bound->peer);
}

Test(ends, a_port_that_two_are_bound_to)
{
	struct fx_transfer_end *from = end_of(CLIENT, 1), *box;

	end_of("socket:[1] udp 0.0.0.0:53", 2);
	end_of("socket:[2] udp 127.0.0.1:53", 3);
	box = box_of(from, CLIENT, "127.0.0.1:53");
	fx_transfer_ends_join(&ends);
	cr_expect(box->is_odd);
}

Test(ends, a_socket_that_is_bound_when_it_sends)
{
	struct fx_transfer_end *end = end_of(CLIENT, 1);

	cr_expect(!end->bound);
	cr_expect_eq(end_of("socket:[9] udp 0.0.0.0:4000", 1), end);
	cr_expect_str_eq(end->bound, "0.0.0.0:4000");
	end_of("socket:[9] udp 127.0.0.1:4000->127.0.0.1:53", 1);
	cr_expect(!end->is_odd);
	end_of("socket:[9] udp 0.0.0.0:4001", 1);
	cr_expect(end->is_odd);
}

Test(ends, unix_datagrams_go_to_a_path)
{
	struct fx_transfer_end *from = end_of("socket:[9] unix datagram", 1);
	struct fx_transfer_end *to = end_of("socket:[1] unix datagram /run/s", 2);
	struct fx_transfer_end *box = box_of(from, "socket:[9] unix datagram", "/run/s");

	cr_expect_eq(box_of(from, "socket:[9] unix datagram->/run/s", NULL), box);
	cr_expect(!box_of(from, "socket:[9] unix datagram", NULL));
	fx_transfer_ends_join(&ends);
	cr_expect(to->peer == box && !box->is_odd);
}

Test(ends, what_went_anywhere_is_in_all_boxes)
{
	const struct fx_transfer call = {.begin = 5, .end = 9, .bytes = FX_TRANSFER_UNKNOWN};
	struct fx_transfer_end *from = end_of(CLIENT, 1);
	struct fx_transfer_end *a = box_of(from, CLIENT, "127.0.0.1:53");
	struct fx_transfer_end *b = box_of(from, CLIENT, "10.0.0.1:53");

	fx_transfer_box_anywhere(&ends, &call);
	fx_transfer_ends_join(&ends);
	cr_expect_eq(a->written.count, 1);
	cr_expect_eq(b->written.count, 1);
}

/* --- Queues ----------------------------------------------------------------------------------- */

static void queue_read(struct fx_transfer_end *queue)
{
	*(struct fx_transfer *)fx_runs_add(&queue->read) =
	    (struct fx_transfer){.begin = 5, .end = 9, .bytes = 1};
}

Test(ends, each_kind_of_message_is_a_channel)
{
	struct fx_transfer_end *queue = fx_transfer_queue_get(&ends, "msg 1");
	struct fx_transfer_end *one = fx_transfer_queue_channel(&ends, queue, 1);
	struct fx_transfer_end *two = fx_transfer_queue_channel(&ends, queue, 2);
	struct fx_transfer_end *other = fx_transfer_queue_get(&ends, "msg 2");

	cr_expect(one != two && one->peer == one && two->peer == two);
	cr_expect_eq(fx_transfer_queue_channel(&ends, queue, 1), one);
	cr_expect_neq(fx_transfer_queue_channel(&ends, other, 1), one);
	cr_expect_eq(fx_transfer_queue_channel(&ends, queue, FX_TRANSFER_NO_KIND), queue);
	queue_read(queue);
	fx_transfer_ends_join(&ends);
	cr_expect(one->is_odd && two->is_odd);
}

Test(ends, a_kind_that_was_not_asked_for_is_known_if_there_is_one)
{
	struct fx_transfer_end *queue = fx_transfer_queue_get(&ends, "mqueue:[5");
	struct fx_transfer_end *one = fx_transfer_queue_channel(&ends, queue, 0);

	queue_read(queue);
	fx_transfer_ends_join(&ends);
	cr_expect(!one->is_odd);
	cr_expect_eq(one->read.count, 1);
	cr_expect_eq(queue->read.count, 0);
}
