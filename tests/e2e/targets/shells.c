/* SPDX-License-Identifier: MIT */
/* Goes to another root directory, if it is told one, and has libc start the shell there. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <wordexp.h>

int main(int argc, char **argv)
{
	wordexp_t words;
	FILE *f;

	setvbuf(stdout, NULL, _IONBF, 0);
	if (argc > 1 && (chroot(argv[1]) || chdir("/")))
		return 77;
	printf("system: %d\n", system("echo by system; echo error >&2"));
	f = popen("echo by popen; echo error >&2", "r");
	for (int c; f && (c = getc(f)) != EOF;)
		putchar(c);
	printf("popen: %d\n", f ? pclose(f) : -1);
	printf("wordexp: %d\n",
	       wordexp("$(echo by wordexp; echo error >&2)", &words, WRDE_SHOWERR));
	return 0;
}
