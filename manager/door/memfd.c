/* SPDX-License-Identifier: MIT */
#include "manager/door/memfd.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif

int fx_memfd_create(const char *name, uint64_t size)
{
	unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
	int fd = memfd_create(name, flags | MFD_NOEXEC_SEAL), r;

	if (fd < 0 && errno == EINVAL) /* before Linux 6.3 */
		fd = memfd_create(name, flags);
	if (fd < 0)
		return -errno;
	if (ftruncate(fd, (off_t)size) < 0) {
		r = -errno;
		close(fd);
		return r;
	}
	return fd;
}

int fx_memfd_map_and_seal(int fd, uint64_t size, enum fx_memfd_writer writer, void **ret)
{
	int prot = writer == FX_MEMFD_OURS ? PROT_READ | PROT_WRITE : PROT_READ;
	int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
	void *at = mmap(NULL, size, prot, MAP_SHARED, fd, 0);
	int r;

	if (at == MAP_FAILED)
		return -errno;
	/* After our own mapping: it stays writable, new ones cannot be. */
	if (writer == FX_MEMFD_OURS)
		seals |= F_SEAL_FUTURE_WRITE;
	if (fcntl(fd, F_ADD_SEALS, seals) < 0) {
		r = -errno;
		munmap(at, size);
		return r;
	}
	*ret = at;
	return 0;
}
