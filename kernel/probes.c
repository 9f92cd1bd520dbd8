/* SPDX-License-Identifier: MIT */
#include "kernel/probes.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "kernel/probe-find.h"
#include "kernel/probe-place.h"

/* A word of a list of categories. */
#define WORD_MAX 160u

__attribute__((format(printf, 1, 2))) static void probes_complain(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fputs("fxtrace: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
}

/* Of each word that nothing is called by. */
static void unknown_tell(const struct fx_probe_list *list, const char *words, const char *program)
{
	char word[WORD_MAX];

	while (fx_probe_word(&words, word, sizeof(word))) {
		size_t i = 0;

		while (i < list->probes.count &&
		       !fx_probe_is_asked(word, list->probes.items[i].category))
			i++;
		if (i == list->probes.count)
			probes_complain(
			    "%s: neither %s nor its libraries have such a probe "
			    "(`fxtrace list-probes' lists them); what it loads later, or starts, "
			    "is looked into as it comes",
			    word, program);
	}
}

static int probes_place(struct fx_probe_list *list)
{
	int r = fx_probe_place_all(list);

	if (r == -EACCES || r == -EPERM)
		probes_complain("probes (sdt:) are not recorded: they take breakpoints of the "
				"kernel (uprobes), which are root's to set");
	else if (r == -ENOENT)
		probes_complain("probes (sdt:) are not recorded: this kernel has no uprobes, or "
				"no tracefs to define them in");
	else if (r < 0)
		probes_complain("probes (sdt:) are not recorded: %s", strerror(-r));
	return r;
}

/* A descriptor for each of them on each processor, and more. */
static void descriptors_provide(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

static int probes_wish(struct fx_probes *probes, struct fx_kernel_wish *wish)
{
	size_t count = probes->list.probes.count;

	probes->numbers = calloc(wish->point_count + count, sizeof(*probes->numbers));
	if (!probes->numbers)
		return -ENOMEM;
	for (size_t i = 0; i < wish->point_count; i++)
		probes->numbers[i] = wish->points[i];
	for (size_t i = 0; i < count; i++)
		probes->numbers[wish->point_count + i] =
		    (struct fx_kernel_point){.number = probes->list.probes.items[i].number};
	wish->points = probes->numbers;
	wish->point_count += (unsigned)count;
	return 0;
}

void fx_probes_begin(struct fx_probes *probes, const char *words, char *const *command,
		     struct fx_kernel_wish *wish)
{
	int r = *command ? fx_probe_find(words, command, &probes->list) : 0;

	probes->numbers = NULL;
	descriptors_provide();
	if (!*command)
		return;
	if (r < 0)
		probes_complain("probes (sdt:) of %s are not recorded: %s", command[0],
				r == -E2BIG ? "there are too many at once" : strerror(-r));
	else
		unknown_tell(&probes->list, words, command[0]);
	if (r == 0 && probes->list.probes.count) {
		r = probes_place(&probes->list);
		if (r == 0)
			r = probes_wish(probes, wish);
	}
	if (r < 0)
		fx_probes_end(probes);
}

void fx_probes_refused(const struct fx_probes *probes)
{
	if (probes->list.probes.count)
		probes_complain("probes (sdt:) are not recorded: the kernel does not let them be "
				"watched (perf_event_open(), and a descriptor for each of %zu on "
				"each processor)",
				probes->list.probes.count);
}

void fx_probes_end(struct fx_probes *probes)
{
	if (probes->list.probes.count)
		fx_probe_remove_all(&probes->list);
	fx_probe_list_clear(&probes->list);
	free(probes->numbers);
	probes->numbers = NULL;
}
