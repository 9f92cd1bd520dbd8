/* SPDX-License-Identifier: MIT */
/*
 * What the macros of <fxtrace/event.h> call in C++, where the types of values are deduced. Include that header, not this one.
 */
#ifndef FXTRACE_EVENT_DEDUCED_HPP
#define FXTRACE_EVENT_DEDUCED_HPP

#if __cplusplus < 201703L
#error "<fxtrace/event.h> takes C++17 or later"
#endif

#include <new>
#include <type_traits>
#include <utility>

#include <fxtrace/event_base.h>

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC system_header
#elif defined(__clang__)
#pragma clang system_header
#endif

namespace fxtrace
{

template <typename T, typename = void> struct is_text : std::false_type {
};
template <typename T>
struct is_text<
    T, decltype(static_cast<void>(static_cast<const char *>(std::declval<const T &>().data())),
		static_cast<void>(static_cast<size_t>(std::declval<const T &>().size())))>
    : std::true_type {
};

template <typename T> FXTRACE_UNTRACED inline fxtrace_value value_of(const T &v)
{
	if constexpr (std::is_same_v<T, fxtrace_value>)
		return v;
	else if constexpr (std::is_same_v<T, bool>)
		return TA_BOOL(v);
	else if constexpr (std::is_same_v<T, std::nullptr_t>)
		return TA_NULL();
	else if constexpr (std::is_enum_v<T>)
		return value_of(static_cast<std::underlying_type_t<T>>(v));
	else if constexpr (std::is_floating_point_v<T>)
		return TA_DOUBLE(static_cast<double>(v));
	else if constexpr (std::is_integral_v<T> && std::is_signed_v<T>)
		return sizeof(T) <= 4 ? TA_INT32(v) : TA_INT64(v);
	else if constexpr (std::is_integral_v<T>)
		return sizeof(T) <= 4 ? TA_UINT32(v) : TA_UINT64(v);
	else if constexpr (std::is_convertible_v<T, const char *>)
		return TA_STRING(static_cast<const char *>(v));
	else if constexpr (std::is_pointer_v<T>)
		return TA_POINTER(v);
	else {
		static_assert(is_text<T>::value,
			      "a value is a number, a pointer, an enum or a text");
		return TA_CHAR_ARRAY(v.data(), v.size());
	}
}

FXTRACE_UNTRACED inline void fill_all(fxtrace_arg *)
{
}
template <typename V, typename... Rest>
FXTRACE_UNTRACED inline void fill_all(fxtrace_arg *arg, const char *key, const V &value,
				      const Rest &...rest)
{
	fxtrace_fill(arg, key, value_of<std::decay_t<const V>>(value));
	fill_all(arg + 1, rest...);
}

#ifndef NTRACE
template <typename Number, typename... Args>
FXTRACE_UNTRACED inline void write(const fxtrace_events *events, fxtrace_place *place,
				   unsigned type, const char *category, const char *name,
				   Number number, const Args &...args)
{
	static_assert(sizeof...(args) % 2 == 0, "arguments come as key, value");
	static_assert(sizeof...(args) <= 30, "an event has 15 arguments at most");
	fxtrace_arg filled[sizeof...(args) / 2 + 1];

	fill_all(filled, args...);
	events->write(place, type, category, name, static_cast<uint64_t>(number), filled,
		      sizeof...(args) / 2);
}

template <typename Id, typename Number, typename Ticks, typename... Args>
FXTRACE_UNTRACED inline void write_at(const fxtrace_events *events, unsigned type,
				      const char *category, const char *name, const char *vthread,
				      Id id, Number number, Ticks ticks, const Args &...args)
{
	static_assert(sizeof...(args) % 2 == 0, "arguments come as key, value");
	static_assert(sizeof...(args) <= 30, "an event has 15 arguments at most");
	const fxtrace_at at = {vthread, static_cast<uint64_t>(id), static_cast<uint64_t>(ticks)};
	fxtrace_arg filled[sizeof...(args) / 2 + 1];

	fill_all(filled, args...);
	events->write_at(&at, type, category, name, static_cast<uint64_t>(number), filled,
			 sizeof...(args) / 2);
}

template <typename... Args>
FXTRACE_UNTRACED inline void put(const fxtrace_events *events, fxtrace_place *place,
				 unsigned payload, const char *category, const char *name,
				 const void *data, size_t size, const Args &...args)
{
	static_assert(sizeof...(args) % 2 == 0, "arguments come as key, value");
	static_assert(sizeof...(args) <= 30, "an event has 15 arguments at most");
	fxtrace_arg filled[sizeof...(args) / 2 + 1];

	fill_all(filled, args...);
	events->put(place, payload, category, name, data, size, filled, sizeof...(args) / 2);
}

template <typename T>
FXTRACE_UNTRACED inline void log(const fxtrace_events *events, fxtrace_place *place,
				 const char *category, const T &text)
{
	const fxtrace_value v = value_of<std::decay_t<const T>>(text);

	if (v.type == FXTRACE_STRING)
		events->put(place, FXTRACE_LOG, category, "",
			    reinterpret_cast<const void *>(static_cast<uintptr_t>(v.bits)),
			    v.length, nullptr, 0);
}
#endif

/* The arguments of a duration, from its beginning to its end. */
template <typename... Args> struct held {
	static constexpr size_t count = 0;
	FXTRACE_UNTRACED void fill(fxtrace_arg *) const
	{
	}
};
template <typename K, typename V, typename... Rest> struct held<K, V, Rest...> {
	static constexpr size_t count = 1 + held<Rest...>::count;
	const char *key;
	std::decay_t<V> value;
	held<Rest...> rest;
	FXTRACE_UNTRACED void fill(fxtrace_arg *arg) const
	{
		fxtrace_fill(arg, key, value_of<std::decay_t<const V>>(value));
		rest.fill(arg + 1);
	}
};

FXTRACE_UNTRACED inline held<> hold()
{
	return {};
}
template <typename K, typename V, typename... Rest>
FXTRACE_UNTRACED inline held<K, V, Rest...> hold(K &&key, V &&value, Rest &&...rest)
{
	return {key, static_cast<V &&>(value), hold(static_cast<Rest &&>(rest)...)};
}
template <typename... Args> FXTRACE_UNTRACED inline auto hold_all(const char *, Args &&...args)
{
	static_assert(sizeof...(args) % 2 == 0, "arguments come as key, value");
	static_assert(sizeof...(args) <= 30, "an event has 15 arguments at most");
	return hold(static_cast<Args &&>(args)...);
}

#ifndef NTRACE
template <typename Evaluate> class duration
{
	using arguments = decltype(std::declval<Evaluate>()());

	union {
		char none;
		arguments values;
	};
	fxtrace_arg args[arguments::count + 1];
	fxtrace_scope scope;

      public:
	FXTRACE_UNTRACED duration(const fxtrace_events *events, fxtrace_place *place,
				  const char *category, const char *name, Evaluate evaluate)
	    : none(0)
	{
		scope.events = events;
		if (!events)
			return;
		new (&values) arguments(evaluate());
		values.fill(args);
		fxtrace_scope_open(&scope, place, category, name, args, arguments::count);
	}
	duration(const duration &) = delete;
	duration &operator=(const duration &) = delete;
	FXTRACE_UNTRACED ~duration()
	{
		if (!scope.events)
			return;
		scope.events->close(&scope);
		values.~arguments();
	}
};
#endif

} // namespace fxtrace

#endif /* FXTRACE_EVENT_DEDUCED_HPP */
