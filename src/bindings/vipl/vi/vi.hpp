// SPDX-License-Identifier: Apache-2.0
// A VI: two queues of descriptors, and a connection.
#pragma once

#include <memory>

#include "bindings/vipl/vi/receive_queue.hpp"
#include "bindings/vipl/vi/send_queue.hpp"
#include "bindings/vipl/vi/vi_connection.hpp"

namespace weft::vipl {

/// Holds the parts, and tells each what concerns it. Only its calls of the application are in this
/// class; the work is the parts'.
class vi final : public object_of<object::kind::vi> {
 public:
  /// With the NIC locked. \throws std::bad_alloc
  vi(nic& of, const VIP_VI_ATTRIBUTES& a, completion_queue* sends, completion_queue* receives);
  ~vi();  ///< of an idle one, with the NIC locked

  // --- any thread, not locked -------------------------------------------------------------------

  VIP_RETURN post_send(VIP_DESCRIPTOR* d, VIP_MEM_HANDLE handle);
  VIP_RETURN post_receive(VIP_DESCRIPTOR* d, VIP_MEM_HANDLE handle);
  VIP_RETURN done(completions& of, VIP_DESCRIPTOR** d);
  VIP_RETURN wait(completions& of, time_point until, VIP_DESCRIPTOR** d);
  void notify(completions& of, VIP_VI_CALLBACK handler, VIP_PVOID context);
  /// Ends the connection or the attempt. Idle afterwards.
  void disconnect();

  nic& owner;

  // --- locked -----------------------------------------------------------------------------------

  VIP_VI_ATTRIBUTES attributes;
  std::uint32_t number = 0;
  vi_connection connection;
  receive_queue receives;
  send_queue sends;

  bool reliable() const noexcept { return attributes.ReliabilityLevel != VIP_SERVICE_UNRELIABLE; }
  bool confirms() const noexcept {
    return attributes.ReliabilityLevel == VIP_SERVICE_RELIABLE_RECEPTION;
  }
  std::uint32_t tag() const noexcept { return number_of_tag(attributes.Ptag); }
  /// Idle, and no request goes on.
  bool may_connect() const noexcept {
    return connection.state() == VIP_STATE_IDLE && !connection.attempt;
  }

  void begin_connecting(vi_connection::side s) noexcept;
  introduction introduce() const noexcept;
  void connection_lost() noexcept;
  /// The connection ends by an error.
  /// \param d     the descriptor that caused it, or null
  /// \param tell  the peer is to learn of it
  /// \param fault if it was RDMA of this side
  void fail(VIP_ERROR_CODE code, VIP_DESCRIPTOR* d, bool tell,
            rdma_fault fault = rdma_fault::none) noexcept;
  /// Reports an error without an end of the connection.
  void report(VIP_ERROR_CODE code, VIP_DESCRIPTOR* d) noexcept;
  /// An RDMA write was refused, and the connection goes on.
  void write_was_denied() noexcept;

  /// A message of a peer; calls nothing of weft.
  void on_message(const header& h, peer_id from, std::span<const std::byte> rest) noexcept;
  /// What messages have asked for and their handler may not do. Not in the handler.
  void settle() noexcept;
  void settle_soon() noexcept { owner.settle_soon(*this); }

  bool settles = false;  ///< for the NIC: `settle` will be called

 private:
  struct verdict {
    std::uint32_t bad = 0;    ///< bits of errors
    std::uint32_t reach = 0;  ///< bytes of the buffers, in their order, in registered memory
  };
  verdict check(const VIP_DESCRIPTOR& d, bool of_receive, const registration& in,
                VIP_MEM_HANDLE memory) noexcept;
  const registration* holder_of(VIP_DESCRIPTOR* d, VIP_MEM_HANDLE memory) noexcept;

  void on_end(const header& h) noexcept;

  // What the peer is to learn.
  bool says_broken_ = false;
  rdma_fault fault_ = rdma_fault::none;  // that has broken it
  std::size_t denied_writes_ = 0;
};

}  // namespace weft::vipl
