/* SPDX-License-Identifier: MIT */
#include "compiler-plugin/listing.h"

#include <fcntl.h>
#include <unistd.h>

static int list_fd = -1;

bool fx_list_open(const char *path)
{
	list_fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	return list_fd >= 0;
}

void fx_list_add(const std::string &name, const std::string &file, unsigned line)
{
	std::string text = name + "\t" + file + ":" + std::to_string(line) + "\n";

	/* One call, so that compilers that run at once do not mix their lines. */
	if (list_fd >= 0 && write(list_fd, text.data(), text.size()) < 0)
		list_fd = -1;
}
