// SPDX-License-Identifier: Apache-2.0
#include <weft/run.hpp>

#include <memory>

#include "api/core/core.hpp"

namespace weft {

namespace {

[[noreturn]] void end_program(const runtime::log& reports,
                              const std::exception_ptr& failure) noexcept {
  try {
    std::rethrow_exception(failure);
  } catch (const std::exception& e) {
    reports.error("a spawned task failed, and no on_failure was given: {}", e.what());
  } catch (...) {
    reports.error("a spawned task threw something that is no std::exception");
  }
  std::terminate();
}

/// A spawned task. Frees itself.
class spawned final : detail::detached_task_owner, operation {
 public:
  spawned(detail::core& c, task<void> x, std::function<void(std::exception_ptr)> on_failure)
      : operation(&begin),
        core_(c),
        home_(detail::home_of(c)),
        x_(std::move(x)),
        on_failure_(std::move(on_failure)) {}

  void start() noexcept {
    core_.spawned().began();
    home_.runs.post(*this);
  }

 private:
  static void begin(operation& op) noexcept {
    auto& self = static_cast<spawned&>(op);
    try {
      detail::start_detached(self,
                             task_environment{nullptr, {}, &self.home_.times, &self.home_.drives},
                             std::move(self.x_), [] {});
    } catch (...) {
      self.task_ended(std::current_exception());
    }
  }
  void task_ended(std::exception_ptr failure) noexcept override {
    detail::core& c = core_;
    {
      const std::unique_ptr<spawned> self(this);
      if (failure && !on_failure_) end_program(c.engine().log(), failure);
      if (failure) on_failure_(std::move(failure));
    }
    c.spawned().ended(c.plane().lanes().front()->engine());
  }

  detail::core& core_;
  detail::home home_;
  task<void> x_;
  std::function<void(std::exception_ptr)> on_failure_;
};

}  // namespace

detail::home detail::home_of(core& c) noexcept { return {c.engine(), c.engine(), c.engine()}; }

void detail::refuse_child(const core& c) { c.refuse_child(); }

void spawn(context& ctx, task<void> x, std::function<void(std::exception_ptr)> on_failure) {
  runtime::exit_gate::expect_exit();
  (new spawned(detail::core_of(ctx), std::move(x), std::move(on_failure)))->start();
}

void detail::core::spawn(task<void> x) {
  runtime::exit_gate::expect_exit();
  (new weft::spawned(*this, std::move(x), nullptr))->start();
}

executor& home(context& ctx) noexcept { return detail::core_of(ctx).engine(); }

executor& background(context& ctx) noexcept { return detail::core_of(ctx).engine().background(); }

}  // namespace weft
