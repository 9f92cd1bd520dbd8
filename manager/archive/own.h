/* SPDX-License-Identifier: MIT */
/*
 * What the manager's own records are made of: texts, which stay with their owner until the record is written, and
 * arguments.
 */
#ifndef FX_MANAGER_OWN_H
#define FX_MANAGER_OWN_H

#include <stdint.h>
#include <string.h>

#include "format/encode.h"

static inline struct fxt_string fx_own_text(const char *s)
{
	return fx_string_inline(s, strlen(s));
}

static inline struct fxt_arg fx_own_int32(const char *name, int32_t value)
{
	return (struct fxt_arg){.type = FXT_ARG_INT32, .name = fx_own_text(name), .int32 = value};
}

/* A process or a thread. */
static inline struct fxt_arg fx_own_pid(const char *name, uint32_t pid)
{
	return fx_own_int32(name, (int32_t)pid);
}

static inline struct fxt_arg fx_own_int64(const char *name, int64_t value)
{
	return (struct fxt_arg){.type = FXT_ARG_INT64, .name = fx_own_text(name), .int64 = value};
}

static inline struct fxt_arg fx_own_uint64(const char *name, uint64_t value)
{
	return (struct fxt_arg){.type = FXT_ARG_UINT64, .name = fx_own_text(name), .uint64 = value};
}

static inline struct fxt_arg fx_own_pointer(const char *name, uint64_t value)
{
	return (struct fxt_arg){
	    .type = FXT_ARG_POINTER, .name = fx_own_text(name), .uint64 = value};
}

static inline struct fxt_arg fx_own_string(const char *name, const char *value)
{
	return (struct fxt_arg){
	    .type = FXT_ARG_STRING, .name = fx_own_text(name), .string = fx_own_text(value)};
}

#endif
