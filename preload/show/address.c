/* SPDX-License-Identifier: MIT */
#include "preload/show/address.h"

#include <arpa/inet.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/un.h>

#include "preload/names.h"

static void text_inet(struct fx_text *t, const struct sockaddr_in *in)
{
	uint32_t address = ntohl(in->sin_addr.s_addr);

	for (int shift = 24; shift >= 0; shift -= 8) {
		fx_text_number(t, address >> shift & 0xff, 10);
		fx_text_char(t, shift ? '.' : ':');
	}
	fx_text_number(t, ntohs(in->sin_port), 10);
}

/* The longest row of at least two zero groups, which is written as "::"; length 0 if none. */
static unsigned longest_zeros(const uint16_t group[8], unsigned *ret_first)
{
	unsigned best = 1, run = 0;

	*ret_first = 8;
	for (unsigned i = 0; i < 8; i++) {
		run = group[i] ? 0 : run + 1;
		if (run > best) {
			best = run;
			*ret_first = i + 1 - run;
		}
	}
	return *ret_first < 8 ? best : 0;
}

static void text_inet6(struct fx_text *t, const struct sockaddr_in6 *in)
{
	uint16_t group[8];
	unsigned first, zeros;

	for (unsigned i = 0; i < 8; i++)
		group[i] = (uint16_t)(in->sin6_addr.s6_addr[2 * i] << 8 |
				      in->sin6_addr.s6_addr[2 * i + 1]);
	zeros = longest_zeros(group, &first);
	fx_text_char(t, '[');
	for (unsigned i = 0; i < 8; i++) {
		if (i == first) {
			fx_text_string(t, "::");
			i += zeros - 1;
			continue;
		}
		if (i && i != first + zeros)
			fx_text_char(t, ':');
		fx_text_number(t, group[i], 16);
	}
	fx_text_string(t, "]:");
	fx_text_number(t, ntohs(in->sin6_port), 10);
}

static void text_unix(struct fx_text *t, const struct sockaddr_un *un, size_t length)
{
	size_t bytes = length - offsetof(struct sockaddr_un, sun_path);

	if (bytes > sizeof un->sun_path)
		bytes = sizeof un->sun_path;
	if (bytes &&
	    !un->sun_path[0]) { /* abstract: all bytes count, the first one is shown as @ */
		fx_text_char(t, '@');
		fx_text_bytes(t, un->sun_path + 1, bytes - 1);
	} else {
		fx_text_bytes(t, un->sun_path, strnlen(un->sun_path, bytes));
	}
}

void fx_text_family(struct fx_text *t, int family)
{
	const char *name = fx_name_of(FX_NAMES(sock_domain), (uint32_t)family);

	fx_text_string(t, name ?: "family ");
	if (!name)
		fx_text_number(t, (unsigned)family, 10);
}

static void text_netlink(struct fx_text *t, const struct sockaddr_nl *nl)
{
	fx_text_string(t, "AF_NETLINK pid ");
	fx_text_number(t, nl->nl_pid, 10);
	if (nl->nl_groups) {
		fx_text_string(t, " groups 0x");
		fx_text_number(t, nl->nl_groups, 16);
	}
}

void fx_text_sockaddr(struct fx_text *t, const struct sockaddr *addr, size_t length)
{
	if (length >= sizeof(struct sockaddr_in) && addr->sa_family == AF_INET)
		text_inet(t, (const void *)addr);
	else if (length >= sizeof(struct sockaddr_in6) && addr->sa_family == AF_INET6)
		text_inet6(t, (const void *)addr);
	else if (length >= offsetof(struct sockaddr_un, sun_path) && addr->sa_family == AF_UNIX)
		text_unix(t, (const void *)addr, length);
	else if (length >= sizeof(struct sockaddr_nl) && addr->sa_family == AF_NETLINK)
		text_netlink(t, (const void *)addr);
	else if (length >= sizeof addr->sa_family)
		fx_text_family(t, addr->sa_family);
}
