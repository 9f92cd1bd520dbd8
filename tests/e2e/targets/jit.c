/* SPDX-License-Identifier: MIT */
/*
 * Makes code as a just-in-time compiler does, and writes its map for perf: jit MAPS..., each of them one line of the
 * program's life:
 *
 *	NAME     makes a function of that name, tells of it in the map, and calls it
 *	-NAME    makes and calls one that the map does not know
 *	=NAME    gives the function before another name, at the end of the map
 *
 * A function that was made calls usleep(), and has the hooks of one that was compiled with them. The number of the process is
 * said first.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define ROOM 64u

void __cyg_profile_func_enter(void *function, void *site);
void __cyg_profile_func_exit(void *function, void *site);

static unsigned char *code;

/* A frame, with the call of `target' in it. */
static void code_make(unsigned char *at, void (*target)(void))
{
#if defined(__x86_64__)
	static const unsigned char before[] = {0x55, 0x48, 0x89, 0xe5, 0x48, 0xb8};
	static const unsigned char behind[] = {0xff, 0xd0, 0x5d, 0xc3};

	memcpy(at, before, sizeof(before));
	memcpy(at + sizeof(before), &target, sizeof(target));
	memcpy(at + sizeof(before) + sizeof(target), behind, sizeof(behind));
#elif defined(__aarch64__)
	static const uint32_t before[] = {
	    0xa9bf7bfd, 0x910003fd, 0x58000090, 0xd63f0200, 0xa8c17bfd, 0xd65f03c0,
	};

	memcpy(at, before, sizeof(before));
	memcpy(at + sizeof(before), &target, sizeof(target));
#else
#error "no code for this machine"
#endif
	__builtin___clear_cache((char *)at, (char *)at + ROOM);
}

static void called(void)
{
	usleep(1000);
}

static void map_tell(const char *name)
{
	char path[64];
	FILE *map;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	map = fopen(path, "a");
	if (!map)
		return;
	fprintf(map, "%lx %x %s\n", (unsigned long)code, ROOM, name);
	fclose(map);
}

int main(int argc, char **argv)
{
	code = mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS,
		    -1, 0);
	if (code == MAP_FAILED)
		return 2;
	printf("%d\n", (int)getpid());
	for (int i = 1; i < argc; i++) {
		void (*made)(void);

		if (argv[i][0] != '=')
			code += ROOM;
		code_make(code, called);
		if (argv[i][0] != '-')
			map_tell(argv[i] + (argv[i][0] == '='));
		memcpy(&made, &code, sizeof(made));
		__cyg_profile_func_enter(code, (void *)main);
		made();
		__cyg_profile_func_exit(code, (void *)main);
	}
	return 0;
}
