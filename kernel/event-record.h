/* SPDX-License-Identifier: MIT */
/* The record of a moment of another process's thread, with arguments. As those of kernel/records.h it is written only while tracing
 * runs. */
#ifndef FX_KERNEL_EVENT_RECORD_H
#define FX_KERNEL_EVENT_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/record-text.h"
#include "kernel/task.h"

/* A record has no more. */
#define FX_VALUES_MAX 15u

enum fx_value_kind {
	FX_VALUE_INT,
	FX_VALUE_UINT,
	FX_VALUE_ADDRESS,
	FX_VALUE_TRUE,
	FX_VALUE_TEXT,
};

struct fx_value {
	const char *name; /* a literal, or what lives as long as all records */
	enum fx_value_kind kind;
	uint64_t number;	    /* but of a text */
	struct fx_record_text text; /* what is too long is cut */
};

struct fx_kernel_event {
	struct fx_task task;
	uint64_t ns;
	const char *category;	    /* as names of values */
	struct fx_record_text name; /* what is too long is cut */
	struct fx_value values[FX_VALUES_MAX];
	unsigned count;
};

/* One more value, if there is room. */
void fx_event_int(struct fx_kernel_event *event, const char *name, int64_t value);
void fx_event_uint(struct fx_kernel_event *event, const char *name, uint64_t value);
void fx_event_address(struct fx_kernel_event *event, const char *name, uint64_t value);
void fx_event_true(struct fx_kernel_event *event, const char *name);
void fx_event_text(struct fx_kernel_event *event, const char *name, const char *data,
		   size_t length);

/* Whether one finds room now, if tracing runs; else it would be lost. */
bool fx_kernel_event_has_room(void);

void fx_kernel_record_event(const struct fx_kernel_event *event);

#endif
