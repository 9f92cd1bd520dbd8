/* SPDX-License-Identifier: MIT */
/* Numbers as they stand in unwind tables (DWARF 5, section 7.6; LSB, "DWARF Exception Header Encoding"). */
#ifndef FX_PRELOAD_DWARF_H
#define FX_PRELOAD_DWARF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* How a pointer is encoded: its size and sign, and what it is relative to. */
#define DW_EH_PE_omit	  0xff
#define DW_EH_PE_absptr	  0x00
#define DW_EH_PE_udata2	  0x02
#define DW_EH_PE_udata4	  0x03
#define DW_EH_PE_udata8	  0x04
#define DW_EH_PE_sdata2	  0x0a
#define DW_EH_PE_sdata4	  0x0b
#define DW_EH_PE_sdata8	  0x0c
#define DW_EH_PE_pcrel	  0x10
#define DW_EH_PE_datarel  0x30
#define DW_EH_PE_indirect 0x80

/* A place in the tables; past `end` it stays there and `bad` is set. */
struct fx_dwarf {
	const uint8_t *at, *end;
	bool bad;
};

static inline uint64_t fx_dwarf_bytes(struct fx_dwarf *c, size_t size)
{
	uint64_t value = 0;

	if ((size_t)(c->end - c->at) < size) {
		c->bad = true;
		c->at = c->end;
		return 0;
	}
	memcpy(&value, c->at, size);
	c->at += size;
	return value;
}

/* A number in seven bits a byte; *ret_sign is where its sign bits begin, 64 or more if it has none. */
static inline uint64_t fx_dwarf_leb(struct fx_dwarf *c, unsigned *ret_sign)
{
	uint64_t value = 0, byte;
	unsigned shift = 0;

	do {
		byte = fx_dwarf_bytes(c, 1);
		if (shift < 64)
			value |= (byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	*ret_sign = byte & 0x40 ? shift : 64;
	return value;
}

static inline uint64_t fx_dwarf_uleb(struct fx_dwarf *c)
{
	unsigned sign;

	return fx_dwarf_leb(c, &sign);
}

static inline int64_t fx_dwarf_sleb(struct fx_dwarf *c)
{
	unsigned sign;
	uint64_t value = fx_dwarf_leb(c, &sign);

	return (int64_t)(sign < 64 ? value | ~UINT64_C(0) << sign : value);
}

/* A pointer; `data` is what DW_EH_PE_datarel is relative to. */
uint64_t fx_dwarf_encoded(struct fx_dwarf *c, uint8_t encoding, const uint8_t *data);

#endif
