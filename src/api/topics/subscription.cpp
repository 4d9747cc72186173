// SPDX-License-Identifier: Apache-2.0
#include "api/topics/subscription.hpp"

#include <fmt/format.h>

#include <utility>

namespace weft::detail {

std::optional<arrival> subscription::take(std::shared_ptr<event>* wait) {
  const std::lock_guard lock(mutex_);
  if (!arrived_.empty()) {
    waiting next = std::move(arrived_.front());
    arrived_.pop_front();
    ++received_;
    missed_ += next.value.missed;
    subscribed& from = *next.from;
    // The publisher learns it when half of what may be on the way is free again.
    if (++from.taken - from.known >= (topic_window(request.depth) + 1) / 2) from.news.set();
    return std::move(next.value);
  }
  if (failure_) throw error(*failure_);
  if (closed_) return std::nullopt;
  if (publishers_.empty() && !finds_more_) {
    if (loss_) throw error(*loss_);
    return std::nullopt;
  }
  if (wait) *wait = readers_.add();
  return std::nullopt;
}

std::string subscription::why_none() const {
  const std::lock_guard lock(mutex_);
  if (publishers_.empty())
    return fmt::format("topic {}: no process of the job publishes it yet", request.topic);
  if (received_ != 0) return fmt::format("topic {}: no further value has come", request.topic);
  return fmt::format(
      "topic {}: no value has come from {} process{}; `weft-info topics ADDRESS` lists what a "
      "program publishes",
      request.topic, publishers_.size(), publishers_.size() == 1 ? "" : "es");
}

void subscription::close() noexcept {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  arrived_.clear();
  closing.set();
  readers_.wake();
  for (const auto& each : publishers_) each->news.set();
}

bool subscription::is_closed() const noexcept {
  const std::lock_guard lock(mutex_);
  return closed_;
}

subscription_counts subscription::counts() const noexcept {
  const std::lock_guard lock(mutex_);
  return {received_, missed_, static_cast<std::uint32_t>(publishers_.size())};
}

void subscription::add(const subscribed_ptr& from) {
  const std::lock_guard lock(mutex_);
  publishers_.push_back(from);
}

void subscription::put(const subscribed_ptr& from, lent<std::byte> value) {
  const std::uint64_t number = value.about().immediate;
  const std::lock_guard lock(mutex_);
  if (failure_) return;
  if (value.size() > limit.bytes) throw too_long();
  if (number <= from->last)
    throw error(errc::protocol_error, "a publisher has numbered its values out of order");
  if (from->received - from->taken >= topic_window(request.depth))
    throw error(errc::protocol_error, "a publisher has sent more values than it was allowed");
  const std::uint64_t missed = from->last == 0 ? 0 : number - from->last - 1;
  from->last = number;
  ++from->received;
  if (closed_) return;
  arrived_.push_back({{std::move(value), missed}, from});
  readers_.wake();
}

std::uint64_t subscription::word_for(subscribed& to) noexcept {
  const std::lock_guard lock(mutex_);
  to.news.reset();
  if (closed_ || to.ended || failure_) return wants_no_more;
  if (to.taken - to.known < (topic_window(request.depth) + 1) / 2) return 0;
  return to.known = to.taken;
}

error subscription::too_long() const {
  return {errc::truncated,
          fmt::format("a value of the topic {} is longer than the subscription accepts, {} bytes; "
                      "pass a larger subscription_options::limit",
                      request.topic, limit.bytes)};
}

void subscription::fail(const error& why) noexcept {
  const std::lock_guard lock(mutex_);
  end_by(why);
}

/// All publishers are to hear it.
void subscription::end_by(const error& why) noexcept {
  if (failure_) return;
  failure_ = why;
  for (const auto& each : publishers_) each->news.set();
  readers_.wake();
}

/// A loss of one publisher leaves the others; anything else ends the subscription.
void subscription::ended(const subscribed_ptr& from, const error* failure) noexcept {
  const std::lock_guard lock(mutex_);
  std::erase(publishers_, from);
  if (failure && is_loss(failure->kind()))
    loss_ = *failure;
  else if (failure)
    end_by(*failure);
  readers_.wake();
}

void subscription::found_all(const error* why) noexcept {
  const std::lock_guard lock(mutex_);
  finds_more_ = false;
  if (why) loss_ = *why;
  readers_.wake();
}

}  // namespace weft::detail
