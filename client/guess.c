/* SPDX-License-Identifier: MIT */
#include "client/guess.h"

#include <string.h>

/* Longer names are not compared. */
#define GUESS_MAX 63u

static size_t guess_least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* The letters to put in, to take out, to exchange for another or, if neighbours, for one another. */
static size_t guess_distance(const char *a, size_t a_size, const char *b, size_t b_size)
{
	size_t rows[3][GUESS_MAX + 1], *before = rows[0], *above = rows[1], *row = rows[2], *free;

	for (size_t j = 0; j <= b_size; j++)
		above[j] = j;
	for (size_t i = 1; i <= a_size; i++) {
		row[0] = i;
		for (size_t j = 1; j <= b_size; j++) {
			row[j] = guess_least(guess_least(above[j], row[j - 1]) + 1,
					     above[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				row[j] = guess_least(row[j], before[j - 2] + 1);
		}
		free = before;
		before = above;
		above = row;
		row = free;
	}
	return above[b_size];
}

struct fx_guess fx_guess_begin(const char *word, size_t length)
{
	/* One letter in three may be wrong. */
	return (struct fx_guess){
	    .word = word,
	    .length = length,
	    .distance = length > GUESS_MAX ? 0 : guess_least(length / 3, 3) + 1,
	};
}

void fx_guess_try(struct fx_guess *guess, const char *name)
{
	size_t size = strlen(name), distance;

	if (guess->distance == 0 || size > GUESS_MAX)
		return;
	distance = guess_distance(guess->word, guess->length, name, size);
	if (distance >= guess->distance)
		return;
	guess->distance = distance;
	guess->best = name;
}
