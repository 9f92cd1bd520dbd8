/* SPDX-License-Identifier: MIT */
#include "kernel/interrupts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/event-record.h"
#include "lists/vector.h"

#define NAME_MAX_ 48u

/* Two kinds may be under way on a processor at once: a hard one comes in the middle of soft ones. */
enum interrupt_kind { INTERRUPT_HARD, INTERRUPT_SOFT, INTERRUPT_KINDS };

struct interrupt {
	uint64_t ns; /* 0: none is under way */
	uint32_t number;
	uint32_t tid;
	char name[NAME_MAX_];
};

struct interrupt_cpu {
	struct interrupt under_way[INTERRUPT_KINDS];
};

struct fx_interrupts {
	FX_VECTOR(struct interrupt_cpu) cpus; /* by number */
};

struct fx_interrupts *fx_interrupts_create(void)
{
	return calloc(1, sizeof(struct fx_interrupts));
}

void fx_interrupts_destroy(struct fx_interrupts *interrupts)
{
	if (!interrupts)
		return;
	fx_vector_free(&interrupts->cpus);
	free(interrupts);
}

static struct interrupt *interrupt_of(struct fx_interrupts *interrupts, uint32_t cpu,
				      enum interrupt_kind kind)
{
	size_t more = cpu < interrupts->cpus.count ? 0 : cpu + 1 - interrupts->cpus.count;

	if (cpu > UINT16_MAX || fx_vector_reserve(&interrupts->cpus, more) < 0)
		return NULL;
	if (more)
		memset(interrupts->cpus.items + interrupts->cpus.count, 0,
		       more * sizeof(*interrupts->cpus.items));
	interrupts->cpus.count += more;
	return &interrupts->cpus.items[cpu].under_way[kind];
}

static void hard_name(const struct fx_tracepoint_event *event, char ret[NAME_MAX_])
{
	size_t size;
	const uint8_t *text = fx_tracepoint_array(event, FX_FIELD_IRQ_NAME, &size);

	snprintf(ret, NAME_MAX_, "irq %.*s", text ? (int)strnlen((const char *)text, size) : 0,
		 (const char *)text);
}

/* As the kernel numbers them, which is a part of what it promises (/proc/softirqs). */
static void soft_name(uint32_t number, char ret[NAME_MAX_])
{
	static const char *const names[] = {"HI",	"TIMER",   "NET_TX", "NET_RX",	"BLOCK",
					    "IRQ_POLL", "TASKLET", "SCHED",  "HRTIMER", "RCU"};

	if (number < sizeof(names) / sizeof(names[0]))
		snprintf(ret, NAME_MAX_, "softirq %s", names[number]);
	else
		snprintf(ret, NAME_MAX_, "softirq %u", number);
}

static void interrupt_begin(struct interrupt *i, const struct fx_ring_record *record,
			    uint32_t number)
{
	i->ns = record->ns;
	i->number = number;
	i->tid = record->tid;
}

static void interrupt_end(struct interrupt *i, const struct fx_ring_record *record, uint32_t number)
{
	struct fx_kernel_event event = {
	    .task = {record->pid, record->tid},
	    .ns = i->ns,
	    .category = "kernel:irq",
	    .name = {i->name, strlen(i->name)},
	};

	if (i->ns && i->number == number && i->tid == record->tid && record->ns >= i->ns) {
		fx_event_uint(&event, "duration_ns", record->ns - i->ns);
		fx_event_uint(&event, "cpu", record->cpu);
		if (strncmp(i->name, "irq", 3) == 0)
			fx_event_uint(&event, "irq", number);
		fx_kernel_record_event(&event);
	}
	i->ns = 0;
}

void fx_interrupts_take(struct fx_interrupts *interrupts, const struct fx_tracepoint_event *event,
			const struct fx_ring_record *record)
{
	enum fx_tracepoint which = event->tracepoint;
	bool hard = which == FX_TRACEPOINT_IRQ_ENTRY || which == FX_TRACEPOINT_IRQ_EXIT;
	bool soft = which == FX_TRACEPOINT_SOFTIRQ_ENTRY || which == FX_TRACEPOINT_SOFTIRQ_EXIT;
	static const enum fx_tracepoint_field numbers[FX_TRACEPOINT_COUNT] = {
	    [FX_TRACEPOINT_IRQ_ENTRY] = FX_FIELD_IRQ_NUMBER,
	    [FX_TRACEPOINT_IRQ_EXIT] = FX_FIELD_IRQ_EXIT_NUMBER,
	    [FX_TRACEPOINT_SOFTIRQ_ENTRY] = FX_FIELD_SOFTIRQ_KIND,
	    [FX_TRACEPOINT_SOFTIRQ_EXIT] = FX_FIELD_SOFTIRQ_EXIT_KIND,
	};
	struct interrupt *i;
	uint32_t number;

	if ((!hard && !soft) || !record->tid)
		return;
	i = interrupt_of(interrupts, record->cpu, hard ? INTERRUPT_HARD : INTERRUPT_SOFT);
	number = (uint32_t)fx_tracepoint_value(event, numbers[which], 0);
	if (!i)
		return;
	if (which == FX_TRACEPOINT_IRQ_EXIT || which == FX_TRACEPOINT_SOFTIRQ_EXIT) {
		interrupt_end(i, record, number);
		return;
	}
	interrupt_begin(i, record, number);
	if (hard)
		hard_name(event, i->name);
	else
		soft_name(number, i->name);
}
