/* SPDX-License-Identifier: MIT */
/*
 * What each format brings to the table of formats: how its exporter is made and freed. NULL: no memory. The timeline and
 * the output are borrowed.
 */
#ifndef FX_CONVERT_FORMATS_H
#define FX_CONVERT_FORMATS_H

#include "convert/export.h"

/* Chrome's trace event format */
struct fx_exporter *fx_json_make(struct fx_timeline *timeline, struct fx_sink *sink);
void fx_json_free(struct fx_exporter *exporter);

/* Requests of OpenTelemetry's protocol, as JSON */
struct fx_exporter *fx_otlp_make(struct fx_timeline *timeline, struct fx_sink *sink);
void fx_otlp_free(struct fx_exporter *exporter);

/* Perfetto's protobuf */
struct fx_exporter *fx_perfetto_make(struct fx_timeline *timeline, struct fx_sink *sink);
void fx_perfetto_free(struct fx_exporter *exporter);

/* A database: convert/sqlite/ */
struct fx_exporter *fx_sqlite_make(struct fx_timeline *timeline, struct fx_sink *sink);
void fx_sqlite_free(struct fx_exporter *exporter);

/* Pictures: convert/pictures/ */
struct fx_exporter *fx_collapsed_make(struct fx_timeline *timeline, struct fx_sink *sink);
void fx_collapsed_free(struct fx_exporter *exporter);
struct fx_exporter *fx_pprof_make(struct fx_timeline *timeline, struct fx_sink *sink);
void fx_pprof_free(struct fx_exporter *exporter);
struct fx_exporter *fx_speedscope_make(struct fx_timeline *timeline, struct fx_sink *sink);
void fx_speedscope_free(struct fx_exporter *exporter);
struct fx_exporter *fx_callgrind_make(struct fx_timeline *timeline, struct fx_sink *sink);
void fx_callgrind_free(struct fx_exporter *exporter);
struct fx_exporter *fx_html_make(struct fx_timeline *timeline, struct fx_sink *sink);
void fx_html_free(struct fx_exporter *exporter);
struct fx_exporter *fx_svg_make(struct fx_timeline *timeline, struct fx_sink *sink);
void fx_svg_free(struct fx_exporter *exporter);

#endif
