/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "convert/perfetto/system.h"

static char *system_text(const char *value)
{
	return value[0] ? (char *)value : NULL;
}

static void system_write_uuid(struct fx_packets *packets, const uint64_t uuid[2])
{
	Fx__Pf__TracePacket packet = FX__PF__TRACE_PACKET__INIT;
	Fx__Pf__TraceUuid message = FX__PF__TRACE_UUID__INIT;

	if (!uuid[0] && !uuid[1])
		return;
	message.has_msb = message.has_lsb = 1;
	message.msb = (int64_t)uuid[0];
	message.lsb = (int64_t)uuid[1];
	packet.trace_uuid = &message;
	fx_packets_write(packets, &packet);
}

void fx_system_write(struct fx_packets *packets, const struct fx_host_record *host)
{
	Fx__Pf__TracePacket packet = FX__PF__TRACE_PACKET__INIT;
	Fx__Pf__SystemInfo system = FX__PF__SYSTEM_INFO__INIT;
	Fx__Pf__Utsname utsname = FX__PF__UTSNAME__INIT;

	utsname.sysname = system_text(host->system);
	utsname.version = system_text(host->build);
	utsname.release = system_text(host->release);
	utsname.machine = system_text(host->machine);
	system.utsname = &utsname;
	system.machine_name = system_text(host->host);
	packet.system_info = &system;
	fx_packets_write(packets, &packet);
	system_write_uuid(packets, host->uuid);
}

void fx_system_write_any(struct fx_packets *packets)
{
	static const struct fx_host_record any = {.system = "Linux", .release = "6.1.0"};

	fx_system_write(packets, &any);
}
