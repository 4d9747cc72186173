// SPDX-License-Identifier: Apache-2.0
// Senders and receivers of NVIDIA's stdexec.
#pragma once

#include <stdexec/execution.hpp>

#include <utility>

#include <weft/interop/detail/stop_tokens.hpp>

namespace weft {

using stdexec::get_completion_scheduler_t;

namespace detail::exec {

using stdexec::completion_signatures;
using stdexec::operation_state_tag;
using stdexec::receiver_tag;
using stdexec::scheduler_tag;
using stdexec::sender_tag;
using stdexec::set_error_t;
using stdexec::set_stopped_t;
using stdexec::set_value_t;

using stdexec::connect;
using stdexec::set_error;
using stdexec::set_stopped;
using stdexec::set_value;
using stdexec::start;

template <class Receiver>
auto stop_token_of(const Receiver& r) noexcept {
  return stdexec::get_stop_token(stdexec::get_env(r));
}

class chain_env {
 public:
  explicit chain_env(chain_stop_token stop) noexcept : stop_(std::move(stop)) {}
  chain_stop_token query(stdexec::get_stop_token_t) const noexcept { return stop_; }

 private:
  chain_stop_token stop_;
};

template <class... V>
struct values {};

template <class Sender, class Env>
using values_of = stdexec::value_types_of_t<Sender, Env, values, values>;

}  // namespace detail::exec
}  // namespace weft
