/* SPDX-License-Identifier: MIT */
/* Intel's manual, volume 2, "NOP": one byte, 90, or 0f 1f with an address that is not looked at; either behind prefixes. */
#include "preload/hooks/nops.h"

#include <stdbool.h>
#include <string.h>

#if defined(__x86_64__)

#define PREFIXES_MAX 11u /* an instruction has 15 bytes at most */

#define SLED_OVER 9u /* bytes that clang's sled of 11 jumps over */

/* Bytes of the address behind 0f 1f; 0: it is another instruction. */
static size_t nop_address(const uint8_t *at, size_t size)
{
	uint8_t form, mode;
	size_t length = 1;

	if (size == 0 || (at[0] & 0x38))
		return 0;
	form = at[0] & 7;
	mode = at[0] >> 6;
	if (mode == 3)
		return length;
	if (form == 4) { /* a second byte, and with this base four more */
		if (size < 2)
			return 0;
		length = (mode == 0 && (at[1] & 7) == 5) ? 6 : 2;
	} else if (mode == 0 && form == 5) {
		length = 5;
	}
	return length + (mode == 1 ? 1 : mode == 2 ? 4 : 0);
}

/* Bytes of the no-op at `at`; 0: there is none. */
static size_t nop_length(const uint8_t *at, size_t size)
{
	size_t prefixes = 0, address;

	while (prefixes < size && prefixes < PREFIXES_MAX &&
	       (at[prefixes] == 0x66 || at[prefixes] == 0x2e))
		prefixes++;
	at += prefixes;
	size -= prefixes;
	if (size >= 1 && at[0] == 0x90)
		return prefixes + 1;
	if (size < 3 || at[0] != 0x0f || at[1] != 0x1f)
		return 0;
	address = nop_address(at + 2, size - 2);
	return address && address <= size - 2 ? prefixes + 2 + address : 0;
}

/* Bytes of whole no-ops, `enough` of them or a few more; 0: there are less. */
static size_t nops_length(const uint8_t *at, size_t size, size_t enough)
{
	size_t length = 0;

	while (length < enough) {
		size_t one = nop_length(at + length, size - length);

		if (one == 0)
			return 0;
		length += one;
	}
	return length;
}

static size_t room_size(const uint8_t *at, size_t size)
{
	if (size >= 2 + SLED_OVER && at[0] == FX_NOPS_SLED && at[1] == SLED_OVER &&
	    nops_length(at + 2, SLED_OVER, SLED_OVER) == SLED_OVER)
		return 2 + SLED_OVER;
	return nops_length(at, size, FX_NOPS_CALL);
}

static bool begins_with(const uint8_t *code, size_t size, const uint8_t *what, size_t length)
{
	return size >= length && memcmp(code, what, length) == 0;
}

uint8_t *fx_nops_room(uint8_t *code, size_t size, size_t *ret_size)
{
	static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa}, push_r10[] = {0x41, 0x52};

	if (begins_with(code, size, endbr64, sizeof(endbr64))) {
		code += sizeof(endbr64);
		size -= sizeof(endbr64);
	}
	if (begins_with(code, size, push_r10, sizeof(push_r10))) {
		code += sizeof(push_r10);
		size -= sizeof(push_r10);
	}
	*ret_size = room_size(code, size);
	return *ret_size ? code : NULL;
}

#else

uint8_t *fx_nops_room(uint8_t *code, size_t size, size_t *ret_size)
{
	(void)code;
	(void)size;
	*ret_size = 0;
	return NULL;
}

#endif
