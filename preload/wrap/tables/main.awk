# SPDX-License-Identifier: MIT
# Makes C and lists from the tables. POSIX awk; the Makefile names the files in this order.
#
#	awk -v out=FILE [-v libc=NAMES] -f parse.awk -f c.awk -f emit-*.awk -f main.awk wrappers.tbl *.tbl
#
# NAMES is a file with the functions that libc has, a word each: others are not exported. Without it, or
# if it is empty, all are.
#
#	strings.h	enum fx_builtin_string: the index of every builtin string
#	strings.c	the String Records of them all; names of errors and signals
#	wrappers.h	struct fx_real, the table of real functions; prototypes of all wrappers
#	real-names.inc	names and versions to look them up by
#	unit-UNIT.inc	the wrappers of one unit
#	libfxtrace.map	the linker's version script
#	wrappers.list	the wrapped functions, one a line
#	wrappers.txt	for people: function, event, category, arguments
#	firsts.inc	first arguments that are numbers, for the manager
#	badcalls.inc	calls with bad arguments, but for the functions that file `untried' names (tests)

END {
	if (failed)
		exit 1
	if (out == "strings.h")
		out_strings_h()
	else if (out == "strings.c")
		out_strings_c()
	else if (out == "wrappers.h")
		out_wrappers_h()
	else if (out == "real-names.inc")
		out_names()
	else if (out ~ /^unit-.*\.inc$/)
		out_unit(substr(out, 6, length(out) - 9))
	else if (out == "libfxtrace.map")
		out_map()
	else if (out == "wrappers.list")
		out_list("", "")
	else if (out == "wrappers.txt")
		out_doc()
	else if (out == "firsts.inc")
		out_firsts()
	else if (out == "badcalls.inc")
		out_bad_calls()
	else
		fail("unknown output `" out "'")
	if (failed)
		exit 1
}
