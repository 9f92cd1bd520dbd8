/* SPDX-License-Identifier: MIT */
/*
 * gcc -fplugin=.../fxtrace.so -fplugin-arg-fxtrace-KEY=VALUE: see fxtrace-config(1).
 */
#include "compiler-plugin/compiler.h"

#include <string.h>

#include "compiler-plugin/insert.h"
#include "compiler-plugin/listing.h"
#include "compiler-plugin/sites.h"
#include "compiler-plugin/wanted.h"

/* plugin-version.h has variables, of which not all are used. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-variable"
#include <plugin-version.h>
#pragma GCC diagnostic pop

int plugin_is_GPL_compatible;

static struct plugin_info info = {
    FX_VERSION, "functions=LIST, no-functions=LIST  globs, or @FILE\n"
		"files=LIST, no-files=LIST          the same of files of the source\n"
		"min-size=N                         instructions\n"
		"need=loop|call                     functions that have one\n"
		"when=late|early                    after inlining, or before\n"
		"list=FILE                          adds the functions' names to FILE\n"};

/* Modules need the same compiler: its insides differ from release to release. */
static bool is_own_version(const struct plugin_gcc_version *version)
{
	return strcmp(version->basever, gcc_version.basever) == 0;
}

static bool argument_take(const struct plugin_argument *argument, enum fx_when *when)
{
	const char *wrong = NULL, *value = argument->value ? argument->value : "";

	if (strcmp(argument->key, "when") == 0) {
		if (strcmp(value, "early") == 0)
			*when = FX_WHEN_EARLY;
		else if (strcmp(value, "late") == 0)
			*when = FX_WHEN_LATE;
		else
			wrong = "not late or early";
	} else if (strcmp(argument->key, "list") == 0) {
		if (!fx_list_open(value))
			wrong = "this file cannot be written";
	} else if (!fx_choice_argument(argument->key, value, &wrong)) {
		error("%<-fplugin-arg-fxtrace-%s%>: there is no such argument; %<fxtrace-config "
		      "--help%> has them",
		      argument->key);
		return false;
	}
	if (wrong)
		error("%<-fplugin-arg-fxtrace-%s=%s%>: %s", argument->key, value, wrong);
	return !wrong;
}

/* What would go wrong, and why. NULL: nothing. */
static const char *obstacle(enum fx_when when)
{
	if (flag_split_stack)
		return "%<-fsplit-stack%>: calls are told apart by their place on one stack";
	if (flag_instrument_function_entry_exit)
		return "%<-finstrument-functions%>: each call would be recorded twice";
	if (when == FX_WHEN_EARLY && fx_choice_needs_loop())
		return "%<when=early%>: %<need=loop%> is not known before a function is analysed";
	return NULL;
}

static void check_options(void *, void *data)
{
	const char *why = obstacle(*(enum fx_when *)data);

	if (why) {
		error("the plugin fxtrace does not go together with");
		error(why);
	}
}

static void register_attributes(void *, void *)
{
	fx_wanted_register_attributes();
}

/* A function that is to have code, as far as that is known before it is optimised. */
static bool is_promised()
{
	struct cgraph_node *node;

	FOR_EACH_DEFINED_FUNCTION(node)
	{
		if (!node->alias && !node->thunk && fx_wanted_at_all(node->decl))
			return true;
	}
	return false;
}

static void begin_analysis(void *, void *data)
{
	if (flag_generate_lto && !in_lto_p && is_promised()) {
		fx_insert_promise();
		fx_sites_promise(*(enum fx_when *)data == FX_WHEN_EARLY);
	}
}

static void finish_unit(void *, void *)
{
	if (!seen_error())
		fx_sites_write();
}

int plugin_init(struct plugin_name_args *args, struct plugin_gcc_version *version)
{
	static enum fx_when when = FX_WHEN_LATE;
	const char *name = args->base_name;

	if (!is_own_version(version)) {
		error("the plugin %<%s%> was built for GCC %s, and this is %s", args->full_name,
		      gcc_version.basever, version->basever);
		return 1;
	}
	for (int i = 0; i < args->argc; i++) {
		if (!argument_take(&args->argv[i], &when))
			return 1;
	}
	register_callback(name, PLUGIN_INFO, NULL, &info);
	register_callback(name, PLUGIN_ATTRIBUTES, register_attributes, NULL);
	register_callback(name, PLUGIN_START_UNIT, check_options, &when);
	register_callback(name, PLUGIN_ALL_IPA_PASSES_START, begin_analysis, &when);
	register_callback(name, PLUGIN_FINISH_UNIT, finish_unit, NULL);
	fx_insert_register(name, when);
	return 0;
}
