# SPDX-License-Identifier: MIT
# unit-UNIT.inc: the wrappers of one unit.

function words_needed(f,    s, p) {
	s = "FX_CALL_WORDS + " (result[f] == "text" ? "FX_RESULT_TEXT_WORDS" : "FX_RESULT_WORDS")
	for (p = 1; p <= parameters[f]; p++)
		if (kind[f, p] != "-")
			s = s " + FX_WORDS_" kind[f, p]
	if (f in note)
		s = s " + FX_WORDS_int"
	if (f in wait)
		s = s " + FX_WAIT_WORDS"
	if (f in fds)
		s = s " + " fds[f] " * FX_WORDS_FILE"
	if (f in tells)
		s = s " + FX_WORDS_TELL_" tells[f]
	if (f in reads)
		s = s " + FX_WORDS_TOTAL"
	if (f in writes)
		s = s " + FX_WORDS_TOTAL"
	if (f in counts)
		s = s " + FX_WORDS_COUNT"
	return s
}

function first_key(f) {
	return parameters[f] ? "(uint64_t)(uintptr_t)" name[f, 1] : "0"
}

# What the caller may have left out: all of it is there if the first is.
function write_optional(f,    p, first) {
	if (!(f in variadic) || !((f, variadic[f]) in optional))
		return
	first = variadic[f]
	for (p = first; p <= parameters[f]; p++)
		printf "\t%s%s = 0;\n", type[f, p], name[f, p]
	printf "\n\tif (FX_PASSED_%s(%s)) {\n", kind[f, first], extra[f, first]
	printf "\t\tva_list ap;\n\n"
	printf "\t\tva_start(ap, %s);\n", name[f, first - 1]
	for (p = first; p <= parameters[f]; p++)
		printf "\t\t%s = va_arg(ap, %s);\n", name[f, p], trim(type[f, p])
	printf "\t\tva_end(ap);\n\t}\n"
}

function write_arguments(f,    p) {
	for (p = 1; p <= parameters[f]; p++)
		if (kind[f, p] != "-")
			printf "\t\tfx_arg_%s(&call, FX_STR_%s, %s%s);\n", kind[f, p], name[f, p],
			       name[f, p], (f, p) in extra ? ", " extra[f, p] : ""
	if (f in note)
		printf "\t\tfx_arg_int(&call, FX_STR_%s, %s);\n", note_name[f], note_name[f]
	if (f in wait)
		printf "\t\tfx_wait_show(&call, &wait, __builtin_return_address(0));\n"
}

# The bytes that a call has taken out: none if it only looked at them.
function taken(f,    p) {
	for (p = 1; p <= parameters[f]; p++)
		if (kind[f, p] == "msg_flags")
			return "ret > 0 && (" name[f, p] " & MSG_PEEK) ? 0 : ret"
	return "ret"
}

# "read" or "written": where the bytes of descriptor i went; "" if the call moves none.
function way(f, i) {
	return f in reads && reads[f] == fd_name[f, i] ? "read" : \
	       f in writes && writes[f] == fd_name[f, i] ? "written" : ""
}

# Behind the result: what the descriptors are, and the bytes so far.
function write_files(f,    i, x) {
	if (f in counts)
		printf "\t\tfx_show_count(&call, &is_%s, %s, ret);\n", fd_name[f, 1], counts[f]
	for (i = 1; i <= fds[f]; i++) {
		x = fd_name[f, i]
		if (way(f, i) == "")
			printf "\t\tfx_show_file(&call, FX_STR_%s, &is_%s);\n", fd_file[f, i], x
		else
			printf "\t\tfx_show_total(&call, FX_STR_%s, &is_%s, FX_STR_total_%s, &is_%s.entry->%s, %s);\n",
			       fd_file[f, i], x, way(f, i), x, way(f, i), way(f, i) == "read" ? taken(f) : "ret"
	}
	if (f in tells)
		printf "\t\tfx_tell_%s(&call, %s);\n", tells[f], told[f]
}

# Calls that move bytes, and are made often: a record of one word an argument is written by a way of its own,
# on which the compiler knows all places and counts.
function is_quick(f,    p) {
	if (prefix[f] != "fx_call" || !(f in reads || f in writes) || result[f] != "sys" || f in wait || f in note || f in when || f in before)
		return 0
	for (p = 1; p <= parameters[f]; p++)
		if (kind[f, p] !~ /^(-|fd|int|uint|size|long)$/)
			return 0
	return 1
}

function one_word_each(f,    s, p, i, x) {
	s = "FX_ONE_WORD_ret(ret)"
	for (p = 1; p <= parameters[f]; p++)
		if (kind[f, p] ~ /^(size|long)$/)
			s = s " && FX_ONE_WORD_" kind[f, p] "(" name[f, p] ")"
	for (i = 1; i <= fds[f]; i++) {
		x = fd_name[f, i]
		s = s " && FX_ONE_WORD_file(is_" x ".string)"
		if (way(f, i) != "")
			s = s " &&\n\t    FX_ONE_WORD_size(total_" x " = fx_fd_sum(&is_" x ".entry->" way(f, i) ", ret))"
	}
	return s
}

function write_word(kind, as, value) {
	printf "\t\tfx_quick_word(&quick, FX_WORD_%s(FX_STR_%s, %s));\n", kind, as, value
}

function quick_words(f,    p, n, i) {
	n = 4 + fds[f]
	for (i = 1; i <= fds[f]; i++)
		n += way(f, i) != ""
	for (p = 1; p <= parameters[f]; p++)
		n += kind[f, p] != "-"
	return n
}

function write_quick(f,    i, p, x) {
	printf "\tfx_call_stop(&quick);\n\tif (fx_likely(%s &&\n\t    fx_quick_end(&quick, %d))) {\n",
	       one_word_each(f), quick_words(f)
	for (p = 1; p <= parameters[f]; p++)
		if (kind[f, p] != "-")
			write_word(kind[f, p], name[f, p], name[f, p])
	write_word("long", "ret", "ret")
	for (i = 1; i <= fds[f]; i++) {
		x = fd_name[f, i]
		write_word("string", fd_file[f, i], "is_" x ".string")
		if (way(f, i) == "")
			continue
		write_word("size", "total_" way(f, i), "total_" x)
		printf "\t\tfx_store_relaxed(&is_%s.entry->%s, total_%s);\n", x, way(f, i), x
	}
	printf "\t\tfx_quick_write(&quick, FX_CALL_HEADER(%s, %s));\n\t\treturn ret;\n\t}\n\tcall = fx_quick_leave(&quick);\n",
	       function_cat[f], shown[f]
}

function write_end(f, void_, by) {
	printf "\tif (%s_end(&call, WORDS, %s)) {\n", by, void_ ? "0" : "FX_ERROR_" result[f] "(ret)"
	write_arguments(f)
	if (!void_)
		printf "\t\tfx_result_%s(&call, ret);\n", result[f]
	write_files(f)
	if (f in wait)
		printf "\t\tfx_call_write_arrow(&call, FX_CALL_HEADER(%s, %s), &wait.from, FX_STR_%s, FX_OBJECT(%s));\n",
		       function_cat[f], shown[f], awaited[f], awaited[f]
	else
		printf "\t\t%s_write(&call, FX_CALL_HEADER(%s, %s));\n", by, function_cat[f], shown[f]
	printf "\t}\n"
}

# What they are is asked before the call, which may be the last that uses them, and before the clock.
function write_looks(f,    i, x) {
	for (i = 1; i <= fds[f]; i++) {
		x = fd_name[f, i]
		if ((f, "closes") in descriptor && descriptor[f, "closes"] == x)
			printf "\tis_%s = fx_fd_known(%s);\n", x, x
		else
			printf "\tis_%s = %s_look(%s, FX_CAT_%s);\n", x,
			       prefix[f] == "fx_compact" ? "fx_compact" : "fx_fd", x, function_bit[f]
	}
}

# The real function, and what it does to descriptors: also while nothing is recorded.
function write_descriptors(f,    x) {
	if (!changes_descriptors(f) || (f, "call") in flag)
		return
	printf "\nstatic %sdescriptors_%s(%s)\n{\n", function_type[f], function_name[f], all_declared(f)
	printf "\t%sret;\n\n", function_type[f]
	if ((f, "closes") in descriptor)
		printf "\tfx_fd_forget(%s);\n", descriptor[f, "closes"]
	printf "\tret = FX_REAL(%s)(%s);\n", function_name[f], passed(f)
	if ((f, "renames") in descriptor)
		printf "\tfx_fd_renamed(%s);\n", descriptor[f, "renames"]
	x = (f, "opens") in descriptor ? descriptor[f, "opens"] : ""
	if ((f, "moves") in descriptor)
		printf "\tif (ret == 0)\n\t\tfx_fd_moved(%s);\n", descriptor[f, "moves"]
	if (x == "ret" && (f, "within") in descriptor)
		printf "\tfx_fd_opened_at(ret, %s);\n", descriptor[f, "within"]
	else if (x == "ret" && (f, "copies") in descriptor)
		printf "\tfx_fd_copied(%s, ret);\n", descriptor[f, "copies"]
	else if (x == "ret")
		print "\tfx_fd_forget(ret);"
	else if (x != "") {
		printf "\tif (ret == 0) {\n\t\tfx_fd_forget(%s[0]);\n", x
		printf "\t\tfx_fd_forget(%s[1]);\n\t}\n", x
	}
	print "\treturn ret;\n}"
}

# "if (...)" before a call that is not recorded.
function unrecorded(f) {
	return "!fx_category_on(FX_CAT_" function_bit[f] ")" (f in unless ? " || " unless[f] : "")
}

# A call that is not recorded, after CONDITION; both end at the same indentation.
function write_plain(f, condition) {
	if (result[f] == "void")
		printf "\tif (%s) {\n\t\t%s(%s);\n\t\treturn;\n\t}\n", condition, callee(f), passed(f)
	else
		printf "\tif (%s)\n\t\treturn %s(%s);\n", condition, callee(f), passed(f)
}

function write_pass(f) {
	if (result[f] == "void")
		printf "\tif (fx_pass_%s(%s))\n\t\treturn;\n", function_name[f], passed(f)
	else
		printf "\n\tif (fx_pass_%s(%s, &ret))\n\t\treturn ret;\n", function_name[f], passed(f)
}

# For wrappers that do nothing but jump: the traced half looks up a function that nobody has called yet as well,
# so that there is nothing to keep while that is done.
function write_jump(f,    void_) {
	void_ = result[f] == "void"
	printf "\t__typeof__(fx_real.fn.%s) known = FX_REAL_IF_KNOWN(%s);\n\n", function_name[f], function_name[f]
	printf "\tif (fx_category_on(FX_CAT_%s) || !known)%s\n\t\t%straced_%s(%s);\n%s\t%sknown(%s);\n", function_bit[f],
	       void_ ? " {" : "", void_ ? "" : "return ", function_name[f], passed(f),
	       void_ ? "\t\treturn;\n\t}\n" : "", void_ ? "" : "return ", passed(f)
}

function only_jumps(f) {
	return callee(f) ~ /^FX_REAL/ && !(f in unless) && !((f, "pass") in flag)
}

# The wrapper proper is small: it jumps to the real function or to the traced half, which has the same
# arguments.
function write_wrapper(f,    give) {
	give = result[f] == "void" ? "" : "return "
	write_descriptors(f)
	write_traced(f, result[f] == "void")
	printf "\n%sfx_wrap_%s(%s)\n{\n", function_type[f], function_name[f], declared(f)
	if ((f, "pass") in flag && result[f] != "void")
		printf "\t%sret;\n", function_type[f]
	write_optional(f)
	if (only_jumps(f))
		write_jump(f)
	else {
		if ((f, "pass") in flag)
			write_pass(f)
		else
			write_plain(f, unrecorded(f))
		printf "\t%straced_%s(%s);\n", give, function_name[f], passed(f)
	}
	print "}"
	if (function_name[f] in forwarded)
		write_forwarded(f, give)
}

# What the wrappers call that take a variable argument list: the wrapper of the function with a va_list, but
# not by its name, which another library may have too.
function write_forwarded(f, give) {
	printf "\nstatic %sforwarded_%s(%s)\n{\n", function_type[f], function_name[f], declared(f)
	write_plain(f, unrecorded(f))
	printf "\t%straced_%s(%s);\n}\n", give, function_name[f], passed(f)
}

function write_variadic(f,    void_, last) {
	void_ = result[f] == "void"
	last = name[f, parameters[f]]
	printf "\n%sfx_wrap_%s(%s)\n{\n", function_type[f], function_name[f], declared(f)
	if (!void_)
		printf "\t%sret;\n", function_type[f]
	printf "\tva_list ap;\n\n\tva_start(ap, %s);\n", last
	printf "\t%sforwarded_%s(%s, ap);\n", void_ ? "" : "ret = ", forward[f], passed(f)
	printf "\tva_end(ap);\n%s}\n", void_ ? "" : "\treturn ret;\n"
}

function write_aliases(f,    i, n, part) {
	n = split(also[f], part, /,/)
	for (i = 1; i <= n; i++)
		printf "\nextern %sfx_wrap_%s(%s) __asm__(\"%s\")\n    __attribute__((alias(\"%s\"), visibility(\"default\")));\n",
		       function_type[f], part[i], declared(f), part[i], function_name[f]
}

function write_traced(f, void_,    i, tab) {
	printf "\nstatic __attribute__((noinline)) %straced_%s(%s)\n{\n", function_type[f],
	       function_name[f], all_declared(f)
	printf "\tenum { WORDS = %s };\n", words_needed(f)
	printf "\tstruct fx_call call%s;\n", is_quick(f) ? ", quick" : ""
	if (!void_)
		printf "\t%sret;\n", function_type[f]
	if (f in wait)
		printf "\tstruct fx_wait wait;\n"
	if (f in note)
		printf "\tint %s;\n", note_name[f]
	if (f in before)
		printf "\tstruct fx_before_%s before[1];\n", before_type[f]
	for (i = 1; i <= fds[f]; i++) {
		printf "\tstruct fx_fd_ref is_%s;\n", fd_name[f, i]
		if (is_quick(f) && way(f, i) != "")
			printf "\tuint64_t total_%s;\n", fd_name[f, i]
	}
	if (f in watch)
		print "\tstruct fx_stdio_watch watch;"
	printf "\n\t_Static_assert(WORDS <= FX_CALL_WORDS_MAX, \"fits the smallest chunk\");\n"
	if (f in note)
		printf "\t%s = fx_note_%s;\n", note_name[f], note[f]
	write_looks(f)
	printf "\tif (!%s_begin(&%s, FX_CAT_%s, FX_CALL_HEADER(%s, %s),\n", prefix[f],
	       is_quick(f) ? "quick" : "call", function_bit[f], function_cat[f], shown[f]
	printf "\t\t\t   FX_WRAPPER_SP(), %s))", first_key(f)
	if (void_)
		printf " {\n\t\t%s(%s);\n\t\treturn;\n\t}\n", callee(f), passed(f)
	else
		printf "\n\t\treturn %s(%s);\n", callee(f), passed(f)
	if (f in before)
		printf "\tfx_before_%s(before%s);\n", before[f], before_takes[f] == "" ? "" : ", " before_takes[f]
	if (f in watch)
		printf "\twatch = fx_stdio_watch(%s);\n", watch[f]
	if ((f, "try") in flag)
		printf "\tif (!fx_try_%s(&wait, %s, &ret)) {\n", function_name[f], passed(f)
	tab = (f, "try") in flag ? "\t\t" : "\t"
	if (f in wait) {
		printf "%sfx_begin_%s(&wait, &call, %s, FX_WRAPPER_SP());\n", tab, wait[f], awaited[f]
		printf "%sfx_wait_tell(&wait, &call);\n", tab
	}
	printf "%s%s%s(%s);\n", tab, void_ ? "" : "ret = ", callee(f), passed(f)
	if (f in wait)
		printf "%sfx_end_%s(&wait, %s, %s);\n", tab, wait[f], awaited[f], void_ ? "0" : "ret"
	if ((f, "try") in flag)
		print "\t}"
	if (f in takes && f in wait && awaited[f] == takes[f])
		printf "\tfx_wait_took(&wait, FX_OBJECT(%s), ret, %s, __builtin_return_address(0));\n",
		       takes[f], wait[f] == "writing" ? "false" : "true"
	else if (f in takes)
		printf "\tFX_TAKEN(fx_self, %s, &ret);\n", takes[f]
	if (f in when) {
		printf "\tif (!fx_call_is_wanted(&call, FX_EVERY_%s) && !(%s)) {\n", function_bit[f], when[f]
		printf "\t\tfx_call_drop(call.thread, call.frame, call.start);\n"
		printf "\t\treturn%s;\n\t}\n", void_ ? "" : " ret"
	}
	if (is_quick(f))
		write_quick(f)
	write_end(f, void_, is_quick(f) ? "fx_compact" : prefix[f])
	if (!void_)
		printf "\treturn ret;\n"
	print "}"
}

function out_unit(wanted,    f) {
	if (!(wanted in units))
		fail("no unit " wanted)
	banner()
	for (f = 1; f <= functions; f++)
		if (f in forward)
			forwarded[forward[f]] = 1
	for (f = 1; f <= functions; f++) {
		if (function_unit[f] != wanted || internal[f])
			continue
		if (f in forward)
			write_variadic(f)
		else if (!((f, "custom") in flag))
			write_wrapper(f)
		if (!((f, "assembler") in flag))
			write_aliases(f)
	}
}
