/* SPDX-License-Identifier: MIT */
#include "convert/otlp-attributes.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "convert/json-text.h"

static void otlp_key(struct fx_sink *sink, bool *has, const char *prefix, const char *key,
		     size_t length)
{
	char text[256];
	int used = snprintf(text, sizeof(text), "%s%.*s", prefix, (int)length, key);

	fx_json_raw(sink, *has ? ",{\"key\":" : "{\"key\":");
	*has = true;
	fx_json_string(sink, text, (size_t)used < sizeof(text) ? (size_t)used : sizeof(text) - 1);
	fx_json_raw(sink, ",\"value\":{");
}

void fx_otlp_id(struct fx_sink *sink, const char *field, uint64_t id)
{
	char text[40];

	snprintf(text, sizeof(text), ",\"%s\":\"%016" PRIx64 "\"", field, id);
	fx_json_raw(sink, text);
}

void fx_otlp_text(struct fx_sink *sink, bool *has, const char *key, const char *text, size_t length)
{
	otlp_key(sink, has, "", key, strlen(key));
	fx_json_raw(sink, "\"stringValue\":");
	fx_json_string(sink, text, length);
	fx_json_raw(sink, "}}");
}

void fx_otlp_some_text(struct fx_sink *sink, bool *has, const char *key, const struct fx_text *text)
{
	if (text)
		fx_otlp_text(sink, has, key, text->data, text->length);
}

/* Integers of 64 bits are texts in JSON. */
static void otlp_value_int(struct fx_sink *sink, int64_t value)
{
	fx_json_raw(sink, "\"intValue\":\"");
	fx_json_int(sink, value);
	fx_json_raw(sink, "\"");
}

void fx_otlp_number(struct fx_sink *sink, bool *has, const char *key, uint64_t value)
{
	otlp_key(sink, has, "", key, strlen(key));
	otlp_value_int(sink, (int64_t)value);
	fx_json_raw(sink, "}}");
}

/* A number that is no int64: in hexadecimal where `before` is "0x". */
static void otlp_value_text(struct fx_sink *sink, const char *before, uint64_t value,
			    const char *after)
{
	char digits[24], text[40];
	int length;

	if (before[0])
		snprintf(digits, sizeof(digits), "%" PRIx64, value);
	else
		snprintf(digits, sizeof(digits), "%" PRIu64, value);
	length = snprintf(text, sizeof(text), "%s%s%s", before, digits, after);
	fx_json_raw(sink, "\"stringValue\":");
	fx_json_string(sink, text, (size_t)length);
}

static void otlp_value_uint(struct fx_sink *sink, uint64_t value)
{
	if (value <= INT64_MAX)
		otlp_value_int(sink, (int64_t)value);
	else
		otlp_value_text(sink, "", value, "");
}

static void otlp_value(struct fx_sink *sink, const struct fxt_arg *arg)
{
	switch (arg->type) {
	case FXT_ARG_INT32:
		otlp_value_int(sink, arg->int32);
		break;
	case FXT_ARG_UINT32:
		otlp_value_int(sink, arg->uint32);
		break;
	case FXT_ARG_INT64:
		otlp_value_int(sink, arg->int64);
		break;
	case FXT_ARG_UINT64:
		otlp_value_uint(sink, arg->uint64);
		break;
	case FXT_ARG_KOID:
		otlp_value_uint(sink, arg->koid);
		break;
	case FXT_ARG_POINTER:
		otlp_value_text(sink, "0x", arg->pointer, "");
		break;
	case FXT_ARG_DOUBLE:
		fx_json_raw(sink, "\"doubleValue\":");
		fx_json_double(sink, arg->real);
		break;
	case FXT_ARG_BOOL:
		fx_json_raw(sink, arg->boolean ? "\"boolValue\":true" : "\"boolValue\":false");
		break;
	case FXT_ARG_STRING:
		fx_json_raw(sink, "\"stringValue\":");
		fx_json_string(sink, arg->string.data, arg->string.length);
		break;
	case FXT_ARG_BLOB:
		otlp_value_text(sink, "", arg->blob.size, " bytes");
		break;
	default:
		fx_json_raw(sink, "\"stringValue\":\"null\"");
		break;
	}
}

void fx_otlp_args(struct fx_sink *sink, bool *has, const struct fxt_arg *args, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		otlp_key(sink, has, "fxtrace.arg.", args[i].name.data, args[i].name.length);
		otlp_value(sink, &args[i]);
		fx_json_raw(sink, "}}");
	}
}
