/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "convert/perfetto/attributes.h"

enum { ATTRIBUTES_MAX = 7 + FX_MISFIT_COUNT };

struct attributes {
	size_t count;
	Fx__Pf__TraceAttribute items[ATTRIBUTES_MAX];
	Fx__Pf__TraceAttribute *list[ATTRIBUTES_MAX];
};

static Fx__Pf__TraceAttribute *attributes_add(struct attributes *attributes, const char *key)
{
	Fx__Pf__TraceAttribute *attribute = &attributes->items[attributes->count];

	fx__pf__trace_attribute__init(attribute);
	attribute->key = (char *)key;
	attributes->list[attributes->count++] = attribute;
	return attribute;
}

static void attributes_add_text(struct attributes *attributes, const char *key, const char *text)
{
	attributes_add(attributes, key)->string_value = (char *)text;
}

static void attributes_add_count(struct attributes *attributes, const char *key, uint64_t count)
{
	Fx__Pf__TraceAttribute *attribute = attributes_add(attributes, key);

	attribute->has_long_value = 1;
	attribute->long_value = (int64_t)count;
}

/* What could not be shown as it was recorded, where there is any. */
static void attributes_add_misfits(struct attributes *attributes,
				   const struct fx_timeline *timeline)
{
	static const char *const keys[] = {
#define FX_ATTRIBUTES_MISFIT_(name, text) "fxtrace_" #name,
	    FX_MISFITS(FX_ATTRIBUTES_MISFIT_)
#undef FX_ATTRIBUTES_MISFIT_
	};

	for (size_t i = 0; i < FX_MISFIT_COUNT; i++) {
		if (timeline->misfits[i] > 0)
			attributes_add_count(attributes, keys[i], timeline->misfits[i]);
	}
}

void fx_attributes_write(struct fx_packets *packets, const struct fx_timeline *timeline)
{
	Fx__Pf__TracePacket packet = FX__PF__TRACE_PACKET__INIT;
	Fx__Pf__TraceAttributes message = FX__PF__TRACE_ATTRIBUTES__INIT;
	struct attributes attributes = {0};

	attributes_add_text(&attributes, "fxtrace_version", PACKAGE_VERSION);
	if (timeline->processes.count > 0 && timeline->processes.items[0]->name)
		attributes_add_text(&attributes, "fxtrace_first_process",
				    timeline->processes.items[0]->name->data);
	if (timeline->first_ts != UINT64_MAX)
		attributes_add_count(&attributes, "fxtrace_duration_ns",
				     timeline->last_ts - timeline->first_ts);
	attributes_add_count(&attributes, "fxtrace_processes", timeline->processes.count);
	attributes_add_count(&attributes, "fxtrace_threads", timeline->threads.count);
	attributes_add_count(&attributes, "fxtrace_notes", timeline->notes.count);
	attributes_add_count(&attributes, "fxtrace_faults", timeline->fault_count);
	attributes_add_misfits(&attributes, timeline);
	message.attribute = attributes.list;
	message.n_attribute = attributes.count;
	packet.trace_attributes = &message;
	fx_packets_write(packets, &packet);
}
