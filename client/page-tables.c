/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "client/page-tables.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "convert/tee.h"
#include "report/print.h"
#include "report/report.h"

enum { PAGE_ROWS_OF_TABLE = 100 };

struct page_tables {
	struct fx_report *report;
	struct fx_exporter *page;
	char *text;
	int error;
};

static void page_tables_make(void *opaque)
{
	struct page_tables *tables = opaque;
	struct fx_print print = {.style = FX_PRINT_PAGE};
	size_t size;

	tables->error = fx_report_fill(tables->report);
	if (tables->error < 0)
		return;
	print.out = open_memstream(&tables->text, &size);
	if (!print.out) {
		tables->error = -ENOMEM;
		return;
	}
	fx_print_begin(&print);
	for (size_t i = 0; i < fx_report_table_count(tables->report); i++)
		fx_print_table(&print, fx_report_table(tables->report, i));
	fx_print_end(&print);
	if (fclose(print.out) != 0)
		tables->error = -ENOMEM;
	else
		tables->page->tables = tables->text;
}

int fx_convert_with_tables(struct fx_exporter *exporter, fx_progress *progress, void *opaque)
{
	struct fx_report_order order = {.filter = {.to = UINT64_MAX}, .top = PAGE_ROWS_OF_TABLE};
	struct page_tables tables = {.page = exporter};
	struct fx_tee tee;
	int r = fx_report_open(exporter->timeline, &order, &tables.report);

	if (r < 0)
		return r;
	fx_tee_init(&tee, fx_report_exporter(tables.report), exporter);
	tee.between = page_tables_make;
	tee.opaque = &tables;
	r = fx_convert(&tee.exporter, progress, opaque);
	if (r == 0)
		r = tables.error < 0 ? tables.error : exporter->error;
	exporter->tables = NULL;
	fx_report_free(tables.report);
	free(tables.text);
	return r;
}
