// SPDX-License-Identifier: Apache-2.0
// The pollables of an engine.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <weft/poll_policy.hpp>
#include <weft/transport/pollable.hpp>

#include "runtime/polling/poll_order.hpp"

namespace weft::runtime {

/// The pollables of a context: polls them in the configured order, and forwards the calls of the
/// engine to all of them. Owned by the engine, owns none of them. Progress lock held.
class pollable_set {
 public:
  /// Sets how passes poll. Before any pollable is added. \throws std::bad_alloc
  void poll_by(poll_policy policy) {
    if (policy == poll_policy::in_order) return;
    order_ = std::make_unique<poll_order>(policy);
    polled_.push_back(order_.get());
  }

  /// \param s outlives the engine's use \throws std::bad_alloc
  void add(pollable& s) {
    all_.push_back(&s);
    if (order_)
      order_->add(s);
    else
      polled_.push_back(&s);
  }

  /// Polls `first` and `last` around all others that were added. \throws std::bad_alloc
  void surround(pollable& first, pollable& last) {
    polled_.insert(polled_.begin(), &first);
    polled_.push_back(&last);
  }

  /// Polls each once. \return how many events were handled
  unsigned poll() noexcept {
    unsigned events = 0;
    in_pass_ = true;
    for (pollable* s : polled_)
      if (s->worth_polling) events += s->poll();
    in_pass_ = false;
    return events;
  }
  /// Whether poll() is under way.
  bool in_pass() const noexcept { return in_pass_; }

  bool any_busy() const noexcept {
    for (const pollable* s : all_)
      if (s->busy) return true;
    return false;
  }
  bool any_has_work() noexcept {
    for (pollable* s : all_)
      if (s->has_work()) return true;
    return false;
  }
  bool any_has_unconsumed() const noexcept {
    for (const pollable* s : all_)
      if (s->has_unconsumed()) return true;
    return false;
  }
  void flush() noexcept {
    for (pollable* s : all_)
      if (s->busy) s->flush();
  }
  void arm() noexcept {
    for (pollable* s : all_) s->arm();
  }
  void wake_peers() noexcept {
    for (pollable* s : all_) s->wake_peer();
  }
  std::uint64_t bells_rung() const noexcept {
    std::uint64_t all = 0;
    for (const pollable* s : all_) all += s->bells_rung();
    return all;
  }

  auto begin() const noexcept { return all_.begin(); }
  auto end() const noexcept { return all_.end(); }

 private:
  std::vector<pollable*> all_;
  std::vector<pollable*> polled_;      // all pollables, or order_ in their place
  std::unique_ptr<poll_order> order_;  // null: the order is that of adding
  bool in_pass_ = false;
};

}  // namespace weft::runtime
