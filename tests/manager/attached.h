/* SPDX-License-Identifier: MIT */
/*
 * The test's own process as a provider of a manager in another: with the engine, as libfxtrace.so is.
 */
#ifndef FX_TESTS_MANAGER_ATTACHED_H
#define FX_TESTS_MANAGER_ATTACHED_H

#include "engine/provider/engine.h"
#include "tests/manager/client.h"

/* Registers as `name` and attaches the engine to what comes. Ends the test if refused. */
void engine_attach(const struct manager_process *m, const char *name);

/* Waits until the manager lets events of these categories be recorded; the thread then does. */
struct fx_thread *engine_await(uint32_t categories);

#endif
