/* SPDX-License-Identifier: MIT */
/*
 * Golden traces as text, tests/format/golden/NAME.hex. Each line is
 *
 *	# ...	a comment
 *	HEX	a word of the trace, 16 digits; a comment may follow
 *	> ...	the next line that a dump must print
 *	! ...	the next fault that the reader must report: offset and text
 *
 * The words were worked out from the text of the format, not by the encoder.
 */
#ifndef FX_TESTS_GOLDEN_H
#define FX_TESTS_GOLDEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GOLDEN_MAX_WORDS 1024
#define GOLDEN_MAX_TEXT	 (64 << 10)

struct golden {
	char name[256]; /* without folder and suffix */
	uint64_t words[GOLDEN_MAX_WORDS];
	size_t n_words;
	char expected[GOLDEN_MAX_TEXT]; /* the lines of > and !, marks included */
	bool is_good;			/* no ! line */
};

/* Calls @test for every file, in the order of their names. Returns their number. */
size_t golden_for_each(void (*test)(const struct golden *golden));

#endif /* FX_TESTS_GOLDEN_H */
