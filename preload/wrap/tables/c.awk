# SPDX-License-Identifier: MIT
# Pieces of C that several outputs have.

function banner() {
	print "/* Made from the tables in preload/wrap/tables. */"
}

# "int fd, void *buf": the parameters as C declares them.
function declared(f,    s, p) {
	s = ""
	for (p = 1; p <= parameters[f]; p++)
		if (!((f, p) in optional))
			s = s (s == "" ? "" : ", ") type[f, p] name[f, p]
	if (f in variadic)
		s = s ", ..."
	return s == "" ? "void" : s
}

# The same with what a caller may leave out.
function all_declared(f,    s, p) {
	s = ""
	for (p = 1; p <= parameters[f]; p++)
		s = s (p == 1 ? "" : ", ") type[f, p] name[f, p]
	return s == "" ? "void" : s
}

# "fd, buf": the parameters as they are handed on.
function passed(f,    s, p) {
	s = ""
	for (p = 1; p <= parameters[f]; p++)
		s = s (p == 1 ? "" : ", ") name[f, p]
	return s
}

function changes_descriptors(f) {
	return (f, "opens") in descriptor || (f, "closes") in descriptor || (f, "renames") in descriptor ||
	       (f, "moves") in descriptor
}

function callee(f) {
	if ((f, "call") in flag)
		return "fx_call_" function_name[f]
	if (changes_descriptors(f))
		return "descriptors_" function_name[f]
	return "FX_REAL(" function_name[f] ")"
}

# Whether libc has the function; if nobody knows, it has.
function exists(function_) {
	return !libc_known || function_ in in_libc
}
