// SPDX-License-Identifier: Apache-2.0
// publisher<T>, subscriber<T>: one to many, by a name. Both come and go at any time.
//
//     publisher<quote> out(ctx, "quotes", {.history = 8});          // in one process
//     co_await out.publish(next);
//
//     subscriber<quote> in(ctx, "quotes", {.policy = when_full::drop_oldest, .depth = 32});
//     while (auto q = co_await in.next())                           // in others
//       show(q->value(), q->missed());
//
// Within a job, subscribers get the values of all ranks that publish the topic, now or later; rank
// 0 has the directory. Between programs without a launcher a subscriber names its publishers: the
// publisher's program listens and accepts, and
//
//     endpoint feed = co_await ctx.connect("any://feeds:4567");
//     subscriber<quote> in(ctx, feed, "quotes");
//
// How values travel: the bytes of a value are written once, whatever the number of subscribers.
// From 4 KiB on they are in the context's loan pool, and each subscriber on this host reads them
// there (<weft/loan.hpp> says what a reader may assume); others get a message. Values of one
// publisher come in their order.
//
// Each subscriber has its own policy for the values for which it has no room (when_full). Only
// those that block ever keep the publisher, and with it the others, waiting.
//
// T is a type that endpoint::send_value can send, with memory of its own. Both sides name the same
// type: otherwise the subscription ends with errc::refused, and the text has both.
//
// Handles are move-only and end before their context. Their members but construction, assignment
// and destruction are for any thread that does not hold the progress lock of an external loop, and
// any number of coroutines. Values move while a thread is inside `run` of the context that was
// named. A topic belongs to a lane, and is seen by the lanes of the same number.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <weft/context.hpp>
#include <weft/topic_sample.hpp>

namespace weft {

struct publisher_options {
  /// How many of the last values a new subscriber gets first. They stay in memory, long ones in the
  /// loan pool.
  std::uint32_t history = 0;
  /// Whether subscribers may make the publisher wait. False: subscriptions with when_full::block
  /// are refused. For subscribers that are not trusted.
  bool may_be_blocked = true;
};

/// The end that publishes. The destructor closes it. \tparam T see above
template <class T>
class publisher {
 public:
  using value_type = T;
  /// The elements of a loan that this topic takes: T, or those of a vector or a string.
  using element_type = typename detail::sample_element<T>::type;

  publisher() = default;  ///< no topic

  /// \param ctx  the context, or lane
  /// \param name of the topic, 1 to 255 bytes; one publisher of each name in a context
  /// \param how  history, and whether subscribers may block
  /// \throws weft::error (invalid_argument); std::bad_alloc
  publisher(context& ctx, std::string name, publisher_options how = {})
      : topic_(detail::open_topic(ctx, std::move(name), detail::name_of_value<T>, how.history,
                                  how.may_be_blocked)) {
    detail::require_sample<T>();
  }
  publisher(publisher&&) noexcept = default;
  publisher& operator=(publisher&& other) noexcept {
    std::swap(topic_, other.topic_);
    return *this;
  }
  ~publisher() { close(); }

  /// Gives a value to all subscribers. When awaited it waits while a subscriber blocks it, and ends
  /// when each has the value in its queue, or has dropped it.
  /// \param value the caller's again when the call returns
  /// \return when awaited, the number of the value, from 1 on
  /// \throws weft::error  invalid_argument: no topic; closed; stopped: it was not published;
  ///         peer_lost or closed: no subscriber is left, and no other one can find it, because the
  ///         directory of the job has ended; std::bad_alloc; what a wire<T> throws
  task<std::uint64_t> publish(const T& value) { return detail::publish(named(), pack(value)); }

  /// The same of a loan that was filled in place (context::make_loan), without a copy.
  /// \param filled of this context; of one element if T is no vector or string
  task<std::uint64_t> publish_loan(loan<element_type> filled)
    requires(detail::kind_of<T> != detail::value_kind::object)
  {
    return detail::publish(named(),
                           detail::published_loan(named(), std::move(filled),
                                                  detail::kind_of<T> == detail::value_kind::bytes));
  }

  /// Publishes, if no subscriber blocks. Never suspends: values leave at the next `co_await`.
  /// \return false: one does, or the topic is closed
  bool try_publish(const T& value) { return detail::try_publish(named(), pack(value)) != 0; }

  /// Subscribers that are there get what waits for them, and then the end. Never blocks.
  void close() noexcept {
    if (topic_) detail::close_topic(topic_);
  }
  /// After `close`: ends when all subscribers have got their values, or have gone. A subscriber
  /// that takes nothing delays it: give it a deadline. \throws weft::error (stopped)
  task<void> closed() { return detail::wait_for_subscribers(named()); }

  /// The subscribers, with their counters.
  topic_info info() const { return detail::info_of(named()); }

 private:
  const detail::topic_handle& named() const {
    if (!topic_) throw error(errc::invalid_argument, "this publisher names no topic");
    return topic_;
  }
  std::shared_ptr<detail::published> pack(const T& value) {
    if constexpr (detail::kind_of<T> == detail::value_kind::object) {
      const std::size_t size = detail::size_of_values(value);
      auto made = detail::make_published(named(), size);
      detail::flat_sink to(made->room());
      detail::put_value(to, value);
      detail::require_full(to.written(), size);
      return made;
    } else {
      const const_buffer bytes = detail::bytes_of_value(value);
      auto made = detail::make_published(named(), bytes.size());
      if (!bytes.empty()) std::memcpy(made->room().data(), bytes.data(), bytes.size());
      return made;
    }
  }

  detail::topic_handle topic_;
};

/// The end that receives. The destructor closes it. \tparam T see above
template <class T>
class subscriber {
 public:
  using value_type = T;

  subscriber() = default;  ///< no topic

  /// To all ranks of the job that publish the topic, now and later.
  /// \param ctx  the context, or lane
  /// \param name of the topic
  /// \param how  policy, depth and history
  /// \throws weft::error (invalid_argument); std::bad_alloc
  subscriber(context& ctx, std::string name, subscription_options how = {})
      : subscriber(ctx, std::vector<endpoint>(), std::move(name), how) {}

  /// To one publisher, or several. If such a process does not publish the topic yet, the
  /// subscription waits for it.
  /// \param ctx, name, how as above
  /// \param publisher of that context, or lane
  subscriber(context& ctx, const endpoint& publisher, std::string name,
             subscription_options how = {})
      : subscriber(ctx, std::vector<endpoint>{publisher}, std::move(name), how) {}
  /// \param ctx, name, how as above
  /// \param publishers as above; none: by name
  subscriber(context& ctx, std::vector<endpoint> publishers, std::string name,
             subscription_options how = {})
      : values_(detail::subscribe(ctx, std::move(publishers), std::move(name),
                                  detail::name_of_value<T>, how)) {
    detail::require_sample<T>();
  }
  subscriber(subscriber&&) noexcept = default;
  subscriber& operator=(subscriber&& other) noexcept {
    std::swap(values_, other.values_);
    return *this;
  }
  ~subscriber() { close(); }

  /// Yields the next value; none when all publishers have closed, or this end was closed. A `next`
  /// that was stopped has taken no value. Under `when_any` a value that came too late is lost.
  ///
  /// A publisher that is lost leaves the others. When none is left, and none can come, `next` ends
  /// with peer_lost, behind the values that have come. In a job others can come as long as rank 0
  /// lives.
  /// \throws weft::error  stopped; peer_lost or closed, see above; refused: another type, or the
  ///         publisher does not wait for subscribers; truncated: beyond the limit; protocol_error:
  ///         the publisher sends what is no T; out_of_memory. All but `stopped` stay
  task<std::optional<sample<T>>> next() {
    std::optional<detail::arrival> came = co_await detail::next_arrival(named());
    if (!came) co_return std::nullopt;
    co_return sample<T>(std::move(*came));
  }
  /// The next value, if one has come. \throws weft::error  as `next`
  std::optional<sample<T>> try_next() {
    std::optional<detail::arrival> came = detail::try_next_arrival(named());
    if (!came) return std::nullopt;
    return sample<T>(std::move(*came));
  }

  /// Takes no more values: those that have come are dropped. Never blocks.
  void close() noexcept {
    if (values_) detail::close_subscription(values_);
  }

  subscription_counts counts() const noexcept {
    return values_ ? detail::counts_of(values_) : subscription_counts{};
  }

 private:
  const detail::subscription_handle& named() const {
    if (!values_) throw error(errc::invalid_argument, "this subscriber names no topic");
    return values_;
  }

  detail::subscription_handle values_;
};

}  // namespace weft
