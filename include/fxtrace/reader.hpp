/* SPDX-License-Identifier: MIT */
/*
 * <fxtrace/reader.h> and <fxtrace/batch.h> for C++17: what fails is thrown, and what is opened is
 * closed. There is nothing to link but the C library.
 *
 *	fxtrace::reader reader("app.fxt.zst");
 *	for (const fxt_record &record : reader)
 *		if (record.kind == FXT_KIND_EVENT)
 *			std::cout << fxtrace::view(record.event.name) << '\n';
 */
#ifndef FXTRACE_READER_HPP
#define FXTRACE_READER_HPP

#include <cerrno>
#include <cstdint>
#include <exception>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <fxtrace/batch.h>
#include <fxtrace/reader.h>

namespace fxtrace
{

inline std::string_view view(const fxt_string &string)
{
	return string.data ? std::string_view(string.data, string.length) : std::string_view();
}

inline std::string_view view(const fxt_bytes &bytes)
{
	return bytes.data ? std::string_view(static_cast<const char *>(bytes.data), bytes.size)
			  : std::string_view();
}

/* A fault as one line of text, with its offset. */
inline std::string describe(const fxt_fault &fault)
{
	char text[256];

	fxt_fault_format(&fault, text, sizeof(text));
	return std::to_string(fault.offset) + ": " + text;
}

/* In nanoseconds; nothing: the record is of no time. */
inline std::optional<std::uint64_t> time_of(const fxt_record &record)
{
	std::uint64_t ns;

	if (fxt_record_time(&record, &ns))
		return ns;
	return std::nullopt;
}

/* NULL: the record has no argument of that name. */
inline const fxt_arg *find_arg(const fxt_record &record, std::string_view name)
{
	for (std::uint32_t i = 0; i < record.nargs; i++)
		if (view(record.args[i].name) == name)
			return &record.args[i];
	return nullptr;
}

/* -errno, as the C functions return it, thrown. */
[[noreturn]] inline void fail(int error, const std::string &what)
{
	throw std::system_error(-error, std::generic_category(), what);
}

class reader
{
      public:
	using read_function = std::function<ssize_t(void *buffer, std::size_t size)>;
	using fault_function = std::function<void(const fxt_fault &)>;

	explicit reader(const std::string &path)
	{
		opened(fxt_reader_open_path(path.c_str(), &state->handle), path);
	}
	/* Borrowed: it has to stay open, and so have the bytes. */
	explicit reader(int fd)
	{
		opened(fxt_reader_open_fd(fd, &state->handle), "descriptor");
	}
	reader(const void *data, std::size_t size)
	{
		opened(fxt_reader_open_memory(data, size, &state->handle), "memory");
	}
	/* What it throws comes out of next(). */
	explicit reader(read_function function)
	{
		state->read = std::move(function);
		opened(fxt_reader_open_function(read_some, state.get(), &state->handle),
		       "function");
	}

	/* The next record; NULL at the end, and where a growing archive has no more yet: see waits(). */
	const fxt_record *next()
	{
		const fxt_record *record = nullptr;
		int r = fxt_reader_next(state->handle, &record);

		return went(r) ? record : nullptr;
	}

	/* The same for batches. */
	const fxt_batch *next_batch(std::uint64_t kinds = FXT_KINDS_ALL,
				    std::size_t max_rows = 16384)
	{
		const fxt_batch *batch = nullptr;
		int r = fxt_reader_next_batch(state->handle, kinds, max_rows, &batch);

		return went(r) ? batch : nullptr;
	}

	/* Whether the last NULL was not the end. */
	bool waits() const
	{
		return state->waits;
	}

	void set_growing(bool growing)
	{
		fxt_reader_set_growing(state->handle, growing);
	}
	void set_bare(bool bare)
	{
		fxt_reader_set_bare(state->handle, bare);
	}
	void set_memory_limit(std::uint64_t bytes)
	{
		fxt_reader_set_memory_limit(state->handle, bytes);
	}
	/* Must not throw. */
	void on_fault(fault_function function)
	{
		state->fault = std::move(function);
		fxt_reader_set_fault_handler(state->handle, tell_fault, state.get());
	}
	std::uint64_t fault_count() const
	{
		return fxt_reader_fault_count(state->handle);
	}

	std::optional<std::string_view> process_name(std::uint64_t pid) const
	{
		fxt_string name;

		if (fxt_reader_process_name(state->handle, pid, &name))
			return view(name);
		return std::nullopt;
	}
	std::optional<std::string_view> thread_name(std::uint64_t pid, std::uint64_t tid) const
	{
		fxt_string name;

		if (fxt_reader_thread_name(state->handle, pid, tid, &name))
			return view(name);
		return std::nullopt;
	}
	const fxt_mapping *find_mapping(std::uint64_t pid, std::uint64_t address) const
	{
		return fxt_reader_find_mapping(state->handle, pid, address);
	}

	fxt_reader *get() const
	{
		return state->handle;
	}

	/* One pass: a record lives until the next one. */
	class iterator
	{
	      public:
		using iterator_category = std::input_iterator_tag;
		using value_type = fxt_record;
		using difference_type = std::ptrdiff_t;
		using pointer = const fxt_record *;
		using reference = const fxt_record &;

		iterator() = default;
		explicit iterator(reader *of) : owner(of), record(of->next())
		{
		}
		reference operator*() const
		{
			return *record;
		}
		pointer operator->() const
		{
			return record;
		}
		iterator &operator++()
		{
			record = owner->next();
			return *this;
		}
		void operator++(int)
		{
			++*this;
		}
		friend bool operator==(const iterator &a, const iterator &b)
		{
			return a.record == b.record;
		}
		friend bool operator!=(const iterator &a, const iterator &b)
		{
			return a.record != b.record;
		}

	      private:
		reader *owner = nullptr;
		const fxt_record *record = nullptr;
	};
	iterator begin()
	{
		return iterator(this);
	}
	iterator end()
	{
		return iterator();
	}

      private:
	/* Stays where it is when the reader moves. */
	struct shared {
		fxt_reader *handle = nullptr;
		read_function read;
		fault_function fault;
		std::exception_ptr thrown;
		bool waits = false;

		shared() = default;
		shared(const shared &) = delete;
		shared &operator=(const shared &) = delete;
		~shared()
		{
			fxt_reader_close(handle);
		}
	};
	std::unique_ptr<shared> state = std::make_unique<shared>();

	static void opened(int r, const std::string &what)
	{
		if (r < 0)
			fail(r, what);
	}
	bool went(int r)
	{
		state->waits = r == -EAGAIN;
		if (state->thrown)
			std::rethrow_exception(std::exchange(state->thrown, nullptr));
		if (r < 0 && r != -EAGAIN)
			fail(r, "archive");
		return r > 0;
	}
	static ssize_t read_some(void *opaque, void *buffer, std::size_t size)
	{
		shared *s = static_cast<shared *>(opaque);

		try {
			return s->read(buffer, size);
		} catch (...) {
			s->thrown = std::current_exception();
			return -EIO;
		}
	}
	static void tell_fault(void *opaque, const fxt_fault *fault)
	{
		static_cast<shared *>(opaque)->fault(*fault);
	}
};

} // namespace fxtrace

#endif /* FXTRACE_READER_HPP */
