#!/bin/bash
# SPDX-License-Identifier: MIT
# libfxtrace-provider: a program that is linked with it, as a shared library, with the static one, and all static, is a provider without
# the wrappers; it gets along with libfxtrace.so in either order, with fork, exec, threads that end, kill -9 and libraries that come later;
# its categories, handlers and wishes are heard; and what makes no sense is said.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
. "$FX_SRCDIR/tests/e2e/control.sh"

include=-I$FX_SRCDIR/include
shared=(-L"$FX_BUILDDIR/.libs" -lfxtrace-provider "-Wl,-rpath,$FX_BUILDDIR/.libs")
static=("$FX_BUILDDIR/libfxtrace-provider.a")
export_events=-Wl,--export-dynamic-symbol=__fxtrace_events

# A program that does what its arguments say, one after the other.
cat >play.c <<'END'
#include <fxtrace/event.h>
#include <fxtrace/observer.h>
#include <fxtrace/provider.h>
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SECOND UINT64_C(1000000000)

#ifdef PLAIN /* it is linked with nothing */
#define fxtrace_provider_create(ret, options)		     ((void)(ret), -ENOSYS)
#define fxtrace_provider_create_synchronously(ret, options, started) ((void)(ret), *(started) = false, -ENOSYS)
#define fxtrace_provider_destroy(provider)		     ((void)(provider), -ENOSYS)
#endif

static struct fxtrace_provider *providers[64];
static unsigned count;
static struct fxtrace_provider_options options = FXTRACE_PROVIDER_OPTIONS_INIT;
static const struct fxtrace_provider_category categories[] = {{"work", "what the program does"}, {"rest", NULL}};

static void changed(void *data, enum fxtrace_phase phase)
{
	static const char *const phases[] = {"stopped", "started", "stopping"};
	struct fxtrace_provider *other;

	if (fxtrace_provider_create(&other, NULL) != -EDEADLK || other)
		_exit(3);
	if (count && fxtrace_provider_destroy(providers[0]) != -EDEADLK)
		_exit(4);
	printf("%s %s\n", (const char *)data, phases[phase]);
	fflush(stdout);
}

static void *traces(void *name)
{
	TRACE_DURATION("work", name);
	return NULL;
}

/* In the middle of something most of the time. */
static void *beats(void *unused)
{
	for (;;) {
		TRACE_DURATION("work", "beat");
		TRACE_INSTANT("work", "tick", TRACE_SCOPE_THREAD);
		usleep(500);
	}
	return unused;
}

static void say(int r)
{
	printf("%s\n", strerror(-r));
	fflush(stdout);
}

static void open_library(const char *path, bool closes)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL), *symbol;
	void (*function)(void);

	if (!library) {
		fprintf(stderr, "%s\n", dlerror());
		_exit(5);
	}
	symbol = dlsym(library, "library_traces");
	memcpy(&function, &symbol, sizeof(function));
	if (function)
		function();
	if (closes)
		dlclose(library);
}

static char *value_of(char *word)
{
	char *colon = strchr(word, ':');

	if (!colon)
		return "";
	*colon = 0;
	return colon + 1;
}

int main(int argc, char **argv)
{
	struct fxtrace_observer waits = {0};
	enum fxtrace_phase phase;
	pthread_t thread;
	bool started;
	int status;

	for (int i = 1; i < argc; i++) {
		char *word = argv[i], *value;

		if (strncmp(word, "exec", 4) == 0)
			return execv("/proc/self/exe", &argv[i]);
		value = value_of(word);
		if (!strcmp(word, "create")) {
			say(fxtrace_provider_create(&providers[count], &options));
			count += providers[count] != NULL;
		} else if (!strcmp(word, "synchronously")) {
			say(fxtrace_provider_create_synchronously(&providers[count], NULL, &started));
			count += providers[count] != NULL;
			printf("%s\n", started ? "started" : "not started");
			fflush(stdout);
		} else if (!strcmp(word, "destroy")) {
			say(fxtrace_provider_destroy(count ? providers[--count] : NULL));
		} else if (!strcmp(word, "name")) {
			options.name = value;
		} else if (!strcmp(word, "categories")) {
			options.categories = categories;
			options.category_count = 2;
		} else if (!strcmp(word, "handler")) {
			options.changed = changed;
			options.data = value;
		} else if (!strcmp(word, "size")) {
			options.buffer_size = strtoull(value, NULL, 10);
		} else if (!strcmp(word, "mode")) {
			options.mode = (enum fxtrace_provider_mode)atoi(value);
		} else if (!strcmp(word, "event")) {
			TRACE_INSTANT("work", value, TRACE_SCOPE_THREAD);
		} else if (!strcmp(word, "events")) {
			for (int n = 0; n < atoi(value); n++)
				TRACE_INSTANT("work", "many", TRACE_SCOPE_THREAD, "n", TA_INT32(n));
		} else if (!strcmp(word, "until")) { /* the phase, tracing all the time */
			do {
				TRACE_INSTANT("work", "turn", TRACE_SCOPE_THREAD);
				if (fxtrace_observer_wait(&waits, SECOND / 100, &phase) != 0)
					phase = (enum fxtrace_phase)-1;
			} while ((int)phase != atoi(value));
		} else if (!strcmp(word, "for")) { /* ms, the same */
			for (int n = 0; n < atoi(value); n++) {
				TRACE_INSTANT("work", "turn", TRACE_SCOPE_THREAD);
				usleep(1000);
			}
		} else if (!strcmp(word, "threads")) {
			for (int n = 0; n < atoi(value); n++) {
				pthread_create(&thread, NULL, traces, "thread");
				pthread_join(thread, NULL);
			}
		} else if (!strcmp(word, "fork")) { /* the child does this, and ends */
			pid_t child = fork();

			if (child == 0) {
				if (!strcmp(value, "create"))
					say(fxtrace_provider_create(&providers[count], NULL));
				if (!strcmp(value, "destroy"))
					say(fxtrace_provider_destroy(providers[0]));
				TRACE_INSTANT("work", "child", TRACE_SCOPE_THREAD);
				_exit(0);
			}
			waitpid(child, &status, 0);
			printf("%d\n", status);
			fflush(stdout);
		} else if (!strcmp(word, "open")) {
			open_library(value, false);
		} else if (!strcmp(word, "openclose")) {
			open_library(value, true);
		} else if (!strcmp(word, "say")) {
			printf("%s\n", value);
			fflush(stdout);
		} else if (!strcmp(word, "descriptors")) {
			int n = 0;

			for (int fd = 0; fd < 256; fd++)
				n += dup2(fd, fd) == fd;
			printf("%d\n", n);
			fflush(stdout);
		} else if (!strcmp(word, "wait")) { /* for a line of input */
			printf("waits\n");
			fflush(stdout);
			while ((status = getchar()) != '\n' && status != EOF)
				;
		} else if (!strcmp(word, "beaters")) {
			for (int n = 0; n < atoi(value); n++)
				pthread_create(&thread, NULL, beats, NULL);
		} else if (!strcmp(word, "hang")) {
			TRACE_DURATION("work", "open");
			printf("hangs\n");
			fflush(stdout);
			for (;;)
				pause();
		}
	}
	return 0;
}
END

# A library with macros, which is linked with nothing, or with one of the provider's libraries.
cat >library.c <<'END'
#include <fxtrace/event.h>
#ifdef PROVIDER
#include <fxtrace/provider.h>
#endif
void library_traces(void);
void library_traces(void)
{
#ifdef PROVIDER
	struct fxtrace_provider *provider;

	if (fxtrace_provider_create(&provider, NULL) != 0)
		__builtin_trap();
#endif
	TRACE_INSTANT("work", "library", TRACE_SCOPE_THREAD);
}
END

compile play-so "$include" -D_GNU_SOURCE play.c "${shared[@]}"
compile play-a "$include" -D_GNU_SOURCE play.c "${static[@]}" "$export_events" -ldl
compile plain "$include" -D_GNU_SOURCE -DPLAIN play.c -ldl
compile library.so "$include" -fPIC -shared library.c
compile library-so.so "$include" -fPIC -shared -DPROVIDER library.c "${shared[@]}"
compile library-a.so "$include" -fPIC -shared -DPROVIDER library.c "${static[@]}"
ways=(so a)
if $FX_CC -o play-static "$include" -D_GNU_SOURCE -static -pthread play.c "${static[@]}" >compile.log 2>&1; then
	ways+=(static)
else
	echo "no static programs here"
fi

# categories_of ARCHIVE: of its events, but for the one that the manager adds.
categories_of() {
	list_archive "$1"
	awk -F'\t' '$7 != "process exits" { print $6 }' events | sort -u | xargs
}

# --- Alone ------------------------------------------------------------------------------------------------

alone() {
	for way in "${ways[@]}"; do
		XDG_RUNTIME_DIR=$TEST_DIR expect_ok ./play-$way descriptors create event:x descriptors synchronously event:x destroy threads:3 fork: descriptors
		{
			read -r before && read -r first && read -r after && read -r second && read -r started &&
				read -r destroyed && read -r child && read -r last
		} <out
		[[ $first =~ ^(Connection refused|No such file) ]] || fail "$way: creation without a manager: $first"
		expect_equal "$first" "$second" "$way: the second time"
		expect_equal "$before/not started/Success/0/$before" "$after/$started/$destroyed/$child/$last" "$way without a manager"
		expect_equal "" "$(cat err)" "$way: on stderr"
	done
}

# --- Under fxtrace run ----------------------------------------------------------------------------------------

# In a static program there are no wrappers; in others libfxtrace.so was there before.
under_run() {
	for way in "${ways[@]}"; do
		expect_ok "$FXTRACE" run -q -c work,process,pthread -o run.fxt -- ./play-$way name:mine categories create synchronously event:once \
			threads:2 fork: destroy event:between destroy event:after
		printf '%s\n' Success Success started 0 Success Success >expected
		expect_same_file expected out
		expect_clean run.fxt
		list_archive run.fxt
		expect_events 1 'name == "once" && category == "work"'
		expect_events 2 'name == "thread" && category == "work"'
		expect_events 1 'name == "between"'
		expect_events 1 'name == "child" && process != ""'
		expect_ok "$FXTRACE" info run.fxt
		if [ "$way" = static ]; then
			expect_events 0 'category != "work" && name != "process exits"' # which the manager tells
			expect_events 0 'name == "after"'
			expect_line 'mine' out
		else
			expect_events 1 'name == "fork" && category == "process"'
			expect_events 1 'name == "after"' # libfxtrace.so goes on
			expect_equal 2 "$(sort -u processes | wc -l)" "$way: processes of a program that has two engines, and its child"
		fi
	done
}

# --- With a manager, and nothing preloaded ------------------------------------------------------------------------

# The last word that a program which goes on has said.
said() {
	[ "$(tail -n 1 "$1")" = "$2" ]
}

sessions() {
	for way in "${ways[@]}"; do
		./play-$way name:mine categories handler:hears create synchronously until:1 event:in until:0 event:out until:1 event:in until:0 event:out \
			destroy destroy event:late >said.$way 2>&1 &
		provider=$!
		wait_for 10 providers_are 1 || fail "$way does not register"
		expect_ok "$FXTRACE" list-providers
		expect_line '^ *[0-9]+ +[0-9]+ mine ' out
		expect_ok "$FXTRACE" list-categories
		expect_line '^. work +.*' out
		grep -A1 '^. work ' out >listed
		grep -q 'what the program does' out || fail "$way: the description is not listed:"$'\n'"$(cat out)"
		expect_line '^. rest' out
		for session in 1 2; do
			expect_ok "$FXTRACE" start -c work -o session$session.fxt
			wait_for 10 grep -q "^hears started" said.$way || fail "$way: nothing of the start"
			heard() {
				[ "$(grep -c "^hears $1" said.$way)" -ge "$session" ]
			}
			wait_for 10 heard started || fail "$way: nothing of start $session"
			expect_ok "$FXTRACE" terminate
			wait_for 10 heard stopped || fail "$way: nothing of stop $session"
		done
		wait "$provider" || fail "$way ends with $?: $(cat said.$way)"
		printf '%s\n' Success Success 'not started' 'hears '{started,stopping,stopped} 'hears '{started,stopping,stopped} Success Success >expected
		expect_same_file expected said.$way
		for session in 1 2; do
			expect_clean session$session.fxt
			expect_equal work "$(categories_of session$session.fxt)" "$way: categories of what is recorded"
			expect_events 1+ 'name == "turn"'
			expect_events 0 'name == "out" || name == "late"'
		done
		wait_for 10 providers_are 0 || fail "$way: it has ended, and is a provider"
	done
}

# record ARCHIVE PROGRAM...: within a session; its output goes to the file out.
record() {
	local archive=$1

	shift
	expect_ok "$FXTRACE" start -c work -o "$archive"
	expect_ok "$@"
	cp out said
	expect_ok "$FXTRACE" terminate
	expect_clean "$archive"
	list_archive "$archive"
	cp said out
}

# --- The manager goes, and another comes ------------------------------------------------------------------------

# expect_said FILE LINE: soon its last line.
expect_said() {
	wait_for 20 said "$1" "$2" || fail "not '$2' but:"$'\n'"$(cat "$1")"
}

wait_lines() {
	[ "$(grep -c '^waits$' said.$way)" -eq "$1" ]
}
manager_kill() {
	kill -9 "$MANAGER"
	wait "$MANAGER" 2>/dev/null
}

# A process of one thread goes over to it, with a new name and what that one wants; with the provider that it has, and with a new one.
managers_come_and_go() {
	for way in "${ways[@]}"; do
		manager_kill
		manager_start
		mkfifo go.$way
		./play-$way name:first categories create wait event:none wait create name:second wait create event:cached event:in wait destroy destroy \
			create fork: event:cached event:again threads:2 create wait wait create say:over >said.$way 2>&1 <go.$way &
		provider=$!
		exec 7>go.$way
		expect_said said.$way 'waits'
		wait_for 10 providers_are 1 || fail "$way does not register"
		# Of both sessions to come, it is the first of its manager.
		expect_ok "$FXTRACE" start -c nothing -o none.fxt
		echo >&7
		wait_for 20 wait_lines 2 || fail "$way: $(cat said.$way)"
		manager_kill
		echo >&7
		wait_for 10 grep -qE 'refused|No such file' said.$way || fail "$way: creation without a manager:"$'\n'"$(cat said.$way)"
		manager_start
		expect_ok "$FXTRACE" start -c work -o over.fxt
		echo >&7
		wait_for 20 providers_are 1 || fail "$way does not register anew: $(cat said.$way)"
		expect_ok "$FXTRACE" list-providers
		expect_line '^ *[0-9]+ +[0-9]+ second ' out
		expect_ok "$FXTRACE" list-categories
		grep -q 'what the program does' out || fail "$way: the description is not told again:"$'\n'"$(cat out)"
		wait_for 20 wait_lines 4 || fail "$way: $(cat said.$way)"
		expect_ok "$FXTRACE" terminate
		manager_kill
		expect_clean over.fxt
		list_archive over.fxt
		expect_events 1 'name == "cached" && category == "work"'
		expect_events 1 'name == "in" && category == "work"'
		manager_start
		expect_ok "$FXTRACE" start -c work -o again.fxt
		echo >&7
		wait_for 20 wait_lines 5 || fail "$way: $(cat said.$way)"
		expect_ok "$FXTRACE" terminate
		expect_clean again.fxt
		list_archive again.fxt
		for name in child cached again; do
			expect_events 1 "name == \"$name\" && category == \"work\""
		done
		expect_events 2 'name == "thread"'
		echo >&7
		wait_for 20 wait_lines 6 || fail "$way: $(cat said.$way)"
		echo >&7
		exec 7>&-
		wait "$provider" || fail "$way ends with $?: $(cat said.$way)"
		tail -n 1 said.$way | grep -q over || fail "$way: $(cat said.$way)"
		rm go.$way
		wait_for 10 providers_are 0 || fail "$way: it has ended, and is a provider"
	done
}

# Threads that are in the middle of something go over as well, twice.
threads_go_over() {
	for way in "${ways[@]}"; do
		mkfifo go.$way
		manager_kill
		manager_start
		expect_ok "$FXTRACE" start -c work -o before.fxt
		./play-$way create beaters:3 wait destroy create wait destroy create wait say:over >said.$way 2>&1 <go.$way &
		provider=$!
		exec 7>go.$way
		expect_said said.$way 'waits'
		for time in 2 3; do
			manager_kill
			manager_start
			expect_ok "$FXTRACE" start -c work -o over.fxt
			echo >&7
			wait_for 20 wait_lines $time || fail "$way: $(cat said.$way)"
			sleep 0.1
			expect_ok "$FXTRACE" terminate
			expect_clean over.fxt
			list_archive over.fxt
			expect_equal 3 "$(awk -F'\t' '$7 == "tick" { print $3 }' events | sort -u | wc -l)" "threads with ticks after manager $time of $way"
		done
		echo >&7
		exec 7>&-
		wait "$provider" || fail "$way ends with $?: $(cat said.$way)"
		printf '%s\n' Success waits Success Success waits Success Success waits over >expected
		expect_same_file expected said.$way
		rm go.$way
	done
}

one_after_the_other() {
	for way in "${ways[@]}"; do
		# Created and destroyed many times.
		words=()
		while [ ${#words[@]} -lt 200 ]; do
			words+=(create event:within destroy event:without)
		done
		record times.fxt ./play-$way "${words[@]}"
		expect_equal 'Success' "$(sort -u out)" "$way: creation and destruction"
		expect_events 50 'name == "within"'
		expect_events 0 'name == "without"'
		expect_equal 1 "$(sort -u processes | wc -l)" "$way: processes"

		record synchronously.fxt ./play-$way synchronously event:first
		expect_equal 'Success started' "$(xargs <out)" "$way: creation in a session"
		expect_events 1 'name == "first"'

		# More threads than there is room for at one time.
		record threads.fxt ./play-$way create threads:2500
		expect_events 2500 'name == "thread"'

		record forks.fxt ./play-$way create event:before fork: fork:create fork:destroy event:behind
		printf '%s\n' Success 0 Success 0 Success 0 >expected
		expect_same_file expected out
		expect_events 2 'name == "child"' # whoever has destroyed it records nothing
		expect_events 1 'name == "before"'
		expect_events 1 'name == "behind"'
		expect_equal "" "$(awk -F'\t' '$7 == "child" { child[$2] } $7 == "before" { parent = $2 } END { if (parent in child) print parent }' events)" \
			"$way: a child's event in its parent"

		# What it becomes, is a provider if it creates one.
		record execs.fxt ./play-$way create event:image exec create event:image exec event:image
		expect_events 2 'name == "image"'
		expect_equal 1 "$(awk -F'\t' '$7 == "image" { print $2 }' events | sort -u | wc -l)" "$way: a process that execs is the same"
	done
}

# --- Killed -----------------------------------------------------------------------------------------------------

killed() {
	for way in "${ways[@]}"; do
		expect_ok "$FXTRACE" start -c work -o killed.fxt
		./play-$way create events:10000 hang >said.$way 2>&1 &
		provider=$!
		wait_for 20 said said.$way hangs || fail "$way does not come to its end: $(cat said.$way)"
		kill -9 "$provider"
		wait "$provider" 2>/dev/null
		expect_ok "$FXTRACE" terminate
		expect_clean killed.fxt
		list_archive killed.fxt
		expect_events 10000 'name == "many"'
		expect_events 1 'name == "open"'
	done

	# The manager: the program goes on.
	for way in "${ways[@]}"; do
		expect_ok "$FXTRACE" start -c work -o prefix.fxt
		./play-$way create for:1500 synchronously event:x destroy destroy create say:over >said.$way 2>&1 &
		provider=$!
		wait_for 10 providers_are 1 || fail "$way does not register"
		kill -9 "$MANAGER"
		wait "$MANAGER" 2>/dev/null
		wait "$provider" || fail "$way: the manager has gone, and it ends with $?"
		printf '%s\n' Success 'Connection refused' 'not started' Success Success 'Connection refused' over >expected
		expect_same_file expected said.$way
		expect_prefix prefix.fxt
		rm -f fxtrace/manager.sock
		manager_start
	done
}

# --- Libraries, and several engines ---------------------------------------------------------------------------------

libraries() {
	# Modules that are loaded later, with the library and without it.
	record later.fxt ./play-so create open:./library.so event:own
	expect_events 1 'name == "library"'
	expect_events 1 'name == "own"'
	record later.fxt ./play-a create open:./library.so event:own
	expect_events 1 'name == "library"'
	for other in so a; do
		for way in so a; do
			record copies.fxt ./play-$way create open:./library-$other.so event:own destroy event:own fork:
			expect_events 1 'name == "library"'
			# The first to come has the engine: the program's provider is destroyed, and the library's is not.
			expect_events 1+ 'name == "own"'
			expect_equal 1 "$(awk -F'\t' '$7 == "own" { print $2 }' events | sort -u | wc -l)" "processes of $way and $other"
		done
		# A program that is linked with nothing comes alive by the library that it loads.
		record brought.fxt ./plain event:before open:./library-$other.so event:own open:./library.so threads:2
		expect_events 0 'name == "before"'
		expect_events 1 'name == "own"'
		expect_events 2 'name == "thread"'
		[ $other = a ] || expect_events 2 'name == "library"'
		# It goes, and what records stays.
		record closed.fxt ./plain openclose:./library-$other.so event:own threads:2 fork:
		expect_events 1 'name == "own"'
		expect_events 2 'name == "thread"'
		expect_events 1 'name == "child"'
		# First the library, then the program's own.
		record turned.fxt ./play-so open:./library-$other.so event:own create event:own
		expect_events 2 'name == "own"'
		expect_equal 1 "$(sort -u processes | wc -l)" "providers of a program and of a library"
	done
}

# Two engines come at one time, each on a thread of its own, in many processes: one has it, and both threads record.
at_one_time() {
	cat >race.c <<'END'
#include <dlfcn.h>
#include <pthread.h>
#include <string.h>
static pthread_barrier_t barrier;
static void *comes(void *path)
{
	void *library = dlopen(path, RTLD_NOW), *symbol = library ? dlsym(library, "library_traces") : NULL;
	void (*function)(void);
	memcpy(&function, &symbol, sizeof(function));
	pthread_barrier_wait(&barrier);
	function();
	return NULL;
}
int main(int argc, char **argv)
{
	pthread_t threads[8];
	pthread_barrier_init(&barrier, NULL, (unsigned)argc - 1);
	for (int i = 1; i < argc; i++)
		pthread_create(&threads[i], NULL, comes, argv[i]);
	for (int i = 1; i < argc; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
END
	compile race race.c -ldl
	cp library-a.so library-b.so
	cp library-a.so library-c.so
	times=$(scaled 60)
	expect_ok "$FXTRACE" start -c work -o race.fxt
	for _ in $(seq "$times"); do
		expect_ok ./race ./library-a.so ./library-b.so ./library-c.so
	done
	expect_ok "$FXTRACE" terminate
	expect_clean race.fxt
	list_archive race.fxt
	expect_events $((3 * times)) 'name == "library"'
	expect_equal "$times" "$(awk -F'\t' '$7 == "library" { print $2 }' events | sort -u | wc -l)" "processes"
}

# libfxtrace.so comes second, and is idle.
second() {
	for way in so a; do
		"$FXTRACE" start -c work,process,dl -o second.fxt >start.out 2>&1 || fail "$(cat start.out)"
		expect_ok ./play-$way categories handler:hears create event:own "open:$LIBFXTRACE" event:own open:./library.so fork: create destroy
		cp out said
		expect_ok "$FXTRACE" list-providers --json
		expect_ok "$FXTRACE" terminate
		printf '%s\n' Success 'hears started' 0 Success Success >expected
		expect_same_file expected said
		expect_clean second.fxt
		expect_equal work "$(categories_of second.fxt)" "$way: what is recorded though libfxtrace.so came"
		expect_events 2 'name == "own"'
		expect_events 1 'name == "library"'
		expect_events 1 'name == "child"'
	done
	# It comes first, and was not asked to trace: the library has the process.
	LD_PRELOAD=$LIBFXTRACE FXTRACE_DISABLE=1 expect_ok ./play-so create
	expect_equal 'Operation canceled' "$(cat out)" "creation where nothing is to be traced"
	cat >idle.c <<'END'
#include <stdlib.h>
__attribute__((constructor)) static void permit(void)
{
	unsetenv("FXTRACE_DISABLE");
}
END
	compile idle.so -fPIC -shared idle.c
	expect_ok "$FXTRACE" start -c work,process -o idle.fxt
	LD_PRELOAD=$LIBFXTRACE:$PWD/idle.so FXTRACE_DISABLE=1 expect_ok ./play-so create event:own open:./library.so fork:
	cp out said
	expect_ok "$FXTRACE" terminate
	expect_equal 'Success 0' "$(xargs <said)" "beside an engine that does not trace"
	expect_clean idle.fxt
	expect_equal work "$(categories_of idle.fxt)" "categories beside an engine that does not trace"
	expect_events 1 'name == "own"'
	expect_events 1 'name == "library"'
}

# --- Wishes ---------------------------------------------------------------------------------------------------------

# provider_field NAME: of the only provider.
provider_field() {
	expect_ok "$FXTRACE" list-providers --json
	sed -n "s/.*\"$1\": \"\{0,1\}\([a-z0-9]*\).*/\1/p" out
}

# wish_gives SIZE MODE -- WORD...: the buffer that it gets.
wish_gives() {
	local size=$1 mode=$2

	shift 3
	./play-so "$@" create say:created until:0 >said.wish 2>&1 &
	provider=$!
	wait_for 10 said said.wish created && wait_for 10 providers_are 1 || fail "it does not register: $(cat said.wish)"
	expect_equal "$size $mode" "$(provider_field buffer_size) $(provider_field mode)" "buffer of $*"
}

wishes() {
	expect_ok "$FXTRACE" start -c work -o wishes.fxt
	for wish in "32 streaming size:33554432" "64 streaming size:134217728" "16 streaming size:4096" "16 oneshot mode:1" \
		"16 circular mode:2" "16 streaming mode:3" "32 circular size:33554432 mode:2"; do
		read -r megabytes mode words <<<"$wish"
		# shellcheck disable=SC2086
		wish_gives $((megabytes << 20)) "$mode" -- $words
		kill -9 "$provider"
		wait "$provider" 2>/dev/null
		wait_for 10 providers_are 0 || fail "it is still there"
	done
	expect_ok "$FXTRACE" terminate
	# The user's word counts more.
	expect_ok "$FXTRACE" start -c work -m oneshot --provider-buffer=mine=1M -o wishes.fxt
	./play-so name:mine create say:created until:0 >said.plain 2>&1 &
	plain=$!
	wait_for 10 said said.plain created && wait_for 10 providers_are 1 || fail "it does not register: $(cat said.plain)"
	size=$(provider_field buffer_size)
	[ "$size" -lt $((4 << 20)) ] || fail "a buffer of $size bytes"
	kill -9 "$plain"
	wait "$plain" 2>/dev/null
	wait_for 10 providers_are 0 || fail "it is still there"
	wish_gives "$size" oneshot -- name:mine size:33554432 mode:2
	expect_ok "$FXTRACE" terminate
	wait "$provider" || fail "it ends with $?"
	# Of a oneshot buffer what comes first is kept, of a circular one what comes last; and children have the same.
	for mode in 1 2; do
		expect_ok "$FXTRACE" start -c work -b 256K -o full.fxt
		expect_ok ./play-so mode:$mode create event:early events:200000 event:late fork:
		expect_ok "$FXTRACE" terminate
		expect_clean full.fxt
		list_archive full.fxt
		expect_events $((mode == 1)) 'name == "early"'
		expect_events $((mode == 2)) 'name == "late"'
		expect_events 1 'name == "child"'
		kept=$(count_events 'name == "many"')
		[ "$kept" -gt 100 ] && [ "$kept" -lt 200000 ] || fail "mode $mode keeps $kept events"
	done
	# A child's memory is as its parent's.
	expect_ok "$FXTRACE" run -q -c work -o child.fxt -- ./play-so size:33554432 create event:own fork:
	[ "${#ways[@]}" -lt 3 ] ||
		expect_ok "$FXTRACE" run -q -c work -o child.fxt -- ./play-static size:33554432 mode:2 create event:own fork:
	expect_clean child.fxt
	list_archive child.fxt
	expect_events 1 'name == "child"'
}

# Where memory is limited a wish is no reason to refuse a process.
limited() {
	manager_stop
	manager_start --max-memory 40M
	expect_ok "$FXTRACE" start -c work -o limited.fxt
	expect_ok ./play-so size:67108864 create event:own fork:
	cp out said
	expect_ok "$FXTRACE" terminate
	expect_equal 'Success 0' "$(xargs <said)" "a wish that cannot be fulfilled"
	expect_clean limited.fxt
	list_archive limited.fxt
	expect_events 1 'name == "own"'
	expect_events 1 'name == "child"'
}

# --- What makes no sense ------------------------------------------------------------------------------------------------

bad_input() {
	cat >bad.c <<'END'
#include <fxtrace/provider.h>
#include <stdio.h>
#include <string.h>
static struct fxtrace_provider *provider;
static void check(const char *what, const struct fxtrace_provider_options *options)
{
	bool started = true;
	int r;
	provider = (struct fxtrace_provider *)1;
	r = fxtrace_provider_create_synchronously(&provider, options, &started);
	printf("%s: %s, %s, %d\n", what, strerror(-r), provider ? "a provider" : "none", started);
	fxtrace_provider_destroy(provider);
}
int main(void)
{
	static char hundred[101], more[102], text[40001];
	struct fxtrace_provider_category category = {"c", NULL};
	struct fxtrace_provider_options o = FXTRACE_PROVIDER_OPTIONS_INIT;
	memset(hundred, 'x', 100);
	memset(more, 'x', 101);
	memset(text, 'x', 40000);
	check("none", NULL);
	check("usual", &o);
	o.size = 8; check("size", &o); o.size = sizeof(o);
	o.size = sizeof(o) + 64; check("a later one", &o); o.size = sizeof(o);
	o.name = ""; check("empty name", &o);
	o.name = hundred; check("100 bytes", &o);
	o.name = more; check("101 bytes", &o);
	o.name = "a\n\033b"; check("controls", &o);
	o.name = NULL;
	o.mode = (enum fxtrace_provider_mode)9; check("mode", &o); o.mode = FXTRACE_PROVIDER_MODE_ANY;
	o.category_count = 1; check("no categories", &o);
	o.categories = &category; check("category", &o);
	category.description = text; check("long description", &o);
	category.name = NULL; check("no name", &o);
	category.name = ""; check("empty category", &o);
	category.name = more; check("long category", &o);
	o.category_count = 0;
	o.buffer_size = UINT64_MAX; check("any size", &o);
	printf("%d\n", fxtrace_provider_destroy(NULL));
	return 0;
}
END
	compile bad "$include" -Wall -Wextra -Werror bad.c "${shared[@]}"
	expect_ok ./bad
	for what in none usual 'a later one' '100 bytes' controls category 'long description' 'any size'; do
		expect_line "^$what: Success, a provider, 0\$" out
	done
	for what in size 'empty name' '101 bytes' mode 'no categories' 'no name' 'empty category' 'long category'; do
		expect_line "^$what: Invalid argument, none, 0\$" out
	done
	expect_line '^0$' out
	FXTRACE_DISABLE=1 expect_ok ./play-so create
	expect_line 'Operation canceled' out
	FXTRACE_PID=1 expect_ok ./play-so create
	expect_line 'Operation canceled' out
	# Of a program whose caller must not steer it nothing is traced.
	if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null && chmod 711 . && cp play-a /usr/bin/true . 2>/dev/null; then
		[ ! -e play-static ] || { cp play-static privileged && chmod 4755 privileged &&
			expect_ok setpriv --reuid=65534 --regid=65534 --clear-groups ./privileged create &&
			expect_line 'Operation not permitted' out; }
	fi
}

# --- Under Fuchsia's names -------------------------------------------------------------------------------------------------

under_fuchsias_names() {
	cat >named.c <<'END'
#include <lib/trace-provider/provider.h>
#include <trace/event.h>
#include <stdio.h>
int main(void)
{
	bool started = true;
	trace_provider_t *first = trace_provider_create(NULL), *second = trace_provider_create_with_name(NULL, "second");
	trace_provider_t *third = trace_provider_create_synchronously(NULL, "third", &started);
	if (!first || !second || !third)
		return 1;
	TRACE_INSTANT("work", "named", TRACE_SCOPE_THREAD);
	printf("%d\n", started);
	trace_provider_destroy(first);
	trace_provider_destroy(second);
	trace_provider_destroy(third);
	return 0;
}
END
	cat >named.cc <<'END'
#include <trace-provider/provider.h>
#include <trace/event.h>
#include <cstdio>
int main()
{
	std::unique_ptr<trace::TraceProvider> provider;
	bool started = true;
	trace::TraceProviderWithFdio other(nullptr, "other");
	if (!trace::TraceProvider::CreateSynchronously(nullptr, "named", &provider, &started) || !provider->is_valid() || !other.is_valid())
		return 1;
	TRACE_INSTANT("work", "named", TRACE_SCOPE_THREAD);
	std::printf("%d\n", started);
	return 0;
}
END
	compile named "$include" "$include/fxtrace/fuchsia" -std=c11 -Wall -Wextra -Werror named.c "${shared[@]}"
	compile named-cc "$include" "$include/fxtrace/fuchsia" -std=c++17 -Wall -Wextra -Werror named.cc "${shared[@]}"
	for program in named named-cc; do
		record named.fxt ./$program
		expect_equal 1 "$(cat out)" "$program: whether tracing has started"
		expect_events 1 'name == "named"'
		XDG_RUNTIME_DIR=$TEST_DIR/nowhere expect_ok ./$program
		expect_equal 0 "$(cat out)" "$program without a manager"
	done
}

alone
under_run
manager_start
sessions
managers_come_and_go
threads_go_over
one_after_the_other
killed
libraries
at_one_time
second
wishes
bad_input
under_fuchsias_names
limited
