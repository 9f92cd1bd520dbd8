/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "base/compiler.h"
#include "measure/print.h"
#include "report/units.h"

#define BAD   "\033[1;31m"
#define GOOD  "\033[32m"
#define PLAIN "\033[0m"

/* What is printed of every measurement but counts. */
static const struct {
	enum fx_statistic statistic;
	double percent;
} measure_shown[] = {
    {FX_STATISTIC_COUNT, 0},	     {FX_STATISTIC_SUM, 0},	    {FX_STATISTIC_MIN, 0},
    {FX_STATISTIC_MEAN, 0},	     {FX_STATISTIC_DEVIATION, 0},   {FX_STATISTIC_PERCENTILE, 50},
    {FX_STATISTIC_PERCENTILE, 90},   {FX_STATISTIC_PERCENTILE, 95}, {FX_STATISTIC_PERCENTILE, 99},
    {FX_STATISTIC_PERCENTILE, 99.9}, {FX_STATISTIC_MAX, 0},
};

static size_t measure_shown_count(const struct fx_measurement *measurement)
{
	return measurement->kind == FX_MEASURE_COUNT ? 1 : FX_ARRAY_LEN(measure_shown);
}

static bool measure_is_time(const struct fx_measurement *measurement)
{
	return measurement->kind == FX_MEASURE_DURATION || measurement->kind == FX_MEASURE_BETWEEN;
}

/* --- Limits ------------------------------------------------------------------------------------ */

/* Of nothing, only the count is known. */
static bool measure_limit_value(const struct fx_limit *limit, struct fx_measured *measured,
				double *ret)
{
	*ret = fx_values_statistic(&measured->values, limit->statistic, limit->percent);
	return limit->statistic == FX_STATISTIC_COUNT ||
	       (measured->values.items.count > 0 && !isnan(*ret));
}

static bool measure_limit_holds(const struct fx_limit *limit, struct fx_measured *measured)
{
	long double bound = limit->value.number;
	double value;

	if (!measure_limit_value(limit, measured, &value))
		return false;
	switch (limit->relation) {
	case FX_OPERATOR_LESS:
		return value < bound;
	case FX_OPERATOR_AT_MOST:
		return value <= bound;
	case FX_OPERATOR_MORE:
		return value > bound;
	case FX_OPERATOR_AT_LEAST:
		return value >= bound;
	case FX_OPERATOR_UNEQUAL:
		return value != bound;
	default:
		return value == bound;
	}
}

/* How many of its limits do not hold. */
static size_t measure_broken(const struct fx_measurement *measurement, struct fx_measured *measured)
{
	size_t broken = 0;

	for (size_t i = 0; i < measurement->limits.count; i++)
		broken += !measure_limit_holds(&measurement->limits.items[i], measured);
	return broken;
}

static bool measure_holds(const struct fx_measurement *measurement, struct fx_measured *measured)
{
	return measure_broken(measurement, measured) == 0;
}

/* --- Notes ------------------------------------------------------------------------------------- */

enum { NOTES_MAX = 6, NOTE_MAX = 160 };

struct measure_notes {
	char items[NOTES_MAX][NOTE_MAX];
	size_t count;
};

static void measure_note(struct measure_notes *notes, uint64_t count, const char *text)
{
	if (count > 0)
		snprintf(notes->items[notes->count++], NOTE_MAX, "%s %s", FX_COUNT(count), text);
}

static void measure_fill_notes(const struct fx_measured *measured, struct measure_notes *notes)
{
	notes->count = 0;
	if (measured->matched == 0)
		snprintf(notes->items[notes->count++], NOTE_MAX, "no event matched");
	else if (measured->values.items.count == 0)
		snprintf(notes->items[notes->count++], NOTE_MAX,
			 "events matched, but there is nothing to measure in them");
	measure_note(notes, measured->unfinished,
		     "events did not finish and do not count: nobody knows how long they took");
	measure_note(notes, measured->without_value,
		     "events do not have the argument, or it is no number");
	measure_note(notes, measured->pairs.keyless, "events do not have the key");
	measure_note(notes, measured->pairs.begins_left, "begins have no end");
	measure_note(notes, measured->pairs.ends_left, "ends have no begin");
}

/* --- Text -------------------------------------------------------------------------------------- */

static void measure_number_text(const struct fx_measurement *measurement,
				enum fx_statistic statistic, double value, char *text)
{
	if (statistic == FX_STATISTIC_COUNT)
		fx_unit_number(FX_UNIT_COUNT, (int64_t)value, text);
	else if (measure_is_time(measurement))
		fx_unit_real(FX_UNIT_NS, value, text);
	else if (value == rint(value) && fabs(value) < 1e15)
		fx_unit_number(FX_UNIT_COUNT, (int64_t)value, text);
	else
		snprintf(text, FX_UNIT_TEXT_MAX, "%.6g", value);
}

static void measure_print_verdict(const struct fx_measure_print *print, bool holds)
{
	const char *word = holds ? "pass" : "FAIL";

	if (print->color)
		fprintf(print->out, "%s%s" PLAIN, holds ? GOOD : BAD, word);
	else
		fputs(word, print->out);
}

static void measure_print_statistics(const struct fx_measure_print *print,
				     const struct fx_measurement *measurement,
				     struct fx_measured *measured)
{
	char name[24], text[FX_UNIT_TEXT_MAX];
	size_t count = measure_shown_count(measurement), shown = 0;

	for (size_t i = 0; i < count; i++) {
		double value = fx_values_statistic(&measured->values, measure_shown[i].statistic,
						   measure_shown[i].percent);

		if (isnan(value))
			continue;
		fx_spec_statistic_text(measure_shown[i].statistic, measure_shown[i].percent, name);
		measure_number_text(measurement, measure_shown[i].statistic, value, text);
		fprintf(print->out, "%s%s %s", shown++ > 0 ? "  " : "    ", name, text);
	}
	putc('\n', print->out);
}

static void measure_print_limit(const struct fx_measure_print *print,
				const struct fx_measurement *measurement,
				const struct fx_limit *limit, struct fx_measured *measured)
{
	char text[FX_UNIT_TEXT_MAX] = "nothing";
	double value;

	if (measure_limit_value(limit, measured, &value))
		measure_number_text(measurement, limit->statistic, value, text);
	fputs("    ", print->out);
	measure_print_verdict(print, measure_limit_holds(limit, measured));
	fputs("  ", print->out);
	fx_print_shown(print->out, limit->text, strlen(limit->text), 0);
	fprintf(print->out, ": it is %s\n", text);
}

static void measure_print_text(const struct fx_measure_print *print,
			       const struct fx_measurement *measurement,
			       struct fx_measured *measured)
{
	struct measure_notes notes;

	fx_print_shown(print->out, measurement->name, strlen(measurement->name), 0);
	if (measurement->limits.count > 0) {
		fputs(": ", print->out);
		measure_print_verdict(print, measure_holds(measurement, measured));
	}
	putc('\n', print->out);
	measure_print_statistics(print, measurement, measured);
	for (size_t i = 0; i < measurement->limits.count; i++)
		measure_print_limit(print, measurement, &measurement->limits.items[i], measured);
	measure_fill_notes(measured, &notes);
	for (size_t i = 0; i < notes.count; i++)
		fprintf(print->out, "    %s\n", notes.items[i]);
}

/* --- JSON -------------------------------------------------------------------------------------- */

static void measure_print_number(FILE *out, double value)
{
	if (isfinite(value))
		fprintf(out, "%.17g", value);
	else
		fputs("null", out);
}

static void measure_print_json_limit(FILE *out, const struct fx_limit *limit,
				     struct fx_measured *measured)
{
	char name[24];
	double value;
	bool known = measure_limit_value(limit, measured, &value);

	fx_spec_statistic_text(limit->statistic, limit->percent, name);
	fprintf(out, "{\"statistic\": \"%s\", \"operator\": ", name);
	fx_print_json_text(out, fx_spec_operator_text(limit->relation),
			   strlen(fx_spec_operator_text(limit->relation)));
	fputs(", \"limit\": ", out);
	measure_print_number(out, (double)limit->value.number);
	fputs(", \"value\": ", out);
	measure_print_number(out, known ? value : (double)NAN);
	fprintf(out, ", \"pass\": %s}", measure_limit_holds(limit, measured) ? "true" : "false");
}

static void measure_print_json(const struct fx_measure_print *print,
			       const struct fx_measurement *measurement,
			       struct fx_measured *measured)
{
	struct measure_notes notes;
	size_t count = measure_shown_count(measurement);
	char name[24];

	fputs("  {\"name\": ", print->out);
	fx_print_json_text(print->out, measurement->name, strlen(measurement->name));
	fprintf(print->out, ", \"unit\": \"%s\"", measure_is_time(measurement) ? "ns" : "");
	for (size_t i = 0; i < count; i++) {
		fx_spec_statistic_text(measure_shown[i].statistic, measure_shown[i].percent, name);
		fprintf(print->out, ", \"%s\": ", name);
		measure_print_number(print->out, fx_values_statistic(&measured->values,
								     measure_shown[i].statistic,
								     measure_shown[i].percent));
	}
	fputs(", \"limits\": [", print->out);
	for (size_t i = 0; i < measurement->limits.count; i++) {
		fputs(i > 0 ? ", " : "", print->out);
		measure_print_json_limit(print->out, &measurement->limits.items[i], measured);
	}
	fputs("], \"notes\": [", print->out);
	measure_fill_notes(measured, &notes);
	for (size_t i = 0; i < notes.count; i++) {
		fputs(i > 0 ? ", " : "", print->out);
		fx_print_json_text(print->out, notes.items[i], strlen(notes.items[i]));
	}
	fprintf(print->out, "], \"pass\": %s}",
		measure_holds(measurement, measured) ? "true" : "false");
}

/* --- CSV --------------------------------------------------------------------------------------- */

/* A row for each measurement; what it has not is empty. */
static void measure_print_csv(FILE *out, const struct fx_measurement *measurement,
			      struct fx_measured *measured)
{
	size_t count = measure_shown_count(measurement);

	fx_print_csv_text(out, measurement->name, strlen(measurement->name));
	fputs(measure_is_time(measurement) ? ",ns" : ",", out);
	for (size_t i = 0; i < FX_ARRAY_LEN(measure_shown); i++) {
		double value = fx_values_statistic(&measured->values, measure_shown[i].statistic,
						   measure_shown[i].percent);

		putc(',', out);
		if (i < count && isfinite(value))
			fprintf(out, "%.17g", value);
	}
	fprintf(out, ",%zu,%zu\r\n", measurement->limits.count,
		measure_broken(measurement, measured));
}

/* --- The whole --------------------------------------------------------------------------------- */

static void measure_print_end(const struct fx_measure_print *print, const struct fx_spec *spec,
			      struct fx_measurements *measurements)
{
	size_t limits = 0, broken = 0;

	for (size_t i = 0; i < spec->items.count; i++) {
		const struct fx_measurement *measurement = &spec->items.items[i];

		limits += measurement->limits.count;
		broken += measure_broken(measurement, &measurements->items[i]);
	}
	if (limits > 0)
		fprintf(print->out, "%zu of %zu limits hold\n", limits - broken, limits);
	if (measurements->lost > 0)
		fprintf(print->out, "%s records were lost: counts are too low\n",
			FX_COUNT(measurements->lost));
	if (!print->whole)
		fputs("the archive is damaged: this is of what is whole\n", print->out);
}

static void measure_print_begin(const struct fx_measure_print *print)
{
	char name[24];

	if (print->style == FX_PRINT_JSON)
		fputs("{\"measurements\": [\n", print->out);
	if (print->style != FX_PRINT_CSV)
		return;
	fputs("name,unit", print->out);
	for (size_t i = 0; i < FX_ARRAY_LEN(measure_shown); i++) {
		fx_spec_statistic_text(measure_shown[i].statistic, measure_shown[i].percent, name);
		fprintf(print->out, ",%s", name);
	}
	fputs(",limits,limits_broken\r\n", print->out);
}

static void measure_print_one(const struct fx_measure_print *print,
			      const struct fx_measurement *measurement,
			      struct fx_measured *measured)
{
	switch (print->style) {
	case FX_PRINT_TEXT:
		measure_print_text(print, measurement, measured);
		break;
	case FX_PRINT_JSON:
		measure_print_json(print, measurement, measured);
		break;
	case FX_PRINT_CSV:
		measure_print_csv(print->out, measurement, measured);
		break;
	case FX_PRINT_NAMES: /* neither is a style of measurements */
	case FX_PRINT_PAGE:
		break;
	}
}

bool fx_measure_print(const struct fx_measure_print *print, const struct fx_spec *spec,
		      struct fx_measurements *measurements)
{
	bool pass = true;

	measure_print_begin(print);
	for (size_t i = 0; i < spec->items.count; i++) {
		pass &= measure_holds(&spec->items.items[i], &measurements->items[i]);
		if (i > 0 && print->style == FX_PRINT_JSON)
			fputs(",\n", print->out);
		measure_print_one(print, &spec->items.items[i], &measurements->items[i]);
	}
	if (print->style == FX_PRINT_TEXT)
		measure_print_end(print, spec, measurements);
	else if (print->style == FX_PRINT_JSON)
		fprintf(print->out, "\n], \"pass\": %s, \"lost\": %" PRIu64 ", \"whole\": %s}\n",
			pass ? "true" : "false", measurements->lost,
			print->whole ? "true" : "false");
	return pass;
}
