// SPDX-License-Identifier: Apache-2.0
// An executor of weft as a scheduler.
#pragma once

#include <exception>
#include <type_traits>
#include <utility>

#include <weft/coro/executor.hpp>
#include <weft/interop/detail/sender_types.hpp>

namespace weft::detail {

template <class Receiver>
class schedule_state final : operation {
 public:
  using operation_state_concept = exec::operation_state_tag;

  schedule_state(executor& where, Receiver r)
      : operation(&arrived), where_(where), receiver_(std::move(r)) {}

  void start() & noexcept { where_.post(*this); }

 private:
  static void arrived(operation& op) noexcept {
    auto& self = static_cast<schedule_state&>(op);
    if (exec::stop_token_of(self.receiver_).stop_requested())
      exec::set_stopped(std::move(self.receiver_));
    else
      exec::set_value(std::move(self.receiver_));
  }

  executor& where_;
  Receiver receiver_;
};

class executor_scheduler;

/// The attributes of its senders: they complete on it.
class executor_attributes {
 public:
  explicit executor_attributes(executor& on) noexcept : on_(&on) {}
  template <class Completion>
  executor_scheduler query(get_completion_scheduler_t<Completion>,
                           const auto&... /*environment*/) const noexcept;

 private:
  executor* on_;
};

class schedule_sender {
 public:
  using sender_concept = exec::sender_tag;
  using completion_signatures =
      exec::completion_signatures<exec::set_value_t(), exec::set_stopped_t()>;
  template <template <class...> class Variant, template <class...> class Tuple>
  using value_types = Variant<Tuple<>>;
  template <template <class...> class Variant>
  using error_types = Variant<>;
  static constexpr bool sends_done = true;

  explicit schedule_sender(executor& on) noexcept : on_(&on) {}

  template <class Receiver>
  schedule_state<std::decay_t<Receiver>> connect(Receiver&& r) const {
    return {*on_, std::forward<Receiver>(r)};
  }
  executor_attributes get_env() const noexcept { return executor_attributes(*on_); }

 private:
  executor* on_;
};

class executor_scheduler {
 public:
  using scheduler_concept = exec::scheduler_tag;

  explicit executor_scheduler(executor& on) noexcept : on_(&on) {}
  schedule_sender schedule() const noexcept { return schedule_sender(*on_); }
  bool operator==(const executor_scheduler&) const noexcept = default;

 private:
  executor* on_;
};

template <class Completion>
executor_scheduler executor_attributes::query(get_completion_scheduler_t<Completion>,
                                              const auto&...) const noexcept {
  return executor_scheduler(*on_);
}

}  // namespace weft::detail
