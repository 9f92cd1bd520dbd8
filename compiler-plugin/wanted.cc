/* SPDX-License-Identifier: MIT */
#include "compiler-plugin/compiler.h"
#include "compiler-plugin/wanted.h"

#include <cxxabi.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <string>
#include <vector>

namespace
{

const char ALWAYS[] = "fxtrace_always";
const char NEVER[] = "fxtrace_never";

enum need { NEED_NOTHING, NEED_LOOP, NEED_CALL };

struct wanted {
	std::vector<std::string> functions, no_functions, files, no_files;
	bool has_functions, has_files; /* were given, if only an empty list */
	unsigned min_size;
	enum need need;
} wanted;

/* --- Arguments -------------------------------------------------------------------------------- */

void list_add(std::vector<std::string> *list, const char *text, size_t length)
{
	while (length > 0 && (text[length - 1] == ' ' || text[length - 1] == '\r'))
		length--;
	if (length > 0)
		list->push_back(std::string(text, length));
}

/* Lines of a file; those that begin with # are comments. */
const char *list_read(std::vector<std::string> *list, const char *path)
{
	FILE *file = fopen(path, "r");
	char *line = NULL;
	size_t room = 0;
	ssize_t length;

	if (!file)
		return "this file cannot be read";
	while ((length = getline(&line, &room, file)) >= 0) {
		if (length > 0 && line[length - 1] == '\n')
			length--;
		if (line[0] != '#')
			list_add(list, line, (size_t)length);
	}
	free(line);
	fclose(file);
	return NULL;
}

const char *list_take(std::vector<std::string> *list, const char *value)
{
	if (value[0] == '@')
		return list_read(list, value + 1);
	while (*value) {
		size_t length = strcspn(value, ",");

		list_add(list, value, length);
		value += length + (value[length] == ',');
	}
	return NULL;
}

const char *min_size_take(const char *value)
{
	char *end;
	unsigned long size = strtoul(value, &end, 10);

	if (value[0] < '0' || value[0] > '9' || *end || size > 1000000)
		return "not a number of instructions up to 1000000";
	wanted.min_size = (unsigned)size;
	return NULL;
}

const char *need_take(const char *value)
{
	if (strcmp(value, "loop") == 0)
		wanted.need = NEED_LOOP;
	else if (strcmp(value, "call") == 0)
		wanted.need = NEED_CALL;
	else
		return "not loop or call";
	return NULL;
}

/* --- Matching --------------------------------------------------------------------------------- */

bool matches(const std::vector<std::string> &globs, const char *text)
{
	for (const std::string &glob : globs) {
		if (fnmatch(glob.c_str(), text, 0) == 0)
			return true;
	}
	return false;
}

/* As traces show it: with its scopes and parameters. */
bool demangled_matches(const std::vector<std::string> &globs, const char *assembler)
{
	int status;
	char *text = abi::__cxa_demangle(assembler, NULL, NULL, &status);
	bool found = text && matches(globs, text);

	free(text);
	return found;
}

/* A function is known by the name in the source, with and without its scopes, as traces show it, and by the linker's name. */
bool function_matches(const std::vector<std::string> &globs, tree function)
{
	const char *assembler;

	if (globs.empty())
		return false;
	if (DECL_NAME(function) && matches(globs, IDENTIFIER_POINTER(DECL_NAME(function))))
		return true;
	if (matches(globs, lang_hooks.decl_printable_name(function, 1)))
		return true;
	assembler = IDENTIFIER_POINTER(DECL_ASSEMBLER_NAME(function));
	assembler += assembler[0] == '*';
	return matches(globs, assembler) || demangled_matches(globs, assembler);
}

/* A file by its path as the compiler was given it, and by its name alone. */
bool file_matches(const std::vector<std::string> &globs, tree function)
{
	const char *path = DECL_SOURCE_FILE(function);
	const char *slash = path ? strrchr(path, '/') : NULL;

	if (globs.empty() || !path)
		return false;
	return matches(globs, path) || (slash && matches(globs, slash + 1));
}

bool has(tree function, const char *attribute)
{
	return lookup_attribute(attribute, DECL_ATTRIBUTES(function)) != NULL_TREE;
}

/* --- Attributes ------------------------------------------------------------------------------- */

tree attribute_take(tree *node, tree name, tree, int, bool *no_add_attrs)
{
	if (TREE_CODE(*node) != FUNCTION_DECL) {
		warning(OPT_Wattributes, "%qE attribute applies to functions only", name);
		*no_add_attrs = true;
	}
	return NULL_TREE;
}

struct attribute_spec always = {ALWAYS, 0, 0, true, false, false, false, attribute_take, NULL};
struct attribute_spec never = {NEVER, 0, 0, true, false, false, false, attribute_take, NULL};

} // namespace

void fx_wanted_register_attributes()
{
	register_attribute(&always);
	register_attribute(&never);
}

bool fx_wanted_argument(const char *key, const char *value, const char **ret_wrong)
{
	const char *text = value ? value : "";

	*ret_wrong = NULL;
	if (strcmp(key, "functions") == 0) {
		wanted.has_functions = true;
		*ret_wrong = list_take(&wanted.functions, text);
	} else if (strcmp(key, "no-functions") == 0) {
		*ret_wrong = list_take(&wanted.no_functions, text);
	} else if (strcmp(key, "files") == 0) {
		wanted.has_files = true;
		*ret_wrong = list_take(&wanted.files, text);
	} else if (strcmp(key, "no-files") == 0) {
		*ret_wrong = list_take(&wanted.no_files, text);
	} else if (strcmp(key, "min-size") == 0) {
		*ret_wrong = min_size_take(text);
	} else if (strcmp(key, "need") == 0) {
		*ret_wrong = need_take(text);
	} else {
		return false;
	}
	return true;
}

bool fx_wanted_needs_loop()
{
	return wanted.need == NEED_LOOP;
}

bool fx_wanted_at_all(tree function)
{
	bool is_given = wanted.has_functions || wanted.has_files;

	if (has(function, NEVER) || has(function, "no_instrument_function") ||
	    has(function, "naked"))
		return false;
	if (has(function, ALWAYS))
		return true;
	if (DECL_STATIC_CONSTRUCTOR(function) && DECL_ARTIFICIAL(function))
		return false;
	if (is_given && !function_matches(wanted.functions, function) &&
	    !file_matches(wanted.files, function))
		return false;
	return !function_matches(wanted.no_functions, function) &&
	       !file_matches(wanted.no_files, function);
}

bool fx_wanted_body(tree function, const struct fx_body *body)
{
	if (has(function, ALWAYS))
		return true;
	if (body->size < wanted.min_size)
		return false;
	switch (wanted.need) {
	case NEED_LOOP:
		return body->has_loop;
	case NEED_CALL:
		return body->has_call;
	case NEED_NOTHING:
		break;
	}
	return true;
}
