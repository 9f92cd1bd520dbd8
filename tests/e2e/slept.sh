# SPDX-License-Identifier: MIT
# To be sourced by what `fxtrace run' runs, whose parent is the manager.
# shellcheck shell=sh
manager=$PPID

# The times that the manager's threads but the first have slept.
slept() {
	for task in "/proc/$manager/task"/*; do
		[ "${task##*/}" = "$manager" ] || sed -n 's/^voluntary_ctxt_switches:[^0-9]*//p' "$task/status"
	done | awk '{ sum += $1 } END { print sum }'
}
