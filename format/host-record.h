/* SPDX-License-Identifier: MIT */
/*
 * The host record: where and by what an archive was recorded. The manager writes one, in the first section.
 *
 * It is a blob of type DATA whose name is "fxtrace:host"; its payload is lines of "KEY=VALUE", each with a newline at
 * its end, in any order: host, system, release, build, machine (as uname(2) has them), fxtrace (the version),
 * clock (what times were read from, and why that), job and
 * rank (of a run that is one of many, as what started it says), and uuid, 32 hexadecimal digits, a random number of the archive. Keys that are not known are passed over.
 */
#ifndef FX_FORMAT_HOST_RECORD_H
#define FX_FORMAT_HOST_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "format/encode.h"

#define FX_HOST_RECORD_NAME "fxtrace:host"

/* Bytes of a value, with the NUL behind it. */
#define FX_HOST_VALUE_MAX 128u

/* X(MEMBER), which is the key. */
#define FX_HOST_VALUES(X)                                                                          \
	X(host) X(system) X(release) X(build) X(machine) X(fxtrace) X(clock) X(job) X(rank)

/* Texts are UTF-8 without control characters; "": not known. */
struct fx_host_record {
#define FX_HOST_MEMBER_(member) char member[FX_HOST_VALUE_MAX];
	FX_HOST_VALUES(FX_HOST_MEMBER_)
#undef FX_HOST_MEMBER_
	uint64_t uuid[2]; /* zeros: not known */
};

/* Errors as of fx_record_encode(). */
int fx_host_record_encode(struct fx_encoder *encoder, const struct fx_host_record *host);

/* False: it is another record. */
bool fx_host_record_is(const struct fxt_record *record);

/* The same, and `ret` is filled if it is one. */
bool fx_host_record_decode(const struct fxt_record *record, struct fx_host_record *ret);

#endif
