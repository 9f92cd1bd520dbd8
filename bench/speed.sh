#!/bin/bash
# SPDX-License-Identifier: MIT
# The speed bars of the design, as ratios and differences measured in one run: what is compared runs
# in turn, ROUNDS times, and medians are compared. FX_BENCH_ROUNDS changes ROUNDS.
set -u

B=${FX_BUILDDIR:?}
ROUNDS=${FX_BENCH_ROUNDS:-7}
DIR=$(mktemp -d) || exit 99
trap 'rm -rf "$DIR"' EXIT
failed=0

median() {
	sort -g "$1" | awk '{ v[NR] = $1 } END { print NR ? v[int((NR + 1) / 2)] : "nan" }'
}

# traced OPTION... -- COMMAND...: what is lost is kept in the file `lost`: a figure is worth little if the
# buffer was full while it was taken.
traced() {
	"$B/fxtrace" run -o "$DIR/out.fxt" "$@" 2>"$DIR/summary"
	grep -h "lost because" "$DIR/summary" | sed "s|^|$*: |" >>"$DIR/lost"
	return 0
}

# sample NAME COMMAND...: adds what the command prints to the sample NAME; of two lines, the larger.
sample() {
	local name=$1

	shift
	"$@" 2>/dev/null | sort -g | tail -n 1 >>"$DIR/$name"
}

# bar TEXT VALUE LIMIT UNIT: prints a row; the last column says whether the bar is met.
bar() {
	awk -v text="$1" -v value="$2" -v limit="$3" -v unit="$4" 'BEGIN {
		met = value != "nan" && value + 0 <= limit + 0
		printf "%-58s %8.2f %-3s  bar %6.2f  %s\n", text, value, unit, limit, met ? "met" : "NOT MET"
		exit !met
	}' || failed=1
}

# of EXPRESSION: nan if any of it could not be measured.
of() {
	[[ $1 != *nan* ]] || {
		echo nan
		return
	}
	awk "BEGIN { printf \"%.3f\", $1 }"
}

# The same function without hooks, with room for a call, and with the plugin's.
PLUGIN=$B/compiler-plugin/.libs/fxtrace.so
with_plugin=
# shellcheck disable=SC2086 # the compiler may come with options of its own
pair_build() { # NAME OPTION...
	local name=$1

	shift
	${FX_CC:-cc} -O2 -falign-functions=64 -falign-loops=64 -D_GNU_SOURCE -I"$FX_SRCDIR" -I"$FX_SRCDIR/include" "$@" -o "$DIR/$name" "$FX_SRCDIR/bench/pair.c" -pthread
}
pair_build pair-bare && pair_build pair-room -fpatchable-function-entry=5 || exit 99
[ ! -e "$PLUGIN" ] || { pair_build pair-plugin -fplugin="$PLUGIN" && with_plugin=yes; }

for _ in $(seq "$ROUNDS"); do
	if [ -n "$with_plugin" ]; then
		sample plugin-off "$DIR/pair-plugin"
		sample plugin-on traced -c function -- "$DIR/pair-plugin"
	fi
	sample bare "$DIR/pair-bare"
	sample bare-traced traced -c function -- "$DIR/pair-bare"
	sample room traced -c function -- "$DIR/pair-room"
	sample patched traced -c function --patch -- "$DIR/pair-room"
	sample stub "$B/bench/pair"
	sample floor env LD_PRELOAD="$B/.libs/libbenchfloor.so" "$B/bench/pair"
	sample pair traced -c function -- "$B/bench/pair"
	sample pair2 traced -c function -- "$B/bench/pair" 2
	sample off traced -c syscall -- "$B/bench/pair"
	sample left-out traced -c function -N leaf -- "$B/bench/pair"
	sample outside traced -c function --when no_such -- "$B/bench/pair"
	sample inside traced -c function --when leaf -- "$B/bench/pair"
	sample chosen traced -c function -F leaf -- "$B/bench/pair"
	sample short traced -c function --min-duration 1us -- "$B/bench/pair"
	sample drowning traced -c function --auto-suppress -- "$B/bench/pair"
	sample two traced -c function -- "$B/bench/pair" 1 two
	sample two-shown traced -c function --args leaf_of_two -- "$B/bench/pair" 1 two
	sample stopped traced -c function --duration 1ms -- "$B/bench/pair"
	for op in mutex rwlock spin sem write malloc; do
		sample "$op" "$B/bench/ops" "$op"
		sample "$op-traced" traced -- "$B/bench/ops" "$op"
	done
	for op in duration duration2 instant counter vthread; do
		sample "$op-traced" traced -c bench -- "$B/bench/ops" "$op"
	done
	sample pipe-arrows traced -c syscall,message -- "$B/bench/ops" pipe
	sample pipe-traced traced -c syscall -- "$B/bench/ops" pipe
	sample nothing "$B/bench/ops" nothing
	sample instant "$B/bench/ops" instant
	sample instant-off traced -c syscall -- "$B/bench/ops" instant
	sample malloc-all traced -c malloc -- "$B/bench/ops" malloc
	sample spawn "$B/bench/spawn" 50 /bin/true
	sample spawn-traced traced -- "$B/bench/spawn" 50 /bin/true
done
for name in stub floor pair pair2 off left-out outside inside bare-traced room patched chosen short drowning two two-shown \
	stopped mutex mutex-traced rwlock \
	rwlock-traced bare plugin-off plugin-on spin spin-traced sem sem-traced write write-traced malloc \
	malloc-traced malloc-all spawn spawn-traced duration-traced duration2-traced instant-traced counter-traced \
	vthread-traced nothing instant instant-off pipe-arrows pipe-traced; do
	printf -v "v_${name//-/_}" '%s' "$(median "$DIR/$name")"
done

# shellcheck disable=SC2154 # v_* are set above
{
	printf 'ns a pair: empty stubs %s, floor %s, recording %s, two threads %s, category off %s, stopped %s\n' \
		"$v_stub" "$v_floor" "$v_pair" "$v_pair2" "$v_off" "$v_stopped"
	printf 'ns: mutex pair %s -> %s, write %s -> %s, malloc pair %s -> %s (all events %s)\n' \
		"$v_mutex" "$v_mutex_traced" "$v_write" "$v_write_traced" "$v_malloc" \
		"$v_malloc_traced" "$v_malloc_all"
	printf 'us: /bin/true %s -> %s\n\n' "$v_spawn" "$v_spawn_traced"
	bar "function pair, over the floor" "$(of "$v_pair/$v_floor")" 1.15 x
	bar "the same with two threads, over one" "$(of "$v_pair2/$v_pair")" 1.15 x
	bar "hooks present, category off, over empty stubs" "$(of "$v_off-$v_stub")" 2 ns
	bar "function that is left out, over the category off" "$(of "$v_left_out-$v_off")" 2 ns
	bar "function outside of what --when means, over the category off" "$(of "$v_outside-$v_off")" 2 ns
	bar "function that --when means, over the floor" "$(of "$v_inside/$v_floor")" 1.5 x
	bar "function that others are left out beside, over the floor" "$(of "$v_chosen/$v_floor")" 1.5 x
	bar "functions that are too short, over recording them" "$(of "$v_short/$v_pair")" 1 x
	bar "function that is suppressed, over the category off" "$(of "$v_drowning-$v_off")" 2 ns
	bar "arguments of two integers, over none shown" "$(of "$v_two_shown-$v_two")" 3 ns
	bar "hooks present, tracing stopped, over empty stubs" "$(of "$v_stopped-$v_stub")" 2 ns
	bar "function with room for a call, without --patch, over none" \
		"$(of "$v_room-$v_bare_traced")" 0.3 ns
	bar "entry by --patch, over the floor of a pair" "$(of "($v_patched-$v_bare_traced)/$v_floor")" 0.6 x
	if [ -n "$with_plugin" ]; then
		bar "plugin's pair without a tracer, over the bare function" "$(of "$v_plugin_off-$v_bare")" 0.3 ns
		bar "plugin's pair, over the floor" "$(of "$v_plugin_on/$v_floor")" 1 x
	fi
	bar "TRACE_DURATION, over the floor" "$(of "$v_duration_traced/$v_floor")" 1.15 x
	bar "the same with two integers" "$(of "$v_duration2_traced/$v_floor")" 1.5 x
	bar "TRACE_INSTANT, over the floor" "$(of "$v_instant_traced/$v_floor")" 0.6 x
	bar "TRACE_COUNTER, over the floor" "$(of "$v_counter_traced/$v_floor")" 0.7 x
	bar "TRACE_VTHREAD_DURATION_BEGIN, over the floor" "$(of "$v_vthread_traced/$v_floor")" 1.15 x
	bar "TRACE_INSTANT of a category that is off, over untraced" "$(of "$v_instant_off-$v_instant")" 0.5 ns
	bar "TRACE_INSTANT without a tracer, over an empty loop" "$(of "$v_instant-$v_nothing")" 0.5 ns
	bar "uncontended mutex pair, over plain" "$(of "$v_mutex_traced-$v_mutex")" 3 ns
	bar "uncontended reader's pair, over plain" "$(of "$v_rwlock_traced-$v_rwlock")" 3 ns
	bar "uncontended spin lock pair, over plain" "$(of "$v_spin_traced-$v_spin")" 3 ns
	bar "semaphore pair that does not wait, over plain" "$(of "$v_sem_traced-$v_sem")" 5 ns
	bar "write(fd, p, 1), over plain, in floors" "$(of "($v_write_traced-$v_write)/$v_floor")" 1.2 x
	bar "a read or write of a pipe with arrows, over one without" "$(of "($v_pipe_arrows-$v_pipe_traced)/2")" 10 ns
	bar "malloc+free pair with counters, over plain, in floors" \
		"$(of "($v_malloc_traced-$v_malloc)/$v_floor")" 1 x
	bar "malloc+free pair, every event, over plain, in floors" \
		"$(of "($v_malloc_all-$v_malloc)/$v_floor")" 2.5 x
	bar "added to /bin/true" "$(of "($v_spawn_traced-$v_spawn)/1000")" 1 ms
}
[ ! -s "$DIR/lost" ] || {
	echo
	echo "records were lost meanwhile, so these figures are worth less:"
	cat "$DIR/lost"
}
exit "$failed"
