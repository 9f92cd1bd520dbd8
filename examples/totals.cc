// SPDX-License-Identifier: MIT
// totals ARCHIVE: how long each category took in each process, by libfxtrace-reader in C++17.
//
//	c++ -std=c++17 -o totals totals.cc $(pkg-config --cflags --libs fxtrace-reader)
#include <fxtrace/reader.hpp>

#include <cstdio>
#include <exception>
#include <map>
#include <string>
#include <utility>

int main(int argc, char **argv)
try {
	std::map<std::pair<std::uint64_t, std::string>, std::uint64_t> totals;

	if (argc != 2) {
		std::fprintf(stderr, "Usage: %s ARCHIVE\n", argv[0]);
		return 2;
	}
	fxtrace::reader reader(argv[1]);
	reader.on_fault([&](const fxt_fault &fault) {
		std::fprintf(stderr, "%s: byte %s\n", argv[1], fxtrace::describe(fault).c_str());
	});
	for (const fxt_record &record : reader)
		if (record.kind == FXT_KIND_EVENT && record.event.type == FXT_EVENT_DURATION_COMPLETE)
			totals[{record.event.thread.pid, std::string(fxtrace::view(record.event.category))}] +=
			    fxt_ticks_to_ns(record.event.end_time - record.event.timestamp,
					    record.provider->ticks_per_second);
	for (const auto &[key, ns] : totals)
		std::printf("%12.3f ms  %-12s %s (%llu)\n", static_cast<double>(ns) / 1e6, key.second.c_str(),
			    std::string(reader.process_name(key.first).value_or("?")).c_str(),
			    static_cast<unsigned long long>(key.first));
	return 0;
} catch (const std::exception &error) {
	std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
	return 1;
}
