// SPDX-License-Identifier: Apache-2.0
// when_all, when_any: await several awaitables concurrently.
#pragma once

#include <atomic>
#include <cstddef>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <weft/coro/scope.hpp>

namespace weft {

/// The position of an awaitable in a vector, and its value; std::monostate for void.
template <class T>
struct when_any_result {
  // A constructor and not an aggregate: see result_awaitable.
  template <class... From>
  explicit when_any_result(std::size_t position, From&&... from)
      : index(position), value(std::forward<From>(from)...) {}

  std::size_t index;
  T value;
};

namespace detail {

/// The value of X in a tuple or a variant: monostate for void.
template <class X>
using slot_value_t = std::conditional_t<std::is_void_v<awaited_t<X>>, std::monostate, awaited_t<X>>;

/// Stores the value of one awaitable in its slot.
template <class Value>
struct keep_value {
  std::optional<Value>* where;
  template <class... From>
  void operator()(From&&... from) const {
    where->emplace(std::forward<From>(from)...);
  }
};

/// The shared state of when_any: the value of the first operation that ends well, with its
/// position.
template <class Value>
struct first_value {
  explicit first_value(scope& s) noexcept : all(s) {}
  scope& all;
  std::atomic<bool> taken{false};
  std::optional<Value> value;
};

/// \tparam Position std::in_place_index_t, or a number
template <class Value, class Position>
struct keep_first {
  first_value<Value>* first;
  [[no_unique_address]] Position at;
  template <class... From>
  void operator()(From&&... from) const {
    if (first->taken.exchange(true, std::memory_order_acq_rel)) return;
    first->value.emplace(at, std::forward<From>(from)...);
    first->all.request_stop();
  }
};

/// What when_all yields for a vector of X.
template <class X>
using values_of =
    std::conditional_t<std::is_void_v<awaited_t<X>>, void, std::vector<slot_value_t<X>>>;

// Plain functions start the packs: GCC 12 has trouble with pack expansions with lambdas in
// coroutines.

template <class Slots, std::size_t... I, class... X>
void start_all(scope& s, Slots& slots, std::index_sequence<I...>, X&... xs) {
  (s.start(std::move(xs), keep_value<slot_value_t<X>>{&std::get<I>(slots)}), ...);
}

template <class Variant, std::size_t... I, class... X>
void start_any(first_value<Variant>& first, std::index_sequence<I...>, X&... xs) {
  (first.all.start(std::move(xs),
                   keep_first<Variant, std::in_place_index_t<I>>{&first, std::in_place_index<I>}),
   ...);
}

}  // namespace detail

/// Awaits all awaitables concurrently; starts them in the order given.
/// \param xs requests, tasks or other awaitables; taken over
/// \return their values in that order, std::monostate for each void
/// \throws the first failure, after the others were asked to stop and all have ended
template <detail::awaitable... X>
task<std::tuple<detail::slot_value_t<X>...>> when_all(X... xs) {
  task_environment& here = co_await current_environment();
  std::tuple<std::optional<detail::slot_value_t<X>>...> slots;
  scope all(here);
  detail::start_all(all, slots, std::index_sequence_for<X...>{}, xs...);
  co_await all.join();
  co_return std::apply(
      [](auto&... slot) { return std::tuple<detail::slot_value_t<X>...>(std::move(*slot)...); },
      slots);
}

/// The same for as many as there are at run time.
/// \param xs taken over; may be empty
/// \return a vector of the values in that order; nothing if X yields void
template <detail::awaitable X>
task<detail::values_of<X>> when_all(std::vector<X> xs) {
  using value = detail::slot_value_t<X>;
  task_environment& here = co_await current_environment();
  std::vector<std::optional<value>> slots(xs.size());
  scope all(here);
  for (std::size_t i = 0; i != xs.size(); ++i)
    all.start(std::move(xs[i]), detail::keep_value<value>{&slots[i]});
  co_await all.join();
  if constexpr (!std::is_void_v<awaited_t<X>>) {
    std::vector<value> values;
    values.reserve(slots.size());
    for (std::optional<value>& slot : slots) values.push_back(std::move(*slot));
    co_return values;
  }
}

/// Awaits the first awaitable that ends well. It asks the others to stop, and ends after all of
/// them, so every buffer is the caller's again. Another one may also end well, a little later; then
/// it has done its work: a second receive has taken its message. If that matters, use a `scope`.
/// \param xs requests, tasks or other awaitables; taken over
/// \return a variant: the position of the first (`index()`) and its value, std::monostate for void
/// \throws the first failure, when none ended well: a failure asks the others to stop
template <detail::awaitable... X>
  requires(sizeof...(X) > 0)
task<std::variant<detail::slot_value_t<X>...>> when_any(X... xs) {
  task_environment& here = co_await current_environment();
  scope all(here);
  detail::first_value<std::variant<detail::slot_value_t<X>...>> first(all);
  detail::start_any(first, std::index_sequence_for<X...>{}, xs...);
  try {
    co_await all.join();
  } catch (...) {
    if (!first.value) throw;
  }
  co_return std::move(*first.value);
}

/// As when_any above, for as many as there are at run time.
/// \return the position of the first in the vector, and its value
/// \throws the first failure, when none ended well; weft::error (invalid_argument) for an empty
///         vector
template <detail::awaitable X>
task<when_any_result<detail::slot_value_t<X>>> when_any(std::vector<X> xs) {
  using value = when_any_result<detail::slot_value_t<X>>;
  if (xs.empty())
    throw error(errc::invalid_argument,
                "when_any of an empty vector would wait for ever; pass at least one awaitable");
  task_environment& here = co_await current_environment();
  scope all(here);
  detail::first_value<value> first(all);
  for (std::size_t i = 0; i != xs.size(); ++i)
    all.start(std::move(xs[i]), detail::keep_first<value, std::size_t>{&first, i});
  try {
    co_await all.join();
  } catch (...) {
    if (!first.value) throw;
  }
  co_return std::move(*first.value);
}

}  // namespace weft
