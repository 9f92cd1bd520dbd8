/* SPDX-License-Identifier: MIT */
/* Streams: which calls of stdio are worth a record. */
#include "preload/call/call.h"
#include "preload/host/real.h"
#include "preload/call/file-locks.h"
#include "preload/call/stdio.h"
#include "preload/call/streams.h"

/* The descriptor below a stream, -1 if there is none. */
static int fx_note_fd(const FILE *f)
{
	fx_streams_see();
	return f ? f->_fileno : -1;
}

static bool every_call(void)
{
	/* relaxed: only says whether it is worth to look closer */
	return fx_load_relaxed(&fx_control()->state) & FX_CAT_STDIO_ALL;
}

/* Calls for one character are too many to time them: the buffer is asked before. */
fx_hot bool fx_stdio_holds(const FILE *f)
{
	return f && f->_IO_read_ptr < f->_IO_read_end && !every_call();
}

/* In a stream that is flushed line by line the end of the writable part tells nothing. */
fx_hot bool fx_stdio_takes(const FILE *f, int c)
{
	const char *end;

	if (!f)
		return false;
	end = c == '\n' || !(f->_flags & 0x200) ? f->_IO_write_end : f->_IO_buf_end;
	return f->_IO_write_ptr < end && !every_call();
}

/* A lock that is free is taken without a record. */
static bool fx_pass_flockfile(FILE *f)
{
	if (fx_category_on(FX_CAT_STREAM)) {
		if (FX_REAL(ftrylockfile)(f) != 0)
			return false;
	} else {
		FX_REAL(flockfile)(f);
	}
	return true;
}

/* --- Descriptors that come and go with streams ----------------------------------------------------- */

static FILE *opened(FILE *f)
{
	if (f)
		fx_fd_forget(f->_fileno);
	return f;
}

/* A call that closes a stream, and before that writes what it still holds: what is known of the descriptor is kept so long. */
struct stream_close {
	struct fx_file_lock lock;
	int fd;
	uint32_t age;
};

static struct stream_close stream_close_begin(const FILE *f)
{
	struct stream_close ret = {.fd = f ? f->_fileno : -1};

	ret.age = fx_fd_age(ret.fd);
	if (ret.fd >= 0 && fx_close_may_free())
		ret.lock = fx_close_begin(ret.fd);
	return ret;
}

static void stream_close_end(const struct stream_close *of)
{
	fx_fd_forget_closed(of->fd, of->age);
	fx_file_lock_end(&of->lock, false);
}

static FILE *fx_call_fopen(const char *path, const char *mode)
{
	return opened(FX_REAL(fopen)(path, mode));
}

static FILE *fx_call_fopen64(const char *path, const char *mode)
{
	return opened(FX_REAL(fopen64)(path, mode));
}

static FILE *fx_call_freopen(const char *path, const char *mode, FILE *f)
{
	struct stream_close of = stream_close_begin(f);
	FILE *ret = FX_REAL(freopen)(path, mode, f);

	stream_close_end(&of);
	return opened(ret);
}

static FILE *fx_call_freopen64(const char *path, const char *mode, FILE *f)
{
	struct stream_close of = stream_close_begin(f);
	FILE *ret = FX_REAL(freopen64)(path, mode, f);

	stream_close_end(&of);
	return opened(ret);
}

static FILE *fx_call_tmpfile(void)
{
	return opened(FX_REAL(tmpfile)());
}

static FILE *fx_call_tmpfile64(void)
{
	return opened(FX_REAL(tmpfile64)());
}

static FILE *fx_call_popen(const char *command, const char *mode)
{
	fx_files_spread();
	return opened(FX_REAL(popen)(command, mode));
}

static int fx_call_pclose(FILE *f)
{
	struct stream_close of = stream_close_begin(f);
	int ret = FX_REAL(pclose)(f);

	stream_close_end(&of);
	return ret;
}

static int fx_call_fclose(FILE *f)
{
	struct stream_close of = stream_close_begin(f);
	int ret = FX_REAL(fclose)(f);

	stream_close_end(&of);
	return ret;
}

#include "preload/unit-stdio.inc"
