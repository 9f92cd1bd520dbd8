/* SPDX-License-Identifier: MIT */
#include "preload/show/epolls.h"

#include "base/atomic.h"
#include "preload/show/args.h"
#include "preload/show/fdtable.h"

/* In `word' epfd, fd and the age of fd's entry in the table of descriptors, the lowest bit set; 0: empty. A
 * forked child has a copy, and finds ages that have begun anew: then nothing is known. */
static struct slot {
	uint64_t data, word;
} slots[1024] FX_LARGE;

#define SEVERAL 0xffffu /* in place of fd */

static struct slot *slot_of(int epfd, uint64_t data)
{
	const uint64_t mixed = (data ^ (uint64_t)(unsigned)epfd << 48) * 0x9e3779b97f4a7c15u;

	return &slots[mixed >> 54];
}

static uint64_t word_of(int epfd, unsigned fd, uint32_t age)
{
	return (uint64_t)(uint16_t)epfd << 48 | (uint64_t)fd << 32 | age << 1 | 1;
}

static unsigned fd_of(uint64_t word)
{
	return word >> 32 & 0xffff;
}

static bool epolls_is_of(uint64_t word, int epfd)
{
	return word && word >> 48 == (uint16_t)epfd;
}

static bool epolls_is_open(uint64_t word)
{
	const unsigned fd = fd_of(word);

	return fd == SEVERAL || word == word_of((int)(word >> 48), fd, fx_fd_age((int)fd));
}

void fx_epoll_remember(int epfd, int fd, uint64_t data)
{
	struct slot *slot = slot_of(epfd, data);
	const uint64_t word = fx_load_relaxed(&slot->word);
	unsigned shown = (unsigned)fd;

	if (fd < 0 || fd >= (int)SEVERAL || epfd < 0 || epfd >= (int)SEVERAL)
		return;
	if (fx_load_relaxed(&slot->data) == data && epolls_is_of(word, epfd) &&
	    fd_of(word) != shown && epolls_is_open(word))
		shown = SEVERAL;
	/* relaxed: a thread that reads a half of each shows the data, or another descriptor of the same epoll */
	fx_store_relaxed(&slot->word, 0);
	fx_store_relaxed(&slot->data, data);
	fx_store_relaxed(&slot->word, word_of(epfd, shown, fx_fd_age(fd)));
}

int fx_epoll_find(int epfd, uint64_t data)
{
	const struct slot *slot = slot_of(epfd, data);
	const uint64_t word = fx_load_relaxed(&slot->word);

	if (fx_load_relaxed(&slot->data) != data || !epolls_is_of(word, epfd) ||
	    fd_of(word) == SEVERAL || !epolls_is_open(word))
		return -1;
	return (int)fd_of(word);
}

void fx_arg_epoll_ready(struct fx_call *call, unsigned name, const struct epoll_event *events,
			int epfd, int count)
{
	char buffer[FX_FLAGS_TEXT];
	struct fx_text t = FX_TEXT(buffer);

	if (!events || call->error || count <= 0)
		return;
	for (int i = 0; i < count && t.at < t.end; i++) {
		const int fd = fx_epoll_find(epfd, events[i].data.u64);

		if (i)
			fx_text_char(&t, ' ');
		if (fd >= 0) {
			fx_text_signed(&t, fd);
		} else {
			fx_text_char(&t, '(');
			fx_text_epoll_data(&t, events[i].data.u64);
			fx_text_char(&t, ')');
		}
		fx_text_char(&t, ':');
		fx_text_flags(&t, FX_NAMES(epoll_events), events[i].events);
	}
	fx_text_end(&t);
	fx_arg_bytes(call, name, buffer, fx_text_length(&t));
}
