/* SPDX-License-Identifier: MIT */
#include "manager/archive/vthreads.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "format/encode.h"
#include "manager/archive/nesting.h"
#include "manager/archive/own.h"

/* Where no numbers are given. */
#define VTHREADS_FROM 1000000000u

struct fx_vthread *fx_vthreads_find(const struct fx_vthreads *vthreads, uint64_t id)
{
	struct fx_vthread *v;

	HASH_FIND(hh, vthreads->by_id, &id, sizeof(id), v);
	return v;
}

static int vthread_make(struct fx_vthreads *vthreads, uint64_t id, struct fx_vthread **ret)
{
	uint32_t count = HASH_COUNT(vthreads->by_id);
	struct fx_vthread *v;

	if (count >= FX_VTHREADS_MAX)
		return -EMLINK;
	v = calloc(1, sizeof(*v));
	if (!v)
		return -ENOMEM;
	v->id = id;
	HASH_ADD(hh, vthreads->by_id, id, sizeof(v->id), v);
	if (v->lost) {
		free(v);
		return -ENOMEM;
	}
	v->shown = vthreads->ids ? fx_identity_thread(vthreads->ids) : VTHREADS_FROM + count;
	*ret = v;
	return 0;
}

/* Readers tell it from a thread by the argument `virtual'. */
static void vthread_introduce(struct fx_vthreads *vthreads, const struct fx_vthread *v,
			      const char *name)
{
	struct fxt_record record = {.kind = FXT_KIND_KERNEL_OBJECT, .nargs = 2};
	char number[40], text[FXT_MAX_NAME_LENGTH];
	size_t length;

	snprintf(number, sizeof(number), "vthread %" PRIu64, v->id);
	if (!name)
		name = number;
	length = fx_escape(text, sizeof(text), name, strlen(name), 0);
	record.kernel_object.type = FXT_OBJECT_THREAD;
	record.kernel_object.koid = v->shown;
	record.kernel_object.name = fx_string_inline(text, length);
	record.args[0] = (struct fxt_arg){
	    .type = FXT_ARG_KOID, .name = fx_own_text("process"), .koid = vthreads->pid};
	record.args[1] =
	    (struct fxt_arg){.type = FXT_ARG_BOOL, .name = fx_own_text("virtual"), .boolean = true};
	fx_archive_record(vthreads->archive, &record);
}

int fx_vthreads_shown(struct fx_vthreads *vthreads, uint64_t id, const char *name, uint32_t *ret)
{
	struct fx_vthread *v = fx_vthreads_find(vthreads, id);
	bool is_new = !v;

	if (is_new) {
		int r = vthread_make(vthreads, id, &v);

		if (r < 0)
			return r;
	}
	*ret = v->shown;
	if (is_new || (name && !v->is_named))
		vthread_introduce(vthreads, v, name);
	v->is_named |= name != NULL;
	return 0;
}

bool fx_vthreads_is_too_deep(struct fx_vthreads *vthreads, uint64_t id, bool is_begin,
			     uint64_t *deep)
{
	struct fx_vthread *v = fx_vthreads_find(vthreads, id);
	uint64_t *left, *other;
	int32_t step = is_begin ? 1 : -1;

	if (!v)
		return false;
	left = is_begin ? &v->left_begins : &v->left_ends;
	other = is_begin ? &v->left_ends : &v->left_begins;
	if (*other) {
		--*other;
		return true;
	}
	if (v->depth == step * (int32_t)FX_NESTING_LEVELS) {
		++*left;
		++*deep;
		return true;
	}
	v->depth += step;
	return false;
}

void fx_vthreads_clear(struct fx_vthreads *vthreads)
{
	struct fx_vthread *v, *next;

	HASH_ITER (hh, vthreads->by_id, v, next) {
		HASH_DEL(vthreads->by_id, v);
		fx_vthread_line_clear(&v->line);
		fx_loose_clear(&v->flows);
		free(v);
	}
	vthreads->steps = 0;
}
