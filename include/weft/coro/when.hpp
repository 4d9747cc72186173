// SPDX-License-Identifier: Apache-2.0
// when_all, when_any: a fixed few things at once.
#pragma once

#include <atomic>
#include <cstddef>
#include <optional>
#include <tuple>
#include <utility>
#include <variant>

#include <weft/coro/scope.hpp>

namespace weft {
namespace detail {

/// The value of X in a tuple or a variant: monostate for void.
template <class X>
using slot_value_t = std::conditional_t<std::is_void_v<awaited_t<X>>, std::monostate, awaited_t<X>>;

/// Puts what one of them yields into its place.
template <class Value>
struct keep_value {
  std::optional<Value>* where;
  template <class... From>
  void operator()(From&&... from) const {
    where->emplace(std::forward<From>(from)...);
  }
};

/// What when_any's operations race for.
template <class Variant>
struct first_value {
  explicit first_value(scope& s) noexcept : all(s) {}
  scope& all;
  std::atomic<bool> taken{false};
  std::optional<Variant> value;
};

template <class Variant, std::size_t I>
struct keep_first {
  first_value<Variant>* first;
  template <class... From>
  void operator()(From&&... from) const {
    if (first->taken.exchange(true, std::memory_order_acq_rel)) return;
    first->value.emplace(std::in_place_index<I>, std::forward<From>(from)...);
    first->all.request_stop();
  }
};

// Plain functions start the packs: GCC 12 is unsure about pack expansions with lambdas in
// coroutines.

template <class Slots, std::size_t... I, class... X>
void start_all(scope& s, Slots& slots, std::index_sequence<I...>, X&... xs) {
  (s.start(std::move(xs), keep_value<slot_value_t<X>>{&std::get<I>(slots)}), ...);
}

template <class Variant, std::size_t... I, class... X>
void start_any(first_value<Variant>& first, std::index_sequence<I...>, X&... xs) {
  (first.all.start(std::move(xs), keep_first<Variant, I>{&first}), ...);
}

}  // namespace detail

/// Awaits all of them at the same time; they are started in the order given.
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

/// Awaits the first of them that ends well. The others are asked to stop, and all have ended before
/// this does, so every buffer is the caller's again. One that ends well too, a little later, has
/// done its work: a second receive then has taken its message. Where that matters, use a `scope`.
/// \param xs requests, tasks or other awaitables; taken over
/// \return a variant: which one it was (`index()`) and its value, std::monostate for void
/// \throws the first failure, when none of them ended well: a failure asks the others to stop
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

}  // namespace weft
