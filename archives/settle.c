/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "archives/settle.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Messages are wanted to take so long at least, ns, so that clocks do not lie at the very edge; if that cannot be, less. */
#define SETTLE_WAY_FIRST 20000.0
#define SETTLE_WAY_LEAST 10.0

/* What pulls clocks back to where they are, against what messages pull. */
#define SETTLE_REST 1e-9

enum { SETTLE_STEPS = 60, SETTLE_HALVES = 30 };

/* Newton's method on a sum of squares: its matrix, and the step. */
struct settle_work {
	struct fx_settle *settle;
	size_t size;	/* unknowns: two of each clock that moves */
	double *matrix; /* size * size, lower half */
	double *step, *at, *before;
	double way; /* that is wanted */
};

static double settle_move(const struct settle_work *work, uint32_t clock, double when)
{
	const struct fx_settle_clock *c = &work->settle->clocks[clock];

	return c->moves ? work->at[c->column] + work->at[c->column + 1] * when : 0;
}

static double settle_early(const struct settle_work *work, const struct fx_settle_message *message)
{
	return message->early + settle_move(work, message->from, message->sent) -
	       settle_move(work, message->to, message->received);
}

static double settle_sum(const struct settle_work *work)
{
	double sum = 0;

	for (size_t i = 0; i < work->settle->messages.count; i++) {
		double early = settle_early(work, &work->settle->messages.items[i]) + work->way;

		sum += early > 0 ? early * early : 0;
	}
	for (size_t i = 0; i < work->size; i++)
		sum += SETTLE_REST * work->at[i] * work->at[i];
	return sum;
}

/* Whether no message is early. */
static bool settle_is_in_order(const struct settle_work *work)
{
	for (size_t i = 0; i < work->settle->messages.count; i++) {
		if (settle_early(work, &work->settle->messages.items[i]) > 0)
			return false;
	}
	return true;
}

/* What a message that is early adds to matrix and slope. */
static void settle_add(struct settle_work *work, const struct fx_settle_message *message,
		       double early)
{
	const uint32_t clocks[2] = {message->from, message->to};
	const double when[2] = {message->sent, message->received};
	size_t columns[4], count = 0;
	double factors[4];

	for (int i = 0; i < 2; i++) {
		const struct fx_settle_clock *c = &work->settle->clocks[clocks[i]];
		double sign = i ? -1 : 1;

		if (!c->moves)
			continue;
		columns[count] = c->column;
		factors[count++] = sign;
		columns[count] = c->column + 1;
		factors[count++] = sign * when[i];
	}
	for (size_t i = 0; i < count; i++) {
		work->step[columns[i]] -= early * factors[i];
		for (size_t j = 0; j < count; j++) {
			if (columns[j] <= columns[i])
				work->matrix[columns[i] * work->size + columns[j]] +=
				    factors[i] * factors[j];
		}
	}
}

/* Cholesky's, in place. The matrix is positive, by what pulls back. */
static void settle_step(struct settle_work *work)
{
	size_t n = work->size;
	double *m = work->matrix;

	for (size_t i = 0; i < n; i++) {
		for (size_t j = 0; j <= i; j++) {
			double sum = m[i * n + j];

			for (size_t k = 0; k < j; k++)
				sum -= m[i * n + k] * m[j * n + k];
			if (i == j)
				m[i * n + i] = sqrt(sum > 1e-12 ? sum : 1e-12);
			else
				m[i * n + j] = sum / m[j * n + j];
		}
	}
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < i; k++)
			work->step[i] -= m[i * n + k] * work->step[k];
		work->step[i] /= m[i * n + i];
	}
	for (size_t i = n; i-- > 0;) {
		for (size_t k = i + 1; k < n; k++)
			work->step[i] -= m[k * n + i] * work->step[k];
		work->step[i] /= m[i * n + i];
	}
}

/* Goes as far along the step as it is down. False: no further. */
static bool settle_go(struct settle_work *work, double sum)
{
	double part = 1;

	memcpy(work->before, work->at, work->size * sizeof(*work->at));
	for (int i = 0; i < SETTLE_HALVES; i++, part /= 2) {
		for (size_t j = 0; j < work->size; j++)
			work->at[j] = work->before[j] + part * work->step[j];
		if (settle_sum(work) < sum)
			return true;
	}
	memcpy(work->at, work->before, work->size * sizeof(*work->at));
	return false;
}

static void settle_down(struct settle_work *work)
{
	for (int i = 0; i < SETTLE_STEPS; i++) {
		double sum = settle_sum(work);

		memset(work->matrix, 0, work->size * work->size * sizeof(*work->matrix));
		for (size_t j = 0; j < work->size; j++) {
			work->step[j] = -SETTLE_REST * work->at[j];
			work->matrix[j * work->size + j] = SETTLE_REST;
		}
		for (size_t j = 0; j < work->settle->messages.count; j++) {
			const struct fx_settle_message *message = &work->settle->messages.items[j];
			double early = settle_early(work, message) + work->way;

			if (early > 0)
				settle_add(work, message, early);
		}
		settle_step(work);
		if (!settle_go(work, sum))
			return;
	}
}

int fx_settle_solve(struct fx_settle *settle)
{
	struct settle_work work = {.settle = settle};
	size_t n;
	int r = -ENOMEM;

	for (size_t i = 0; i < settle->count; i++) {
		settle->clocks[i].constant = settle->clocks[i].change = 0;
		settle->clocks[i].column = work.size;
		work.size += settle->clocks[i].moves ? 2 : 0;
	}
	n = work.size ? work.size : 1;
	work.at = calloc(n, sizeof(*work.at));
	if (!work.at)
		return -ENOMEM;
	if (work.size == 0 || work.size > 2 * FX_SETTLE_MAX || settle_is_in_order(&work)) {
		r = settle_is_in_order(&work);
		free(work.at);
		return r;
	}
	work.matrix = calloc(n * n, sizeof(*work.matrix));
	work.step = calloc(n, sizeof(*work.step));
	work.before = calloc(n, sizeof(*work.before));
	if (work.matrix && work.step && work.before) {
		r = 0;
		for (work.way = SETTLE_WAY_FIRST; work.way > SETTLE_WAY_LEAST && r == 0;
		     work.way /= 4) {
			settle_down(&work);
			r = settle_is_in_order(&work);
		}
		for (size_t i = 0; i < settle->count; i++) {
			struct fx_settle_clock *c = &settle->clocks[i];

			if (!c->moves)
				continue;
			c->constant = work.at[c->column];
			c->change = work.at[c->column + 1];
		}
	}
	free(work.matrix);
	free(work.step);
	free(work.before);
	free(work.at);
	return r;
}

void fx_settle_free(struct fx_settle *settle)
{
	fx_vector_free(&settle->messages);
}
