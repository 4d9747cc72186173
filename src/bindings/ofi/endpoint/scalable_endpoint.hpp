// SPDX-License-Identifier: Apache-2.0
// fi_scalable_ep(3): one address with several transmit and receive contexts, for several threads.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "bindings/ofi/endpoint/endpoint.hpp"
#include "bindings/ofi/endpoint/lane.hpp"
#include "bindings/ofi/objects/address_vector.hpp"

namespace weft::ofi {

/// A context of weft with a lane for each number: transmit context i and receive context i are two
/// halves of an endpoint at lane i. Two threads with two numbers share no lock. Peers name a
/// receive context by fi_rx_addr.
class scalable_endpoint final : public fid_ep {
 public:
  scalable_endpoint(domain& of, const fi_info& info, void* context);
  ~scalable_endpoint();

  /// fi_ops_domain::scalable_ep
  static int open(fid_domain* of, fi_info* info, fid_ep** made, void* context) noexcept;

  /// Makes the context of weft, and the lane, when they are first needed. Any thread.
  /// \throws weft::error (invalid_argument) without an address vector
  lane& at(unsigned number);

  /// One of its contexts has been closed. Its operations may still be in flight: it is kept until
  /// the context of weft ends.
  void keep(std::unique_ptr<endpoint> closed) noexcept;

  users used;  // its contexts

 private:
  static int close(fid_t f) noexcept;
  static int bind(fid_t f, fid_t to, std::uint64_t flags) noexcept;
  static int control(fid_t f, int command, void* argument) noexcept;
  static int get_name(fid_t f, void* address, std::size_t* size) noexcept;
  static int open_tx(fid_ep* sep, int index, fi_tx_attr* attr, fid_ep** made,
                     void* context) noexcept;
  static int open_rx(fid_ep* sep, int index, fi_rx_attr* attr, fid_ep** made,
                     void* context) noexcept;
  static fi_ops object_ops;
  static fi_ops_ep ep_ops;
  static fi_ops_cm cm_ops;

  int open_part(int index, const endpoint_facts& facts, std::size_t fid_class, fid_ep** made,
                void* context) noexcept;
  void need_context();  // with the mutex held

  domain& domain_;
  const endpoint_facts facts_;
  const std::size_t count_;
  address_vector* names_ = nullptr;
  std::mutex mutex_;                    // guards the members below
  std::chrono::milliseconds linger_{};  // options::linger
  std::unique_ptr<weft::context> context_;
  std::vector<std::unique_ptr<lane>> lanes_;  // null: not used yet
  std::unique_ptr<endpoint> closed_;          // the last of a chain
};

}  // namespace weft::ofi
