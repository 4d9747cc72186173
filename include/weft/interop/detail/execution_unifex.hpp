// SPDX-License-Identifier: Apache-2.0
// Senders and receivers of libunifex: set_stopped is called set_done, queries are functions found
// by tag_invoke, and a sender lists its types in templates.
#pragma once

#include <unifex/get_stop_token.hpp>
#include <unifex/receiver_concepts.hpp>
#include <unifex/scheduler_concepts.hpp>
#include <unifex/sender_concepts.hpp>

#include <utility>

#include <weft/interop/detail/stop_tokens.hpp>

namespace weft {

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

using unifex::connect;
using unifex::set_error;
using unifex::start;

template <class Receiver, class... Values>
void set_value(Receiver&& r, Values&&... values) noexcept {
  if constexpr (noexcept(unifex::set_value(std::forward<Receiver>(r),
                                           std::forward<Values>(values)...))) {
    unifex::set_value(std::forward<Receiver>(r), std::forward<Values>(values)...);
  } else {
    // A receiver whose set_value throws gets the exception as its error.
    try {
      unifex::set_value(std::move(r), std::forward<Values>(values)...);
    } catch (...) {
      unifex::set_error(std::move(r), std::current_exception());  // cppcheck-suppress accessMoved
    }
  }
}
template <class Receiver>
void set_stopped(Receiver&& r) noexcept {
  unifex::set_done(std::forward<Receiver>(r));
}

template <class Receiver>
auto stop_token_of(const Receiver& r) noexcept {
  return unifex::get_stop_token(r);
}

/// Found through the receiver of a chain, sender_receiver, which answers for it.
class chain_env {
 public:
  explicit chain_env(chain_stop_token stop) noexcept : stop_(std::move(stop)) {}
  const chain_stop_token& stop_token() const noexcept { return stop_; }

 private:
  chain_stop_token stop_;
};

template <class... V>
struct values {};

template <class Sender, class Env>
using values_of = unifex::sender_value_types_t<Sender, values, values>;

}  // namespace detail::exec
}  // namespace weft
