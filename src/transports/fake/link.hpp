// SPDX-License-Identifier: Apache-2.0
// The sending end of a wire.
#pragma once

#include <memory>
#include <optional>

#include "transports/fake/transport.hpp"

namespace weft::transports::fake {

/// Owned by the protocol layer's peer; the transport outlives it.
class fake_link final : public link {
 public:
  fake_link(fake_transport& t, std::shared_ptr<wire> w) noexcept
      : link(t.traits()), transport_(t), wire_(std::move(w)) {}
  ~fake_link() override;

  std::string opened(wireup_message) override { return {}; }
  post send(const frame_header& header, const frame_extension* extension,
            gather& data) noexcept override {
    return transport_.append(*wire_, header, extension, data, false);
  }
  post send_large(const frame_header& header, const frame_extension* extension, gather& data,
                  std::uint64_t) noexcept override {
    return transport_.append(*wire_, header, extension, data, true);
  }
  bool holds() const noexcept override;

  // All nodes share the test's address space, so a peer's memory can be copied directly.
  post get(scatter into, remote_address from, std::size_t size,
           std::uint64_t cookie) noexcept override;
  peer_view view(remote_address from, std::size_t size) noexcept override;
  preference prefers_get(remote_address, std::size_t) const noexcept override {
    const manner& how = transport_.manner_;
    if (how.memory == memory::hidden) return preference::no;
    return how.measures ? preference::measured : preference::yes;
  }
  std::optional<remote_address> expose(const_buffer data) noexcept override;
  post put(gather data, remote_address to, std::size_t size,
           std::uint64_t cookie) noexcept override;
  bool prefers_put(std::size_t) const noexcept override { return transport_.manner_.prefers_put; }
  std::optional<remote_address> expect(mutable_buffer into) noexcept override;
  bool chain(std::uint64_t cookie, const frame_header& header,
             const frame_extension& extension) noexcept override;
  void withdraw(remote_address what) noexcept override;

  void let_go() noexcept override;

  bool unconsumed() const noexcept override;

 private:
  post begin(wire::transfer t) noexcept;
  std::optional<remote_address> show(wire::place what) noexcept;

  fake_transport& transport_;
  const std::shared_ptr<wire> wire_;
};

}  // namespace weft::transports::fake
