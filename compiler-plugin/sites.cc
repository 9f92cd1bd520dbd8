/* SPDX-License-Identifier: MIT */
#include "compiler-plugin/compiler.h"
#include "compiler-plugin/sites.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <string>
#include <vector>

#include <fxtrace/gate.h>

namespace
{

struct site {
	std::string name, group; /* as the assembler has them; group "": none */
	std::string file;
	unsigned line, size;
	uint32_t flags;
};

std::vector<struct site> sites;
int list_fd = -1;

/* The name as it stands in the assembler's text. */
std::string assembler_name(tree name)
{
	const char *text = IDENTIFIER_POINTER(name);

	if (text[0] == '*')
		return text + 1;
	return std::string(user_label_prefix) + text;
}

void list_site(const struct site &s)
{
	std::string line = s.name + "\t" + s.file + ":" + std::to_string(s.line) + "\n";

	/* One call, so that compilers that run at once do not mix their lines. */
	if (list_fd >= 0 && write(list_fd, line.data(), line.size()) < 0)
		list_fd = -1;
}

/* A text for the assembler: bytes that have a meaning there in octal. */
void write_text(const std::string &text)
{
	fputs("\t.string \"", asm_out_file);
	for (unsigned char c : text) {
		if (c < ' ' || c > '~' || c == '"' || c == '\\')
			fprintf(asm_out_file, "\\%03o", c);
		else
			putc(c, asm_out_file);
	}
	fputs("\"\n", asm_out_file);
}

/* Labels' numbers are the sites' own. The function is referred to by an alias that is this file's own: so the distance is known
 * to the linker, also where another module's function of that name might stand in its place. */
void write_site(const struct site &s, size_t number)
{
	const char *name = s.name.c_str();

	fprintf(asm_out_file, "\t.section .rodata.fxtrace.str,\"aMS\",%%progbits,1\n");
	fprintf(asm_out_file, ".Lfxtrace_name%zu:\n", number);
	write_text(s.name);
	fprintf(asm_out_file, ".Lfxtrace_file%zu:\n", number);
	write_text(s.file);
	fprintf(asm_out_file, "\t.set .Lfxtrace_function%zu,%s\n", number, name);
	/* It goes where the function goes: out with its group, or with its section. */
	if (s.group.empty())
		fprintf(asm_out_file,
			"\t.section " FXTRACE_SITES_SECTION
			",\"ao\",%%progbits,.Lfxtrace_function%zu\n",
			number);
	else
		fprintf(asm_out_file,
			"\t.section " FXTRACE_SITES_SECTION
			",\"aoG\",%%progbits,.Lfxtrace_function%zu,%s,comdat\n",
			number, s.group.c_str());
	fprintf(asm_out_file, "\t.balign 4\n\t.long .Lfxtrace_function%zu-.\n", number);
	fprintf(asm_out_file, "\t.long .Lfxtrace_name%zu-.\n\t.long .Lfxtrace_file%zu-.\n", number,
		number);
	fprintf(asm_out_file, "\t.long %u\n\t.long %u\n\t.long %u\n", s.line, s.size,
		(unsigned)s.flags);
}

/* One a module: all its files bring one, and the linker keeps the first. */
void write_gate()
{
	const char *word = POINTER_SIZE == 64 ? ".quad" : ".long";

	fprintf(asm_out_file,
		"\t.section .data.__fxtrace_gate,\"awG\",%%progbits,__fxtrace_gate,comdat\n"
		"\t.balign %d\n"
		"\t.weak __fxtrace_gate\n"
		"\t.hidden __fxtrace_gate\n"
		"\t.type __fxtrace_gate, %%object\n"
		"\t.size __fxtrace_gate, %d\n"
		"__fxtrace_gate:\n"
		"\t%s __fxtrace_calls\n"
		"\t.weak __fxtrace_calls\n",
		POINTER_SIZE / 8, POINTER_SIZE / 8, word);
	fprintf(asm_out_file,
		"\t.section .note.fxtrace,\"aG\",%%note,__fxtrace_gate,comdat\n"
		"\t.balign 4\n"
		"\t.long %zu\n\t.long 4\n\t.long %d\n"
		"\t.string \"" FXTRACE_NOTE_OWNER "\"\n"
		"\t.balign 4\n"
		"\t.long __fxtrace_gate-.\n",
		sizeof(FXTRACE_NOTE_OWNER), FXTRACE_NOTE_GATE);
}

} // namespace

void fx_site_add(tree function, unsigned size, uint32_t flags)
{
	tree group = DECL_COMDAT_GROUP(function);
	const char *file = DECL_SOURCE_FILE(function);
	struct site s = {assembler_name(DECL_ASSEMBLER_NAME(function)),
			 group ? assembler_name(group) : "",
			 file ? file : "",
			 (unsigned)DECL_SOURCE_LINE(function),
			 size,
			 flags};

	sites.push_back(s);
	list_site(s);
}

bool fx_sites_list(const char *path)
{
	list_fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	return list_fd >= 0;
}

void fx_sites_write()
{
	if (sites.empty() || !asm_out_file)
		return;
	for (size_t i = 0; i < sites.size(); i++)
		write_site(sites[i], i);
	write_gate();
}
