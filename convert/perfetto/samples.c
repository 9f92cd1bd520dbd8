/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdlib.h>

#include "convert/perfetto/samples.h"

#include "convert/perfetto/stacks.h"
#include "convert/perfetto/tracks.h"
#include "convert/sample.h"

/* Profiling.CpuMode of Perfetto's */
enum { MODE_KERNEL = 1, MODE_USER = 2 };

bool fx_samples_take(struct fx_samples *samples, const struct fx_event *event)
{
	const struct fxt_string *stack = fx_sample_stack(event);
	const struct fx_thread_key *key = &event->thread->key;

	if (!stack || !stack->serial || !fx_is_linux_id(key->pid) || !fx_is_linux_id(key->tid))
		return false;
	if (fx_vector_reserve(&samples->list, 1) < 0) {
		samples->error = -ENOMEM;
		return true;
	}
	samples->list.items[samples->list.count++] = (struct fx_samples_entry){
	    event->ts, (uint32_t)key->pid, (uint32_t)key->tid, stack->serial};
	return true;
}

static int samples_in_time(const void *a, const void *b)
{
	const struct fx_samples_entry *left = a, *right = b;

	return left->ts < right->ts ? -1 : left->ts > right->ts;
}

static void samples_put(struct fx_packets *packets, const struct fx_samples_entry *entry)
{
	const struct fx_text *text = fx_texts_get(packets->strings, entry->stack);
	Fx__Pf__TracePacket packet = FX__PF__TRACE_PACKET__INIT;
	Fx__Pf__PerfSample sample = FX__PF__PERF_SAMPLE__INIT;

	fx_stacks_name(packets, entry->stack);
	sample.has_cpu = sample.has_pid = sample.has_tid = 1; /* of all processors one profile */
	sample.pid = entry->pid;
	sample.tid = entry->tid;
	sample.has_callstack_iid = 1;
	sample.callstack_iid = entry->stack;
	sample.has_cpu_mode = 1;
	sample.cpu_mode = fx_sample_in_kernel(text->data, text->length) ? MODE_KERNEL : MODE_USER;
	packet.perf_sample = &sample;
	fx_packets_write_next(packets, entry->ts, &packet);
}

void fx_samples_write(struct fx_samples *samples, struct fx_packets *packets)
{
	if (samples->list.count == 0 || samples->error)
		return;
	qsort(samples->list.items, samples->list.count, sizeof(*samples->list.items),
	      samples_in_time);
	fx_packets_begin_sequence(packets, 0, samples->list.items[0].ts);
	for (size_t i = 0; i < samples->list.count; i++)
		samples_put(packets, &samples->list.items[i]);
}

void fx_samples_free(struct fx_samples *samples)
{
	fx_vector_free(&samples->list);
}
