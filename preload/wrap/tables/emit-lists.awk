# SPDX-License-Identifier: MIT
# wrappers.list: the wrapped functions, one a line. wrappers.txt: for people.

function out_list(prefix, suffix,    f, i, n, part) {
	for (f = 1; f <= functions; f++) {
		if (internal[f])
			continue
		n = split(function_name[f] "," also[f], part, /,/)
		for (i = 1; i <= n; i++)
			if (part[i] != "" && exists(part[i]))
				print prefix part[i] suffix
	}
}

function out_doc(    f, p, s) {
	for (f = 1; f <= functions; f++) {
		if (internal[f] || !exists(function_name[f]))
			continue
		s = ""
		for (p = 1; p <= parameters[f]; p++)
			if (kind[f, p] != "-")
				s = s (s == "" ? "" : ", ") name[f, p]
		printf "%-24s %-24s %-8s %s\n", function_name[f], shown[f], function_cat[f], s
	}
}
