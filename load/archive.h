/* SPDX-License-Identifier: MIT */
/*
 * An archive into a server's tables, whole or, for whoever asks there, not at all:
 *
 *     the hash of its bytes is what it is known by; if there is a row of it in `archives', all is done
 *     batches that an earlier try has left there are not sent again
 *     the server is asked whether each batch is there once; what is not is sent again
 *     the row in `archives'
 *
 * So the loader or the server may be killed at any point, and the same is to be said again until it succeeds.
 */
#ifndef FX_LOAD_ARCHIVE_H
#define FX_LOAD_ARCHIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "convert/timeline.h"
#include "load/batches.h"
#include "load/clickhouse.h"

/* What is said of an archive that does not say it itself, or says something else. */
struct fx_load_claims {
	const char *host, *job; /* NULL: as it says */
	int64_t rank;		/* -1: as it says */
	const char *cluster;	/* NULL: none */
};

struct fx_load_result {
	uint64_t archive; /* its identity */
	bool was_there;
	bool is_damaged;
	struct fxt_fault fault; /* the first one, if it is damaged or cannot be read */
	struct fx_batches_sum sum;
	const char *what; /* that is wrong; NULL: the server's fault, or the error */
};

/*
 * `fd' is that of a file, and borrowed. Returns 0 or -errno: -EIO if the server refuses it (fx_clickhouse_fault()), -EBADMSG: it is
 * no archive; -ESTALE: another fxtrace loads it.
 */
int fx_load_archive(struct fx_clickhouse *server, const struct fx_load_claims *claims,
		    const char *path, int fd, fx_progress *progress, void *opaque,
		    struct fx_load_result *ret);

#endif
