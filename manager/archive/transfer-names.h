/* SPDX-License-Identifier: MIT */
/* What the names of descriptors say of channels and addresses. */
#ifndef FX_MANAGER_TRANSFER_NAMES_H
#define FX_MANAGER_TRANSFER_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "manager/archive/transfer-end.h"

/* Bytes of names, and of addresses in them; longer ones are not read. */
#define FX_TRANSFER_NAME_MAX	512u
#define FX_TRANSFER_ADDRESS_MAX 256u

/* Into `ret', which is all zeros; its texts are for free(). False: it is no channel. */
bool fx_transfer_name_read(const char *name, size_t length, struct fx_transfer_end *ret);

/* An address as it reads by IPv4, if it is one. */
void fx_transfer_address_plain(const char *address, size_t length, char *ret, size_t size);

/* Whether it begins with a host, or more of it. */
bool fx_transfer_address_is_of(const char *address, const char *host);

/* "0": it has none. */
const char *fx_transfer_address_port(const char *address);

/* Where the peer begins, of "OWN->PEER", "->PEER" or "OWN"; NULL: it has none. */
const char *fx_transfer_address_arrow(const char *rest);

#endif
