/* SPDX-License-Identifier: MIT */
/*
 * A daemon with one client and, when a test calls provide(), one provider in the test's own process.
 */
#ifndef FX_TESTS_MANAGER_SESSION_STAGE_H
#define FX_TESTS_MANAGER_SESSION_STAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "tests/manager/daemon.h"
#include "tests/manager/records.h"

/* The strings of the provider. */
#define CATEGORY 1u
#define NAME	 2u
#define OTHER	 3u

extern struct manager_process m;
extern int link_fd; /* a client */
extern struct fake_provider p;

/* Before and after each test. */
void stage_begin(void);
void stage_finish(void);

/* Registers the provider. */
void provide(void);

/* The run of tracing that the provider is told of, and whether it is told to record. */
uint64_t epoch(void);
bool is_on(void);

/* A thread that claims a chunk for each run of tracing, as threads do after a start. */
void record(unsigned name, unsigned count);

/* A packet of the provider to the manager, and an alert, which is one. */
void post(const struct fx_packet *packet);
void post_alert(const char *name);

/* A provider in a process of its own that records once and dies. */
void live_and_die(void);

/* The client's requests, which must succeed. */
void initialize(enum fx_buffering_mode mode);
void terminate(void);

/* Calls of this name in the archive. */
uint64_t events(const char *name);

#endif
