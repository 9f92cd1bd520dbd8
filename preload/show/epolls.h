/* SPDX-License-Identifier: MIT */
/*
 * Which descriptor an event of epoll is about. The kernel tells a program no more than the 64 bits that it
 * gave with the descriptor, so these are remembered when it is added: in a table of fixed size, where a
 * later pair may take the place of an earlier one. What is not found, or was given with two open
 * descriptors, is shown as these bits.
 */
#ifndef FX_PRELOAD_EPOLLS_H
#define FX_PRELOAD_EPOLLS_H

#include <stdint.h>

/* `fd' was added to `epfd', or changed. */
void fx_epoll_remember(int epfd, int fd, uint64_t data);

/* -1: not known. */
int fx_epoll_find(int epfd, uint64_t data);

#endif
