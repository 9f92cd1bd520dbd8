/* SPDX-License-Identifier: MIT */
/* Connects to a socket whose queue is full: the first segments are dropped, and sent again; and sends datagrams to one that has no room for
 * them. Prints the port, and how many were sent again and dropped, as the kernel counts them. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* How many of 40 datagrams had no room. */
static unsigned overflow(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int to = socket(AF_INET, SOCK_DGRAM, 0), from = socket(AF_INET, SOCK_DGRAM, 0), room = 1;
	unsigned counts[SK_MEMINFO_VARS] = {0};
	socklen_t size = sizeof(address), length = sizeof(counts);
	char bytes[1000] = "";

	setsockopt(to, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room));
	if (bind(to, (struct sockaddr *)&address, size) < 0 ||
	    getsockname(to, (struct sockaddr *)&address, &size) < 0)
		return 0;
	for (unsigned i = 0; i < 40; i++)
		sendto(from, bytes, sizeof(bytes), 0, (struct sockaddr *)&address, size);
	getsockopt(to, SOL_SOCKET, SO_MEMINFO, counts, &length);
	return counts[SK_MEMINFO_DROPS];
}

int main(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM, 0), fds[4];
	unsigned again = 0;

	if (bind(listener, (struct sockaddr *)&address, size) < 0 || listen(listener, 0) < 0 ||
	    getsockname(listener, (struct sockaddr *)&address, &size) < 0)
		return 1;
	for (unsigned i = 0; i < 4; i++) {
		fds[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
		connect(fds[i], (struct sockaddr *)&address, size);
	}
	usleep(2500000);
	for (unsigned i = 0; i < 4; i++) {
		struct tcp_info info;
		socklen_t length = sizeof(info);

		if (getsockopt(fds[i], IPPROTO_TCP, TCP_INFO, &info, &length) == 0)
			again += info.tcpi_total_retrans;
		close(fds[i]); /* nothing more is sent */
	}
	printf("port %u\nagain %u\ndropped %u\n", ntohs(address.sin_port), again, overflow());
	return 0;
}
