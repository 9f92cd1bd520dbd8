/* SPDX-License-Identifier: MIT */
/*
 * <fxtrace/writer.h> for C++17: what fails is thrown, and the archive is completed at its end.
 *
 *	fxtrace::writer writer("app.fxt");
 *	writer.provider(1, "app");
 *	writer.name_process(100, "app");
 *	fxt_record record{};
 *	...
 *	writer.write(record);
 *	writer.close();
 */
#ifndef FXTRACE_WRITER_HPP
#define FXTRACE_WRITER_HPP

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <fxtrace/reader.hpp>
#include <fxtrace/writer.h>

namespace fxtrace
{

inline fxt_string text(std::string_view chars)
{
	return fxt_text_of(chars.data(), chars.size());
}

class writer
{
      public:
	using write_function = std::function<ssize_t(const void *data, std::size_t size)>;

	explicit writer(const std::string &path)
	{
		check(fxt_writer_open_path(path.c_str(), &state->handle), path);
	}
	explicit writer(int fd) /* borrowed */
	{
		check(fxt_writer_open_fd(fd, &state->handle), "descriptor");
	}
	/* What it throws is an error of the output. */
	explicit writer(write_function function)
	{
		state->write = std::move(function);
		check(fxt_writer_open_function(write_some, state.get(), &state->handle),
		      "function");
	}

	void set_compression(fxt_compression compression, int level = 0)
	{
		check(fxt_writer_set_compression(handle(), compression, level), "compression");
	}
	void provider(std::uint32_t id, const std::string &name,
		      std::uint64_t ticks_per_second = FXT_DEFAULT_TICKS_PER_SECOND)
	{
		check(fxt_writer_provider(handle(), id, name.c_str(), ticks_per_second),
		      "provider");
	}
	void write(const fxt_record &record)
	{
		check(fxt_writer_write(handle(), &record), "record");
	}
	void name_process(std::uint64_t pid, const std::string &name)
	{
		check(fxt_writer_name_process(handle(), pid, name.c_str()), "process");
	}
	void name_thread(std::uint64_t pid, std::uint64_t tid, const std::string &name)
	{
		check(fxt_writer_name_thread(handle(), pid, tid, name.c_str()), "thread");
	}
	void flush()
	{
		check(fxt_writer_flush(handle()), "archive");
	}
	/* Without it the archive is completed all the same, and errors go unheard. */
	void close()
	{
		check(fxt_writer_close(std::exchange(state->handle, nullptr)), "archive");
	}

	fxt_writer *get() const
	{
		return state->handle;
	}

      private:
	struct shared {
		fxt_writer *handle = nullptr;
		write_function write;

		shared() = default;
		shared(const shared &) = delete;
		shared &operator=(const shared &) = delete;
		~shared()
		{
			fxt_writer_close(handle);
		}
	};
	std::unique_ptr<shared> state = std::make_unique<shared>();

	fxt_writer *handle() const
	{
		if (!state->handle)
			fail(-EBADF, "closed");
		return state->handle;
	}
	static void check(int r, const std::string &what)
	{
		if (r < 0)
			fail(r, what);
	}
	static ssize_t write_some(void *opaque, const void *data, std::size_t size)
	{
		try {
			return static_cast<shared *>(opaque)->write(data, size);
		} catch (...) {
			return -EIO;
		}
	}
};

} // namespace fxtrace

#endif /* FXTRACE_WRITER_HPP */
