#!/bin/bash
# SPDX-License-Identifier: MIT
# What tracing costs beside other tools: the same programs plain and under each of them, in turn, FX_BENCH_ROUNDS
# times; medians. Then what an event of the program's own costs, by each one's macros. Wall time, so that what a tool does in another process counts too. Tools that are not
# installed (packages.txt, use `peers') are named.
set -u

B=${FX_BUILDDIR:?}
S=${FX_SRCDIR:?}
ROUNDS=${FX_BENCH_ROUNDS:-5}
DIR=$(mktemp -d) || exit 99
lttng_daemon=
finish() {
	if [ -n "$lttng_daemon" ]; then
		lttng --no-sessiond destroy peers >/dev/null 2>&1
		kill "$lttng_daemon" 2>/dev/null
		wait "$lttng_daemon"
	fi
	rm -rf "$DIR"
}
trap finish EXIT
missing=

# need TOOL COMMAND: whether it is installed; else it is named below the table.
need() {
	command -v "$2" >/dev/null && return
	missing="$missing $1"
	return 1
}

# lttng_start: a session with every event of the wrappers of malloc and of pthread, and its daemon. root has one
# daemon on the whole machine: if somebody else's runs, it is left alone.
lttng_start() {
	local n

	! pgrep -x lttng-sessiond >/dev/null || return 1

	export LTTNG_HOME=$DIR/lttng
	mkdir -p "$LTTNG_HOME"
	lttng-sessiond --no-kernel >"$DIR/lttng.log" 2>&1 &
	lttng_daemon=$!
	for n in $(seq 100); do
		lttng --no-sessiond create peers -o "$DIR/lttng-trace" >>"$DIR/lttng.log" 2>&1 && break
		[ "$n" -lt 100 ] && sleep 0.1
	done
	lttng --no-sessiond enable-event -u 'lttng_ust_libc:*,lttng_ust_pthread:*,fxbench:*' >>"$DIR/lttng.log" 2>&1 &&
		lttng --no-sessiond start >>"$DIR/lttng.log" 2>&1
}

# under TOOL COMMAND...: what the command prints on standard output alone.
under() {
	local tool=$1

	shift
	rm -rf "$DIR/trace"* "$DIR/uftrace"
	case $tool in
	plain) "$@" ;;
	fxtrace) "$B/fxtrace" run -o "$DIR/trace.fxt" -- "$@" ;;
	fxtrace-all) "$B/fxtrace" run -c malloc,pthread:all,syscall -o "$DIR/trace.fxt" -- "$@" ;;
	lttng) LD_PRELOAD="liblttng-ust-libc-wrapper.so.1 liblttng-ust-pthread-wrapper.so.1" "$@" ;;
	heaptrack) (cd "$DIR" && heaptrack "$@" && rm -f heaptrack.*) ;;
	uftrace) uftrace record --force --no-event -d "$DIR/uftrace" "$@" ;;
	strace) strace -f -o "$DIR/trace" "$@" ;;
	ltrace) ltrace -f -o "$DIR/trace" "$@" ;;
	esac 2>"$DIR/messages"
	# Then it is the plain program's figure.
	! grep "cannot be preloaded" "$DIR/messages" >&2 || exit 1
	grep -h "lost because" "$DIR/messages" | sed "s/^/$tool: /" >>"$DIR/lost"
}

# sample TOOL WHAT: one figure more; WHAT is an operation of bench/ops, or start.
sample() {
	local count=20000 command # few enough for the buffers of all

	case $1 in
	strace | ltrace) count=2000 ;;
	esac
	command=("$B/bench/ops" "$2" "$count")
	[ "$2" != start ] || command=("$B/bench/spawn" 20 /bin/true)
	under "$1" "${command[@]}" | grep -E '^[0-9.]+$' | head -n 1 >>"$DIR/$1-$2"
}

# What each tool can see.
tools="plain fxtrace fxtrace-all"
declare -A sees=(
	[plain]="malloc mutex write start" [fxtrace]="malloc mutex write start"
	[fxtrace-all]="malloc mutex write" [lttng]="malloc mutex start"
	[heaptrack]="malloc" [uftrace]="malloc mutex write" [strace]="write start"
	[ltrace]="malloc mutex write start"
)
if need lttng lttng-sessiond; then
	if lttng_start; then
		tools="$tools lttng"
	else
		missing="$missing lttng (another session daemon runs, or it did not start)"
	fi
fi
for tool in heaptrack uftrace strace ltrace; do
	need "$tool" "$tool" && tools="$tools $tool"
done

for _ in $(seq "$ROUNDS"); do
	for tool in $tools; do
		for what in ${sees[$tool]}; do
			sample "$tool" "$what"
		done
	done
done

median() {
	sort -g "$1" 2>/dev/null | awk '{ v[NR] = $1 } END { print NR ? v[int((NR + 1) / 2)] : "nan" }'
}

# over TOOL WHAT: the median over the plain program's, in ns.
over() {
	awk -v a="$(median "$DIR/$1-$2")" -v b="$(median "$DIR/plain-$2")" -v unit="$([ "$2" = start ] && echo 1000)" \
		'BEGIN { if (a == "nan" || b == "nan") print "-"; else printf "%.1f", (a - b) * (unit ? unit : 1) }'
}

printf 'ns over the plain program, and times of what fxtrace adds when it records as much\n\n'
printf '%-14s %20s %20s %20s %20s\n' "" malloc+free "mutex pair" write /bin/true
printf '%-14s' "(plain)"
for what in malloc mutex write start; do
	printf ' %12s        ' "$(median "$DIR/plain-$what" |
		awk -v start="$what" '{ printf "%.1f", $1 * (start == "start" ? 1000 : 1) }')"
done
echo
for tool in $tools; do
	[ "$tool" != plain ] || continue
	printf '%-14s' "$tool"
	for what in malloc mutex write start; do
		base=$(over "$([ "$what" = start ] && echo fxtrace || echo fxtrace-all)" "$what")
		value=$(over "$tool" "$what")
		printf ' %12s %7s' "$value" "$(awk -v v="$value" -v b="$base" \
			'BEGIN { print v == "-" || b == "-" || b <= 0 ? "" : sprintf("x%.2f", v / b) }')"
	done
	echo
done
# --- Events of the program's own: not recorded, and recorded ---

# points NAME OPTION...: builds it. False: the macros are not there.
points() {
	local name=$1

	shift
	# shellcheck disable=SC2086 # the compiler may come with options of its own
	${FX_CC:-cc} -O2 -D_GNU_SOURCE -I"$S" -I"$S/include" -o "$DIR/points-$name" "$S/bench/points.c" "$@" 2>"$DIR/compile"
}

events=
points fxtrace && events=fxtrace
if [ -n "$lttng_daemon" ]; then
	points lttng -DFX_POINT_LTTNG -llttng-ust -ldl && events="$events lttng" || missing="$missing lttng's-tracepoints"
fi
points sdt -DFX_POINT_SDT && events="$events sdt" || missing="$missing sdt.h"
for _ in $(seq "$ROUNDS"); do
	for tool in $events; do
		# (Without LTTNG_HOME it finds no daemon, and does not wait for one.)
		LTTNG_HOME=$DIR/nowhere LTTNG_UST_REGISTER_TIMEOUT=0 "$DIR/points-$tool" 2000000 >>"$DIR/$tool-unrecorded"
	done
	"$B/fxtrace" run -q -c fxbench -o "$DIR/points.fxt" -- "$DIR/points-fxtrace" 20000 >>"$DIR/fxtrace-recorded"
	[[ $events != *lttng* ]] || "$DIR/points-lttng" 20000 >>"$DIR/lttng-recorded"
	# Its probes are the kernel's to record, for root.
	if [[ $events == *sdt* ]] && "$B/fxtrace" run -q -c sdt:fxbench:point -o "$DIR/points.fxt" -- "$DIR/points-sdt" 2000 >"$DIR/sdt-figure" 2>/dev/null &&
		"$B/fxtrace" dump "$DIR/points.fxt" 2>/dev/null | grep -q fxbench; then
		cat "$DIR/sdt-figure" >>"$DIR/sdt-recorded"
	fi
done
printf '\nns of an event with a number, in its loop\n\n%-14s %14s %14s\n' "" "not recorded" recorded
for tool in $events; do
	printf '%-14s %14s %14s\n' "$tool" "$(median "$DIR/$tool-unrecorded")" "$(median "$DIR/$tool-recorded")"
done
if [ -n "$lttng_daemon" ]; then
	lttng --no-sessiond stop 2>&1 | grep -i discarded | sed 's/^/lttng: /' >>"$DIR/lost"
fi
printf '\nfxtrace: default categories (heap counters, contended locks alone); fxtrace-all: every event\n'
[ -z "$missing" ] || printf 'not measured:%s\n' "$missing"
[ ! -s "$DIR/lost" ] || {
	echo "records were lost meanwhile, so these figures are worth less:"
	sort "$DIR/lost" | uniq -c
}
