// SPDX-License-Identifier: Apache-2.0
// One-sided access: the target.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include <weft/operations/access.hpp>

#include "proto/connection/frame_writer.hpp"
#include "proto/support/protocol_coroutine.hpp"

namespace weft::proto {

class region_table;

/// Accesses of one peer to the regions of this side. They need neither matching nor credit: the
/// engine does at once what a frame asks for, and answers. So this object keeps only the grants of
/// places that the peer's link may copy from or to by itself. Part of `rma`. Progress lock held
/// only.
class rma_target {
 public:
  rma_target(const protocol_services& s, region_table& regions, frame_writer& w,
             peer_connection& c) noexcept
      : services_(&s), regions_(&regions), connection_(&c), writer_(&w) {}

  bool on_put(const frame_header& h, const frame_extension& x, const std::byte* data) noexcept;
  bool on_get(const frame_header& h, const frame_extension& x) noexcept;
  bool on_update(const frame_header& h, const frame_extension& x) noexcept;
  bool on_released(const frame_extension& x) noexcept;
  /// As frame_sink::place, for `put`.
  mutable_buffer place(const frame_header& h, const frame_extension& x,
                       std::uint32_t already) const noexcept;
  /// Of the regions that wait for a grant of this peer, to end, the first beginning of that; else
  /// time_point::max().
  detail::time_point oldest_end() const noexcept;
  /// The connection has ended: the peer's link no longer copies from or to this side's memory.
  void fail() noexcept;

 private:
  /// A place that the peer's link may copy from or to by itself.
  struct grant {
    remote_address where;
    std::uint64_t key;
    std::uint64_t bytes;
    std::uint64_t number;  ///< control_queue::added, before the frame that tells the peer
  };
  /// A get of the peer whose bytes are being sent.
  struct reading {
    std::uint64_t key;
    std::uint64_t offset;
    std::uint64_t size;
    std::uint64_t sent;
    std::uint16_t id;
  };
  /// The result of `withdraw`. `untold`: the peer cannot know of the grant yet; its frame is made
  /// up.
  enum class withdrawn : std::uint8_t { nothing, well, untold };

  bool admit() noexcept;
  mutable_buffer place_of_put(const frame_header& h, const frame_extension& x,
                              detail::rma_refusal& why) const noexcept;
  bool note_refusal(const frame_header& h, std::uint16_t id, detail::rma_refusal why) noexcept;
  bool goes_on_refused(const frame_header& h, std::uint16_t id) const noexcept;
  bool may_err(detail::rma_refusal why) noexcept;
  void answer(std::uint16_t id, detail::rma_refusal why, std::uint64_t word = 0) noexcept;
  void refuse_grant(std::uint16_t id) noexcept;
  bool grants(std::uint16_t id, std::uint64_t key, std::uint64_t bytes,
              std::optional<remote_address> where) noexcept;
  withdrawn withdraw(std::uint16_t id, std::uint64_t* bytes = nullptr) noexcept;
  transports::post send_got(reading& r) noexcept;
  protocol_coroutine serve(reading r) noexcept;

  const protocol_services* services_;
  region_table* regions_;
  peer_connection* connection_;
  frame_writer* writer_;
  std::unordered_map<std::uint16_t, grant> grants_;  // by the number of the peer's operation
  std::uint32_t wrong_keys_ = 0;
  // Puts that were refused at their beginning; their end is still to come, or they were stopped. At
  // most one for each number.
  std::unordered_set<std::uint16_t> refused_;
};

}  // namespace weft::proto
