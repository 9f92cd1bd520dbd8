/* SPDX-License-Identifier: MIT */
/* The kernel's maps and programs of BPF (bpf(2)): what is made is a descriptor, and ends with it. */
#ifndef FX_KERNEL_BPF_H
#define FX_KERNEL_BPF_H

#include <stdint.h>

#include "kernel/insns.h"

/* Of a type (enum bpf_map_type), with so many bytes of a key and of a value; or -errno. */
int fx_bpf_map(uint32_t type, uint32_t key, uint32_t value, uint32_t entries);

/* 0 or -errno: with a key of as many bytes as the map has; the last: -EEXIST where the key has a value. */
int fx_bpf_map_put(int map, uint32_t key, uint32_t value);
int fx_bpf_map_put_bytes(int map, const void *key, uint32_t value);
int fx_bpf_map_add(int map, uint32_t key, uint32_t value);

/* A value of eight bytes; 0: there is none. */
uint64_t fx_bpf_map_get(int map, uint32_t key);

/* Of a type (enum bpf_prog_type). */
int fx_bpf_program(uint32_t type, const struct fx_insns *code);

/* It runs at a raw tracepoint as long as this is open. */
int fx_bpf_link_raw(int program, const char *tracepoint);

/* The same at a tracepoint by its number, before the records of it are written: it returns whether they are to be. */
int fx_bpf_link_point(int program, uint32_t number);

/* How often a program was not run since it would have come in the middle of one, whichever thread it would have run for: at raw tracepoints since
 * Linux 6.1, before which they run even then; at others since 6.7, before which they are passed over all the same and nobody counts. */
uint64_t fx_bpf_missed(int program);

#endif
