/* SPDX-License-Identifier: MIT */
/* The lists and fx_arg_KIND() of names.tbl. */
#include "preload/show/names-headers.h"

#include "preload/show/args.h"
#include "preload/show/naming.h"

static void arg_name(struct fx_call *call, unsigned name, const struct fx_named *list,
		     unsigned count, uint32_t value)
{
	char buffer[FX_NAME_TEXT];
	struct fx_text t = FX_TEXT(buffer);

	fx_text_name(&t, list, count, value);
	fx_arg_bytes(call, name, buffer, fx_text_length(&t));
}

static void arg_flags(struct fx_call *call, unsigned name, const struct fx_named *list,
		      unsigned count, uint32_t flags)
{
	char buffer[FX_FLAGS_TEXT];
	struct fx_text t = FX_TEXT(buffer);

	fx_text_flags(&t, list, count, flags);
	fx_arg_bytes(call, name, buffer, fx_text_length(&t));
}

#include "preload/names.inc"
