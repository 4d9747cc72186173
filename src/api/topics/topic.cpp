// SPDX-License-Identifier: Apache-2.0
// What weft/topic.hpp declares.
#include <fmt/format.h>

#include <utility>

#include <weft/coro/as_result.hpp>
#include <weft/coro/resume_on.hpp>

#include "api/core/core.hpp"
#include "api/topics/messages.hpp"
#include "api/topics/topic_node.hpp"

namespace weft {

const char* to_string(when_full w) noexcept {
  switch (w) {
    case when_full::block:
      return "block";
    case when_full::drop_oldest:
      return "drop_oldest";
    case when_full::drop_newest:
      return "drop_newest";
  }
  return "unknown";
}

task<std::vector<topic_info>> topics_of(endpoint of) {
  co_return co_await of.call<std::vector<topic_info>>(detail::list_call);
}

namespace detail {

namespace {
/// Shorter values are copied: a loan is a frame more, and a page of the pool.
constexpr std::size_t shortest_lent = 4096;
}  // namespace

topic_node& core::topics() {
  refuse_child();
  const std::lock_guard only(topics_made_);
  if (!topics_) topics_ = std::make_shared<topic_node>(*this);
  return *topics_;
}

void core::serve_own_calls() noexcept {
  try {
    topics();
  } catch (const std::exception&) {
    // The call is refused.
  }
}

topic_handle open_topic(context& of, std::string name, const type_name& type, std::uint32_t history,
                        bool may_be_blocked) {
  return core_of(of).topics().open(std::move(name), type, history, may_be_blocked);
}

std::shared_ptr<published> make_published(const topic_handle& of, std::size_t size) {
  auto made = std::make_shared<published>();
  if (size >= shortest_lent) {
    try {
      made->lent = of->is.home.make_loan(size);
      return made;
    } catch (const error& e) {
      if (e.kind() != errc::out_of_memory) throw;
      of->count_copy();
    }
  }
  made->copied = call_bytes(size);
  return made;
}

std::shared_ptr<published> publish_loan(const topic_handle& of, loan_memory filled,
                                        std::size_t elements, bool one) {
  const proto::loan_block* const block = filled.block();
  if (!block || &block->pool->engine() != &of->is.home.engine())
    throw error(errc::invalid_argument,
                "there is no loan to publish, or it is of another context or lane");
  if (one && elements != 1)
    throw error(errc::invalid_argument,
                fmt::format("a value of this topic is one element, and the loan has {}", elements));
  auto made = std::make_shared<published>();
  made->lent = std::move(filled);
  return made;
}

/// A program that publishes in a loop leaves the thread inside run() to the tasks that send.
task<std::uint64_t> publish(topic_handle to, std::shared_ptr<published> value) {
  const task_environment& here = co_await current_environment();
  if (here.stop.stop_requested())
    throw error(errc::stopped, "publish in the topic " + to->is.name + ": stopped on request");
  std::uint64_t number = 0;
  for (;;) {
    std::shared_ptr<event> may_have_changed;
    number = to->push(value, &may_have_changed);
    if (number != 0) break;
    const result<void> woken = co_await as_result(may_have_changed->wait());
    if (!woken)
      throw error(woken.code(), "publish in the topic " + to->is.name +
                                    ": a subscriber with when_full::block takes no more values");
  }
  executor* const at = here.on || !here.home ? nullptr : here.home->home();
  if (at && to->should_yield()) co_await resume_on(*at);
  co_return number;
}

std::uint64_t try_publish(const topic_handle& to, const std::shared_ptr<published>& value) {
  return to->is_closed() ? 0 : to->push(value, nullptr);
}

/// In a child made by fork() it is the parent's.
void close_topic(const topic_handle& of) noexcept {
  if (!of->is.home.engine().is_inherited()) of->is.home.topics().close(*of);
}
task<void> wait_for_subscribers(topic_handle of) { co_await of->all_gone(); }
topic_info info_of(const topic_handle& of) { return of->info(); }

subscription_handle subscribe(context& of, std::vector<endpoint> publishers, std::string name,
                              const type_name& type, const subscription_options& how) {
  return core_of(of).topics().subscribe(publishers, std::move(name), type, how);
}

task<std::optional<arrival>> next_arrival(subscription_handle of) {
  for (;;) {
    std::shared_ptr<event> may_have_come;
    std::optional<arrival> next = of->take(&may_have_come);
    if (next || !may_have_come) co_return next;
    const result<void> woken = co_await as_result(may_have_come->wait());
    if (!woken) throw error(woken.code(), of->why_none());
  }
}

std::optional<arrival> try_next_arrival(const subscription_handle& of) { return of->take(nullptr); }

void close_subscription(const subscription_handle& of) noexcept {
  if (!of->home.engine().is_inherited()) of->close();
}
subscription_counts counts_of(const subscription_handle& of) noexcept { return of->counts(); }

void value_does_not_fit(const arrival& what, std::size_t unit) {
  throw error(errc::protocol_error,
              fmt::format("a value of {} bytes came, and its type has {} bytes, or a number of "
                          "elements of that size",
                          what.bytes.size(), unit));
}

}  // namespace detail
}  // namespace weft
