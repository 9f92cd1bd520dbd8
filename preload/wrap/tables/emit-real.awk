# SPDX-License-Identifier: MIT
# wrappers.h: the table of real functions, prototypes of all wrappers. real-names.inc: names and versions to look them up
# by. libfxtrace.map: the linker's version script.

function out_wrappers_h(    f) {
	banner()
	print "enum fx_real_index {"
	for (f = 1; f <= functions; f++)
		printf "\tFX_REAL_%s,\n", function_name[f]
	print "\tFX_REAL_COUNT,\n};\n"
	print "struct fx_real {"
	for (f = 1; f <= functions; f++)
		printf "\t%s(*%s)(%s);\n", function_type[f], function_name[f], declared(f)
	print "};\n"
	for (f = 1; f <= functions; f++)
		if (!internal[f])
			printf "%sfx_wrap_%s(%s) __asm__(\"%s\")\n    __attribute__((visibility(\"default\")%s));\n",
			       function_type[f], function_name[f], declared(f), function_name[f],
			       (f, "noreturn") in flag ? ", noreturn" : ""
}

function out_names(    f) {
	banner()
	for (f = 1; f <= functions; f++)
		printf "\t[FX_REAL_%s] = {\"%s\", \"%s\", FX_MISSING_%s},\n", function_name[f],
		       f in forward || !exists(function_name[f]) ? "" : function_name[f], version[f],
		       result[f]
}

function out_map() {
	banner()
	print "{\nglobal:"
	out_list("\t", ";")
	print "\t__cyg_profile_func_enter;\n\t__cyg_profile_func_exit;\n\tmcount;\n\t_mcount;\n\t__fentry__;\n\t__fxtrace_calls;\n\t__fxtrace_events;\n\tfxtrace_alert_raise;\n\tfxtrace_late_begin;\n\tfxtrace_late_end;"
	print "local:\n\t*;\n};"
}
