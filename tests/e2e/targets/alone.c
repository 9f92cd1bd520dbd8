/* SPDX-License-Identifier: MIT */
/* Says that it lives, and whether it was to be traced. To be linked statically: it asks the kernel for little. */
#include <string.h>
#include <unistd.h>

int main(void)
{
	int asked = 0;

	for (char **e = environ; *e; e++)
		asked |= strstr(*e, "libfxtrace") != NULL;
	write(1, asked ? "asked\n" : "alone\n", 6);
	return 5;
}
