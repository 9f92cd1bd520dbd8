/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "manager/archive/transfer-names.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char udp[] = "udp ", unix_datagram[] = "unix datagram",
		  event[] = "anon_inode:[eventfd] ";

/* --- Addresses -------------------------------------------------------------------------------- */

void fx_transfer_address_plain(const char *address, size_t length, char *ret, size_t size)
{
	static const char mapped[] = "[::ffff:";
	const char *bracket = memchr(address, ']', length);
	size_t head = sizeof(mapped) - 1;

	if (bracket && length > head && memcmp(address, mapped, head) == 0 &&
	    memchr(address, '.', length))
		snprintf(ret, size, "%.*s%.*s", (int)(bracket - address) - (int)head,
			 address + head, (int)(address + length - bracket) - 1, bracket + 1);
	else
		snprintf(ret, size, "%.*s", (int)length, address);
}

bool fx_transfer_address_is_of(const char *address, const char *host)
{
	return strncmp(address, host, strlen(host)) == 0;
}

const char *fx_transfer_address_port(const char *address)
{
	const char *colon = strrchr(address, ':');

	return colon ? colon + 1 : "0";
}

/* --- Sockets for datagrams --------------------------------------------------------------------- */

/* Behind the kind: "OWN", "OWN->PEER", "->PEER", or nothing. */
const char *fx_transfer_address_arrow(const char *rest)
{
	return strstr(rest, "->");
}

/* Behind the kind, in `rest'; FX_TRANSFER_PIPE: it is no socket for datagrams. */
static enum fx_transfer_kind datagram_kind(const char **rest)
{
	if (strncmp(*rest, udp, sizeof(udp) - 1) == 0) {
		*rest += sizeof(udp) - 1;
		return FX_TRANSFER_UDP;
	}
	if (strncmp(*rest, unix_datagram, sizeof(unix_datagram) - 1) != 0)
		return FX_TRANSFER_PIPE;
	*rest += sizeof(unix_datagram) - 1;
	if (**rest == ' ')
		(*rest)++;
	if (fx_transfer_address_arrow(*rest) &&
	    (fx_transfer_address_is_of(fx_transfer_address_arrow(*rest), "->socket:[") ||
	     fx_transfer_address_is_of(fx_transfer_address_arrow(*rest), "->pid ")))
		return FX_TRANSFER_PIPE;
	return FX_TRANSFER_DATAGRAM;
}

static bool read_datagram(const char *rest, struct fx_transfer_end *ret)
{
	enum fx_transfer_kind kind = datagram_kind(&rest);
	const char *arrow = fx_transfer_address_arrow(rest);
	size_t length = arrow ? (size_t)(arrow - rest) : strlen(rest);
	char own[FX_TRANSFER_ADDRESS_MAX];

	if (kind == FX_TRANSFER_PIPE)
		return false;
	ret->kind = kind;
	if (length == 0 || length >= sizeof(own))
		return true;
	fx_transfer_address_plain(rest, length, own, sizeof(own));
	if (kind == FX_TRANSFER_DATAGRAM || strcmp(fx_transfer_address_port(own), "0") != 0)
		ret->bound = strdup(own);
	return true;
}

/* --- Others ----------------------------------------------------------------------------------- */

/* "OWN->PEER": both ends meet by the same text. */
static void read_tcp(const char *rest, const char *arrow, struct fx_transfer_end *ret)
{
	char own[FX_TRANSFER_NAME_MAX], peer[FX_TRANSFER_NAME_MAX],
	    text[2 * FX_TRANSFER_NAME_MAX + 8];

	fx_transfer_address_plain(rest, (size_t)(arrow - rest), own, sizeof(own));
	fx_transfer_address_plain(arrow + 2, strlen(arrow + 2), peer, sizeof(peer));
	ret->connects = strcmp(own, peer) < 0;
	if (strcmp(own, peer) == 0)
		return; /* connected with itself */
	snprintf(text, sizeof(text), "tcp %s %s", ret->connects ? own : peer,
		 ret->connects ? peer : own);
	ret->meets = strdup(text);
}

/* "PATH->pid PID", or "->PATH of pid PID": they meet by path and the process that has connected. */
static void read_unix(const char *rest, const char *arrow, const char *kind,
		      struct fx_transfer_end *ret)
{
	char text[FX_TRANSFER_NAME_MAX + 40];
	const char *of = strstr(arrow, " of pid ");

	if (sscanf(arrow, "->socket:[%" SCNu64 "]", &ret->peer_inode) == 1)
		return;
	if (strncmp(arrow, "->pid ", 6) == 0 && arrow > rest) {
		ret->connector = (uint32_t)strtoul(arrow + 6, NULL, 10);
		snprintf(text, sizeof(text), "%s %.*s", kind, (int)(arrow - rest), rest);
	} else if (of && arrow == rest) {
		ret->connects = true;
		snprintf(text, sizeof(text), "%s %.*s", kind, (int)(of - arrow - 2), arrow + 2);
	} else {
		return;
	}
	ret->meets = strdup(text);
}

/* Behind "socket:[INODE] ". False: no channel, not yet perhaps. */
static bool read_socket(const char *rest, struct fx_transfer_end *ret)
{
	static const struct {
		const char *word;
		enum fx_transfer_kind kind;
	} kinds[] = {
	    {"unix stream", FX_TRANSFER_STREAM},
	    {"unix seqpacket", FX_TRANSFER_MESSAGES},
	    {"unix datagram", FX_TRANSFER_MESSAGES},
	};
	const char *arrow = strstr(rest, "->");

	if (read_datagram(rest, ret))
		return true;
	if (strncmp(rest, "tcp", 3) == 0 && (rest[3] == ' ' || rest[3] == 0)) {
		ret->kind = FX_TRANSFER_TCP;
		if (arrow)
			read_tcp(rest + 4, arrow, ret);
		return arrow != NULL;
	}
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		size_t length = strlen(kinds[i].word);

		if (strncmp(rest, kinds[i].word, length) != 0)
			continue;
		ret->kind = kinds[i].kind;
		ret->is_unix = true;
		rest += length;
		if (arrow)
			read_unix(rest + (*rest == ' '), arrow, kinds[i].word, ret);
		return arrow != NULL;
	}
	return false;
}

/* "PID-TICKS", or "PID-TICKS semaphore". */
static bool read_event(const char *rest, struct fx_transfer_end *ret)
{
	uint64_t ticks;
	uint32_t pid;
	int length = 0;

	if (sscanf(rest, "%" SCNu32 "-%" SCNu64 "%n", &pid, &ticks, &length) != 2)
		return false;
	ret->kind = FX_TRANSFER_EVENT;
	ret->is_semaphore = strcmp(rest + length, " semaphore") == 0;
	snprintf(ret->name, sizeof(ret->name), "event:[%" PRIu32 "-%" PRIu64 "]", pid, ticks);
	return rest[length] == 0 || ret->is_semaphore;
}

bool fx_transfer_name_read(const char *name, size_t length, struct fx_transfer_end *ret)
{
	const char *bracket = memchr(name, ']', length);
	char text[FX_TRANSFER_NAME_MAX];
	size_t head;

	if (!bracket || length >= sizeof(text))
		return false;
	head = (size_t)(bracket - name) + 1;
	if (head >= sizeof(ret->name))
		return false;
	memcpy(ret->name, name, head);
	memcpy(text, name, length);
	text[length] = 0;
	ret->kind = FX_TRANSFER_PIPE;
	if (strncmp(text, event, sizeof(event) - 1) == 0)
		return read_event(text + sizeof(event) - 1, ret);
	if (strncmp(text, "pipe:[", 6) == 0)
		return length == head;
	if (strncmp(text, "fifo:[", 6) == 0) {
		ret->whole = strdup(text + head);
		return ret->whole != NULL;
	}
	return strncmp(text, "socket:[", 8) == 0 && text[head] == ' ' &&
	       read_socket(text + head + 1, ret);
}
