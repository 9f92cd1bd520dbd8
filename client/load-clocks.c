/* SPDX-License-Identifier: MIT */
#include "client/load-clocks.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "client/archive.h"
#include "client/commands.h"
#include "load/clocks.h"
#include "load/identity.h"
#include "manager/settings/report.h"

int fx_load_clocks_init(const char *program, size_t count, struct fx_load_clocks *ret)
{
	*ret = (struct fx_load_clocks){
	    .program = program,
	    .inputs = calloc(count, sizeof(*ret->inputs)),
	    .identities = calloc(count, sizeof(*ret->identities)),
	};
	return ret->inputs && ret->identities ? 0 : -ENOMEM;
}

void fx_load_clocks_free(struct fx_load_clocks *clocks)
{
	free(clocks->inputs);
	free(clocks->identities);
}

void fx_load_clocks_add(struct fx_load_clocks *clocks, const char *path, uint64_t identity)
{
	clocks->inputs[clocks->count].path = path;
	clocks->identities[clocks->count++] = identity;
}

/* The line from an archive's first time to its last; what its clock's map is away from it between counts as uncertainty. */
static struct fx_load_clock clocks_line(struct fx_aligned *aligned)
{
	struct fx_clockmap *map = &aligned->map;
	uint64_t first = aligned->first_ns, last = aligned->last_ns, to;
	struct fx_load_clock line = {
	    .slope = 1, .error = aligned->error, .how = fx_alignment_text(aligned->how)};
	double away = 0;

	if (first == UINT64_MAX || last < first)
		first = last = map->points.count > 0 ? map->points.items[0].from : 0;
	to = fx_clockmap_to(map, first);
	line.ts = (int64_t)first;
	line.aligned = (int64_t)to;
	if (last > first)
		line.slope = (double)(fx_clockmap_to(map, last) - to) / (double)(last - first);
	for (size_t i = 0; i < map->points.count; i++) {
		const struct fx_clockpoint *point = &map->points.items[i];
		double here = fabs((double)(int64_t)(point->to - to) -
				   (double)(int64_t)(point->from - first) * line.slope);

		if (point->from > first && point->from < last && here > away)
			away = here;
	}
	line.error += away;
	return line;
}

static int clocks_bring(const struct fx_load_clocks *clocks, struct fx_merge *merge,
			struct fx_clickhouse *server)
{
	const struct fx_load_timeline timeline = {
	    .id = fx_load_identity_of(clocks->identities, clocks->count),
	    .count = clocks->count,
	};
	int status = FX_EXIT_OK;

	for (size_t i = 0; i < clocks->count; i++) {
		struct fx_aligned *aligned = (struct fx_aligned *)fx_merge_result(merge, i).aligned;
		struct fx_load_clock clock;

		if (aligned->how == FX_ALIGN_NONE) {
			fx_report_as(clocks->program,
				     "%s: nothing tells how its clock lies to that of %s",
				     clocks->inputs[i].path, clocks->inputs[0].path);
			status = FX_EXIT_FAILURE;
			continue;
		}
		clock = clocks_line(aligned);
		clock.archive = clocks->identities[i];
		if (fx_load_clock(server, &timeline, &clock) < 0) {
			fx_report_as(clocks->program, "the clocks: %s",
				     fx_clickhouse_fault(server));
			return FX_EXIT_FAILURE;
		}
	}
	if (!clocks->quiet)
		fprintf(stderr, "%s: timeline %" PRIu64 " of %zu archive%s\n", clocks->program,
			timeline.id, timeline.count, timeline.count == 1 ? "" : "s");
	return status;
}

int fx_load_clocks(struct fx_load_clocks *clocks, struct fx_clickhouse *server)
{
	struct fx_merge *merge = NULL;
	size_t at = 0;
	int status, r;

	if (clocks->count == 0)
		return FX_EXIT_OK;
	r = fx_merge_open(clocks->inputs, clocks->count, &merge, &at);
	if (r < 0 && r != -ENODATA) /* that one is said of each */
		status = fx_archive_complain(clocks->program, clocks->inputs[at].path, r, NULL);
	else
		status = clocks_bring(clocks, merge, server);
	fx_merge_free(merge);
	return status;
}
