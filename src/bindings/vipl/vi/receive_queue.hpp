// SPDX-License-Identifier: Apache-2.0
// The receive queue of a VI.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "bindings/vipl/base/memory.hpp"
#include "bindings/vipl/base/ring.hpp"
#include "bindings/vipl/base/wire.hpp"
#include "bindings/vipl/vi/completions.hpp"
#include "bindings/vipl/vi/landing_place.hpp"

namespace weft::vipl {

class vi;

/// Its descriptors have numbers, from the beginning of a connection. They travel ahead of the
/// messages that they will take (descriptors_ahead.cpp). With the NIC locked, unless a member says
/// otherwise.
class receive_queue {
 public:
  /// \throws std::bad_alloc
  receive_queue(vi& of, completion_queue* queue);
  ~receive_queue();

  completions finished;
  bool empty() const noexcept { return finished.posted() == 0; }
  /// Whether a descriptor that waits for a message uses that memory.
  bool uses(const registration& r, VIP_MEM_HANDLE handle) const noexcept;

  // --- the application --------------------------------------------------------------------------

  /// Whether a descriptor that passes the checks can be posted: `show` makes it so.
  bool may_post(const VIP_DESCRIPTOR& d) const noexcept;
  /// \param reach the bytes of its buffers, in their order, that are in registered memory
  /// \throws std::bad_alloc
  void post(VIP_DESCRIPTOR& d, std::uint32_t reach);
  /// It takes no message: complete at once. \throws std::bad_alloc
  void post_wrong(VIP_DESCRIPTOR& d, std::uint32_t status);
  /// Not locked: shows its buffers to the peer.
  void show(const VIP_DESCRIPTOR& d);
  /// The VI may not use that memory any more: no posted descriptor does.
  void withdraw(const registration& r, VIP_MEM_HANDLE handle) noexcept;
  /// The peer sees that memory no more. \return where the region is to be ended, not locked
  std::shared_ptr<landing_place> hide(VIP_MEM_HANDLE handle) noexcept;

  // --- the connection ---------------------------------------------------------------------------

  void restart() noexcept;
  /// Sends the receive descriptors ahead that were posted before the connection. Not locked.
  void send_ahead();
  std::shared_ptr<landing_place> landing() const noexcept { return landing_; }
  std::uint64_t landing_secret() const noexcept { return landing_->secret; }
  /// After an end by error: all descriptors are flushed, when the peer places bytes no more.
  void end_soon() noexcept;
  void flush() noexcept;
  void renew_landing_place();  ///< for the next connection. \throws std::bad_alloc

  // --- messages: in their handler ---------------------------------------------------------------

  void on_arrival(const header& h, std::span<const std::byte> rest) noexcept;
  /// \param label the message that the peer has no descriptor for
  void on_question(std::uint32_t label) noexcept;
  void on_piece(const header& h, std::span<const std::byte> rest) noexcept;
  /// Not in the handler: sends what the peer is to learn. \throws std::bad_alloc
  void settle();

 private:
  class ending;
  struct posted {
    VIP_DESCRIPTOR* descriptor;
    std::uint32_t capacity;
    std::uint32_t reach;
    bool withdrawn = false;  // its memory has got another protection tag
  };

  bool add_piece(std::span<const std::byte> bytes) noexcept;
  void refuse_message(std::uint32_t label, std::uint32_t status) noexcept;
  void take(std::uint32_t status, std::uint32_t length) noexcept;
  void confirm() noexcept;
  void refuse(std::uint32_t label) noexcept;
  void drop(std::uint32_t label) noexcept;

  bool shows(const VIP_DESCRIPTOR& d) const noexcept;
  bool worth_sending_ahead() const noexcept;
  /// \param answers_to the label of a message that the peer has asked for
  void send_ahead_from(std::uint32_t number, std::optional<std::uint32_t> answers_to = {});
  /// Messages that have arrived as a whole, or were dropped.
  std::uint32_t complete_arrivals() const noexcept {
    return arrived_ - (incoming_.left != 0 && !incoming_.dropped ? 1 : 0);
  }
  std::uint32_t first_unannounced() const noexcept {
    return comes_before(announced_, taken_) ? taken_ : announced_;
  }
  std::size_t describe(std::uint32_t from, std::size_t room, std::vector<std::byte>& out);

  vi& vi_;
  ring<posted> posted_;
  std::uint32_t arrived_ = 0;    // messages of this connection
  std::uint32_t taken_ = 0;      // descriptors by them: the number of the first in posted_
  std::uint32_t announced_ = 0;  // descriptors below this number have travelled ahead
  bool peer_places_ = false;     // the peer uses them

  /// The message of which pieces are to come. It takes the first descriptor of posted_ when it is
  /// whole.
  struct {
    std::uint32_t length = 0, left = 0;  // left 0: there is none
    std::uint32_t status = 0;            // of its descriptor, in the end
    bool dropped = false;                // its pieces go nowhere
  } incoming_;

  // What the peer is to learn.
  bool confirms_ = false;                 // that messages have arrived
  bool tells_drop_ = false;               // that a message was dropped
  std::optional<std::uint32_t> asked_;    // an answer, for the message of this label
  std::optional<std::uint32_t> refused_;  // the label of a message

  std::uint32_t connections_ = 0;
  std::shared_ptr<landing_place> landing_;  // renewed for each connection; its regions: not locked
  std::vector<VIP_MEM_HANDLE> shown_;       // the registrations that it shows
  std::unique_ptr<ending> ending_;          // made early: errors come without memory, too
};

}  // namespace weft::vipl
