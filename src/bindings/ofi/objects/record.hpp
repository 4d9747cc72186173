// SPDX-License-Identifier: Apache-2.0
// Operations of an endpoint, from their posting until their completion has been read.
#pragma once

#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <type_traits>
#include <vector>

#include <weft/external_loop.hpp>
#include <weft/operations/access.hpp>

#include "bindings/ofi/objects/atomic_ops.hpp"
#include "bindings/ofi/objects/attributes.hpp"

namespace weft::ofi {

class endpoint;
class multi_buffer;

/// The contents of a completion, and the state of the record. With the endpoint's external loop
/// held, except for its poster until it is in flight.
struct record {
  enum class kind : std::uint8_t { send, receive, claimed, told, read, write };

  record* before = nullptr;  // in a list of records
  record* after = nullptr;
  endpoint* owner = nullptr;
  void* context = nullptr;
  void* buffer = nullptr;
  std::uint64_t flags = 0;  // those of fi_cq(3)
  std::uint64_t tag = 0;
  std::uint64_t data = 0;  // remote CQ data
  std::size_t size = 0;    // bytes of the message
  std::size_t room = 0;    // bytes of the buffer
  multi_buffer* multi = nullptr;
  peer_id source = no_peer;
  int error = 0;  // a code of fi_errno.h
  errc status = errc::ok;
  kind what = kind::told;
  bool tells = true;    // leaves an entry in its completion queue also when it ends well
  bool pinned = false;  // a thread uses it: no thread may read it now
  bool ended = false;
};

/// Records in the order of insertion. Does not own them.
class record_list {
 public:
  record* first() const noexcept { return first_; }
  bool empty() const noexcept { return !first_; }

  void push(record& r) noexcept {
    r.before = last_;
    r.after = nullptr;
    (last_ ? last_->after : first_) = &r;
    last_ = &r;
  }

  void remove(record& r) noexcept {
    (r.before ? r.before->after : first_) = r.after;
    (r.after ? r.after->before : last_) = r.before;
  }

 private:
  record* first_ = nullptr;
  record* last_ = nullptr;
};

/// A record that is one of weft's operations.
template <class Operation>
class in_flight final : public record, public Operation {
 public:
  template <class Request>
  in_flight(const record& about, const Request& asked) noexcept
      : record(about), Operation(asked, &has_ended) {}

  static in_flight& of(record& r) noexcept { return static_cast<in_flight&>(r); }

  /// Records how the operation ended.
  void settle() noexcept;

 private:
  static void has_ended(operation& o) noexcept;
};

using send_record = in_flight<send_operation>;
using receive_record = in_flight<recv_operation>;
using claimed_record = in_flight<claimed_operation>;
using transfer_record = in_flight<transfer_operation>;  // fi_rma(3)
using update_record = in_flight<update_operation>;      // fi_atomic(3)
using arrival_record = in_flight<notified_operation>;   // of a peer's remote CQ data

/// One read or write for libfabric that consists of several transfers, because its pieces in this
/// process or its places at the peer are not contiguous. It ends with the last of them, in a slot
/// of its own.
struct scattered : record {
  explicit scattered(const record& about) noexcept : record(about) {}
  std::optional<transfer_request> then;  // the last one goes on with it: tells the owner
  std::uint32_t left = 0;                // transfers in flight
  std::uint32_t undone = 0;              // transfers that have not ended well
};

/// One of the transfers of a `scattered`.
class part final : public transfer_operation {
 public:
  part(scattered& whole, const transfer_request& asked) noexcept
      : transfer_operation(asked, &has_ended), of(whole) {
    next_step = &part::tell_owner;
  }
  scattered& of;

 private:
  static bool tell_owner(detail::rma_operation& done) noexcept;
  static void has_ended(operation& o) noexcept;
};

/// Memory for one record of any kind, and for the data that its operation refers to.
struct slot {
  static constexpr std::size_t record_size = std::max(
      {sizeof(send_record), sizeof(receive_record), sizeof(claimed_record), sizeof(transfer_record),
       sizeof(update_record), sizeof(arrival_record), sizeof(scattered), sizeof(part)});

  alignas(std::max_align_t) std::array<std::byte, record_size> memory;
  union {
    slot* next_free;
    std::array<std::byte, inject_size> copied;                // of an injected message
    std::array<const_buffer, most_pieces> sent_pieces;        // of a message in pieces
    std::array<mutable_buffer, most_pieces> received_pieces;  // of a receive in pieces
    value_change change;                                      // of an atomic
  };

  slot() noexcept : next_free(nullptr) {}
  static slot& around(record& r) noexcept { return reinterpret_cast<slot&>(r); }
  static slot& around(part& p) noexcept { return reinterpret_cast<slot&>(p); }
};
static_assert(std::is_trivially_destructible_v<send_record> &&
              std::is_trivially_destructible_v<receive_record> &&
              std::is_trivially_destructible_v<claimed_record> &&
              std::is_trivially_destructible_v<transfer_record> &&
              std::is_trivially_destructible_v<update_record> &&
              std::is_trivially_destructible_v<arrival_record> &&
              std::is_trivially_destructible_v<scattered> &&
              std::is_trivially_destructible_v<part>);

/// Slots of an endpoint. Grows, so that posting never has to be refused, and keeps its memory: many
/// operations in flight at once occur again. With the external loop held.
class slots {
 public:
  /// \throws std::bad_alloc
  slot& take() {
    if (!free_) grow();
    slot& taken = *free_;
    free_ = taken.next_free;
    return taken;
  }

  void give_back(slot& s) noexcept {
    s.next_free = free_;
    free_ = &s;
  }

 private:
  static constexpr std::size_t at_once = 64;
  void grow() {
    blocks_.push_back(std::make_unique<slot[]>(at_once));
    for (std::size_t i = 0; i != at_once; ++i) give_back(blocks_.back()[i]);
  }

  std::vector<std::unique_ptr<slot[]>> blocks_;
  slot* free_ = nullptr;
};

}  // namespace weft::ofi
