// SPDX-License-Identifier: Apache-2.0
// The payload of rendezvous messages, at the receiver.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "proto/connection/frame_writer.hpp"
#include "proto/frames/inbound_message.hpp"
#include "proto/support/id_table.hpp"

namespace weft::proto {

class lent_source;
class receiver;
enum class payload_scheme : std::uint8_t;

/// Messages of one peer that were announced by an rts and have met their receive. The receiver
/// chooses the payload scheme; each has a file of its own: rendezvous_get.cpp, rendezvous_put.cpp,
/// rendezvous_pipeline.cpp. Part of a peer. Progress lock held only.
class rendezvous_receiver {
 public:
  rendezvous_receiver(const protocol_services& s, receiver& r, frame_writer& w,
                      peer_connection& c) noexcept
      : services_(&s), receiver_(&r), writer_(&w), connection_(&c) {}

  /// Answers an rts: reads the rest without the sender's help where that is better, else requests
  /// it (cts). Called again for each eager frame that follows, until the rts has been answered.
  void fetch(inbound_message& m) noexcept;
  /// The link is writable, or a number is free: goes on with the messages that wait for that, until
  /// one of them has to wait again.
  void fetch_waiting() noexcept {
    if (first_waiting_ && connection_->is_open()) fetch_all_waiting();
  }

  /// Whether the times of messages are of use. A side that has sent nothing may have no link yet.
  bool measures() const noexcept {
    return connection_->is_open() && connection_->link()->traits().measures_payloads;
  }
  /// The message has ended: notes the cost of its payload scheme, if that is measured.
  void ended(inbound_message& m) noexcept;
  /// The message is finished: its number is free.
  void forget(inbound_message& m) noexcept {
    if (const local_id id = std::exchange(m.id, local_id{0}); id != 0) asked_.erase(id);
  }
  /// It asks for its payload when it has met another receive.
  void stop_waiting(inbound_message& m) noexcept;

  /// Whether no message waits for its payload.
  bool none() const noexcept { return asked_.none() && reads_.none(); }
  /// A message whose data was requested; null: none.
  const inbound_message* any() const noexcept { return asked_.none() ? nullptr : asked_.any(); }
  /// Of the receives that were stopped and whose memory the link or the sender may still use, the
  /// first stop; else time_point::max().
  detail::time_point oldest_stop() const noexcept;
  /// The connection has ended. Calls `drop` with each message, after removing it.
  template <class Drop>
  void fail(Drop drop) noexcept;

  // rendezvous_get.cpp
  void on_transferred(std::uint64_t id, bool well) noexcept;
  void on_chained(std::uint64_t id) noexcept;

  // rendezvous_put.cpp
  bool on_fin(const frame_extension& x) noexcept;
  /// The link may no longer write to the memory of the message's receive.
  void withdraw(inbound_message& m) noexcept {
    if (std::exchange(m.expected, false) && connection_->is_open())
      connection_->link()->withdraw(m.expected_at);
  }

  // rendezvous_pipeline.cpp
  mutable_buffer place(const frame_header& h, const frame_extension& x,
                       std::uint32_t already) noexcept;
  bool on_data(const frame_header& h, const frame_extension& x, const std::byte* data) noexcept;
  /// The same for a new fragment over one of several links. It may come before others of its
  /// message.
  mutable_buffer place_fragment(const frame_header& h, const frame_extension& x,
                                std::uint32_t already) noexcept;
  bool on_fragment(const frame_header& h, const frame_extension& x, const std::byte* data) noexcept;

 private:
  payload_scheme choose(inbound_message& m) noexcept;
  void wait_for_link(inbound_message& m) noexcept;
  void fetch_all_waiting() noexcept;
  bool get(inbound_message& m) noexcept;
  bool take_view(inbound_message& m) noexcept;
  bool view(const inbound_message& m, detail::lent_memory& to) noexcept;
  void forget_viewed() noexcept;
  void has_read(inbound_message& m) noexcept;
  std::uint64_t expect(inbound_message& m) noexcept;

  const protocol_services* services_;
  receiver* receiver_;
  frame_writer* writer_;
  peer_connection* connection_;
  id_table<inbound_message> asked_;           // messages whose rest was requested
  id_table<inbound_message> reads_;           // messages whose rest the link is reading
  inbound_message* first_waiting_ = nullptr;  // messages to request or read when the link can
  inbound_message* last_waiting_ = nullptr;
  lent_source* viewed_ = nullptr;  // the memory of which the last view was made
  detail::time_point last_end_{};  // of a payload with a measured scheme
};

template <class Drop>
void rendezvous_receiver::fail(Drop drop) noexcept {
  forget_viewed();
  asked_.erase_if([&](inbound_message& m) {
    m.id = 0;
    drop(m);
    return true;
  });
  reads_.erase_if([&](inbound_message& m) {
    m.read_id = 0;
    drop(m);
    return true;
  });
  for (inbound_message *m = std::exchange(first_waiting_, nullptr), *next = nullptr; m; m = next) {
    next = m->next_to_ask;
    drop(*m);
  }
}

}  // namespace weft::proto
