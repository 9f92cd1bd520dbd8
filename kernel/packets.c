/* SPDX-License-Identifier: MIT */
#include "kernel/packets.h"

#include <arpa/inet.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "kernel/event-record.h"
#include "kernel/tracefs.h"

/* Room for an address and its port. */
#define END_MAX (INET6_ADDRSTRLEN + 10u)

static struct fx_kernel_event packets_event(const char *name, uint64_t ns)
{
	return (struct fx_kernel_event){
	    .task = {(uint32_t)getpid(), (uint32_t)gettid()},
	    .ns = ns,
	    .category = "kernel:net",
	    .name = {name, strlen(name)},
	};
}

/* --- Sent again --------------------------------------------------------------------------------- */

static void end_text(const struct fx_tracepoint_event *event, enum fx_tracepoint_field four,
		     enum fx_tracepoint_field six, enum fx_tracepoint_field port, char ret[END_MAX])
{
	bool is_six = fx_tracepoint_value(event, FX_FIELD_RETRANSMIT_FAMILY, 0) == AF_INET6;
	size_t size;
	const uint8_t *address = fx_tracepoint_array(event, is_six ? six : four, &size);
	char text[INET6_ADDRSTRLEN] = "?";

	if (address && size == (is_six ? 16 : 4))
		inet_ntop(is_six ? AF_INET6 : AF_INET, address, text, sizeof(text));
	snprintf(ret, END_MAX, is_six ? "[%s]:%u" : "%s:%u", text,
		 (unsigned)fx_tracepoint_value(event, port, 0) & UINT16_MAX);
}

/* TCP_ESTABLISHED and so on (include/net/tcp_states.h). */
static void state_add(struct fx_kernel_event *event, int64_t state)
{
	static const char *const names[] = {
	    NULL,    "ESTABLISHED", "SYN_SENT", "SYN_RECV", "FIN_WAIT1", "FIN_WAIT2",	"TIME_WAIT",
	    "CLOSE", "CLOSE_WAIT",  "LAST_ACK", "LISTEN",   "CLOSING",	 "NEW_SYN_RECV"};

	if (state > 0 && state < (int64_t)(sizeof(names) / sizeof(names[0])))
		fx_event_text(event, "state", names[state], strlen(names[state]));
	else
		fx_event_int(event, "state", state);
}

static void packets_sent_again(const struct fx_tracepoint_event *event, uint64_t ns)
{
	struct fx_kernel_event record = packets_event("sent again", ns);
	char from[END_MAX], to[END_MAX];

	end_text(event, FX_FIELD_RETRANSMIT_FROM, FX_FIELD_RETRANSMIT_FROM6,
		 FX_FIELD_RETRANSMIT_FROM_PORT, from);
	end_text(event, FX_FIELD_RETRANSMIT_TO, FX_FIELD_RETRANSMIT_TO6,
		 FX_FIELD_RETRANSMIT_TO_PORT, to);
	fx_event_text(&record, "from", from, strlen(from));
	fx_event_text(&record, "to", to, strlen(to));
	state_add(&record, fx_tracepoint_value(event, FX_FIELD_RETRANSMIT_STATE, 0));
	fx_kernel_record_event(&record);
}

/* --- Dropped ------------------------------------------------------------------------------------ */

/* What the kernel calls its reasons, which are others in each release, stands in the printed form of the tracepoint:
 * `__print_symbolic(REC->reason, { 2, "NOT_SPECIFIED" }, { 3, "NO_SOCKET" }, ...'. */
static const char *reasons_read(void)
{
	FILE *file = fx_tracefs_open("skb", "kfree_skb", "format");
	static char text[32768];
	size_t size = file ? fread(text, 1, sizeof(text) - 1, file) : 0;
	const char *begin;

	text[size] = 0;
	if (file)
		fclose(file);
	begin = strstr(text, "REC->reason, {");
	return begin ? begin : "";
}

static bool reason_find(int64_t reason, const char **ret, size_t *ret_length)
{
	static const char *reasons;
	char wanted[40];
	const char *at;

	if (!reasons)
		reasons = reasons_read();
	snprintf(wanted, sizeof(wanted), "{ %lld, \"", (long long)reason);
	at = strstr(reasons, wanted);
	if (!at)
		return false;
	*ret = at + strlen(wanted);
	*ret_length = strcspn(*ret, "\"");
	return true;
}

/* What a socket has not read when it is closed is no packet that was dropped on its way. */
static bool is_of_close(const char *reason, size_t length)
{
	return (length == 12 && memcmp(reason, "SOCKET_CLOSE", 12) == 0) ||
	       (length == 11 && memcmp(reason, "QUEUE_PURGE", 11) == 0);
}

static void packets_dropped(const struct fx_tracepoint_event *event, uint64_t ns)
{
	struct fx_kernel_event record = packets_event("dropped", ns);
	int64_t reason = fx_tracepoint_value(event, FX_FIELD_DROP_REASON, 0);
	const char *text;
	size_t length;
	bool has_name = reason_find(reason, &text, &length);

	if (has_name && is_of_close(text, length))
		return;
	if (has_name)
		fx_event_text(&record, "reason", text, length);
	else
		fx_event_int(&record, "reason", reason);
	fx_event_uint(&record, "protocol",
		      (uint64_t)fx_tracepoint_value(event, FX_FIELD_DROP_PROTOCOL, 0));
	fx_event_address(&record, "location",
			 (uint64_t)fx_tracepoint_value(event, FX_FIELD_DROP_PLACE, 0));
	fx_kernel_record_event(&record);
}

void fx_packets_take(const struct fx_tracepoint_event *event, const struct fx_ring_record *record)
{
	if (event->tracepoint == FX_TRACEPOINT_RETRANSMIT)
		packets_sent_again(event, record->ns);
	else if (event->tracepoint == FX_TRACEPOINT_DROP)
		packets_dropped(event, record->ns);
}
