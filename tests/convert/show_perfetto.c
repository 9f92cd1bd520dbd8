/* SPDX-License-Identifier: MIT */
/* show_perfetto: the Perfetto trace on standard input as text (perfetto_text.h). */
#include <stdlib.h>

#include "tests/convert/perfetto_text.h"

int main(void)
{
	size_t capacity = 1 << 20, size = 0, got;
	unsigned char *data = malloc(capacity);
	int r;

	while (data && (got = fread(data + size, 1, capacity - size, stdin)) > 0) {
		size += got;
		if (size == capacity)
			data = realloc(data, capacity *= 2);
	}
	if (!data || ferror(stdin))
		return 2;
	r = perfetto_print(stdout, data, size);
	free(data);
	return r < 0 || fflush(stdout) != 0;
}
