// SPDX-License-Identifier: Apache-2.0
// What subscribers of topics choose, and what is known of them. `topics_of` asks a process.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <weft/coro/task.hpp>
#include <weft/endpoint.hpp>
#include <weft/message.hpp>

namespace weft {

/// What happens to a value for a subscriber that has no room for it.
enum class when_full : std::uint8_t {
  block,        ///< the publisher waits: the subscriber gets all values
  drop_oldest,  ///< of the values that wait, the oldest one is dropped
  drop_newest   ///< the value is dropped
};
const char* to_string(when_full w) noexcept;  ///< its name

/// How a subscriber gets the values of a topic.
struct subscription_options {
  when_full policy = when_full::drop_oldest;
  /// How many values may wait for `next`, from 2 to 65,536. Up to half of them are on their way, or
  /// have come: the policy chooses among those that are still at the publisher.
  std::uint32_t depth = 16;
  /// Of the values that the publisher keeps, how many come first, at most.
  std::uint32_t history = 65'536;
  /// Of the bytes of a value. A longer one ends the subscription with errc::truncated.
  at_most limit = {};
};

/// What a subscriber has got.
struct subscription_counts {
  std::uint64_t received = 0;    ///< values that `next` has given
  std::uint64_t missed = 0;      ///< values that the policy has dropped, as far as later ones tell
  std::uint32_t publishers = 0;  ///< that it gets values from now
};

/// One subscriber, as the publisher sees it.
struct subscriber_info {
  std::string who;            ///< "rank 3", or "connected peer 0"
  std::uint8_t policy = 0;    ///< a when_full
  std::uint32_t depth = 0;    ///< how many values may wait for it
  std::uint32_t waiting = 0;  ///< values that wait at the publisher
  std::uint64_t sent = 0;     ///< values that have left
  std::uint64_t taken = 0;    ///< of these, those that it has said that it has taken
  std::uint64_t dropped = 0;  ///< values that it does not get
};

/// One topic of a process.
struct topic_info {
  std::string name;
  std::string type;             ///< of its values, as in the error of a call of other types
  std::uint64_t published = 0;  ///< values
  std::uint64_t not_lent = 0;   ///< of these, long ones for which the loan pool had no room
  std::uint32_t history = 0;    ///< how many a new subscriber may get
  std::vector<subscriber_info> subscribers;
  std::vector<peer_id> publishers;  ///< in the directory of a job, at rank 0: ranks that publish it
};

/// The topics of a process: those that it publishes, and at rank 0 of a job also those that any
/// rank publishes. \param of a peer, or this process itself \throws weft::error  as endpoint::call
task<std::vector<topic_info>> topics_of(endpoint of);

}  // namespace weft
