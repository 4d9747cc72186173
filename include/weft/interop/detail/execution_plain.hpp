// SPDX-License-Identifier: Apache-2.0
// Senders and receivers without a library: member functions, as in the C++26 draft.
#pragma once

#include <stop_token>
#include <type_traits>
#include <utility>

#include <weft/interop/detail/stop_tokens.hpp>

namespace weft {

/// The query for a receiver's stop token: `receiver.get_env().query(weft::get_stop_token)`.
struct get_stop_token_t {};
inline constexpr get_stop_token_t get_stop_token{};

/// The query for the scheduler on which a sender completes.
template <class Completion>
struct get_completion_scheduler_t {};

namespace detail::exec {

struct sender_tag {};
struct receiver_tag {};
struct operation_state_tag {};
struct scheduler_tag {};

struct set_value_t {};
struct set_error_t {};
struct set_stopped_t {};
template <class... Signatures>
struct completion_signatures {};

template <class Receiver, class... Values>
void set_value(Receiver&& r, Values&&... values) noexcept {
  std::forward<Receiver>(r).set_value(std::forward<Values>(values)...);
}
template <class Receiver, class Error>
void set_error(Receiver&& r, Error&& e) noexcept {
  std::forward<Receiver>(r).set_error(std::forward<Error>(e));
}
template <class Receiver>
void set_stopped(Receiver&& r) noexcept {
  std::forward<Receiver>(r).set_stopped();
}
template <class Sender, class Receiver>
auto connect(Sender&& s, Receiver&& r) {
  return std::forward<Sender>(s).connect(std::forward<Receiver>(r));
}
template <class Operation>
void start(Operation& op) noexcept {
  op.start();
}

template <class Receiver>
auto stop_token_of(const Receiver& r) noexcept {
  if constexpr (requires { r.get_env().query(get_stop_token); })
    return r.get_env().query(get_stop_token);
  else
    return chain_stop_token();
}

/// The environment of the receiver of a chain.
class chain_env {
 public:
  explicit chain_env(chain_stop_token stop) noexcept : stop_(std::move(stop)) {}
  chain_stop_token query(get_stop_token_t) const noexcept { return stop_; }

 private:
  chain_stop_token stop_;
};

template <class... V>
struct values {};

template <class Found, class... Signatures>
struct collect_values;
template <class Found>
struct collect_values<Found> {
  using type = Found;
};
template <class... Found, class... V, class... Rest>
struct collect_values<values<Found...>, set_value_t(V...), Rest...>
    : collect_values<values<Found..., values<V...>>, Rest...> {};
template <class Found, class Other, class... Rest>
struct collect_values<Found, Other, Rest...> : collect_values<Found, Rest...> {};

template <class Signatures>
struct values_in;
template <class... Signatures>
struct values_in<completion_signatures<Signatures...>> : collect_values<values<>, Signatures...> {};

template <class Sender, class Env>
using values_of = typename values_in<typename Sender::completion_signatures>::type;

}  // namespace detail::exec
}  // namespace weft
