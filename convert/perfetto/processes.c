/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "convert/perfetto/processes.h"
#include "convert/title.h"

/* The kernel's own threads are children of this one, to viewers also in a container, where it may be anybody. */
enum { KTHREADD_PID = 2 };

/* "NAME: TEXT", to be freed; NULL: no memory. */
static char *make_label(struct fx_packets *packets, enum fx_about about, const struct fx_text *text)
{
	size_t size = strlen(fx_about_name(about)) + text->length + sizeof(": ");
	char *label = malloc(size);

	if (label)
		snprintf(label, size, "%s: %s", fx_about_name(about), text->data);
	else
		packets->error = -ENOMEM;
	return label;
}

static uint64_t about_number(const struct fx_process *process, enum fx_about about)
{
	return process->about[about] ? strtoull(process->about[about]->data, NULL, 10) : 0;
}

/* Its track, with labels, which are among its arguments. */
static void process_write_track(struct fx_packets *packets, const struct fx_process *process,
				uint64_t uuid, char *title)
{
	Fx__Pf__TracePacket packet = FX__PF__TRACE_PACKET__INIT;
	Fx__Pf__TrackDescriptor track = FX__PF__TRACK_DESCRIPTOR__INIT;
	Fx__Pf__ProcessDescriptor descriptor = FX__PF__PROCESS_DESCRIPTOR__INIT;
	const struct fx_text *command = process->about[FX_ABOUT_COMMAND];
	char *labels[FX_ABOUT_COUNT], *cmdline = command ? (char *)command->data : NULL;
	uint64_t start =
	    process->start_ts ? process->start_ts : about_number(process, FX_ABOUT_STARTED);
	size_t count = 0;

	for (unsigned i = 0; i < FX_ABOUT_COUNT; i++) {
		if (!process->about[i] || i == FX_ABOUT_STARTED)
			continue;
		labels[count] = make_label(packets, i, process->about[i]);
		count += labels[count] != NULL;
	}
	descriptor.has_pid = 1;
	descriptor.pid = (int32_t)process->pid;
	descriptor.process_name = title;
	descriptor.has_start_timestamp_ns = start != 0;
	descriptor.start_timestamp_ns = (int64_t)start;
	descriptor.cmdline = &cmdline;
	descriptor.n_cmdline = cmdline != NULL;
	descriptor.process_labels = labels;
	descriptor.n_process_labels = count;
	track.has_uuid = 1;
	track.uuid = uuid;
	track.process = &descriptor;
	packet.track_descriptor = &track;
	fx_packets_write(packets, &packet);
	while (count > 0)
		free(labels[--count]);
}

/* Its parent, user and command line, of which Perfetto takes the first word for the name. */
static void write_tree(struct fx_packets *packets, const struct fx_process *process)
{
	Fx__Pf__TracePacket packet = FX__PF__TRACE_PACKET__INIT;
	Fx__Pf__ProcessTree tree = FX__PF__PROCESS_TREE__INIT;
	Fx__Pf__ProcessTreeProcess facts = FX__PF__PROCESS_TREE_PROCESS__INIT, *list = &facts;
	char *cmdline = (char *)process->about[FX_ABOUT_COMMAND]->data;

	facts.has_pid = 1;
	facts.pid = (int32_t)process->pid;
	facts.has_ppid =
	    process->parent > 0 && process->parent <= INT32_MAX && process->parent != KTHREADD_PID;
	facts.ppid = (int32_t)process->parent;
	facts.cmdline = &cmdline;
	facts.n_cmdline = 1;
	facts.has_uid = process->about[FX_ABOUT_USER] != NULL;
	facts.uid = (int32_t)about_number(process, FX_ABOUT_USER);
	tree.processes = &list;
	tree.n_processes = 1;
	packet.process_tree = &tree;
	fx_packets_write(packets, &packet);
}

/* The name that a process has since then; its first thread's is the one that its own track says. */
static void write_rename(struct fx_packets *packets, const struct fx_process *process, char *title)
{
	Fx__Pf__TracePacket packet = FX__PF__TRACE_PACKET__INIT;
	Fx__Pf__GenericKernelTaskRenameEvent rename =
	    FX__PF__GENERIC_KERNEL_TASK_RENAME_EVENT__INIT;

	rename.has_tid = 1;
	rename.tid = (int64_t)process->pid;
	rename.comm = title;
	packet.generic_kernel_task_rename_event = &rename;
	fx_packets_write(packets, &packet);
}

void fx_process_write(struct fx_packets *packets, const struct fx_process *process, uint64_t uuid)
{
	char title[FX_TITLE_MAX];
	bool is_named = fx_title_of(process, title);

	process_write_track(packets, process, uuid, is_named ? title : NULL);
	if (!process->about[FX_ABOUT_COMMAND])
		return;
	write_tree(packets, process);
	write_rename(packets, process, title);
}
