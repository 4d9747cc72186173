// SPDX-License-Identifier: Apache-2.0
// A descriptor on a send queue, and the operations of weft that it becomes.
#pragma once

#include <cstdint>
#include <list>
#include <optional>
#include <vector>

#include <weft/endpoint.hpp>

#include "bindings/vipl/base/wire.hpp"

namespace weft::vipl {

class send_queue;

/// With the NIC locked. Belongs to its queue, which uses it again.
class work {
 public:
  enum class what : std::uint8_t { send, write, read };
  /// asking: for a descriptor of the peer. moving: puts or gets are in flight. committing: the
  /// message is. unconfirmed: it has left, and the peer is to confirm it. A work commits when all
  /// before it have.
  enum class stage : std::uint8_t {
    queued,
    asking,
    moving,
    moved,
    committing,
    unconfirmed,
    finished
  };

  explicit work(send_queue& of) noexcept : owner(of) {}

  send_queue& owner;
  VIP_DESCRIPTOR* descriptor = nullptr;
  what kind = what::send;
  stage now = stage::queued;
  bool fenced = false;
  bool immediate = false;
  bool placed = false;    ///< a send: its bytes go to the descriptor's buffers, by puts
  bool unplaced = false;  ///< a send: there is no descriptor for it
  std::uint32_t length = 0;
  std::uint32_t label = 0;   ///< of a message: its number on the connection
  std::uint32_t place = 0;   ///< if placed: the number of its descriptor
  std::uint32_t gone = 0;    ///< of a send in pieces: bytes that have left
  std::uint32_t status = 0;  ///< bits of errors
  bool in_pieces() const noexcept {
    return kind == what::send && !placed && !unplaced && length > longest_inline;
  }
  /// Some of its pieces have not left: no later work may commit.
  bool has_more_pieces() const noexcept {
    return now == stage::committing && in_pieces() && gone < length;
  }
  bool takes_descriptor() const noexcept {
    return kind == what::send || (kind == what::write && immediate);
  }

  struct part final : transfer_operation {
    part(work& w, const transfer_request& r) noexcept : transfer_operation(r, &ended), whole(w) {}
    static void ended(operation& op) noexcept;
    work& whole;
  };
  struct sending final : send_operation {
    sending(work& w, const send_request& r) noexcept : send_operation(r, &ended), whole(w) {}
    static void ended(operation& op) noexcept;
    work& whole;
  };

  std::list<part> parts;
  std::size_t parts_left = 0;
  std::optional<sending> sent;
  std::vector<std::byte> message;  ///< unless it left at once

  void clear() noexcept {
    parts.clear();
    sent.reset();
    now = stage::queued;
    placed = unplaced = immediate = fenced = false;
    status = gone = 0;
  }
};

}  // namespace weft::vipl
