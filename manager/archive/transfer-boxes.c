/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "manager/archive/transfer-boxes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "manager/archive/transfer-names.h"

/* Calls that are noted at every box; with more, nothing is certain. */
#define ANYWHERE_MAX 64u

/* --- Addresses -------------------------------------------------------------------------------- */

static bool is_any(const char *address)
{
	return fx_transfer_address_is_of(address, "0.0.0.0:") ||
	       fx_transfer_address_is_of(address, "[::]:");
}

static bool is_ipv6(const char *address)
{
	return address[0] == '[';
}

/* What is called so is delivered here; `ret' has room for FX_TRANSFER_ADDRESS_MAX. */
static void box_key(const struct fx_transfer_end *end, const char *address, char *ret)
{
	bool is_loopback = fx_transfer_address_is_of(address, "127.") ||
			   fx_transfer_address_is_of(address, "[::1]:") || is_any(address);

	if (end->kind == FX_TRANSFER_DATAGRAM)
		snprintf(ret, FX_TRANSFER_ADDRESS_MAX, "unix %s", address);
	else if (is_loopback)
		snprintf(ret, FX_TRANSFER_ADDRESS_MAX, "lo%d %s", is_ipv6(address) ? 6 : 4,
			 fx_transfer_address_port(address));
	else
		snprintf(ret, FX_TRANSFER_ADDRESS_MAX, "ip %s", address);
}

/* A socket that was bound to any address has one as soon as it is connected. */
void fx_transfer_box_learn(struct fx_transfer_end *end, struct fx_transfer_end *said)
{
	if (!end->bound) {
		end->bound = said->bound;
		said->bound = NULL;
		return;
	}
	if (!said->bound || strcmp(end->bound, said->bound) == 0)
		return;
	if (end->kind != FX_TRANSFER_UDP || strcmp(fx_transfer_address_port(end->bound),
						   fx_transfer_address_port(said->bound)) != 0)
		end->is_odd = true;
}

/* --- Boxes ------------------------------------------------------------------------------------ */

static struct fx_transfer_end *box_find(struct fx_transfer_ends *ends, const char *key)
{
	struct fx_transfer_end *box;

	HASH_FIND_STR(ends->boxes, key, box);
	return box;
}

static struct fx_transfer_end *box_make(struct fx_transfer_ends *ends, const char *key,
					const char *address)
{
	struct fx_transfer_end *box =
	    HASH_COUNT(ends->boxes) < FX_TRANSFER_ENDS_MAX ? malloc(sizeof(*box)) : NULL;

	if (!box)
		return NULL;
	*box = (struct fx_transfer_end){
	    .first = UINT64_MAX, .meets = strdup(key), .bound = strdup(address)};
	if (box->meets && box->bound)
		HASH_ADD_KEYPTR(hh, ends->boxes, box->meets, strlen(box->meets), box);
	if (!box->meets || !box->bound || box->lost) {
		free(box->meets);
		free(box->bound);
		free(box);
		return NULL;
	}
	fx_transfer_end_init(ends, box);
	return box;
}

struct fx_transfer_end *fx_transfer_box_named(struct fx_transfer_ends *ends, const char *key,
					      const char *address)
{
	struct fx_transfer_end *box = box_find(ends, key);

	if (!box)
		box = box_make(ends, key, address);
	if (!box)
		ends->is_full = true;
	return box;
}

struct fx_transfer_end *fx_transfer_box_get(struct fx_transfer_ends *ends,
					    const struct fx_transfer_end *from, const char *name,
					    size_t name_length, const char *address,
					    size_t address_length)
{
	char text[FX_TRANSFER_NAME_MAX], plain[FX_TRANSFER_ADDRESS_MAX],
	    key[FX_TRANSFER_ADDRESS_MAX + 8];
	struct fx_transfer_end *box;
	const char *rest;

	if (!address) {
		if (name_length >= sizeof(text))
			return NULL;
		memcpy(text, name, name_length);
		text[name_length] = 0;
		rest = strstr(text, "] ");
		address = rest ? fx_transfer_address_arrow(rest) : NULL;
		if (!address)
			return NULL;
		address += 2;
		address_length = strlen(address);
	}
	if (address_length == 0 || address_length >= sizeof(plain) - 8)
		return NULL;
	fx_transfer_address_plain(address, address_length, plain, sizeof(plain));
	box_key(from, plain, key);
	box = fx_transfer_box_named(ends, key, plain);
	if (box && strcmp(box->bound, plain) != 0)
		box->is_odd = true;
	return box;
}

void fx_transfer_box_anywhere(struct fx_transfer_ends *ends, const struct fx_transfer *call)
{
	if (ends->anywhere.count == ANYWHERE_MAX || fx_vector_reserve(&ends->anywhere, 1) < 0)
		ends->is_full = ends->is_scattered = true;
	else
		ends->anywhere.items[ends->anywhere.count++] = *call;
}

/* --- Who reads them --------------------------------------------------------------------------- */

/* What goes to a box comes to this end, too, if it is the only one. */
static void box_offer(struct fx_transfer_end *box, struct fx_transfer_end *end)
{
	if (!box || (!is_any(end->bound) && strcmp(box->bound, end->bound) != 0 &&
		     !(is_any(box->bound) && end->kind == FX_TRANSFER_UDP)))
		return;
	if (box->peer && box->peer != end)
		box->is_odd = true;
	if (end->peer && end->peer != box)
		end->is_odd = true;
	end->peer = box;
	if (!box->peer)
		box->peer = end;
}

static void end_find_box(struct fx_transfer_ends *ends, struct fx_transfer_end *end)
{
	char key[FX_TRANSFER_ADDRESS_MAX + 8];

	box_key(end, end->bound, key);
	box_offer(box_find(ends, key), end);
	/* One for IPv6 has IPv4's as well. */
	if (end->kind == FX_TRANSFER_UDP && fx_transfer_address_is_of(end->bound, "[::]:")) {
		snprintf(key, sizeof(key), "lo4 %s", fx_transfer_address_port(end->bound));
		box_offer(box_find(ends, key), end);
	}
}

void fx_transfer_boxes_join(struct fx_transfer_ends *ends)
{
	struct fx_transfer_end *end, *next;

	HASH_ITER (hh, ends->ends, end, next) {
		if (fx_transfer_is_datagram(end) && end->bound)
			end_find_box(ends, end);
	}
	HASH_ITER (hh, ends->boxes, end, next) {
		if (end->is_queue)
			continue;
		for (size_t i = 0; i < ends->anywhere.count; i++) {
			struct fx_transfer *added = fx_runs_add(&end->written);

			if (added)
				*added = ends->anywhere.items[i];
			else
				end->is_odd = true;
		}
		end->is_odd |= ends->is_scattered;
	}
}

void fx_transfer_boxes_free(struct fx_transfer_ends *ends)
{
	struct fx_transfer_end *box, *next;

	HASH_ITER (hh, ends->boxes, box, next) {
		HASH_DEL(ends->boxes, box);
		fx_transfer_end_free(box);
	}
	fx_vector_free(&ends->anywhere);
}
