// SPDX-License-Identifier: Apache-2.0
// The messages of topics. docs/wire-format.md, "Topics".
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

#include <weft/call.hpp>
#include <weft/topic_info.hpp>

namespace weft::detail {

/// The calls that every process with topics serves.
inline constexpr am subscribe_call{first_reserved_am};
inline constexpr am announce_call{first_reserved_am + 1};
inline constexpr am list_call{first_reserved_am + 2};

/// Of subscribe_call: values for that subscriber, whose process has chosen the number.
struct subscribe_request {
  std::string topic;
  std::string type;
  std::uint32_t fingerprint = 0;
  std::uint32_t number = 0;
  std::uint32_t publisher = 0;  ///< its number; 0: any, also one that comes later
  std::uint8_t policy = 0;
  std::uint8_t of_directory = 0;  ///< 1: the values are directory_entry
  std::uint32_t depth = 0;
  std::uint32_t history = 0;
};

/// Of announce_call, at rank 0: the caller publishes it, until its last message.
struct announce_request {
  std::string topic;
  std::uint32_t number = 0;
};

/// A publisher of a topic, in a job.
struct directory_entry {
  std::uint32_t rank = 0;
  std::uint32_t number = 0;  ///< of its announce_request
};

inline constexpr std::size_t longest_topic_name = 255;
inline constexpr std::size_t longest_topic_request = 1024;
inline constexpr std::uint32_t least_topic_depth = 2;
inline constexpr std::uint32_t most_topic_depth = 65'536;

/// The tags of the messages that follow, with the number of the request: 0xfe, bit 52, and
///   32     0: from the process that was called, 1: from the caller
///   31-0   the number
inline constexpr std::uint64_t topic_tags = std::uint64_t{0xfe} << 56 | std::uint64_t{1} << 52;
constexpr tag tag_to_caller(std::uint32_t number) noexcept { return {topic_tags | number}; }
constexpr tag tag_to_called(std::uint32_t number) noexcept {
  return {topic_tags | std::uint64_t{1} << 32 | number};
}

/// The immediate word of a value is its sequence number, from 1 on. Others end the values: the last
/// message of that side.
inline constexpr std::uint64_t values_end = std::numeric_limits<std::uint64_t>::max();
inline constexpr std::uint64_t values_refused = values_end - 1;  ///< the body is the reason

/// The messages of the caller: how many values were taken, or that it wants no more, its last one.
inline constexpr std::uint64_t wants_no_more = std::numeric_limits<std::uint64_t>::max();

/// Of `depth` values that wait, so many are on their way to the subscriber, or there.
constexpr std::uint32_t topic_window(std::uint32_t depth) noexcept { return depth / 2; }

}  // namespace weft::detail
