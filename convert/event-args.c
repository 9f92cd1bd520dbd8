/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "convert/event-args.h"

static const struct fxt_arg *event_args_find(const struct fxt_arg *args, uint32_t count,
					     const char *name)
{
	for (uint32_t i = 0; i < count; i++) {
		if (fxt_string_equals(&args[i].name, name))
			return &args[i];
	}
	return NULL;
}

const struct fxt_arg *fx_event_arg(const struct fx_event *event, const char *name)
{
	const struct fxt_arg *arg = event_args_find(event->args, event->nargs, name);

	return arg ? arg : event_args_find(event->end_args, event->end_nargs, name);
}

bool fx_event_integer(const struct fx_event *event, const char *name, int64_t *ret)
{
	const struct fxt_arg *arg = fx_event_arg(event, name);

	switch (arg ? arg->type : FXT_ARG_NULL) {
	case FXT_ARG_INT32:
		*ret = arg->int32;
		return true;
	case FXT_ARG_UINT32:
		*ret = arg->uint32;
		return true;
	case FXT_ARG_INT64:
		*ret = arg->int64;
		return true;
	case FXT_ARG_UINT64:
	case FXT_ARG_POINTER:
	case FXT_ARG_KOID:
		*ret = (int64_t)arg->uint64;
		return true;
	default:
		return false;
	}
}
