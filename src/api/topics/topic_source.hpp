// SPDX-License-Identifier: Apache-2.0
// A topic at its publisher: the values that it keeps, and those that wait for each subscriber.
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

using publication = std::shared_ptr<const published>;

/// The values for one subscriber. Owned by the tasks that serve it, and by its topic. Guarded by
/// the topic's mutex, once it belongs to one.
struct feed {
  feed(endpoint to, const subscribe_request& r) noexcept
      : who(std::move(to)),
        number(r.number),
        policy(static_cast<when_full>(r.policy)),
        depth(r.depth),
        history(r.history) {}

  const endpoint who;
  const std::uint32_t number;
  const when_full policy;
  const std::uint32_t depth;
  const std::uint32_t history;
  event news;  ///< for the task that sends

  std::deque<publication> waiting;
  std::uint64_t sent = 0;
  std::uint64_t taken = 0;  ///< by the subscriber, as it says
  std::uint64_t dropped = 0;
  bool leaves = false;  ///< the subscriber wants no more

  bool is_full() const noexcept { return waiting.size() + (sent - taken) >= depth; }
};
using feed_ptr = std::shared_ptr<feed>;

/// Shared by the publisher's handle, the node, and the tasks of its subscribers. Any thread.
class topic_source {
 public:
  /// What does not change.
  struct facts {
    core& home;  ///< lives longer
    std::string name;
    std::string type;
    std::uint32_t fingerprint;
    std::uint32_t number;  ///< in its process
    std::uint32_t history;
    bool may_be_blocked;
  };
  explicit topic_source(facts about) : is(std::move(about)) {}

  const facts is;
  event closing;  ///< set by close

  // --- the publisher ----------------------------------------------------------------------------

  /// \return its number; 0: a subscriber blocks it, and `wait` ends when that may have changed
  /// \throws weft::error (closed), and why there can be no subscriber
  std::uint64_t push(const std::shared_ptr<published>& value, std::shared_ptr<event>* wait);
  /// Whether the tasks of subscribers should run before the next value.
  bool should_yield() const noexcept;
  void count_copy() noexcept;
  void close() noexcept;
  bool is_closed() const noexcept;
  /// After close: ends when no subscriber is left.
  auto all_gone() noexcept { return gone_.wait(); }
  /// No subscriber can find it any more.
  void lost_directory(const error& why);
  topic_info info() const;

  // --- its subscribers --------------------------------------------------------------------------

  /// The values that are kept are the first ones. \return false: it is closed
  bool attach(const feed_ptr& f);
  void detach(const feed_ptr& f) noexcept;
  /// The next value that may leave; none: `f.news` tells when there is one, unless it is `over`.
  publication take(feed& f, bool& over) noexcept;
  /// The subscriber's word. \return false: no correct one says that
  bool hear(feed& f, std::uint64_t word) noexcept;

  // --- the directory ----------------------------------------------------------------------------

  /// A value is not kept any more.
  void forget(const published* value) noexcept;
  bool is_unused() const noexcept;

 private:
  bool blocks() const noexcept;
  void add_to(feed& f, const publication& value);

  mutable std::mutex mutex_;
  std::deque<publication> kept_;
  std::vector<feed_ptr> feeds_;
  waiters blocked_;  // publishers
  std::uint64_t last_ = 0, copies_ = 0;
  std::optional<error> alone_;  // why no subscriber can come
  bool closed_ = false;
  event gone_;
};

/// Serves a subscriber until it has left, is lost, or the topic has ended. \param node outlives it
task<void> serve_subscriber(topic_node& node, endpoint who, subscribe_request r);

}  // namespace weft::detail
