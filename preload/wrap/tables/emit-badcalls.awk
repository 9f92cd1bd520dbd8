# SPDX-License-Identifier: MIT
# badcalls.inc: calls with bad arguments, but for the functions that file `untried' names (tests).

# An argument that no function likes.
function bad(f, p,    t) {
	t = trim(type[f, p])
	if (t ~ /\*$/ || t ~ /^fx_/ || t ~ /^(timer|iconv|locale)_t$/ || t == "nl_catd")
		return "(" t ")bad_pointer"
	if (t ~ /^(const )?(struct|union) /)
		return "(" t "){0}"
	return "(" t ")-1"
}

function takes_list(f,    p) {
	for (p = 1; p <= parameters[f]; p++)
		if (trim(type[f, p]) == "va_list")
			return 1
	return 0
}

# Functions whose arguments somebody checks. (A stream that is none is looked at before the call.)
function is_tried(f) {
	return function_unit[f] ~ /^(files|descriptors|mappings|process|system|library)$/ && !internal[f] &&
	       !(f in forward) && !takes_list(f) && !((f, "custom") in flag) && exists(function_name[f]) &&
	       !(function_name[f] in left_untried)
}

function write_bad_call(f,    p, s) {
	for (p = 1; p <= parameters[f]; p++)
		s = s (p == 1 ? "" : ", ") bad(f, p)
	printf "\nstatic long call_%s(void *function)\n{\n", function_name[f]
	printf "\t%s(*bad)(%s) = (%s(*)(%s))function;\n\n", function_type[f], declared(f),
	       function_type[f], declared(f)
	s = "bad(" s ")"
	if (result[f] == "void")
		printf "\t%s;\n\treturn 0;\n}\n", s
	else if (trim(function_type[f]) ~ /\*$/ || result[f] ~ /^(handler|map|ptr)$/)
		printf "\treturn of_pointer((const void *)%s);\n}\n", s
	else
		printf "\treturn (long)%s;\n}\n", s
}

function out_bad_calls(    f, line, i, n, word) {
	while ((getline line < untried) > 0) {
		n = line ~ /^#/ ? 0 : split(line, word, /[ \t]+/)
		for (i = 1; i <= n; i++)
			left_untried[word[i]] = 1
	}
	banner()
	for (f = 1; f <= functions; f++)
		if (is_tried(f))
			write_bad_call(f)
	printf "\n#define EVERY_CALL(X)"
	for (f = 1; f <= functions; f++)
		if (is_tried(f))
			printf " \\\n\tX(%s)", function_name[f]
	print ""
}
