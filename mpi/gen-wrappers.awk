# SPDX-License-Identifier: MIT
# Makes the wrappers of calls.tbl: C.

BEGIN { FS = "\t+" }

function has(name) { return name in is_parameter }

# Around the call: what is done before it, the call itself (CALL), and afterwards. $ stands for the call's state.
function way_of(kind,    bytes, status)
{
	bytes = "r ? 0 : " bytes_of
	status = "MPI_Status own; if (status == MPI_STATUS_IGNORE) status = &own;"
	if (kind == "init" || kind == "initthread")
		return "BEGIN CALL if (r == MPI_SUCCESS) fx_mpi_init(&c); END"
	if (kind == "finalize")
		return "BEGIN fx_mpi_finalize(&c); CALL END"
	if (kind == "plain")
		return "BEGIN CALL END"
	if (kind == "send")
		return "BEGIN fx_mpi_send(&c, comm, dest, tag); CALL fx_mpi_sent(&c, r, " bytes "); END"
	if (kind == "isend")
		return "BEGIN fx_mpi_send(&c, comm, dest, tag); CALL fx_mpi_sent(&c, r, " bytes ");" \
			"fx_mpi_isent(&c, r, *request); END"
	if (kind == "recv")
		return "BEGIN " status " fx_mpi_receive(&c, comm, source, tag); CALL" \
			" fx_mpi_received(&c, r, status); END"
	if (kind == "irecv")
		return "BEGIN fx_mpi_receive(&c, comm, source, tag); CALL fx_mpi_ireceived(&c, r, *request); END"
	if (kind == "sendrecv")
		return "BEGIN " status " fx_mpi_send(&c, comm, dest, sendtag); fx_mpi_receive(&c, comm, source, recvtag);" \
			" CALL fx_mpi_sent(&c, r, 0); fx_mpi_received(&c, r, status);" \
			" fx_mpi_sendrecv(&c, dest, sendtag, source, recvtag, " bytes "); END"
	if (kind == "isendrecv")
		return "BEGIN fx_mpi_send(&c, comm, dest, sendtag); fx_mpi_receive(&c, comm, source, recvtag);" \
			" CALL fx_mpi_sent(&c, r, 0); fx_mpi_ireceived(&c, r, *request);" \
			" fx_mpi_sendrecv(&c, dest, sendtag, source, recvtag, " bytes "); END"
	if (kind == "sendinit")
		return "BEGIN CALL fx_mpi_send_init(&c, comm, dest, tag, r, *request); END"
	if (kind == "recvinit")
		return "BEGIN CALL fx_mpi_recv_init(&c, comm, source, tag, r, *request); END"
	if (kind == "start")
		return "BEGIN fx_mpi_start(&c, 1, request); CALL fx_mpi_started(&c, r, 1, request); END"
	if (kind == "startall")
		return "BEGIN fx_mpi_start(&c, count, requests); CALL fx_mpi_started(&c, r, count, requests); END"
	if (kind == "probe")
		return "BEGIN " status " fx_mpi_probe(&c, comm); CALL fx_mpi_probed(&c, r, status); END"
	if (kind == "iprobe")
		return "ASK " status " fx_mpi_probe(&c, comm); CALL if (!r && *flag) fx_mpi_probed(&c, r, status); ASKED(*flag)"
	if (kind == "mprobe")
		return "BEGIN " status " fx_mpi_receive(&c, comm, source, tag); CALL" \
			" fx_mpi_mprobed(&c, r, *message, status); END"
	if (kind == "improbe")
		return "ASK " status " CALL if (!r && *flag) { fx_mpi_receive(&c, comm, source, tag);" \
			" fx_mpi_mprobed(&c, r, *message, status); } ASKED(*flag)"
	if (kind == "mrecv")
		return "BEGIN fx_mpi_mreceive(&c, *message); " status " CALL fx_mpi_received(&c, r, status); END"
	if (kind == "imrecv")
		return "BEGIN fx_mpi_mreceive(&c, *message); CALL fx_mpi_ireceived(&c, r, *request); END"
	if (kind == "wait")
		return "BEGIN MANY(1, request, status) CALL fx_mpi_over(&c, r, &many, NULL, status, 1); GIVE END"
	if (kind == "test")
		return "ASK MANY(1, request, status) CALL if (!r && *flag) fx_mpi_over(&c, r, &many, NULL, status, 1);" \
			" GIVE ASKED(*flag)"
	if (kind == "waitany")
		return "BEGIN MANY(count, requests, status) CALL fx_mpi_over(&c, r, &many, index, status," \
			" r || *index == MPI_UNDEFINED ? 0 : 1); GIVE END"
	if (kind == "testany")
		return "ASK MANY(count, requests, status) CALL if (!r && *flag) fx_mpi_over(&c, r, &many, index, status," \
			" *index == MPI_UNDEFINED ? 0 : 1); GIVE ASKED(*flag)"
	if (kind == "waitall")
		return "BEGIN MANY(count, requests, statuses) CALL fx_mpi_over(&c, r, &many, NULL, statuses, count); GIVE END"
	if (kind == "testall")
		return "ASK MANY(count, requests, statuses) CALL if (r || *flag) fx_mpi_over(&c, r, &many, NULL, statuses," \
			" count); GIVE ASKED(*flag)"
	if (kind == "waitsome")
		return "BEGIN MANY(count, requests, statuses) CALL fx_mpi_over(&c, r, &many, indices, statuses," \
			" *outcount == MPI_UNDEFINED ? 0 : *outcount); GIVE END"
	if (kind == "testsome")
		return "ASK MANY(count, requests, statuses) CALL fx_mpi_over(&c, r, &many, indices, statuses," \
			" *outcount == MPI_UNDEFINED ? 0 : *outcount); GIVE" \
			" ASKED(*outcount != MPI_UNDEFINED && *outcount > 0)"
	if (kind == "cancel")
		return "BEGIN fx_mpi_cancel(&c, *request); CALL END"
	if (kind == "free")
		return "BEGIN fx_mpi_free(&c, *request); CALL END"
	if (kind == "coll")
		return "BEGIN fx_mpi_collective(&c, comm, " (has("root") ? "root" : "FX_MPI_NO_ROOT") ");" \
			" CALL fx_mpi_collected(&c, r || !c.comm ? 0 : " bytes_of "); END"
	if (kind == "comm")
		return "BEGIN fx_mpi_collective(&c, comm, FX_MPI_NO_ROOT); CALL fx_mpi_collected(&c, 0);" \
			" fx_mpi_comm_made(&c, comm, r, r ? MPI_COMM_NULL : *newcomm); END"
	if (kind == "commlater")
		return "BEGIN fx_mpi_collective(&c, comm, FX_MPI_NO_ROOT); CALL fx_mpi_collected(&c, 0);" \
			" fx_mpi_comm_made_later(&c, comm, r, r ? MPI_COMM_NULL : *newcomm); END"
	if (kind == "commgroup")
		return "BEGIN CALL fx_mpi_comm_made_of_group(&c, comm, tag, r, r ? MPI_COMM_NULL : *newcomm); END"
	if (kind == "commfree")
		return "BEGIN fx_mpi_comm_free(&c, *comm); CALL END"
	if (kind == "commname")
		return "BEGIN CALL fx_mpi_comm_name(&c, comm, name); END"
	print "calls.tbl: no such kind: " kind >"/dev/stderr"
	exit 1
}

function parameter_names(parameters,    parts, i, n, name, names)
{
	split("", is_parameter)
	if (parameters == "")
		return ""
	n = split(parameters, parts, /, */)
	for (i = 1; i <= n; i++) {
		name = parts[i]
		sub(/ *(\[\])+$/, "", name)
		sub(/.*[ *]/, "", name)
		is_parameter[name] = 1
		names = names (i > 1 ? ", " : "") name
	}
	return names
}

function bytes_expression(bytes,    part, buffer)
{
	if (bytes == "-")
		return "0"
	buffer = ""
	if (sub(/@.*/, "", bytes)) {
		buffer = $3
		sub(/.*@/, "", buffer)
	}
	split(bytes, part, "*")
	bytes = "fx_mpi_bytes(" part[1] ", " part[2] ")"
	return buffer == "" ? bytes : "(" buffer " == MPI_IN_PLACE ? 0 : " bytes ")"
}

# The next word of `way' in C.
function wrapper(kind, name, parameters,    names, way, call, ready, many, statuses)
{
	names = parameter_names(parameters)
	bytes_of = bytes_expression($3)
	way = way_of(kind)
	call = "r = PMPI_" name "(" names ");"
	ready = kind ~ /^init/ ? "true" : "fx_mpi_is_on()"
	sub(/^BEGIN /, "fx_mpi_begin(\\&c, \\&site);\n\t", way)
	sub(/^ASK /, "fx_mpi_ask(\\&c, \\&site);\n\t", way)
	sub(/CALL/, call, way)
	sub(/END$/, "fx_mpi_end(\\&c);", way)
	if (match(way, /ASKED\(.*\)$/))
		way = substr(way, 1, RSTART - 1) "fx_mpi_asked(&c, !r && (" substr(way, RSTART + 6, RLENGTH - 7) "));"
	if (match(way, /MANY\([a-z0-9]+, [a-z]+, [a-z]+\)/)) {
		many = substr(way, RSTART + 5, RLENGTH - 6)
		statuses = many
		sub(/.*, /, "", statuses)
		sub(/MANY\([a-z0-9]+, [a-z]+, [a-z]+\)/, "struct fx_mpi_many many; fx_mpi_many_take(\\&many, " many "); " \
			"if (many.statuses) " statuses " = many.statuses;", way)
		sub(/GIVE/, "fx_mpi_many_give(\\&many);", way)
	}
	gsub(/; */, ";\n\t", way)
	print "#pragma weak PMPI_" name
	print "FX_MPI_WAY(" name ")"
	print "FX_MPI_WRAPPER int fx_mpi_wrap_" name "(" (parameters == "" ? "void" : parameters) ")\n{"
	print "\tstatic struct fx_mpi_site site = {.name = \"MPI_" name "\"};"
	print "\tstruct fx_mpi_call c;\n\tint r;\n"
	if (ready != "true")
		print "\tif (!" ready ")\n\t\treturn PMPI_" name "(" names ");"
	print "\t" way "return r;\n}\n"
}

/^#/ || /^$/ { next }
/^since / {
	if (version)
		print "#endif"
	version = substr($0, 7)
	print "#if MPI_VERSION >= " version
	next
}
{
	kind = $1
	large = sub(/\+$/, "", kind)
	wrapper(kind, $2, $4)
	if (!large)
		next
	parameters = $4
	while (match(parameters, /(^|[ ,])int [a-z_]*count(,|$)/))
		parameters = substr(parameters, 1, RSTART - 1) \
			gensub_int(substr(parameters, RSTART, RLENGTH)) substr(parameters, RSTART + RLENGTH)
	print "#if MPI_VERSION >= 4"
	wrapper(kind, $2 "_c", parameters)
	print "#endif"
}
END {
	if (version)
		print "#endif"
}

function gensub_int(text)
{
	sub(/int /, "MPI_Count ", text)
	return text
}
