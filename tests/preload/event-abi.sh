#!/bin/bash
# SPDX-License-Identifier: MIT
# What holds programs with <fxtrace/event.h> together with libraries that were made before them, and after: the layout of what they
# share, and a program that is run with a library that can do more than its headers know, and with one that can do less.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

not_sanitized "what is preloaded is made without the sanitizer's"
need python3

# --- The layout is what it was ------------------------------------------------------------------------

python3 "$FX_SRCDIR/tests/format/abi.py" "$FX_SRCDIR" event_base >layout.c || fail "no layout"
compile layout -I "$FX_SRCDIR/include" layout.c
./layout | grep -v '^sizeof fxtrace_events ' >layout.now
grep -v '^#' "$FX_SRCDIR/tests/preload/event-abi.tbl" >layout.then
expect_same_file layout.then layout.now

# --- Other libraries --------------------------------------------------------------------------------------

# That of FX_MEMBERS members, which says what it is asked for; and what no library may change: where the word of state stands.
cat >library.c <<'END'
#define NTRACE
#include <fxtrace/event.h>
#include <stdio.h>
static uint64_t page[16] = {[8] = 5};
static const void *const control = page;
static uint64_t look(struct fxtrace_place *place, const char *category)
{
	printf("look %s\n", category);
	return place->state = page[8] | (category[0] == 'o' ? FXTRACE_PLACE_ON : 0);
}
static bool enabled(void)
{
	return true;
}
static void write(struct fxtrace_place *place, unsigned type, const char *category, const char *name, uint64_t number,
		  const struct fxtrace_arg *args, size_t count)
{
	(void)place;
	printf("write %u %s %s %d", type, category, name, (int)number);
	for (size_t i = 0; i < count; i++)
		printf(" %s:%u=%d", args[i].key, args[i].value.type, (int)args[i].value.bits);
	puts("");
}
static void open(struct fxtrace_scope *scope)
{
	printf("open %s %s %zu\n", scope->category, scope->name, scope->count);
}
static void close(struct fxtrace_scope *scope)
{
	printf("close %s %s:%d\n", scope->name, scope->args[0].key, (int)scope->args[0].value.bits);
}
static void put(struct fxtrace_place *place, unsigned payload, const char *category, const char *name, const void *data, size_t size,
		const struct fxtrace_arg *args, size_t count)
{
	(void)place, (void)name, (void)size, (void)args, (void)count;
	printf("put %u %s %s\n", payload, category, (const char *)data);
}
static void write_at(const struct fxtrace_at *at, unsigned type, const char *category, const char *name, uint64_t number,
		     const struct fxtrace_arg *args, size_t count)
{
	(void)args, (void)count;
	printf("at %s %d %u %s %s %d\n", at->vthread, (int)at->ticks, type, category, name, (int)number);
}
static uint64_t ticks(void)
{
	return 77;
}
const struct {
	struct fxtrace_events events;
	uint64_t more[8];
} __fxtrace_events = {{.size = FX_SIZE,
		       .control = &control,
		       .state_offset = 64,
		       .look = look,
		       .enabled = enabled,
		       .write = write,
		       .open = open,
		       .close = close,
#ifndef FX_EARLIER
		       .put = put,
		       .write_at = write_at,
		       .ticks = ticks,
#endif
		      },
		      {1, 2, 3}};
END
compile later.so -shared -fPIC -Wall -Wextra -I "$FX_SRCDIR/include" '-DFX_SIZE=sizeof __fxtrace_events' library.c
compile earlier.so -shared -fPIC -Wall -Wextra -I "$FX_SRCDIR/include" -DFX_EARLIER '-DFX_SIZE=offsetof(struct fxtrace_events, put)' library.c

cat >client.c <<'END'
#include <fxtrace/event.h>
#include <stdio.h>
void client(void);
void client(void)
{
	for (int i = 0; i < 2; i++) {
		TRACE_DURATION("on", "duration", "i", TA_INT32(i));
		TRACE_INSTANT("on", "instant", TRACE_SCOPE_PROCESS, "seven", TA_UINT64(7));
		TRACE_INSTANT("not", "instant", TRACE_SCOPE_THREAD);
	}
	TRACE_COUNTER("on", "counter", 3, "value", TA_INT64(-1));
	TRACE_LOG("on", "a line");
	TRACE_VTHREAD_COUNTER("on", "counter", "virtual", 1, 2, 1000, "value", TA_INT64(4));
	printf("ticks %d\n", (int)TRACE_TICKS());
}
END
echo 'void client(void); int main(void) { client(); return 0; }' >main.c
# In a library the dynamic linker looks for the symbol itself.
compile client.so -shared -fPIC -O2 -Wall -Wextra -I "$FX_SRCDIR/include" client.c
compile client main.c ./client.so
cat >usual <<'END'
look on
open on duration 1
look on
write 0 on instant 1 seven:4=7
look not
close duration i:0
open on duration 1
write 0 on instant 1 seven:4=7
close duration i:1
look on
write 1 on counter 3 value:3=-1
END
{
	cat usual
	printf '%s\n' 'look on' 'put 2 on a line' 'look on' 'at virtual 1000 1 on counter 2' 'ticks 77'
} >later.then
{
	cat usual
	printf '%s\n' 'look on' 'look on' 'ticks 0'
} >earlier.then
for when in later earlier; do
	LD_PRELOAD=$PWD/$when.so expect_ok ./client
	expect_same_file $when.then out
done
expect_ok ./client
expect_equal 'ticks 0' "$(cat out)" "what is said without a library"
