#!/bin/sh
# SPDX-License-Identifier: MIT
# What many processes cost the manager: memory and processor time of 300 idle ones, time of 1,000 in turn.
# The bars are those of the test that it runs: 64 KiB each, 1 % of a core.
exec bash "${FX_SRCDIR:?}/tests/e2e/control-many.sh"
