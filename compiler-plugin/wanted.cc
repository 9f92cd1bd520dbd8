/* SPDX-License-Identifier: MIT */
#include "compiler-plugin/compiler.h"
#include "compiler-plugin/wanted.h"

namespace
{

const char ALWAYS[] = "fxtrace_always";
const char NEVER[] = "fxtrace_never";

/* By the name in the source, with and without its scopes, as traces show it, and by the linker's name. */
struct fx_named named_of(tree function)
{
	struct fx_named named;
	const char *assembler = IDENTIFIER_POINTER(DECL_ASSEMBLER_NAME(function));
	const char *file = DECL_SOURCE_FILE(function);

	assembler += assembler[0] == '*';
	if (DECL_NAME(function))
		named.names.push_back(IDENTIFIER_POINTER(DECL_NAME(function)));
	named.names.push_back(lang_hooks.decl_printable_name(function, 1));
	named.names.push_back(assembler);
	named.names.push_back(fx_choice_demangled(assembler));
	named.file = file ? file : "";
	return named;
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

bool fx_wanted_at_all(tree function)
{
	struct fx_named named;

	if (has(function, NEVER) || has(function, "no_instrument_function") ||
	    has(function, "naked"))
		return false;
	if (has(function, ALWAYS))
		return true;
	if (DECL_STATIC_CONSTRUCTOR(function) && DECL_ARTIFICIAL(function))
		return false;
	if (!fx_choice_has_lists())
		return true;
	named = named_of(function);
	return fx_choice_named(&named);
}

bool fx_wanted_body(tree function, const struct fx_body *body)
{
	return has(function, ALWAYS) || fx_choice_body(body);
}
