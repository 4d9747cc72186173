// SPDX-License-Identifier: Apache-2.0
#include "runtime/progress/engine.hpp"

#include <fmt/format.h>

#include <utility>

#include "runtime/progress/two_threads.hpp"

namespace weft::runtime {

engine::~engine() {
  stop();
  core_.await_ringing();
  files_.close();
  close_waits();
}

void engine::stop() noexcept {
  progress_thread_.stop();
  const holder hold(*this);
  if (two_threads* const second = core_.second_thread()) second->serve(nullptr);
}

second_queue_reader* engine::completion_thread() noexcept { return core_.second_thread(); }

void engine::add(pollable& s) {
  core_.caller_reactor->add(s);
  if (core_.has_progress_thread) core_.progress_reactor->add(s);
  core_.pollables.add(s);
}

std::uint64_t engine::watch_once(unique_fd fd, std::function<void()> fire) {
  return watch_once(std::make_shared<const unique_fd>(std::move(fd)), std::move(fire));
}

std::uint64_t engine::watch_once(std::shared_ptr<const unique_fd> fd, std::function<void()> fire) {
  return watches_.add(std::move(fd), std::move(fire));
}

void engine::unwatch(std::uint64_t watch) noexcept { watches_.remove(watch); }

bool engine::leave_computing() noexcept {
  core_.phase.begin();
  core_.leave();
  return false;
}

bool engine::is_in_use() noexcept {
  return core_.leads_here() || progress_thread_.is_this_thread() ||
         (core_.second_thread() && core_.second_thread()->is_this_thread()) ||
         (leadership_.is_taken() && !core_.caller.by_calls);
}

void engine::start(detail::timer& t) noexcept {
  const holder hold(*this);
  start_held(t);
}

void engine::start_held(detail::timer& t) noexcept {
  if (!core_.timers.add(t)) return;
  if (core_.caller.is_asleep()) {
    if (t.when < core_.caller.deadline) core_.wake_caller();
  } else if (t.on && core_.has_progress_thread && !core_.caller.polls &&
             t.when < core_.phase.progress_deadline()) {
    core_.wake_progress_thread();
  }
}

void engine::cancel(detail::timer& t) noexcept {
  const holder hold(*this);
  core_.timers.cancel(t);
}

errc engine::start(detail::fd_wait& w) noexcept {
  const errc outcome = core_.waits.start(w);
  if (outcome == errc::ok) core_.ring_for_waits();
  return outcome;
}

void engine::cancel(detail::fd_wait& w) noexcept {
  if (core_.waits.cancel(w)) core_.ring_for_waits();
}

bool engine::start(flag_operation& op) noexcept {
  const holder hold(*this);
  if (!core_.flags.add(op)) return true;
  pending(op);
  return false;
}

void engine::cancel(flag_operation& op) noexcept {
  const holder hold(*this);
  core_.flags.cancel(op);
}

void engine::close_waits() noexcept {
  {
    const holder hold(*this);
    core_.waits.close(core_.set_of_waits());
  }
  core_.waits.end_waits();
}

void engine::run_until_done(const std::atomic<bool>& done) noexcept {
  exit_gate::expect_exit();
  go_on();
  const leadership::outcome got = leadership_.take(done);
  if (got == leadership::outcome::done) return;
  if (got == leadership::outcome::leads_already) return caller_loop_.run_until(done);
  if (embedded_.is_on()) embedded_.give_way();
  caller_loop_.run_until(done);
  leadership_.resign();
  if (embedded_.is_on()) embedded_.come_back();
}

unsigned engine::poll_once() noexcept {
  go_on();
  return caller_loop_.poll_once();
}

std::string engine::describe() const {
  const char* modes[] = {"dedicated progress thread", "polling", "interrupt",
                         "two progress threads"};
  std::string text = fmt::format("{}; sleeps in {}", modes[static_cast<int>(core_.mode)],
                                 core_.caller_reactor->set().name());
  if (!core_.wait_set_reason.empty()) text += fmt::format(" ({})", core_.wait_set_reason);
  text += files_.describe();
  text += fmt::format("; now {}", name_of(core_.state()));
  if (!core_.bell.fences_senders()) text += "; membarrier refused, so senders fence for themselves";
  return text;
}

}  // namespace weft::runtime
