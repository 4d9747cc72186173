// SPDX-License-Identifier: Apache-2.0
// fi_endpoint(3): a context of weft, and libfabric's view of its operations.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include <rdma/fi_rma.h>

#include <weft/region.hpp>

#include "bindings/ofi/endpoint/bound_directions.hpp"
#include "bindings/ofi/endpoint/claim_list.hpp"
#include "bindings/ofi/endpoint/lane.hpp"
#include "bindings/ofi/endpoint/peer_table.hpp"

namespace weft::ofi {

/// A receive buffer for several messages (FI_MULTI_RECV). One message at a time is received into
/// the rest of it, by an operation that is renewed when the end of the last one is read.
class multi_buffer {
 public:
  multi_buffer(std::span<std::byte> memory, const record& first) : rest(memory), about(first) {}
  std::span<std::byte> rest;  // with the external loop held, once an operation is posted
  const record about;
  fi_addr_t from = FI_ADDR_UNSPEC;
};

/// The arguments for one message, in either direction and by any of libfabric's calls.
struct message_call {
  std::span<const iovec> pieces;
  fi_addr_t peer = FI_ADDR_UNSPEC;
  std::uint64_t tag = 0;     // in weft's form
  std::uint64_t ignore = 0;  // of a receive
  std::uint64_t data = 0;    // of a send: in weft's form
  void* context = nullptr;
  std::uint64_t flags = 0;
  bool silent = false;  // its end is reported only if it fails, whatever the flags say
};

/// The arguments of a read or write of memory of a peer.
struct access_call {
  std::span<const iovec> pieces;       // in this process
  std::span<const fi_rma_iov> places;  // at the peer
  fi_addr_t peer = FI_ADDR_UNSPEC;
  std::optional<notify> then = {};  // remote CQ data
  void* context = nullptr;
  std::uint64_t flags = 0;
  bool silent = false;  // as in a message_call
};

/// The arguments of an atomic on one value in memory of a peer.
struct atomic_call {
  atomic_kind kind;
  value_change change;  // the endpoint sets `shift`
  fi_addr_t peer;
  std::uint64_t address;
  std::uint64_t key;
  void* context;
  std::uint64_t flags;
  bool silent;  // as in a message_call
};

class scalable_endpoint;

/// What fi_getinfo and the application agreed on.
struct endpoint_facts {
  std::uint64_t caps = 0;
  std::uint64_t send_flags = 0, receive_flags = 0;

  static endpoint_facts of(const fi_info& info) noexcept {
    return {info.caps, info.tx_attr ? info.tx_attr->op_flags : 0,
            info.rx_attr ? info.rx_attr->op_flags : 0};
  }
};

/// A transmit or receive context of a scalable endpoint.
struct sep_context {
  scalable_endpoint* whole = nullptr;  ///< null: an endpoint by itself
  unsigned number = 0;
  std::size_t fid_class = FI_CLASS_EP;
};

/// fi_getname of an endpoint with that context.
int name_of(weft::context& c, void* address, std::size_t* size) noexcept;

class endpoint final : public fid_ep {
 public:
  endpoint(domain& of, const endpoint_facts& facts, void* context, const sep_context& its = {});
  ~endpoint();

  /// fi_ops_domain::endpoint
  static int open(fid_domain* of, fi_info* info, fid_ep** made, void* context) noexcept;

  ssize_t send(const message_call& m) noexcept;
  ssize_t receive(const message_call& m) noexcept;
  ssize_t read(const access_call& c) noexcept { return access(c, record::kind::read); }
  ssize_t write(const access_call& c) noexcept { return access(c, record::kind::write); }
  ssize_t update(const atomic_call& c) noexcept;

  /// The flags of an operation that is posted without any.
  std::uint64_t send_flags() const noexcept { return send_flags_; }
  std::uint64_t receive_flags() const noexcept { return receive_flags_; }

  // For its domain and the domain's memory regions.
  weft::context& here() noexcept { return *context_; }
  bool accesses() const noexcept { return (caps_ & (FI_RMA | FI_ATOMIC)) != 0; }
  /// Lets peers reach memory, and reports remote CQ data that comes for it.
  /// \throws as weft::region
  weft::region show(std::span<std::byte> memory, rights permissions, region_name name);

  // For completion queues and records.
  external_loop& moved() noexcept { return *external_loop_; }
  fi_addr_t address_of(peer_id id) noexcept {
    return id == no_peer ? FI_ADDR_UNSPEC : peers_->address_of(id);
  }
  void note_end(record& r) noexcept;  ///< with the external loop held, as for all these functions
  void note_end(part& p) noexcept;
  void note_end(update_record& r) noexcept;
  void note_end(arrival_record& r) noexcept;
  void recycle(record& r) noexcept;  ///< with the external loop held; its completion has been read
  void renew(multi_buffer& b) noexcept;

  /// Waits until what it has accepted has left: messages, also injected ones, and accesses in all
  /// their steps. What has not by then is named in libfabric's log, and given up later.
  void finish_sends(std::chrono::steady_clock::time_point until) noexcept;

  users used;
  std::unique_ptr<endpoint> closed_before;  // of the same scalable endpoint, which owns the chain

 private:
  static int close(fid_t f) noexcept;
  static int bind(fid_t f, fid_t to, std::uint64_t flags) noexcept;
  static int control(fid_t f, int command, void* argument) noexcept;
  static ssize_t cancel(fid_t f, void* context) noexcept;
  static int get_option(fid_t f, int level, int name, void* value, std::size_t* size) noexcept;
  static int set_option(fid_t f, int level, int name, const void* value, std::size_t size) noexcept;
  static int get_name(fid_t f, void* address, std::size_t* size) noexcept;
  static fi_ops object_ops;
  static fi_ops_ep ep_ops;
  static fi_ops_cm cm_ops;
  static fi_ops_msg msg_ops;
  static fi_ops_tagged tagged_ops;
  static fi_ops_rma rma_ops;
  static fi_ops_atomic atomic_ops;

  int enable();
  lane& own_lane();
  void detach() noexcept;
  void withdraw_receives() noexcept;
  void unpin(record& r) noexcept;
  void announce() const;
  bool is_told(const record& r) const noexcept;
  template <class Record, class Request>
  void post(external_loop::progress_guard& hold, slot& memory, const record& about,
            const Request& r, detail::rma_operation::step_fn next = nullptr) noexcept;
  slot* take_slot() noexcept;  // with the external loop held; null: no memory
  ssize_t access(const access_call& c, record::kind what) noexcept;
  ssize_t scatter(std::span<const std::optional<transfer_request>> parts, const scattered& its,
                  slot& head) noexcept;
  void start(slot& memory, scattered& whole, const transfer_request& r) noexcept;
  void listen(const notified_request& at) noexcept;
  bool tell_arrival(arrival_record& r) noexcept;
  ssize_t receive_in_turn(const message_call& m) noexcept;
  ssize_t peek(const message_call& m) noexcept;
  ssize_t receive_claimed(const message_call& m) noexcept;
  ssize_t tell(const record& about) noexcept;
  recv_request receive_request(slot& memory, const message_call& m,
                               const weft::endpoint* from) noexcept;
  bool directed(const message_call& m) const noexcept {
    return directed_ && m.peer != FI_ADDR_UNSPEC;
  }

  domain& domain_;
  const std::uint64_t caps_;
  const bool directed_;
  const std::uint64_t send_flags_, receive_flags_;
  address_vector* names_ = nullptr;
  std::size_t least_room_ = 64;  // FI_OPT_MIN_MULTI_RECV

  const sep_context part_;
  std::chrono::milliseconds linger_{};  // options::linger
  std::optional<weft::context> own_context_;
  std::optional<lane> own_lane_;

  // Once the endpoint is enabled: of its own lane, or of the scalable endpoint's.
  weft::context* context_ = nullptr;
  peer_table* peers_ = nullptr;
  external_loop* external_loop_ = nullptr;

  // With the external loop held.
  slots slots_;
  bound_directions bound_{*this};  // its unread records lie in slots
  record_list in_flight_;          // receives
  std::size_t sending_ = 0;        // sends and accesses in flight
  bool closed_ = false;            // a part of a scalable endpoint, which is kept

  claim_list claims_;
};

inline endpoint& at(fid_ep* ep) noexcept { return object<endpoint>(ep); }

/// fi_ops_domain::query_atomic
int query_atomic(fid_domain* of, fi_datatype type, fi_op op, fi_atomic_attr* attr,
                 std::uint64_t flags) noexcept;

}  // namespace weft::ofi
