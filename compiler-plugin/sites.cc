/* SPDX-License-Identifier: MIT */
#include "compiler-plugin/compiler.h"
#include "compiler-plugin/sites.h"

#include <stdio.h>
#include <string.h>

#include <string>
#include <vector>

#include "compiler-plugin/listing.h"
#include <fxtrace/gate.h>

namespace
{

struct site {
	std::string name, group; /* as the assembler has them; group "": none */
	std::string file;
	unsigned line, size;
	uint32_t flags;
};

std::vector<struct site> sites, promised_sites;

/* The name as it stands in the assembler's text. */
std::string assembler_name(tree name)
{
	const char *text = IDENTIFIER_POINTER(name);

	if (text[0] == '*')
		return text + 1;
	return std::string(user_label_prefix) + text;
}

/* A text for the assembler: bytes that have a meaning there in octal. */
std::string string_text(const std::string &text)
{
	std::string result = "\t.string \"";
	char octal[5];

	for (unsigned char c : text) {
		if (c < ' ' || c > '~' || c == '"' || c == '\\') {
			snprintf(octal, sizeof(octal), "\\%03o", c);
			result += octal;
		} else {
			result += (char)c;
		}
	}
	return result + "\"\n";
}

void write_text(const std::string &text)
{
	fputs(string_text(text).c_str(), asm_out_file);
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

/* One a module: all its files bring one, and the linker keeps the first. What optimisation at link time puts into one file brings it once. */
const char GATE[] = "\t.ifndef __fxtrace_gate\n"
		    "\t.section .data.__fxtrace_gate,\"awG\",%%progbits,__fxtrace_gate,comdat\n"
		    "\t.balign %d\n"
		    "\t.weak __fxtrace_gate\n"
		    "\t.hidden __fxtrace_gate\n"
		    "\t.type __fxtrace_gate, %%object\n"
		    "\t.size __fxtrace_gate, %d\n"
		    "__fxtrace_gate:\n"
		    "\t%s __fxtrace_calls\n"
		    "\t.weak __fxtrace_calls\n"
		    "\t.section .note.fxtrace,\"aG\",%%note,__fxtrace_gate,comdat\n"
		    "\t.balign 4\n"
		    "\t.long %d\n\t.long 4\n\t.long %d\n"
		    "\t.string \"" FXTRACE_NOTE_OWNER "\"\n"
		    "\t.balign 4\n"
		    "\t.long __fxtrace_gate-.\n"
		    "\t.endif\n";

/* A note that says nothing but its type, once a file. */
const char NOTE[] = "\t.ifndef .Lfxtrace_note%d\n"
		    "\t.set .Lfxtrace_note%d, 0\n"
		    "\t.section .note.fxtrace,\"a\",%%note\n"
		    "\t.balign 4\n"
		    "\t.long %d\n\t.long 0\n\t.long %d\n"
		    "\t.string \"" FXTRACE_NOTE_OWNER "\"\n"
		    "\t.balign 4\n"
		    "\t.endif\n";

/* Of a function that has its code before the linker makes more: such files are put together, so no label has a name. */
const char EARLY_NOTE[] = "\t.balign 4\n"
			  "\t.long %d\n\t.long 2f-1f\n\t.long %d\n"
			  "\t.string \"" FXTRACE_NOTE_OWNER "\"\n"
			  "\t.balign 4\n"
			  "1:\n"
			  "\t.long %u\n\t.long %u\n\t.long %u\n";

std::string early_text(const struct site &s)
{
	char text[sizeof(EARLY_NOTE) + 100];

	snprintf(text, sizeof(text), EARLY_NOTE, (int)sizeof(FXTRACE_NOTE_OWNER),
		 FXTRACE_NOTE_EARLY, s.line, s.size, (unsigned)s.flags);
	return text + string_text(s.name) + string_text(s.file) + "2:\n\t.balign 4\n";
}

std::string gate_text()
{
	const int size = POINTER_SIZE / 8;
	char text[sizeof(GATE) + 100];

	snprintf(text, sizeof(text), GATE, size, size, size == 8 ? ".quad" : ".long",
		 (int)sizeof(FXTRACE_NOTE_OWNER), FXTRACE_NOTE_GATE);
	return text;
}

std::string note_text(int type)
{
	char text[sizeof(NOTE) + 100];

	snprintf(text, sizeof(text), NOTE, type, type, (int)sizeof(FXTRACE_NOTE_OWNER), type);
	return text;
}

struct site site_of(tree function, unsigned size, uint32_t flags)
{
	tree group = DECL_COMDAT_GROUP(function);
	const char *file = DECL_SOURCE_FILE(function);

	return {assembler_name(DECL_ASSEMBLER_NAME(function)),
		group ? assembler_name(group) : "",
		file ? file : "",
		(unsigned)DECL_SOURCE_LINE(function),
		size,
		flags};
}

} // namespace

void fx_site_add(tree function, unsigned size, uint32_t flags)
{
	sites.push_back(site_of(function, size, flags));
	fx_list_add(sites.back().name, sites.back().file, sites.back().line);
}

void fx_site_promise(tree function, unsigned size, uint32_t flags)
{
	promised_sites.push_back(site_of(function, size, flags));
}

void fx_sites_write()
{
	if (!asm_out_file)
		return;
	if (in_lto_p || flag_fat_lto_objects)
		fputs(note_text(FXTRACE_NOTE_MADE).c_str(), asm_out_file);
	if (sites.empty())
		return;
	for (size_t i = 0; i < sites.size(); i++)
		write_site(sites[i], i);
	fputs(gate_text().c_str(), asm_out_file);
}

void fx_sites_promise(bool has_code)
{
	std::string text = "\t.pushsection .note.fxtrace,\"a\",%note\n";

	text += has_code ? gate_text() : note_text(FXTRACE_NOTE_PROMISED);
	text += "\t.popsection\n";
	if (!promised_sites.empty()) {
		text += "\t.pushsection " FXTRACE_EARLY_SECTION ",\"\",%note\n";
		for (const struct site &s : promised_sites)
			text += early_text(s);
		text += "\t.popsection\n";
	}
	symtab->finalize_toplevel_asm(build_string((int)text.size(), text.c_str()));
}
