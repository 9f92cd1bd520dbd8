#!/bin/bash
# SPDX-License-Identifier: MIT
# Sources that do what the examples in the documents of Fuchsia's tracing do compile as they would there, and give the records that the
# documents promise: TRACE_DURATION in C++ and C, NTRACE in a source, and providers in C++ and C. What a provider's source has there beside
# tracing (a loop of messages, zx_status_t) is no part of it, and stands here as little as it takes.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
. "$FX_SRCDIR/tests/e2e/control.sh"
include="-I$FX_SRCDIR/include -I$FX_SRCDIR/include/fxtrace/fuchsia"

# The function that each of them has; its file is example.h, in the language and the words of each.
calls_it() {
	printf '%s\n' "$1" '#include "example.h"' 'int main(void) { DoSomething'"$2"'; return 0; }' >"$3"
}

# expect_slice SOURCE OPTION...: one slice, from the begin to the end of the function, with its parameters.
expect_slice() {
	local source=$1

	shift
	# shellcheck disable=SC2086 # several words
	compile example $include -I. -Wall -Wextra -Werror "$@" "$source"
	expect_ok ./example
	expect_ok "$FXTRACE" run -q -c example -o trace.fxt -- ./example
	expect_clean trace.fxt
	list_archive trace.fxt
	expect_events 1 'category == "example"'
	expect_events 1 'type == "complete" && category == "example" && name == "DoSomething" && has("a=7") && has("b=seven") && end > start'
	"$FXTRACE" dump trace.fxt >said
	expect_line '"a":int32=7, "b":string="seven"' said
}

duration_in_cxx() {
	printf '%s\n' '#include <trace/event.h>' 'void DoSomething(int a, std::string b) {' \
		'  TRACE_DURATION("example", "DoSomething", "a", a, "b", b);' '}' >example.h
	calls_it '#include <string>' '(7, "seven")' example.cc
	for options in "-std=c++17 -O0" "-std=c++20 -O2"; do
		# shellcheck disable=SC2086 # several words
		expect_slice example.cc $options
	done
}

duration_in_c() {
	printf '%s\n' '#include <trace/event.h>' 'static void DoSomething(int a, const char *b) {' \
		'  TRACE_DURATION("example", "DoSomething", "a", TA_INT32(a), "b", TA_STRING(b));' '}' >example.h
	calls_it '' '(7, "seven")' example.c
	for options in "-std=c11 -O0" "-std=gnu17 -O2"; do
		# shellcheck disable=SC2086 # several words
		expect_slice example.c $options
	done
	# In C++ such values are optional, and may be there.
	calls_it '' '(7, "seven")' example.cc
	expect_slice example.cc -std=c++17
}

# It never makes a record, and nothing of it is left.
suppressed_within_a_source() {
	printf '%s\n' '#define NTRACE' '#include <trace/event.h>' 'static void DoSomething(void) {' \
		'  TRACE_DURATION("example", "DoSomething");' '}' >example.h
	for source in example.c example.cc; do
		calls_it '' '()' $source
		# shellcheck disable=SC2086 # several words
		compile example $include -I. -O0 -Wall -Wextra -Werror $source
		expect_ok "$FXTRACE" run -q -o trace.fxt -- ./example
		expect_clean trace.fxt
		list_archive trace.fxt
		expect_events 0 'category == "example"'
		! nm example | grep -i fxtrace || fail "NTRACE leaves something in $source"
	done
	# Beside another source of the program that says nothing of NTRACE.
	printf '%s\n' '#include <trace/event.h>' 'void other(void);' 'void other(void) { TRACE_DURATION("example", "other"); }' >other.c
	sed -e 's/int main(void) { /void other(void);\n&other(); /' example.c >both.c
	# shellcheck disable=SC2086 # several words
	compile example $include -I. both.c other.c
	expect_ok "$FXTRACE" run -q -o trace.fxt -- ./example
	list_archive trace.fxt
	expect_events 1 'category == "example"'
	expect_events 1 'name == "other"'
}

# --- Providers -----------------------------------------------------------------------------------------

mkdir -p lib/async-loop/cpp
cat >lib/async-loop/loop.h <<'END'
#include <stdlib.h>
#include <trace-provider/provider.h>
typedef int zx_status_t;
#define ZX_OK 0
typedef struct async_loop { int started; } async_loop_t;
typedef struct { int unused; } async_loop_config_t;
static const async_loop_config_t kAsyncLoopConfigNoAttachToThread = {0};
static inline zx_status_t async_loop_create(const async_loop_config_t *config, async_loop_t **ret)
{
	(void)config;
	*ret = (async_loop_t *)calloc(1, sizeof(**ret));
	return *ret ? ZX_OK : -1;
}
static inline zx_status_t async_loop_start_thread(async_loop_t *loop, const char *name, void *ret)
{
	(void)name;
	(void)ret;
	loop->started = 1;
	return ZX_OK;
}
static inline async_dispatcher_t *async_loop_get_dispatcher(async_loop_t *loop) { return (async_dispatcher_t *)loop; }
static inline void async_loop_shutdown(async_loop_t *loop) { free(loop); }
END
cat >lib/async-loop/cpp/loop.h <<'END'
#ifdef __cplusplus
#include <lib/async-loop/loop.h>
namespace async {
class Loop {
public:
	explicit Loop(const async_loop_config_t *config) { async_loop_create(config, &loop_); }
	~Loop() { async_loop_shutdown(loop_); }
	zx_status_t StartThread() { return async_loop_start_thread(loop_, "loop", nullptr); }
	async_dispatcher_t *dispatcher() { return async_loop_get_dispatcher(loop_); }
private:
	async_loop_t *loop_;
};
}
#else
#include <lib/async-loop/loop.h>
#endif
END

# expect_provider NAME SOURCE: its events are recorded while its provider is there, by a manager that did not start it.
expect_provider() {
	# shellcheck disable=SC2086 # several words
	compile "$1" -D_GNU_SOURCE $include -I. -Wall -Wextra -Werror -Wno-unused-parameter -Wno-missing-field-initializers "$2" \
		-L"$FX_BUILDDIR/.libs" -lfxtrace-provider "-Wl,-rpath,$FX_BUILDDIR/.libs"
	expect_ok "$FXTRACE" start -c example -o trace.fxt
	expect_ok "./$1" 1 2 3
	expect_ok "$FXTRACE" terminate
	expect_clean trace.fxt
	list_archive trace.fxt
	expect_events 1 'type == "instant" && category == "example" && name == "does something" && has("argc=4")'
	expect_events 0 'name == "too early" || name == "too late"'
	expect_ok "$FXTRACE" info trace.fxt
	expect_line "$1" out
	# Without a manager it does what else it does.
	XDG_RUNTIME_DIR=$TEST_DIR/lib expect_ok "./$1"
}

provider_in_cxx() {
	cat >provider.cc <<'END'
#include <lib/async-loop/cpp/loop.h>
#include <trace-provider/provider.h>
#include <trace/event.h>

static int serve(int argc)
{
	async::Loop messages(&kAsyncLoopConfigNoAttachToThread);

	if (messages.StartThread() != ZX_OK)
		return 1;
	trace::TraceProvider provider(messages.dispatcher());
	TRACE_INSTANT("example", "does something", TRACE_SCOPE_THREAD, "argc", argc);
	return 0;
}
int main(int argc, char **argv)
{
	TRACE_INSTANT("example", "too early", TRACE_SCOPE_THREAD);
	int status = serve(argc);
	TRACE_INSTANT("example", "too late", TRACE_SCOPE_THREAD);
	return status;
}
END
	expect_provider provider-cxx provider.cc
}

provider_in_c() {
	cat >provider.c <<'END'
#include <lib/async-loop/cpp/loop.h>
#include <trace-provider/provider.h>
#include <trace/event.h>

int main(int argc, char **argv)
{
	trace_provider_t *provider;
	async_loop_t *messages;

	TRACE_INSTANT("example", "too early", TRACE_SCOPE_THREAD);
	if (async_loop_create(&kAsyncLoopConfigNoAttachToThread, &messages) != ZX_OK ||
	    async_loop_start_thread(messages, "messages", NULL) != ZX_OK)
		return 1;
	provider = trace_provider_create(async_loop_get_dispatcher(messages));
	if (!provider)
		return 1;
	TRACE_INSTANT("example", "does something", TRACE_SCOPE_THREAD, "argc", TA_INT32(argc));
	trace_provider_destroy(provider);
	async_loop_shutdown(messages);
	TRACE_INSTANT("example", "too late", TRACE_SCOPE_THREAD);
	return 0;
}
END
	expect_provider provider-c provider.c
}

need nm
duration_in_cxx
duration_in_c
suppressed_within_a_source
manager_start
provider_in_cxx
provider_in_c
manager_stop
