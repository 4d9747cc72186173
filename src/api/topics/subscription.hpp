// SPDX-License-Identifier: Apache-2.0
// A subscription: the values that have come from one or several publishers.
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <weft/coro/event.hpp>
#include <weft/detail/topic_ops.hpp>

#include "api/topics/topic_wire.hpp"
#include "api/topics/waiters.hpp"

namespace weft::detail {

class core;
class topic_node;

/// One publisher of a subscription. Owned by its tasks, and by values that were not taken. Guarded
/// by the subscription's mutex.
struct subscribed {
  subscribed(endpoint from, std::uint32_t theirs, std::uint32_t mine) noexcept
      : publisher(std::move(from)), its_number(theirs), number(mine) {}

  const endpoint publisher;
  const std::uint32_t its_number;  ///< subscribe_request::publisher
  const std::uint32_t number;
  event news;              ///< for the task that sends words
  std::uint64_t last = 0;  ///< sequence number
  std::uint64_t received = 0;
  std::uint64_t taken = 0;
  std::uint64_t known = 0;  ///< what the publisher knows of `taken`
  bool ended = false;       ///< its last message has come
  std::string refusal;
};
using subscribed_ptr = std::shared_ptr<subscribed>;

/// Shared by the subscriber's handle and the tasks of its publishers. Any thread.
class subscription {
 public:
  /// \param request what publishers are asked for, but its number
  subscription(core& of, subscribe_request asks, const subscription_options& how, bool finds_more)
      : home(of), request(std::move(asks)), limit(how.limit), finds_more_(finds_more) {}

  core& home;  ///< lives longer
  const subscribe_request request;
  const at_most limit;

  // --- the subscriber ---------------------------------------------------------------------------

  /// The oldest value, if one has come. None, and no `wait`: no more will come.
  /// \throws weft::error  why no more will come
  std::optional<arrival> take(std::shared_ptr<event>* wait);
  /// For people: why no value has come yet.
  std::string why_none() const;
  void close() noexcept;
  bool is_closed() const noexcept;
  subscription_counts counts() const noexcept;
  /// Set by close. For what finds publishers.
  event closing;

  // --- its publishers ---------------------------------------------------------------------------

  void add(const subscribed_ptr& from);
  /// After `fail` it is dropped.
  /// \throws weft::error (protocol_error) for what no correct publisher sends; (truncated)
  void put(const subscribed_ptr& from, lent<std::byte> value);
  error too_long() const;  ///< of a value
  /// It ends, behind what has come, and its publishers hear that it wants no more.
  void fail(const error& why) noexcept;
  /// The next word for the publisher; 0: `news` tells when there is one.
  std::uint64_t word_for(subscribed& to) noexcept;
  /// \param failure null: it has ended well
  void ended(const subscribed_ptr& from, const error* failure) noexcept;
  /// No further publisher will be found. \param why null: there was none to be found
  void found_all(const error* why) noexcept;

 private:
  void end_by(const error& why) noexcept;

  struct waiting {
    arrival value;
    subscribed_ptr from;
  };

  mutable std::mutex mutex_;
  std::deque<waiting> arrived_;
  std::vector<subscribed_ptr> publishers_;
  waiters readers_;
  std::uint64_t received_ = 0, missed_ = 0;
  std::optional<error> failure_;  // ends it, behind what has come
  std::optional<error> loss_;     // the same, once no publisher is left
  bool finds_more_;
  bool closed_ = false;
};

/// Gets the values of one publisher until it ends, is lost, or the subscription is closed.
task<void> follow_publisher(subscription_handle s, subscribed_ptr from);

/// Gets the values of those ranks of the job that publish the topic, as they come.
task<void> follow_directory(topic_node& node, subscription_handle s);

}  // namespace weft::detail
