/* SPDX-License-Identifier: MIT */
/*
 * For sources that were written for Fuchsia: -I.../include/fxtrace/fuchsia. What <fxtrace/provider.h> does, under the names that
 * Fuchsia has for it. A dispatcher is not looked at, and may be NULL: there is no thread to be run.
 *
 * Where there is nobody to register with, as on Fuchsia there always is, there is a provider all the same, which does nothing.
 */
#ifndef FXTRACE_FUCHSIA_TRACE_PROVIDER_PROVIDER_H
#define FXTRACE_FUCHSIA_TRACE_PROVIDER_PROVIDER_H

#include <errno.h>

#include <fxtrace/provider.h>

/* What providers and managers say to one another while tracing runs (doc/PROTOCOL.md). */
#define TRACE_PROVIDER_FIFO_PROTOCOL_VERSION 1
#define TRACE_PROVIDER_STARTED		     1
#define TRACE_PROVIDER_SAVE_BUFFER	     2
#define TRACE_PROVIDER_STOPPED		     3
#define TRACE_PROVIDER_ALERT		     4
#define TRACE_PROVIDER_BUFFER_SAVED	     0x100

typedef struct trace_provider_packet {
	uint16_t request;
	union {
		uint16_t reserved;
		uint16_t data16;
	};
	uint32_t data32;
	uint64_t data64;
} trace_provider_packet_t;

typedef struct fxtrace_provider trace_provider_t;
typedef struct async_dispatcher async_dispatcher_t;

#define FXTRACE_PROVIDER_OF_NOBODY ((trace_provider_t *)(uintptr_t)1)

FXTRACE_INLINE trace_provider_t *trace_provider_create_synchronously(async_dispatcher_t *dispatcher,
								     const char *name,
								     bool *ret_already_started)
{
	struct fxtrace_provider_options options = FXTRACE_PROVIDER_OPTIONS_INIT;
	trace_provider_t *provider;
	bool started;
	int r;

	(void)dispatcher;
	options.name = name;
	r = fxtrace_provider_create_synchronously(&provider, &options, &started);
	if (ret_already_started)
		*ret_already_started = started;
	return r == 0 || r == -EINVAL || r == -ENOMEM ? provider : FXTRACE_PROVIDER_OF_NOBODY;
}

FXTRACE_INLINE trace_provider_t *trace_provider_create_with_name(async_dispatcher_t *dispatcher,
								 const char *name)
{
	return trace_provider_create_synchronously(dispatcher, name, NULL);
}

FXTRACE_INLINE trace_provider_t *trace_provider_create(async_dispatcher_t *dispatcher)
{
	return trace_provider_create_with_name(dispatcher, NULL);
}

FXTRACE_INLINE void trace_provider_destroy(trace_provider_t *provider)
{
	if (provider != FXTRACE_PROVIDER_OF_NOBODY)
		(void)fxtrace_provider_destroy(provider);
}

#define trace_provider_create_with_fdio		      trace_provider_create
#define trace_provider_create_with_name_fdio	      trace_provider_create_with_name
#define trace_provider_create_synchronously_with_fdio trace_provider_create_synchronously

#ifdef __cplusplus
#include <memory>

namespace trace
{

class TraceProvider
{
      public:
	explicit TraceProvider(async_dispatcher_t *dispatcher)
	    : provider_(trace_provider_create(dispatcher))
	{
	}
	TraceProvider(async_dispatcher_t *dispatcher, const char *name)
	    : provider_(trace_provider_create_with_name(dispatcher, name))
	{
	}
	TraceProvider(const TraceProvider &) = delete;
	TraceProvider &operator=(const TraceProvider &) = delete;
	~TraceProvider()
	{
		trace_provider_destroy(provider_);
	}

	static bool CreateSynchronously(async_dispatcher_t *dispatcher, const char *name,
					std::unique_ptr<TraceProvider> *ret,
					bool *ret_already_started)
	{
		trace_provider_t *provider =
		    trace_provider_create_synchronously(dispatcher, name, ret_already_started);

		if (!provider)
			return false;
		ret->reset(new TraceProvider(provider));
		return true;
	}

	bool is_valid() const
	{
		return provider_ != nullptr;
	}

      private:
	explicit TraceProvider(trace_provider_t *provider) : provider_(provider)
	{
	}

	trace_provider_t *const provider_;
};

using TraceProviderWithFdio = TraceProvider;

} // namespace trace
#endif

#endif
