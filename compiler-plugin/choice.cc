/* SPDX-License-Identifier: MIT */
#include "compiler-plugin/choice.h"

#include <cxxabi.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

namespace
{

enum need { NEED_NOTHING, NEED_LOOP, NEED_CALL };

struct choice {
	std::vector<std::string> functions, no_functions, files, no_files;
	bool has_functions, has_files; /* were given, if only an empty list */
	unsigned min_size;
	enum need need;
} choice;

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
	choice.min_size = (unsigned)size;
	return NULL;
}

const char *need_take(const char *value)
{
	if (strcmp(value, "loop") == 0)
		choice.need = NEED_LOOP;
	else if (strcmp(value, "call") == 0)
		choice.need = NEED_CALL;
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

bool matches_one(const std::vector<std::string> &globs, const std::vector<std::string> &texts)
{
	for (const std::string &text : texts) {
		if (matches(globs, text.c_str()))
			return true;
	}
	return false;
}

/* A file by its path, and by its name alone. */
bool file_matches(const std::vector<std::string> &globs, const std::string &path)
{
	size_t slash = path.rfind('/');

	if (path.empty())
		return false;
	return matches(globs, path.c_str()) ||
	       (slash != std::string::npos && matches(globs, path.c_str() + slash + 1));
}

} // namespace

bool fx_choice_argument(const char *key, const char *value, const char **ret_wrong)
{
	const char *text = value ? value : "";

	*ret_wrong = NULL;
	if (strcmp(key, "functions") == 0) {
		choice.has_functions = true;
		*ret_wrong = list_take(&choice.functions, text);
	} else if (strcmp(key, "no-functions") == 0) {
		*ret_wrong = list_take(&choice.no_functions, text);
	} else if (strcmp(key, "files") == 0) {
		choice.has_files = true;
		*ret_wrong = list_take(&choice.files, text);
	} else if (strcmp(key, "no-files") == 0) {
		*ret_wrong = list_take(&choice.no_files, text);
	} else if (strcmp(key, "min-size") == 0) {
		*ret_wrong = min_size_take(text);
	} else if (strcmp(key, "need") == 0) {
		*ret_wrong = need_take(text);
	} else {
		return false;
	}
	return true;
}

bool fx_choice_has_lists()
{
	return choice.has_functions || choice.has_files || !choice.no_functions.empty() ||
	       !choice.no_files.empty();
}

bool fx_choice_needs_loop()
{
	return choice.need == NEED_LOOP;
}

bool fx_choice_named(const struct fx_named *named)
{
	bool is_given = choice.has_functions || choice.has_files;

	if (is_given && !matches_one(choice.functions, named->names) &&
	    !file_matches(choice.files, named->file))
		return false;
	return !matches_one(choice.no_functions, named->names) &&
	       !file_matches(choice.no_files, named->file);
}

bool fx_choice_body(const struct fx_body *body)
{
	if (body->size < choice.min_size)
		return false;
	switch (choice.need) {
	case NEED_LOOP:
		return body->has_loop;
	case NEED_CALL:
		return body->has_call;
	case NEED_NOTHING:
		break;
	}
	return true;
}

std::string fx_choice_demangled(const char *assembler)
{
	int status;
	char *text = abi::__cxa_demangle(assembler, NULL, NULL, &status);
	std::string result = text ? text : "";

	free(text);
	return result;
}
