/* SPDX-License-Identifier: MIT */
#include "kernel/follow-parts.h"

#include <errno.h>
#include <stddef.h>

void fx_part_read(struct fx_insns *code, int32_t size)
{
	fx_insns_number(code, R2, size);
	fx_insns_call(code, BPF_FUNC_probe_read_kernel);
}

void fx_part_begin(struct fx_insns *code)
{
	code->count = 0;
	fx_insns_move(code, R6, R1);
	fx_insns_call(code, BPF_FUNC_get_current_pid_tgid);
	fx_insns_store(code, BPF_W, R10, FX_AT_THREAD, R0);
}

/* One more of what programs could not do. */
static void code_count(struct fx_insns *code, const struct fx_follow_terms *terms,
		       enum fx_follow_count which)
{
	fx_insns_store_number(code, BPF_W, R10, FX_AT_ZERO, (int32_t)which);
	fx_insns_look_up_or(code, terms->maps.counts, FX_AT_ZERO, FX_INSNS_END);
	fx_insns_number(code, R1, 1);
	fx_insns_put(code, BPF_STX | BPF_XADD | BPF_DW, R0, R1, 0, BPF_ADD);
}

void fx_part_follow(struct fx_insns *code, const struct fx_follow_terms *terms, int thread)
{
	unsigned had;

	fx_insns_store_number(code, BPF_W, R10, FX_AT_ZERO, 1);
	fx_insns_map(code, R1, terms->maps.tasks);
	fx_insns_place(code, R2, thread);
	fx_insns_place(code, R3, FX_AT_ZERO);
	fx_insns_number(code, R4, BPF_ANY);
	fx_insns_call(code, BPF_FUNC_map_update_elem);
	had = fx_insns_jump(code, BPF_JEQ, R0, 0, 0);
	code_count(code, terms, FX_FOLLOW_UNFOLLOWED);
	fx_insns_land(code, had);
}

void fx_part_leave(struct fx_insns *code, const struct fx_follow_terms *terms, int thread)
{
	fx_insns_map(code, R1, terms->maps.tasks);
	fx_insns_place(code, R2, thread);
	fx_insns_call(code, BPF_FUNC_map_delete_elem);
}

/* Which process it is, the namespace's numbers alone say; it is looked for until it has been met. */
static void code_meet(struct fx_insns *code, const struct fx_follow_terms *terms)
{
	fx_insns_store_number(code, BPF_W, R10, FX_AT_NUMBER, (int32_t)FX_FOLLOW_MET);
	fx_insns_look_up(code, terms->maps.tasks, FX_AT_NUMBER);
	fx_insns_jump(code, BPF_JNE, R0, 0, FX_INSNS_PART_END);
	fx_insns_number64(code, R1, terms->device);
	fx_insns_number64(code, R2, terms->inode);
	fx_insns_place(code, R3, FX_AT_LATE);
	fx_insns_number(code, R4, sizeof(struct bpf_pidns_info));
	fx_insns_call(code, BPF_FUNC_get_ns_current_pid_tgid);
	fx_insns_jump(code, BPF_JNE, R0, 0, FX_INSNS_PART_END);
	fx_insns_load(code, BPF_W, R1, R10, FX_AT_LATE + (int)offsetof(struct bpf_pidns_info, pid));
	fx_insns_jump(code, BPF_JNE, R1, (int32_t)terms->pid, FX_INSNS_PART_END);
	fx_part_follow(code, terms, FX_AT_NUMBER);
	fx_part_follow(code, terms, FX_AT_THREAD);
}

void fx_part_look(struct fx_insns *code, const struct fx_follow_terms *terms)
{
	unsigned known;

	if (terms->everyone) {
		fx_insns_number(code, R0, 1);
		return;
	}
	fx_insns_look_up(code, terms->maps.tasks, FX_AT_THREAD);
	if (!terms->inode)
		return;
	known = fx_insns_jump(code, BPF_JNE, R0, 0, 0);
	code_meet(code, terms);
	fx_insns_part(code);
	fx_insns_look_up(code, terms->maps.tasks, FX_AT_THREAD);
	fx_insns_land(code, known);
}

void fx_part_look_or_end(struct fx_insns *code, const struct fx_follow_terms *terms)
{
	fx_part_look(code, terms);
	fx_insns_jump(code, BPF_JEQ, R0, 0, FX_INSNS_END);
}

void fx_part_scratch(struct fx_insns *code, const struct fx_follow_terms *terms,
		     enum fx_follow_room room)
{
	fx_insns_store_number(code, BPF_W, R10, FX_AT_ZERO, (int32_t)room);
	fx_insns_look_up_or(code, terms->maps.scratch, FX_AT_ZERO, FX_INSNS_END);
	fx_insns_move(code, R8, R0);
}

/* A ring that is full counts that itself. */
void fx_part_tell(struct fx_insns *code, const struct fx_follow_terms *terms)
{
	unsigned told, full;

	fx_insns_move(code, R1, R6);
	fx_insns_map(code, R2, terms->maps.events);
	/* this processor's: BPF_F_CURRENT_CPU, which has 32 bits */
	fx_insns_put(code, BPF_ALU | BPF_MOV | BPF_K, R3, 0, 0, -1);
	fx_insns_move(code, R4, R8);
	fx_insns_call(code, BPF_FUNC_perf_event_output);
	told = fx_insns_jump(code, BPF_JSGE, R0, 0, 0);
	full = fx_insns_jump(code, BPF_JEQ, R0, -ENOSPC, 0);
	code_count(code, terms, FX_FOLLOW_UNTOLD);
	fx_insns_land(code, told);
	fx_insns_land(code, full);
}
